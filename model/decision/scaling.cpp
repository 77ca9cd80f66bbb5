// Power laws and their inverses.
#include "model/decision/scaling.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace depthcost {

PowerLaw published_fit(FittedScheme scheme) {
  constexpr std::array fits{PowerLaw{1.891, 0.057}, PowerLaw{1.870, 0.058}, PowerLaw{1.865, 0.057}};
  return fits[static_cast<std::size_t>(scheme)];
}

double loss_at(const PowerLaw& law, double compute) {
  return law.a * std::pow(compute, -law.exponent);
}

double compute_for(const PowerLaw& law, double loss) {
  return std::pow(law.a / loss, 1 / law.exponent);
}

double equivalent_compute(const PowerLaw& baseline, const PowerLaw& law, double compute) {
  return compute_for(baseline, loss_at(law, compute));
}

Estimate<double> compute_advantage(FittedScheme scheme, double compute) {
  const PowerLaw baseline = published_fit(FittedScheme::baseline);
  const PowerLaw law = published_fit(scheme);
  const auto at = [&](const PowerLaw& from, const PowerLaw& to) {
    return equivalent_compute(from, to, compute) / compute;
  };
  const double value = at(baseline, law);
  Estimate<double> advantage{value, value, value, Evidence::published};
  // Monotone in each coefficient, so that the extremes lie at corners.
  for (unsigned corner = 0; corner < 16; ++corner) {
    const auto shifted = [&](double coefficient, unsigned bit) {
      return coefficient + ((corner >> bit & 1U) != 0 ? kHalfOfLastDigit : -kHalfOfLastDigit);
    };
    const double ratio = at({shifted(baseline.a, 0), shifted(baseline.exponent, 1)},
                            {shifted(law.a, 2), shifted(law.exponent, 3)});
    advantage.low = std::min(advantage.low, ratio);
    advantage.high = std::max(advantage.high, ratio);
  }
  return advantage;
}

}  // namespace depthcost
