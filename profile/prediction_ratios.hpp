// Measured over predicted time of a profile's own kernels, and what an interval over it promises.
#pragma once

#include "profile/profile.hpp"

namespace depthcost::profile {

/// An interval holds the next ratio this often.
inline constexpr double kPromisedShare = 0.90;

// The ranks of n ratios lie 1 / (n + 1) apart. From this n on 5 % and 95 % lie between ranks.
inline constexpr std::size_t kFewestRatios = 19;

double ratio_of(const Machine& machine, const KernelSample& kernel);

/// Visits the kernels of one kind of cases, without repeated measurements.
template <class Visit>
void each_kernel(const Samples& samples, Cases cases, const Visit& visit) {
  for (const KernelSample& kernel : samples.kernels)
    if (!kernel.is_again && cases_of(kernel) == cases) visit(kernel);
}

}  // namespace depthcost::profile
