// Quantiles, the bootstrap, and the interval of a share.
#include "profile/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace depthcost::profile {
namespace {

constexpr std::size_t kResamples = 400;

/// SplitMix64: Steele, Lea, Flood, OOPSLA 2014.
class Random {
 public:
  std::size_t below(std::size_t limit) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return static_cast<std::size_t>((x ^ (x >> 31U)) % limit);
  }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double rest = place - static_cast<double>(below);
  return values[below] + rest * (values[above] - values[below]);
}

double next_below(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const double place = std::clamp(share * (n + 1) - 1, 0.0, n - 1);
  return quantile(std::move(values), place / std::max(1.0, n - 1));
}

Estimate<Seconds> typical_time(std::span<const double> seconds) {
  Random random;
  std::vector<double> times;
  std::vector<double> drawn(seconds.size());
  for (std::size_t i = 0; i < kResamples; ++i) {
    for (double& value : drawn) value = seconds[random.below(seconds.size())];
    times.push_back(typical(drawn));
  }
  return {
      {quantile(times, 0.05)}, {typical(seconds)}, {quantile(times, 0.95)}, Evidence::calibrated};
}

Estimate<double> binomial_share(std::size_t inside, std::size_t cases) {
  if (cases == 0) return {0, 0, 1, Evidence::calibrated};
  constexpr double kZ = 1.959963984540054;  // 97.5 % of a normal distribution
  const auto n = static_cast<double>(cases);
  const double p = static_cast<double>(inside) / n;
  const double denominator = 1 + kZ * kZ / n;
  const double centre = (p + kZ * kZ / (2 * n)) / denominator;
  const double half = kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n)) / denominator;
  return {std::max(0.0, centre - half), p, std::min(1.0, centre + half), Evidence::calibrated};
}

}  // namespace depthcost::profile
