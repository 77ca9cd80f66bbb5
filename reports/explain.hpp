// From a printed number to its equation, its source, the numbers substituted, and the one function
// that computes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/evaluation.hpp"

namespace depthcost {

struct Explanation {
  std::string metric;                // the path, as in the JSON
  std::string formula;               // in the letters of the paper
  std::string source;                // "[attnres] Table 1, row Block"; keys in model/REFERENCES.md
  std::vector<std::string> numbers;  // the formula with numbers, one step a line
  std::string function;              // "model/table1.hpp: table1_traffic"
};

/// The explanation of one metric, or nothing if the evaluation has no such number.
std::optional<Explanation> explain(const Evaluation& evaluation, const std::string& metric);

/// Every metric that explain() knows for this evaluation.
std::vector<std::string> explainable_metrics(const Evaluation& evaluation);

/// Plain text of an explanation.
std::string to_text(const Explanation& explanation);

}  // namespace depthcost
