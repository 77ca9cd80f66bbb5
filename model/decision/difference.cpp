// Rows are found by section and name, quantities within a row by name.
#include "model/decision/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "model/base/decimal.hpp"

namespace depthcost {
namespace {

/// Rows by section and name; neither holds a line feed.
class RowIndex {
 public:
  explicit RowIndex(const std::vector<PredictedRow>& rows) {
    for (const PredictedRow& row : rows) row_of_.emplace(key(row), &row);
  }

  const PredictedRow* find(const PredictedRow& like) const {
    const auto found = row_of_.find(key(like));
    return found == row_of_.end() ? nullptr : found->second;
  }

 private:
  static std::string key(const PredictedRow& row) { return row.section + "\n" + row.name; }

  std::unordered_map<std::string, const PredictedRow*> row_of_;
};

/// Finds elements by their names. A search of the list for each would be quadratic.
template <class Named>
class NameIndex {
 public:
  explicit NameIndex(const std::vector<Named>& elements) {
    for (const Named& element : elements) element_of_.emplace(element.name, &element);
  }

  const Named* find(std::string_view name) const {
    const auto found = element_of_.find(name);
    return found == element_of_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, const Named*> element_of_;
};

/// |new - old| / |old|; nothing is infinitely far from zero but itself.
double relative_size(double before, double after) {
  if (before == after) return 0;
  return before == 0 ? std::numeric_limits<double>::infinity()
                     : std::fabs(after - before) / std::fabs(before);
}

/// An end that comes or goes is no small change.
double relative_size(const std::optional<double>& before, const std::optional<double>& after) {
  if (before.has_value() != after.has_value()) return std::numeric_limits<double>::infinity();
  return before ? relative_size(*before, *after) : 0;
}

/// Whether an end did not grow. One that comes or goes says nothing.
bool is_no_larger(const std::optional<double>& before, const std::optional<double>& after) {
  if (before.has_value() != after.has_value()) return false;
  return !before || *after <= *before;
}

OldInterval place_of(const PredictedQuantity& before, double value) {
  if (!before.low) return OldInterval::none;
  if (value < *before.low) return OldInterval::below;
  return value > *before.high ? OldInterval::above : OldInterval::inside;
}

Move move_of(const PredictedRow& row, const PredictedQuantity& before,
             const PredictedQuantity& after, double tolerance) {
  Move move{.section = row.section, .row = row.name, .before = before, .after = after};
  move.size =
      std::max({relative_size(before.value, after.value), relative_size(before.low, after.low),
                relative_size(before.high, after.high)});
  move.is_beyond = move.size > tolerance;
  move.is_better = after.value <= before.value && is_no_larger(before.high, after.high);
  if (before.value != 0) move.relative = move.change() / std::fabs(before.value);
  move.place = place_of(before, after.value);
  return move;
}

SectionSummary& summary_of(const std::string& section, std::vector<SectionSummary>& sections) {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const SectionSummary& it) { return it.section == section; });
  if (found != sections.end()) return *found;
  return sections.emplace_back(SectionSummary{.section = section});
}

void compare_rows(const PredictedRow& before, const PredictedRow& after, double tolerance,
                  Difference& result) {
  SectionSummary& summary = summary_of(before.section, result.sections);
  const NameIndex old_quantities(before.quantities);
  const NameIndex new_quantities(after.quantities);
  for (const PredictedQuantity& old : before.quantities) {
    const PredictedQuantity* now = new_quantities.find(old.name);
    if (now == nullptr) {
      result.removed.push_back({before.section, before.name, old.name});
      continue;
    }
    ++summary.num_compared;
    Move move = move_of(before, old, *now, tolerance);
    if (move.size == 0) continue;
    ++summary.num_moved;
    if (move.is_beyond) ++summary.num_beyond;
    if (move.place == OldInterval::below || move.place == OldInterval::above) ++summary.num_outside;
    summary.largest = std::max(summary.largest, move.size);
    result.moves.push_back(std::move(move));
  }
  for (const PredictedQuantity& now : after.quantities)
    if (old_quantities.find(now.name) == nullptr)
      result.added.push_back({after.section, after.name, now.name});
}

constexpr std::string_view kStepSection = "step";
const std::string kOwnSection = "the scenario's scheme";

bool is_of_path(const PredictedRow& row, const Result& result) {
  return row.section == kStepSection && !workload_of_path(row.name, result.path).empty();
}

/// The words of `before` in their order, then the words that only `after` has.
std::vector<ChangedWord> changed_words(const std::vector<NamedWord>& before,
                                       const std::vector<NamedWord>& after) {
  const NameIndex old_words(before);
  const NameIndex new_words(after);
  std::vector<ChangedWord> changed;
  for (const NamedWord& old : before) {
    const NamedWord* now = new_words.find(old.name);
    if (now == nullptr || now->word != old.word)
      changed.push_back({old.name, old.word, now == nullptr ? "" : now->word});
  }
  for (const NamedWord& now : after)
    if (old_words.find(now.name) == nullptr) changed.push_back({now.name, "", now.word});
  return changed;
}

/// The row that says of the new path what `row` says of the old one; nullptr if none does.
const PredictedRow* own_of(const PredictedRow& row, const Result& before, const Result& after,
                           const RowIndex& new_rows) {
  if (!row.name.ends_with(before.path)) return nullptr;
  const std::string same = row.name.substr(0, row.name.size() - before.path.size());
  return new_rows.find({row.section, same + after.path, {}});
}

/// The steps of the scenario's own path, by workload alone: "decode/64".
std::vector<PredictedRow> own_steps(const Result& result) {
  std::vector<PredictedRow> own;
  for (const PredictedRow& row : result.rows)
    if (is_of_path(row, result))
      own.push_back({kOwnSection, workload_of_path(row.name, result.path), row.quantities});
  return own;
}

bool is_limit(const ChangedWord& input) { return input.name.starts_with("budgets."); }

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether a changed input asks the same: a limit, or a default that only one program lists.
bool asks_the_same(const ChangedWord& input, const Result& before, const Result& after) {
  return is_limit(input) || (input.after.empty() && is_among(before.defaults, input.name)) ||
         (input.before.empty() && is_among(after.defaults, input.name));
}

/// Tokens of a training step; nothing where the result does not list what they are made of.
std::optional<double> tokens_of_training(const Result& result) {
  constexpr std::array<std::string_view, 4> kFactors{
      "workload.training.sequence_length", "workload.training.micro_batch",
      "workload.training.micro_batches", "parallelism.data"};
  const NameIndex inputs(result.inputs);
  double tokens = 1;
  for (const std::string_view factor : kFactors) {
    const NamedWord* input = inputs.find(factor);
    const std::optional<double> number =
        input == nullptr ? std::nullopt : decimal_value(input->word);
    if (!number) return std::nullopt;
    tokens *= *number;
  }
  return tokens;
}

/// Leaves those that count: the budgets, and the steps of the scenario's own path.
void count_own(const Result& before, Difference& result) {
  const auto counts = [&](const std::string& section, const std::string& row) {
    return section == "budgets" || section == kOwnSection || is_of_path({section, row, {}}, before);
  };
  for (Move& move : result.moves) {
    const bool is_other_work = !result.trains_as_much && move.row.starts_with("training") &&
                               move.before.unit == PredictedUnit::seconds;
    move.counts = counts(move.section, move.row) && !is_other_work;
  }
  for (LonePrediction& gone : result.removed) gone.counts = counts(gone.section, gone.row);
}

}  // namespace

std::string workload_of_path(std::string_view row, std::string_view path) {
  const std::string end = fmt::format(" {}", path);
  return path.empty() || !row.ends_with(end) ? ""
                                             : std::string(row.substr(0, row.size() - end.size()));
}

bool is_better(const ChangedWord& verdict) {
  static constexpr std::array kFromWorse{name(Verdict::fail),         name(Fate::does_not_fit),
                                         name(Fate::too_much),        name(Fate::may_not_fit),
                                         name(Fate::likely_too_much), name(Verdict::unknown),
                                         name(Fate::likely_ok),       name(Fate::ok),
                                         name(Verdict::pass),         kMemoryFits};
  const auto rank = [&](const std::string& word) {
    return std::find(kFromWorse.begin(), kFromWorse.end(), word);
  };
  return rank(verdict.before) != kFromWorse.end() && rank(verdict.after) != kFromWorse.end() &&
         rank(verdict.before) < rank(verdict.after);
}

std::vector<ChangedWord> Difference::changed_limits() const {
  std::vector<ChangedWord> limits;
  for (const ChangedWord& input : inputs)
    if (is_limit(input) && !input.before.empty()) limits.push_back(input);
  return limits;
}

bool Difference::holds(Improvements improvements) const {
  const bool is_strict = improvements == Improvements::refused;
  return changed_limits().empty() &&
         std::none_of(removed.begin(), removed.end(),
                      [](const LonePrediction& gone) { return gone.counts; }) &&
         std::none_of(moves.begin(), moves.end(),
                      [&](const Move& move) {
                        return move.counts && move.is_beyond && (is_strict || !move.is_better);
                      }) &&
         std::none_of(verdicts.begin(), verdicts.end(), [&](const ChangedWord& verdict) {
           return !verdict.before.empty() && (is_strict || !is_better(verdict));
         });
}

Difference difference(const Result& before, const Result& after, double tolerance) {
  Difference result{.verdicts = changed_words(before.verdicts, after.verdicts),
                    .inputs = changed_words(before.inputs, after.inputs)};
  const RowIndex old_rows(before.rows);
  const RowIndex new_rows(after.rows);
  // Another scheme or schedule is held against the old one, whatever both are called.
  const bool is_other_path =
      before.path != after.path && !before.path.empty() && !after.path.empty();
  if (is_other_path) {
    const std::vector<PredictedRow> new_own = own_steps(after);
    const RowIndex own_rows(new_own);
    for (const PredictedRow& row : own_steps(before))
      if (const PredictedRow* now = own_rows.find(row)) compare_rows(row, *now, tolerance, result);
  }
  for (const PredictedRow& row : before.rows) {
    if (const PredictedRow* now = new_rows.find(row))
      compare_rows(row, *now, tolerance, result);
    else if (const PredictedRow* own =
                 is_other_path ? own_of(row, before, after, new_rows) : nullptr;
             own == nullptr)
      result.removed.push_back({row.section, row.name, ""});
    else if (!is_of_path(row, before))  // steps of the path were compared above
      compare_rows(row, *own, tolerance, result);
  }
  for (const PredictedRow& row : after.rows)
    if (old_rows.find(row) == nullptr) result.added.push_back({row.section, row.name, ""});
  result.counts_all =
      before.path.empty() ||
      std::all_of(result.inputs.begin(), result.inputs.end(),
                  [&](const ChangedWord& input) { return asks_the_same(input, before, after); });
  result.trains_as_much = tokens_of_training(before) == tokens_of_training(after);
  if (!result.counts_all) count_own(before, result);
  return result;
}

}  // namespace depthcost
