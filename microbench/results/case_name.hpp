// The parts of a benchmark's name: "cpu/attnres_single_pass/bf16/T:2048/d:7168/n:5/cold/again".
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace depthcost::bench {

/// backend/operation/type/key:value/.../launch/temperature/again. A part that is missing is empty.
struct CaseName {
  std::string_view backend;      // cpu, cuda
  std::string_view operation;    // may contain a slash: attnres_single_pass/bare
  std::string_view type;         // bf16, f32
  std::string_view launch;       // stream, graph, graph_pdl: on a GPU
  std::string_view temperature;  // cold, hot
  bool is_again = false;         // the same case, measured a second time
  std::map<std::string_view, double> numbers;

  /// The number behind `key:`, or `otherwise`.
  double number(std::string_view key, double otherwise) const {
    const auto found = numbers.find(key);
    return found == numbers.end() ? otherwise : found->second;
  }
};

/// The parts refer to `text`.
CaseName parse_case_name(std::string_view text);

}  // namespace depthcost::bench
