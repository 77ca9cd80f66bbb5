// The scaling laws that the paper fits to its losses, and what a lower loss is worth in compute:
// [attnres] Fig. 4 and Sec. 5.1. Evidence, not a prediction: it holds for the paper's recipe alone.
#pragma once

#include <cstdint>

#include "model/base/enum_names.hpp"

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

/// Two laws at one compute: how many times as much the baseline needs. `low` and `high` are the
/// extremes over all four coefficients anywhere within their last digit.
struct ComputeAdvantage {
  double compute = 0;  // PFLOP/s-days
  double low = 1;
  double value = 1;
  double high = 1;
};

ComputeAdvantage compute_advantage(FittedScheme scheme, double compute);

/// Compute at which two laws reach the same loss.
///   C = (a1 / a2)^(1 / (exponent1 - exponent2))
/// [ours]; infinite or zero where they never meet.
double crossing(const PowerLaw& first, const PowerLaw& second);

}  // namespace depthcost
