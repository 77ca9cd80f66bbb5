// Verdicts, attributions and their statistics.
#include "model/machine/comparison.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace depthcost {
namespace {

// An excess this near to a whole number of d-vectors is rows that the ledger does not know.
constexpr double kWholeVector = 0.03;

// What an interval score adds for each unit outside a 90 % interval: 2 / (1 - 0.9).
constexpr double kPriceOfOutside = 20;

double relative_error(Seconds measured, Seconds predicted) { return measured / predicted - 1; }

double effective_tolerance(const Tolerance& tolerance, Seconds predicted) {
  return std::max(tolerance.relative, tolerance.absolute / predicted);
}

/// Half of the measurement's interval, relative.
double noise_of(const Estimate<Seconds>& measured) { return 0.5 * relative_width(measured); }

Agreement agreement_of(const Comparison& comparison) {
  const Estimate<Seconds>& measured = comparison.measured;
  const Seconds predicted = comparison.predicted.value;
  const double error = std::fabs(comparison.error);
  if (measured.value < kLeastShareOfBound * comparison.bound) return Agreement::impossible;
  if (error <= comparison.tolerance) return Agreement::pass;
  const bool noise_reaches_in = relative_error(measured.low, predicted) <= comparison.tolerance &&
                                relative_error(measured.high, predicted) >= -comparison.tolerance;
  const bool is_unsure = noise_reaches_in || error <= comparison.noise || comparison.is_inside;
  return is_unsure ? Agreement::ambiguous : Agreement::fail;
}

Attribution launch_attribution(const Comparison& comparison) {
  return {Term::launch, (comparison.measured.value - comparison.predicted.value).value};
}

/// What is not launch, at the rate that was predicted and at the one that was achieved. Terms that
/// add up are slower together: which of them it is a single time cannot say.
Attribution rate_attribution(const Comparison& comparison, Term term) {
  const Seconds floor = comparison.terms.floor;
  const Seconds achieved = comparison.measured.value - floor;
  if (achieved <= Seconds{}) return launch_attribution(comparison);
  return {term, (comparison.predicted.value - floor) / achieved};
}

/// d-vectors of a token that a launch moves, and with its share of the parameters among them.
struct MovedVectors {
  double of_token = 0;
  double with_parameters = 0;
};

MovedVectors moved_vectors(const Operation& operation, const Execution& execution) {
  const VectorStorage& types = execution.storage;
  const double of_token = total_d(traffic(operation));
  return {of_token, of_token + parameter_bytes(operation, types) /
                                   (execution.tokens * storage(types.hidden_size, types.dtype))};
}

/// How many more d-vectors than the ledger counts the predicted bandwidth would have moved in the
/// time above the floor.
Attribution bytes_attribution(const Comparison& comparison, const MovedVectors& vectors) {
  const TimeTerms& terms = comparison.terms;
  const Seconds moving = comparison.measured.value - terms.floor - terms.on_top;
  const double excess = vectors.with_parameters * (moving / terms.bytes - 1);
  const double whole = std::round(excess);
  // No kernel moves everything a second time and more: such an excess is something else.
  const bool is_whole =
      whole >= 1 && whole <= vectors.of_token && std::fabs(excess - whole) <= kWholeVector;
  return is_whole ? Attribution{Term::bytes, excess}
                  : rate_attribution(comparison, Term::bandwidth);
}

Attribution attribution_of(const Comparison& comparison, const TimeTerms& bounds,
                           const MovedVectors& vectors) {
  const TimeTerms& terms = comparison.terms;
  if (comparison.agreement == Agreement::impossible && bounds.bytes >= comparison.bound)
    return {Term::bytes, vectors.of_token * (comparison.measured.value / comparison.bound - 1)};
  const Seconds operations = terms.operations + terms.on_top;
  const Seconds rates = std::max(terms.bytes, operations);
  if (terms.floor >= std::max(rates, terms.token)) return launch_attribution(comparison);
  if (terms.token > rates) return {Term::latency, launch_attribution(comparison).amount};
  if (terms.bytes >= operations) return bytes_attribution(comparison, vectors);
  return rate_attribution(comparison, Term::arithmetic);
}

}  // namespace

Estimate<Seconds> predicted_time(const LaunchTime& launch) {
  const Seconds value = launch.terms({}).total();
  Estimate<Seconds> time{value, value, value, launch.evidence()};
  for (const TimeTerms& at_corner : launch.corner_terms()) {
    time.low = std::min(time.low, at_corner.total());
    time.high = std::max(time.high, at_corner.total());
  }
  return time;
}

Comparison compare(const Machine& machine, const Operation& operation, const Execution& execution,
                   const Estimate<Seconds>& measured, const Tolerance& tolerance) {
  assert(measured.value > Seconds{});
  const LaunchTime launch(machine, operation, execution);
  Comparison comparison{.measured = measured,
                        .predicted = predicted_time(launch),
                        .terms = launch.terms({}),
                        .bound = launch.bound()};
  const Estimate<Seconds>& predicted = comparison.predicted;
  comparison.error = relative_error(measured.value, predicted.value);
  comparison.is_inside = predicted.low <= measured.value && measured.value <= predicted.high;
  comparison.tolerance = effective_tolerance(tolerance, predicted.value);
  comparison.noise = tolerance.noise_multiple * noise_of(measured);
  comparison.agreement = agreement_of(comparison);
  comparison.attribution =
      attribution_of(comparison, launch.bounds(), moved_vectors(operation, execution));
  return comparison;
}

double interval_score(const Estimate<Seconds>& predicted, Seconds measured) {
  const Seconds outside = std::max(Seconds{}, predicted.low - measured) +
                          std::max(Seconds{}, measured - predicted.high);
  return (predicted.high - predicted.low + kPriceOfOutside * outside) / measured;
}

ErrorSummary summary_of(std::span<const Comparison> comparisons) {
  if (comparisons.empty()) return {};
  std::vector<double> errors;
  ErrorSummary summary{.cases = comparisons.size()};
  double inside = 0;
  double score = 0;
  for (const Comparison& comparison : comparisons) {
    errors.push_back(std::fabs(comparison.error));
    if (std::fabs(comparison.error) > std::fabs(summary.worst)) summary.worst = comparison.error;
    inside += comparison.is_inside ? 1 : 0;
    score += interval_score(comparison.predicted, comparison.measured.value);
  }
  std::sort(errors.begin(), errors.end());
  const auto count = static_cast<double>(errors.size());
  summary.median = 0.5 * (errors[(errors.size() - 1) / 2] + errors[errors.size() / 2]);
  summary.p90 = errors[static_cast<std::size_t>(std::ceil(0.9 * count)) - 1];
  summary.inside = inside / count;
  summary.score = score / count;
  return summary;
}

}  // namespace depthcost
