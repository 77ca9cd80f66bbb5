// From a printed number to its equation, its source, the numbers substituted, and the one function
// that computes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/evaluation/evaluation.hpp"

namespace depthcost {

struct Explanation {
  std::string metric;                // the path, as in the JSON
  std::string formula;               // in the letters of the paper
  std::string source;                // "[attnres] Table 1, row Block"; keys in model/REFERENCES.md
  std::vector<std::string> numbers;  // the formula with numbers, one step a line
  std::string function;              // "model/schemes/cross_layer/table1.hpp: table1_traffic"
};

/// Of every number that is printed without asking for layers; each metric once.
std::vector<Explanation> explanations(const Evaluation& evaluation);

/// The explanation of one metric, or nothing if the evaluation has no such number. A metric of the
/// ledger with `.layer_37` behind it is about that layer.
std::optional<Explanation> explain(const Evaluation& evaluation, std::string_view metric);

/// Plain text of an explanation.
std::string to_text(const Explanation& explanation);

}  // namespace depthcost
