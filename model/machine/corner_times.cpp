// Sums, differences and ratios of times, corner by corner.
#include "model/machine/corner_times.hpp"

#include <algorithm>

namespace depthcost {
namespace {

/// What lies beside the residual path if the standard one takes `standard`.
Seconds rest_beside(const BaseStep& base, Seconds standard, IntervalEnd end) {
  return base.measured ? *base.measured - standard : at(*base.rest, end);
}

Seconds step_with(const BaseStep& base, Seconds standard, IntervalEnd end) {
  return base.measured ? *base.measured : at(*base.rest, end) + standard;
}

void include(Estimate<double>& range, double value) {
  range.low = std::min(range.low, value);
  range.high = std::max(range.high, value);
}

std::optional<double> share_at(const BaseStep& base, Seconds residual, Seconds standard,
                               IntervalEnd end) {
  const Seconds rest = rest_beside(base, standard, end);
  if (rest <= Seconds{}) return std::nullopt;
  return residual.value / (rest + residual).value;
}

}  // namespace

void CornerTimes::add(double calls, const CornerTimes& launch) {
  for (std::size_t i = 0; i < corners.size(); ++i) corners[i] += calls * launch.corners[i];
  terms += calls * launch.terms.binding();
  value += calls * launch.value;
}

Estimate<Seconds> CornerTimes::interval(Evidence evidence) const {
  const auto [low, high] = std::minmax_element(corners.begin(), corners.end());
  return {std::min(*low, value), value, std::max(*high, value), evidence};
}

CornerTimes transfer_times(const Estimate<Seconds>& transfer) {
  CornerTimes times{.terms = {.transfer = transfer.value}, .value = transfer.value};
  for (std::size_t i = 0; i < kCorners.size(); ++i)
    times.corners[i] = at(transfer, kCorners[i].bandwidth);
  return times;
}

std::vector<TimesTogether> together(const CornerTimes& a, const CornerTimes& b, Kernels kernels) {
  std::vector<TimesTogether> times;
  for (std::size_t i = 0; i < kCorners.size(); ++i) {
    times.push_back({a.corners[i], b.corners[i]});
    // The neighbour differs in its kernels alone.
    if (kernels == Kernels::different) times.push_back({a.corners[i], b.corners[i ^ kKernelsBit]});
  }
  return times;
}

Estimate<Seconds> difference(const CornerTimes& a, const CornerTimes& b, Kernels kernels,
                             Evidence evidence) {
  const Seconds value = a.value - b.value;
  Estimate<Seconds> range{value, value, value, evidence};
  for (const TimesTogether& times : together(a, b, kernels)) {
    range.low = std::min(range.low, times.a - times.b);
    range.high = std::max(range.high, times.a - times.b);
  }
  return range;
}

CornerTimes waited_times(const LaunchTime& launch, const Operation& operation,
                         const Execution& execution, Phase1Order phase1) {
  return corner_times(launch, [&](const TimeTerms& terms) {
    return phase1 == Phase1Order::hoisted ? critical_time(operation, execution, terms)
                                          : terms.total();
  });
}

std::optional<Estimate<Seconds>> base_step(const BaseStep& base, const CornerTimes& standard,
                                           Evidence evidence) {
  if (base.measured)
    return Estimate<Seconds>{*base.measured, *base.measured, *base.measured, Evidence::measured};
  if (!base.rest) return std::nullopt;
  const Estimate<Seconds> residual = standard.interval(evidence);
  return Estimate<Seconds>{base.rest->low + residual.low, base.rest->value + residual.value,
                           base.rest->high + residual.high, weakest(evidence, base.rest->evidence)};
}

std::optional<StepShares> step_shares(const BaseStep& base, const CornerTimes& residual,
                                      const CornerTimes& standard, Kernels kernels,
                                      Evidence evidence) {
  if (!base.measured && !base.rest) return std::nullopt;
  if (base.rest && !base.measured) evidence = weakest(evidence, base.rest->evidence);
  const auto overhead_at = [&](Seconds with, Seconds without, IntervalEnd end) {
    return (with - without) / step_with(base, without, end);
  };
  const double overhead = overhead_at(residual.value, standard.value, IntervalEnd::value);
  StepShares shares{.overhead = {overhead, overhead, overhead, evidence}};
  if (const auto share = share_at(base, residual.value, standard.value, IntervalEnd::value))
    shares.share = Estimate<double>{*share, *share, *share, evidence};
  for (const auto& [with, without] : together(residual, standard, kernels))
    for (const IntervalEnd end : {IntervalEnd::low, IntervalEnd::high}) {
      include(shares.overhead, overhead_at(with, without, end));
      const auto share = share_at(base, with, without, end);
      if (share && shares.share) include(*shares.share, *share);
    }
  return shares;
}

}  // namespace depthcost
