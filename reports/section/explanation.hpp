// From a printed number to its equation, its source, the numbers substituted, and the one function
// that computes it.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/evidence.hpp"
#include "model/ledger/ledger.hpp"

namespace depthcost {

struct Explanation {
  std::string metric;                // the path, as in the JSON
  std::string formula;               // in the letters of the paper
  std::string source;                // "[attnres] Table 1, row Block"; keys in model/REFERENCES.md
  std::vector<std::string> numbers;  // the formula with numbers, one step a line
  std::string function;              // "model/ledger/ledger.cpp: output_traffic"
};

/// Every explanation of an answer, or that of the one metric that is asked for.
class Explanations {
 public:
  Explanations() = default;
  explicit Explanations(std::string metric) : asked_(std::move(metric)) {}

  /// Whether to make the explanation of a metric. An answer may have thousands of them.
  bool wants(std::string_view metric) const { return !asked_ || metric == *asked_; }
  void push_back(Explanation explanation) {
    if (wants(explanation.metric)) all_.push_back(std::move(explanation));
  }

  std::vector<Explanation> take() { return std::move(all_); }

 private:
  std::optional<std::string> asked_;
  std::vector<Explanation> all_;
};

/// Plain text of an explanation.
std::string to_text(const Explanation& explanation);

namespace explained {

/// "ledger.block_attnres.two_phase".
std::string metric(std::initializer_list<std::string_view> parts);

/// "L = 186, S = 24, N = 8, last block 18" or "L = 186, m = 4".
std::string letters(const ResidualPath& path);

/// What an operation touches: "bank 8 r, layer_output 1 r, layer_input 1 w".
std::string operands(const Operation& operation);

/// "12.3456 us [1.2, 13.4]"; six digits each.
std::string microseconds(Seconds seconds);
std::string microseconds(const Estimate<Seconds>& estimate);

/// "overhead = 1.234 % [1.1 %, 1.4 %]".
std::string percent_text(std::string_view what, const Estimate<double>& ratio);

}  // namespace explained
}  // namespace depthcost
