// Verdicts, attributions and their statistics.
#include "model/comparison.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace depthcost {
namespace {

// An excess this near to a whole number of d-vectors is rows that the ledger does not know.
constexpr double kWholeVector = 0.03;

double relative_error(Seconds measured, Seconds predicted) { return measured / predicted - 1; }

double effective_tolerance(const Tolerance& tolerance, const MeasuredTime& measured,
                           Seconds predicted) {
  const double noise = 0.5 * ((measured.high - measured.low) / measured.median);
  return std::max(
      {tolerance.relative, tolerance.absolute / predicted, tolerance.noise_multiple * noise});
}

Agreement agreement_of(const Comparison& comparison) {
  const MeasuredTime& measured = comparison.measured;
  const Seconds predicted = comparison.predicted.value;
  if (measured.median < kLeastShareOfBound * comparison.bound) return Agreement::impossible;
  if (std::fabs(comparison.error) <= comparison.tolerance) return Agreement::pass;
  const bool noise_reaches_in = relative_error(measured.low, predicted) <= comparison.tolerance &&
                                relative_error(measured.high, predicted) >= -comparison.tolerance;
  return noise_reaches_in || comparison.is_inside ? Agreement::ambiguous : Agreement::fail;
}

/// At the predicted bandwidth the time between floor and measurement moves so many d-vectors more
/// than the ledger says.
Attribution bytes_attribution(const Comparison& comparison, double rows) {
  const Seconds moving =
      comparison.measured.median - comparison.terms.floor - comparison.terms.on_top;
  const double excess = rows * (moving / comparison.terms.bytes - 1);
  const double whole = std::round(excess);
  const bool is_impossible = comparison.agreement == Agreement::impossible;
  // No kernel moves everything a second time and more: such an excess is something else.
  const bool is_whole = whole >= 1 && whole <= rows && std::fabs(excess - whole) <= kWholeVector;
  if (is_impossible || is_whole) return {Term::bytes, excess};
  // Measured below the floor that was predicted: only the whole time says something.
  const Seconds achieved = moving > Seconds{} ? moving : comparison.measured.median;
  return {Term::bandwidth, comparison.terms.bytes / achieved};
}

/// d-vectors of a token that a launch moves, its share of the parameters among them.
double rows_of(const Operation& operation, const Execution& execution) {
  const VectorStorage& types = execution.storage;
  return total_d(traffic(operation)) +
         parameter_bytes(operation, types) /
             (execution.tokens * storage(types.hidden_size, types.dtype));
}

Attribution attribution_of(const Comparison& comparison, double rows) {
  const TimeTerms& terms = comparison.terms;
  const Seconds difference = comparison.measured.median - comparison.predicted.value;
  const Seconds operations = terms.operations + terms.on_top;
  if (terms.floor >= std::max(terms.bytes, operations)) return {Term::launch, difference.value};
  if (terms.bytes >= operations) return bytes_attribution(comparison, rows);
  const Seconds computing = comparison.measured.median - terms.floor;
  if (computing <= Seconds{}) return {Term::launch, difference.value};
  return {Term::arithmetic, operations / computing};
}

}  // namespace

std::string_view name(Agreement agreement) {
  constexpr std::array<std::string_view, 4> names{"pass", "fail", "ambiguous", "impossible"};
  return names[static_cast<std::size_t>(agreement)];
}

std::string_view name(Term term) {
  constexpr std::array<std::string_view, 4> names{"bytes", "bandwidth", "launch", "arithmetic"};
  return names[static_cast<std::size_t>(term)];
}

Estimate<Seconds> predicted_time(const LaunchTime& launch) {
  const Seconds value = launch.terms({}).total();
  Estimate<Seconds> time{value, value, value, launch.evidence()};
  for (const Corner& corner : kCorners) {
    const Seconds at_corner = launch.terms(corner).total();
    time.low = std::min(time.low, at_corner);
    time.high = std::max(time.high, at_corner);
  }
  return time;
}

Comparison compare(const Machine& machine, const Operation& operation, const Execution& execution,
                   const MeasuredTime& measured, const Tolerance& tolerance) {
  assert(measured.median > Seconds{});
  const LaunchTime launch(machine, operation, execution);
  Comparison comparison{.measured = measured,
                        .predicted = predicted_time(launch),
                        .terms = launch.terms({}),
                        .bound = launch.bound()};
  const Estimate<Seconds>& predicted = comparison.predicted;
  comparison.error = relative_error(measured.median, predicted.value);
  comparison.is_inside = predicted.low <= measured.median && measured.median <= predicted.high;
  comparison.tolerance = effective_tolerance(tolerance, measured, predicted.value);
  comparison.agreement = agreement_of(comparison);
  comparison.attribution = attribution_of(comparison, rows_of(operation, execution));
  return comparison;
}

ErrorSummary summary_of(std::span<const Comparison> comparisons) {
  if (comparisons.empty()) return {};
  std::vector<double> errors;
  ErrorSummary summary{.cases = comparisons.size()};
  double inside = 0;
  for (const Comparison& comparison : comparisons) {
    errors.push_back(std::fabs(comparison.error));
    if (std::fabs(comparison.error) > std::fabs(summary.worst)) summary.worst = comparison.error;
    inside += comparison.is_inside ? 1 : 0;
  }
  std::sort(errors.begin(), errors.end());
  const auto count = static_cast<double>(errors.size());
  summary.median = 0.5 * (errors[(errors.size() - 1) / 2] + errors[errors.size() / 2]);
  summary.p90 = errors[static_cast<std::size_t>(std::ceil(0.9 * count)) - 1];
  summary.inside = inside / count;
  return summary;
}

}  // namespace depthcost
