// The model predicts the study that a measured step is a case of.
#include "profile/measured_steps.hpp"

#include <algorithm>
#include <tuple>

#include "model/schemes/list.hpp"
#include "model/step/step.hpp"
#include "profile/statistics.hpp"

namespace depthcost::profile {
namespace {

constexpr const char* kBaseline = "standard";

bool is_baseline_of(const StepSample& baseline, const StepSample& step) {
  return baseline.scheme == kBaseline && baseline.tokens == step.tokens &&
         baseline.dtype == step.dtype && baseline.weight_bytes == step.weight_bytes &&
         baseline.hidden_size == step.hidden_size && baseline.num_layers == step.num_layers &&
         baseline.launch == step.launch;
}

Scheme scheme_of(const StepSample& step) {
  if (step.scheme == "mhc") return {schemes::kMhc, {.num_streams = step.num_streams}};
  if (step.scheme == "block_attnres")
    return {schemes::kBlockAttnRes,
            {.blocks = partition_by_size(step.num_layers, step.block_size)}};
  return {};
}

/// One decode step in which every layer reads the weights of the sample.
StepRow predicted_row(const Machine& machine, const StepSample& step, const ResidualPath& path) {
  Study study{.name = step.name,
              .model = {"", step.num_layers, step.hidden_size, step.dtype},
              .path = path,
              .schedule = step.schedule,
              .phase1_dtype = step.dtype};
  study.decode = Decode{.sequences = {step.tokens},
                        .launch = step.launch,
                        .layer_bytes = step.weight_bytes,
                        .parameters = ParameterSets::one_for_all,  // bench_step's operands
                        .phase1 = step.phase1};
  study.machine = machine;
  return step_rows(study, path, step.schedule).front();
}

}  // namespace

std::vector<StepComparison> compared_steps(const Machine& machine, const Samples& samples) {
  std::vector<StepComparison> comparisons;
  for (const StepSample& step : samples.steps)
    for (const StepSample& baseline : samples.steps) {
      if (step.scheme == kBaseline || !is_baseline_of(baseline, step)) continue;
      const ResidualPath path{scheme_of(step), step.num_layers, Attachment::standalone};
      comparisons.push_back({.scheme = step.scheme,
                             .schedule = step.schedule,
                             .phase1 = step.phase1,
                             .tokens = step.tokens,
                             .step = typical_time(step.seconds),
                             .baseline = typical_time(baseline.seconds),
                             .predicted = predicted_row(machine, step, path).delta});
    }
  // Samples are sorted by name, where 64 tokens come before 8.
  std::stable_sort(comparisons.begin(), comparisons.end(), [](const auto& a, const auto& b) {
    return std::tie(a.scheme, a.schedule, a.phase1, a.tokens) <
           std::tie(b.scheme, b.schedule, b.phase1, b.tokens);
  });
  return comparisons;
}

}  // namespace depthcost::profile
