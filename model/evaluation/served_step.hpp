// What a client of a serving engine waits for between two tokens: a decode step, and the prefills
// that continuous batching puts in its way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/evaluation/compared_run.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// A measured serving run of one model. The study's decode workload has one batch.
struct ServedStep {
  std::string id;  // "deepseek_v3/h200_sxm/fp8/tensor:8/expert:1/1024+1024/sequences:64"
  std::string model;
  std::string gpu;
  std::string stack;
  Study study;
  /// The share of a whole prefill behind each token: (sequences - 1) / output tokens. While one of
  /// the sequences makes its output, each of the others begins once.
  double prefills = 0;
  Seconds seconds;              // between two tokens, in the median
  std::optional<Seconds> peer;  // what aiconfigurator predicts of the same run
};

/// Decode step + prefills x prefill, both with the fused standard residual. Nothing where the rest
/// of the step is not modelled.
std::optional<Estimate<Seconds>> predicted_time(const ServedStep& served);

/// Those whose step is modelled.
std::vector<ComparedRun> compared_servings(const std::vector<ServedStep>& steps);

}  // namespace depthcost
