// A measured time held against the predicted one: how far apart, whether that can be true at all,
// and which term of the time formula the difference consists of.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/machine/catalogue.hpp"
#include "model/machine/time.hpp"

namespace depthcost {

/// How far a prediction may be off: the larger of the first two counts. An error that noise
/// explains is no failure, and no pass either: a measurement is not the better for being noisy.
struct Tolerance {
  double relative = 0;        // of the prediction
  Seconds absolute;           // what a timer cannot resolve
  double noise_multiple = 0;  // times the half-width of the measurement, relative to its value
};

/// `ambiguous`: outside the tolerance, but the noise of the measurement reaches into it or is as
/// large as the error, or the prediction never claimed to be so exact (the measurement lies in its
/// interval). `impossible`: faster than the bound, so that a formula, a ceiling or the measurement
/// is wrong.
enum class Agreement { pass, fail, ambiguous, impossible };

/// A measurement below this share of the bound is impossible; what is left is the timer's.
inline constexpr double kLeastShareOfBound = 0.97;

/// The term that explains a difference. A ratio is of the rate at which everything but the launch
/// was done: 1 if as predicted, below 1 if slower. A difference is 0 if as predicted, positive if
/// slower.
///   arithmetic  operations dominate the prediction; amount: achieved / predicted rate
///   launch      the floor does, or alone takes longer than was measured; amount: measured -
///               predicted, seconds
///   latency     one token's way through its CTAs and dependent steps do; amount: as of launch
///   bytes       bytes do, and the excess is a whole number of a token's d-vectors (by 0.03, and no
///               more than the ledger has); amount: d-vectors more at the predicted bandwidth. Or
///               they make the time impossible; amount: how many the ceilings leave no time for,
///               negative
///   bandwidth   bytes do, and neither holds; amount: achieved / predicted bandwidth
enum class Term { bytes, bandwidth, launch, arithmetic, latency };

struct Attribution {
  Term term = Term::bandwidth;
  double amount = 1;
};

/// One call, measured and predicted. The measured value is what the owner of the repetitions calls
/// typical; for our own samples that is the lower quartile (profile/statistics.hpp). A measurement
/// without repetitions has no width.
struct Comparison {
  Estimate<Seconds> measured;
  Estimate<Seconds> predicted;
  TimeTerms terms;  // of `predicted`'s value
  Seconds bound;
  double error = 0;        // measured / predicted - 1: positive where reality is slower
  bool is_inside = false;  // the measured value lies in the predicted interval
  double tolerance = 0;    // that counts, relative to the prediction
  double noise = 0;        // an error beyond the tolerance and up to this is ambiguous
  Agreement agreement = Agreement::pass;
  Attribution attribution;
};

/// A launch is large whose floor is at most this share of its time: bytes or arithmetic count.
inline constexpr double kLargestFloorShare = 0.1;

inline bool is_large(const Comparison& comparison) {
  return comparison.terms.floor <= kLargestFloorShare * comparison.predicted.value;
}

/// The prediction for one launch alone, with its 90 % interval.
Estimate<Seconds> predicted_time(const LaunchTime& launch);

/// `measured` is positive.
Comparison compare(const Machine& machine, const Operation& operation, const Execution& execution,
                   const Estimate<Seconds>& measured, const Tolerance& tolerance);

/// One rule of a tolerance file.
struct ToleranceRule {
  std::string match;  // pattern of case ids
  Tolerance tolerance;
  bool blocks = true;  // a failure is the gate's, not only the report's
  std::string reason;
  std::string file;
  int line = 1;
};

/// What somebody's kernel takes for the same call.
struct StackTime {
  std::string stack;  // "vLLM 0.24.0"; empty: a user's own
  Seconds time;
  double error = 0;  // against the same prediction
};

/// What a gate makes of a case that is ambiguous although its rule promises something.
enum class Ambiguities { warn, fail };

/// One call on one device, judged by the fastest kernel that does it.
struct ComparedCase {
  std::string id;
  std::string hardware;
  std::string hardware_name;  // as the machine calls itself
  StandaloneCall call;
  std::vector<StackTime> stacks;  // fastest first, never empty
  Comparison comparison;          // of the fastest
  Count samples = 0;              // repetitions of the fastest; 0: not known
  ToleranceRule rule;
  std::string file = {};  // of its row, or of the samples; else its rule says
  int line = 1;
  Ambiguities ambiguities = Ambiguities::warn;

  /// How much longer the slowest takes than the fastest: what is no fault of a prediction.
  double scatter() const { return stacks.back().time / stacks.front().time - 1; }
  bool is_blocked() const;
};

/// Does the gate say no? What is impossible is wrong, whatever a rule promises.
inline bool ComparedCase::is_blocked() const {
  const Agreement agreement = comparison.agreement;
  const bool is_broken = agreement == Agreement::fail ||
                         (agreement == Agreement::ambiguous && ambiguities == Ambiguities::fail);
  return agreement == Agreement::impossible || (rule.blocks && is_broken);
}

/// How good an interval was, [gneiting_raftery] Eq. 43 over the measurement: the width of the 90 %
/// interval, and 2 / (1 - 0.9) = 20 times how far the measurement lies outside. Smaller is better:
/// a wider interval pays for its width, a narrow one for what it misses.
double interval_score(const Estimate<Seconds>& predicted, Seconds measured);

/// Errors of many cases. The 90th percentile is the nearest rank.
struct ErrorSummary {
  std::size_t cases = 0;
  double median = 0;  // of |error|
  double p90 = 0;     // of |error|
  double worst = 0;   // the largest, with its sign
  double inside = 0;  // share of cases inside the predicted interval
  double score = 0;   // interval_score(), in the mean
};

ErrorSummary summary_of(std::span<const Comparison> comparisons);

}  // namespace depthcost
