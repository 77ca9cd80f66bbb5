// The scaling laws that the paper fits to its losses, and what a lower loss is worth in compute:
// [attnres] Fig. 4 and Sec. 5.1. Evidence, not a prediction: it holds for the paper's recipe alone.
#pragma once

#include <cstdint>

#include "model/base/evidence.hpp"

namespace depthcost {

/// Rounded to so much on each side: coefficients are published with three decimals.
inline constexpr double kHalfOfLastDigit = 0.0005;

/// loss = a C^-exponent, C in PFLOP/s-days.
struct PowerLaw {
  double a = 1;
  double exponent = 1;
};

enum class FittedScheme : std::uint8_t { baseline, block_attnres, full_attnres };

/// [attnres] Fig. 4. Block AttnRes has about 8 blocks; hyperparameters are the baseline's best.
PowerLaw published_fit(FittedScheme scheme);

/// The span of compute that the fits were made over, in PFLOP/s-days: Fig. 4's first tick and
/// Sec. 5.1's last figure. Outside of it they say nothing.
inline constexpr double kLeastFittedCompute = 0.5;
inline constexpr double kMostFittedCompute = 5.6;

constexpr bool is_inside_fit(double compute) {
  return compute >= kLeastFittedCompute && compute <= kMostFittedCompute;
}

///   loss = a C^-exponent
/// [attnres] Sec. 5.1, which prints the exponent without its sign.
double loss_at(const PowerLaw& law, double compute);

/// Compute that the law needs for a loss.
///   C = (a / loss)^(1 / exponent)
/// [ours], the inverse of the above.
double compute_for(const PowerLaw& law, double loss);

/// Compute that the baseline needs for the loss that `law` reaches with `compute`.
double equivalent_compute(const PowerLaw& baseline, const PowerLaw& law, double compute);

/// How many times `compute`, in PFLOP/s-days, the baseline needs for the same loss. The interval
/// spans all four coefficients of the two laws, anywhere within their last digit.
Estimate<double> compute_advantage(FittedScheme scheme, double compute);

}  // namespace depthcost
