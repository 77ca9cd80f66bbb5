// Two results held against each other: which predictions moved, how far, and whether out of the
// interval that the old result gave.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace depthcost {

/// What a number counts; of `plain` ones its name says it.
enum class PredictedUnit { plain, d_vectors, bytes, seconds, ratio };

/// One predicted number, in base units.
struct PredictedQuantity {
  std::string name;  // "delta_seconds"
  PredictedUnit unit = PredictedUnit::plain;
  double value = 0;
  std::optional<double> low;  // of its 90 % interval; both ends or none
  std::optional<double> high;
};

/// Quantities of one thing, which is found again in another result by section and name.
struct PredictedRow {
  std::string section;  // "step"
  std::string name;  // "decode/64 block_attnres single_pass"; empty where the section has one row
  std::vector<PredictedQuantity> quantities;
};

/// A word under its name: an input as it is written, or a verdict.
struct NamedWord {
  std::string name;
  std::string word;
};

/// "decode/64" of "decode/64 block_attnres two_phase", if that is the path; else empty.
std::string workload_of_path(std::string_view row, std::string_view path);

/// What one evaluation said. No row twice, no quantity of a row twice.
struct Result {
  std::string program_version;
  std::string scenario;
  std::vector<NamedWord> inputs;
  std::vector<std::string> defaults;  // names of the inputs that nobody wrote
  std::vector<PredictedRow> rows;
  std::vector<NamedWord> verdicts;  // "budgets.prefill_bank", "OK"
  std::string path;                 // of the scenario: "block_attnres single_pass"; may be empty
};

/// Where a new value lies, seen from the old interval; `none` where there was no interval.
enum class OldInterval { none, inside, below, above };

/// A prediction that is in both results, with different numbers.
struct Move {
  std::string section;
  std::string row;
  PredictedQuantity before;
  PredictedQuantity after;
  std::optional<double> relative;  // change / |old value|; nothing from zero
  double size = 0;                 // largest |relative| of value and ends; infinite from zero
  OldInterval place = OldInterval::none;
  bool is_beyond = false;  // the tolerance
  bool is_better = false;  // every prediction is a cost: neither it nor its high end grew
  bool counts = true;      // towards what holds

  double change() const { return after.value - before.value; }
};

/// A word that is not the same in both; empty where it is missing.
struct ChangedWord {
  std::string name;
  std::string before;
  std::string after;
};

/// A prediction that only one of the two results holds.
struct LonePrediction {
  std::string section;
  std::string row;
  std::string quantity;  // empty: the whole row
  bool counts = true;    // towards what holds
};

/// Predictions of one section that are in both results, by what became of them.
struct SectionSummary {
  std::string section;
  std::size_t num_compared = 0;
  std::size_t num_moved = 0;
  std::size_t num_beyond = 0;   // the tolerance
  std::size_t num_outside = 0;  // the old interval
  double largest = 0;           // size of the largest move
};

/// Whether a change for the better counts as one that breaks the agreement.
enum class Improvements { allowed, refused };

/// Whether a verdict became better: fail < unknown < pass. Not where one of both is missing.
bool is_better(const ChangedWord& verdict);

struct Difference {
  std::vector<SectionSummary> sections;  // in the order of the old result
  std::vector<Move> moves;               // as above
  std::vector<LonePrediction> removed;   // as above
  std::vector<LonePrediction> added;     // in the order of the new result
  std::vector<ChangedWord> verdicts;     // changed, gone or new
  std::vector<ChangedWord> inputs;
  /// Whether everything counts: both ask the same, or nobody knows the old scheme and schedule. A
  /// limit is no question, nor is a default that one of both does not list.
  bool counts_all = true;
  /// Whether a training step has as much work as before. Where it has not, its seconds do not
  /// count: a step of twice the tokens is longer, and no worse.
  bool trains_as_much = true;

  /// Nothing that counts moved beyond the tolerance, no verdict changed, and the new result lacks
  /// nothing that counts of the old one. Changes for the better are left out if they are allowed.
  /// Everything counts if both results ask the same (`counts_all`). Otherwise the budgets count and
  /// the steps of the scenario's own path, since the rest is about different things. What the
  /// new result says in addition does not count, nor do inputs, but for the limit of a budget: who
  /// changes or drops one means to, and renews the old result.
  bool holds(Improvements improvements = Improvements::allowed) const;

  /// Limits that changed or are gone.
  std::vector<ChangedWord> changed_limits() const;
};

/// `tolerance`: relative to the old number, of a value and of each end of its interval.
Difference difference(const Result& before, const Result& after, double tolerance);

}  // namespace depthcost
