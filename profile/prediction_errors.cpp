// How well a profile predicts, and the interval of its predictions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "profile/measured_shapes.hpp"
#include "profile/operation_residuals.hpp"
#include "profile/prediction_ratios.hpp"
#include "profile/profile.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost::profile {
namespace {

// The largest batch of decoding. Its operands may lie in a cache, and most of its time may be the
// call.
constexpr Count kLargestBatch = 512;

bool has_held_out_blocks(const StandaloneCall& call) {
  const CatalogueEntry* entry = find_entry(call.operation);
  if (entry == nullptr || entry->sources.empty()) return false;
  return call.counts.num_sources != kUsualBlocks && call.counts.num_sources != kUsualBlocks + 1;
}

Comparison compared_with(const Machine& machine, const KernelSample& kernel,
                         const Estimate<Seconds>& time, const Tolerance& tolerance) {
  return compare(machine, *find_operation(kernel.call), execution_of(kernel.call),
                 {time.low, time.value, time.high, Evidence::measured}, tolerance);
}

/// An error needs only the typical time. Its interval would need a bootstrap, 400 times the work.
Comparison error_of(const Machine& machine, const KernelSample& kernel) {
  const Seconds time{typical(kernel.seconds)};
  return compared_with(machine, kernel, {time, time, time, Evidence::measured}, {});
}

/// The next ratio lies within as often as promised. So does 1, the prediction itself.
Estimate<double> residual_of(const std::vector<double>& ratios) {
  constexpr double kBelow = (1 - kPromisedShare) / 2;
  return {std::min(1.0, next_below(ratios, kBelow)), 1,
          std::max(1.0, next_below(ratios, 1 - kBelow)), Evidence::calibrated};
}

/// Counts how often the interval holds for shapes that it was not made from.
class CoverageCount {
 public:
  void add(double ratio, const Estimate<double>& residual) {
    ++cases_;
    if (residual.low <= ratio && ratio <= residual.high) ++inside_;
  }
  std::size_t inside() const { return inside_; }
  std::size_t cases() const { return cases_; }

 private:
  std::size_t inside_ = 0;
  std::size_t cases_ = 0;
};

/// Leaves out each width of the calibration in turn. Its interval comes from the other widths, if
/// they have enough cases.
void count_left_out(const Machine& machine, const Samples& samples, CoverageCount& count) {
  std::set<Count> widths;
  each_kernel(samples, Cases::calibration,
              [&](const KernelSample& kernel) { widths.insert(kernel.call.hidden_size); });
  if (widths.size() < 2) return;
  for (const Count left_out : widths) {
    std::vector<double> others;
    std::vector<double> own;
    each_kernel(samples, Cases::calibration, [&](const KernelSample& kernel) {
      auto& ratios = kernel.call.hidden_size == left_out ? own : others;
      ratios.push_back(ratio_of(machine, kernel));
    });
    if (others.size() < kFewestRatios) continue;
    const Estimate<double> residual = residual_of(others);
    for (const double ratio : own) count.add(ratio, residual);
  }
}

}  // namespace

double ratio_of(const Machine& machine, const KernelSample& kernel) {
  return 1 + error_of(machine, kernel).error;
}

Cases cases_of(const KernelSample& kernel) {
  const StandaloneCall& call = kernel.call;
  if (call.temperature == Temperature::hot || call.num_tokens <= kLargestBatch) return Cases::small;
  const bool is_held_out = call.hidden_size == kHeldOutWidth || call.num_tokens == kHeldOutTokens ||
                           has_held_out_blocks(call);
  return is_held_out ? Cases::held_out : Cases::calibration;
}

Machine machine_with(const Profile& profile, Ceilings ceilings) {
  Machine machine = profile.machine;
  if (ceilings == Ceilings::generic) machine.exact_bandwidth.clear();
  return machine;
}

std::string coverage_warning(const Estimate<double>& coverage) {
  if (coverage.low <= kPromisedShare && kPromisedShare <= coverage.high) return "";
  return fmt::format(
      "The interval does not hold 90 %: of cases that it was not fitted to, it holds {:.1f} % to "
      "{:.1f} %.",
      100 * coverage.low, 100 * coverage.high);
}

Comparison compared(const Machine& machine, const KernelSample& kernel,
                    const Tolerance& tolerance) {
  return compared_with(machine, kernel, typical_time(kernel.seconds), tolerance);
}

std::vector<Comparison> predictions(const Machine& machine, const Samples& samples, Cases cases) {
  std::vector<Comparison> comparisons;
  each_kernel(samples, cases, [&](const KernelSample& kernel) {
    comparisons.push_back(error_of(machine, kernel));
  });
  return comparisons;
}

void set_errors(const Samples& samples, Profile& profile) {
  std::vector<double> ratios;
  each_kernel(samples, Cases::calibration, [&](const KernelSample& kernel) {
    ratios.push_back(ratio_of(profile.machine, kernel));
  });
  if (ratios.size() < kFewestRatios)
    throw InputError({samples.path, 1, 1},
                     fmt::format("too few samples ({} of at least {} kernels of the calibration "
                                 "shapes: a 90 % interval leaves out 5 % on either side)",
                                 ratios.size(), kFewestRatios));
  CoverageCount count;
  count_left_out(profile.machine, samples, count);
  const Estimate<double> residual = residual_of(ratios);
  each_kernel(samples, Cases::held_out, [&](const KernelSample& kernel) {
    count.add(ratio_of(profile.machine, kernel), residual);
  });
  profile.coverage = {count.cases(), binomial_share(count.inside(), count.cases())};
  profile.machine.residual = residual;
  OperationIntervals own = operation_intervals(profile.machine, samples);
  profile.machine.operation_residuals = std::move(own.residuals);
  profile.operation_coverage = own.coverage;
  for (const Ceilings ceilings : kEnumerators<Ceilings>)
    for (const Cases cases : kEnumerators<Cases>) {
      const auto comparisons = predictions(machine_with(profile, ceilings), samples, cases);
      if (!comparisons.empty())
        profile.accuracy.push_back({ceilings, cases, summary_of(comparisons)});
    }
}

}  // namespace depthcost::profile
