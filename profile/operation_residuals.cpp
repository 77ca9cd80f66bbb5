// An operation's interval is the range of its kernels, wider by what those need that were left out.
#include "profile/operation_residuals.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "model/schemes/list.hpp"
#include "profile/measured_shapes.hpp"
#include "profile/prediction_ratios.hpp"

namespace depthcost::profile {
namespace {

/// Kernels of other shapes are what an interval is for.
struct Shape {
  Count hidden_size = 0;
  Count num_tokens = 0;

  friend auto operator<=>(const Shape&, const Shape&) = default;
};

struct Ratio {
  Shape shape;
  double logarithm = 0;  // of measured over predicted
};

using Ratios = std::map<std::string, std::vector<Ratio>>;  // by operation

/// Another mechanism in the place of a shipped one, which other code of a kernel runs. The model
/// has one operation for both.
bool is_ablation(const StandaloneCall& call) {
  const auto slash = call.operation.find('/');
  if (slash == std::string::npos) return false;
  const std::string_view variant = std::string_view(call.operation).substr(slash + 1);
  const auto rules = scheme_rules();
  return std::any_of(rules.begin(), rules.end(),
                     [&](const SchemeRule* rule) { return rule->ablation == variant; });
}

/// The kernels of each operation that are not held out, small batches among them, and none of an
/// ablation.
Ratios ratios_by_operation(const Machine& machine, const Samples& samples) {
  Ratios ratios;
  for (const Cases cases : {Cases::calibration, Cases::small})
    each_kernel(samples, cases, [&](const KernelSample& kernel) {
      if (is_ablation(kernel.call)) return;
      ratios[std::string(name(find_operation(kernel.call)->id))].push_back(
          {{kernel.call.hidden_size, kernel.call.num_tokens}, std::log(ratio_of(machine, kernel))});
    });
  return ratios;
}

/// The range of the logarithms, with that of the prediction itself.
struct Hull {
  double low = 0;
  double high = 0;

  void add(double logarithm) {
    low = std::min(low, logarithm);
    high = std::max(high, logarithm);
  }
  double excess(double logarithm) const {
    return std::max({0.0, low - logarithm, logarithm - high});
  }
};

Hull hull_of(const std::vector<Ratio>& ratios) {
  Hull hull;
  for (const Ratio& ratio : ratios) hull.add(ratio.logarithm);
  return hull;
}

std::set<Shape> shapes_of(const std::vector<Ratio>& ratios) {
  std::set<Shape> shapes;
  for (const Ratio& ratio : ratios) shapes.insert(ratio.shape);
  return shapes;
}

/// How far each kernel lies outside the range of its operation's kernels of other shapes. None
/// where all have one shape.
std::vector<double> excesses_of(const std::vector<Ratio>& ratios) {
  std::vector<double> excesses;
  const std::set<Shape> shapes = shapes_of(ratios);
  if (shapes.size() < 2) return excesses;
  for (const Shape& left_out : shapes) {
    Hull hull;
    for (const Ratio& other : ratios)
      if (other.shape != left_out) hull.add(other.logarithm);
    for (const Ratio& own : ratios)
      if (own.shape == left_out) excesses.push_back(hull.excess(own.logarithm));
  }
  return excesses;
}

using Excesses = std::map<std::string, std::vector<double>>;

/// By how much more than its range an interval must hold, for as many kernels as promised to lie
/// inside. `left_out` is an operation that does not count. Nothing where too few are left.
std::optional<double> margin_of(const Excesses& excesses, const std::string& left_out = "") {
  std::vector<double> all;
  for (const auto& [operation, own] : excesses)
    if (operation != left_out) all.insert(all.end(), own.begin(), own.end());
  if (all.size() < kFewestRatios) return std::nullopt;
  return next_below(std::move(all), kPromisedShare);
}

/// Whether kernels of a left out shape lie inside, with the margin of the other operations.
Coverage coverage_of(const Excesses& excesses) {
  std::size_t inside = 0;
  std::size_t cases = 0;
  for (const auto& [operation, own] : excesses) {
    const auto margin = margin_of(excesses, operation);
    if (!margin) continue;
    cases += own.size();
    inside += static_cast<std::size_t>(
        std::count_if(own.begin(), own.end(), [&](double excess) { return excess <= *margin; }));
  }
  return {cases, binomial_share(inside, cases)};
}

}  // namespace

OperationIntervals operation_intervals(const Machine& machine, const Samples& samples) {
  const Ratios ratios = ratios_by_operation(machine, samples);
  Excesses excesses;
  for (const auto& [operation, own] : ratios)
    if (std::vector<double> left_out = excesses_of(own); !left_out.empty())
      excesses[operation] = std::move(left_out);
  const std::optional<double> margin = margin_of(excesses);
  if (!margin) return {};
  OperationIntervals intervals;
  for (const auto& [operation, own] : excesses) {
    const Hull hull = hull_of(ratios.at(operation));
    intervals.residuals.push_back(
        {operation,
         {std::exp(hull.low - *margin), 1, std::exp(hull.high + *margin), Evidence::calibrated}});
  }
  intervals.coverage = coverage_of(excesses);
  return intervals;
}

}  // namespace depthcost::profile
