// Times at every corner of what is not known, so that two of them can be compared: floor, bandwidth
// and residency are one truth for both, their kernels are not. REFERENCES.md, "intervals".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/machine/time.hpp"
#include "model/schemes/scheme.hpp"

namespace depthcost {

/// Seconds at each corner and in the middle, for one launch or a sum of launches.
struct CornerTimes {
  std::array<Seconds, kCorners.size()> corners{};
  TimeTerms terms;  // in the middle; of a sum the binding ones of each launch
  Seconds value;

  void add(double calls, const CornerTimes& launch);
  Estimate<Seconds> interval(Evidence evidence) const;
};

/// What ranks send, which is slow where bandwidth is.
CornerTimes transfer_times(const Estimate<Seconds>& transfer);

/// Whether two paths run the same kernels, which are then as good in one as in the other.
enum class Kernels : std::uint8_t { same, different };

/// Times of two paths in one truth.
struct TimesTogether {
  Seconds a;
  Seconds b;
};

/// Every corner of what two paths share, with each end of their kernels.
std::vector<TimesTogether> together(const CornerTimes& a, const CornerTimes& b, Kernels kernels);

/// a - b, taken corner by corner, not from the ends of two intervals.
Estimate<Seconds> difference(const CornerTimes& a, const CornerTimes& b, Kernels kernels,
                             Evidence evidence);

/// `seconds_of` says for how many of a launch's a step waits.
template <class SecondsOf>
CornerTimes corner_times(const LaunchTime& launch, const SecondsOf& seconds_of) {
  CornerTimes times{.terms = launch.terms({})};
  times.value = seconds_of(times.terms);
  const auto corners = launch.corner_terms();
  for (std::size_t i = 0; i < kCorners.size(); ++i) times.corners[i] = seconds_of(corners[i]);
  return times;
}

/// How long a step waits for the launch: for all of it, or for its critical part where Phase 1 is
/// hoisted.
CornerTimes waited_times(const LaunchTime& launch, const Operation& operation,
                         const Execution& execution, Phase1Order phase1);

/// The step that per cent are of: with the fused standard residual.
struct BaseStep {
  std::optional<Seconds> measured;        // by the user: it holds the residual at every corner
  std::optional<Estimate<Seconds>> rest;  // modelled: the standard residual comes on top
};

/// The whole step with the standard residual; nothing where neither is known.
std::optional<Estimate<Seconds>> base_step(const BaseStep& base, const CornerTimes& standard,
                                           Evidence evidence);

/// overhead = (t - t_base) / t_base, what papers mean; share = residual / step, what a profiler
/// shows. Never mixed.
struct StepShares {
  Estimate<double> overhead;
  std::optional<Estimate<double>> share;
};

/// At every corner, and at both ends of the rest where that is modelled. A corner at which the
/// standard residual alone is longer than the measured step is not the truth and has no share;
/// where the middle is none, nothing is known.
std::optional<StepShares> step_shares(const BaseStep& base, const CornerTimes& residual,
                                      const CornerTimes& standard, Kernels kernels,
                                      Evidence evidence);

}  // namespace depthcost
