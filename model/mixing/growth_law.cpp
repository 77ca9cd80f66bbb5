// Least squares, law by law.
#include "model/mixing/growth_law.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace depthcost {
namespace {

using Values = std::span<const double>;

double mean(Values values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / as_double(std::ssize(values));
}

double transformed(GrowthLaw law, double r) {
  if (law == GrowthLaw::square_root) return r * r;
  return law == GrowthLaw::exponential ? std::log(r) : r;
}

/// log r of what the law's straight line says; not a number where no r could be meant.
double log_of_line(GrowthLaw law, double line) {
  if (law == GrowthLaw::exponential) return line;
  return law == GrowthLaw::square_root ? std::log(line) / 2 : std::log(line);
}

/// y = a + b l: slope and error do not depend on which layer comes first.
Growth fit(GrowthLaw law, Values r) {
  const double n = as_double(std::ssize(r));
  double sum_y = 0;
  double sum_ly = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double y = transformed(law, r[i]);
    sum_y += y;
    sum_ly += as_double(static_cast<Count>(i)) * y;
  }
  const double mean_i = (n - 1) / 2;
  const double slope = (sum_ly - mean_i * sum_y) / (n * (n * n - 1) / 12);
  double squares = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double line = sum_y / n + slope * (as_double(static_cast<Count>(i)) - mean_i);
    const double error = std::log(r[i]) - log_of_line(law, line);
    squares += error * error;
  }
  const double error = std::sqrt(squares / n);
  return {law, slope, std::isnan(error) ? std::numeric_limits<double>::infinity() : error, 0};
}

}  // namespace

Growth fitted_growth(Values magnitudes) {
  assert(std::ssize(magnitudes) >= kMinGrowthLayers);
  constexpr double kBoundedGrowth = 1.2;
  const std::size_t quarter = magnitudes.size() / 4;
  const double before = mean(magnitudes.subspan(quarter, quarter));
  const double last = mean(magnitudes.last(quarter));
  const double largest = *std::max_element(magnitudes.begin(), magnitudes.end());
  const Values behind = magnitudes.subspan(magnitudes.size() / 8);
  if (last < kBoundedGrowth * before) {
    const double level = mean(behind);
    double squares = 0;
    for (const double r : behind) squares += std::pow(std::log(r / level), 2);
    return {GrowthLaw::bounded, 0, std::sqrt(squares / as_double(std::ssize(behind))), largest};
  }
  Growth best{GrowthLaw::bounded, 0, std::numeric_limits<double>::infinity(), largest};
  for (const GrowthLaw law : {GrowthLaw::square_root, GrowthLaw::linear, GrowthLaw::exponential}) {
    const Growth growth = fit(law, behind);
    if (growth.error < best.error) best = {law, growth.per_layer, growth.error, largest};
  }
  return best;
}

std::optional<double> recurrence(Values magnitudes, Count period) {
  if (std::ssize(magnitudes) < 3 * period) return std::nullopt;
  const auto lag = static_cast<std::size_t>(period);
  const Values first = magnitudes.subspan(lag, magnitudes.size() - 2 * lag);
  const Values second = magnitudes.subspan(2 * lag);
  const double mean_first = mean(first);
  const double mean_second = mean(second);
  double covariance = 0;
  double variance_first = 0;
  double variance_second = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double a = first[i] - mean_first;
    const double b = second[i] - mean_second;
    covariance += a * b;
    variance_first += a * a;
    variance_second += b * b;
  }
  if (variance_first == 0 || variance_second == 0) return std::nullopt;
  return covariance / std::sqrt(variance_first * variance_second);
}

}  // namespace depthcost
