// One document of headings, sentences and tables, written for a terminal or as Markdown.
#include "reports/difference/difference_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "model/decision/budget.hpp"
#include "reports/formats/markdown_text.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/formats/text_table.hpp"

namespace depthcost {
namespace {

constexpr std::size_t kMostMoves = 10;  // of a section
constexpr std::size_t kMostWords = 20;  // of a list

/// What a reader of a pull request decides by: shown first and always.
bool is_decisive(const SectionSummary& section) {
  return section.section == "budgets" || section.section == "step";
}

/// Text of one style.
class Text {
 public:
  explicit Text(TextStyle style) : style_(style) {}

  void title(const std::string& text) {
    text_ += style_ == TextStyle::markdown ? "# " + escaped(text) + "\n\n" : text + "\n\n";
  }
  void heading(const std::string& text) {
    text_ += style_ == TextStyle::markdown ? "## " + text + "\n\n" : text + "\n\n";
  }
  void paragraph(const std::string& text) { text_ += text + "\n\n"; }

  /// What a document folds away, and a terminal shows behind an option alone.
  void open_fold(const std::string& summary) {
    if (style_ == TextStyle::markdown) text_ += "<details><summary>" + summary + "</summary>\n\n";
  }
  void close_fold() {
    if (style_ == TextStyle::markdown) text_ += "</details>\n\n";
  }
  bool folds() const { return style_ == TextStyle::markdown; }

  void table(Table table) {
    if (style_ == TextStyle::markdown)
      for (std::vector<std::string>& row : table.rows)
        for (std::string& cell : row) cell = escaped(cell);
    text_ += (style_ == TextStyle::markdown ? markdown(table) : plain_text(table)) + "\n";
  }

  /// Without the empty line at its end.
  std::string take() {
    text_.pop_back();
    return std::move(text_);
  }

 private:
  TextStyle style_;
  std::string text_;
};

std::string number(double value, PredictedUnit unit, Sign sign = Sign::minus_only) {
  switch (unit) {
    case PredictedUnit::seconds:
      return format_seconds(Seconds{value}, sign);
    case PredictedUnit::bytes:
      return format_bytes(Bytes{value}, sign);
    case PredictedUnit::ratio:
      return format_ratio(value, sign);
    case PredictedUnit::d_vectors:
    case PredictedUnit::plain:
      break;
  }
  const std::string plus = sign == Sign::always && value > 0 ? "+" : "";
  return plus + number_text(value) + (unit == PredictedUnit::d_vectors ? " d" : "");
}

/// Three digits, and an interval if there is one.
std::string quantity(const PredictedQuantity& it) {
  if (!it.low) return number(it.value, it.unit);
  if (it.unit == PredictedUnit::seconds)
    return format_seconds(Estimate<Seconds>{{*it.low}, {it.value}, {*it.high}});
  if (it.unit == PredictedUnit::ratio)
    return format_ratio(Estimate<double>{*it.low, it.value, *it.high});
  return fmt::format("{} [{}, {}]", number(it.value, it.unit), number(*it.low, it.unit),
                     number(*it.high, it.unit));
}

/// A difference of percentages is in points.
std::string change_text(const Move& move) {
  if (move.before.unit != PredictedUnit::ratio)
    return number(move.change(), move.before.unit, Sign::always);
  const std::string text = format_ratio(move.change(), Sign::always);
  return text.ends_with(" %") ? text.substr(0, text.size() - 1) + "points" : text;
}

std::string relative_text(const Move& move) {
  return move.relative ? format_ratio(*move.relative, Sign::always) : "from zero";
}

/// What the column "relative" orders by.
double shown_size(const Move& move) {
  return move.relative ? std::fabs(*move.relative) : std::numeric_limits<double>::infinity();
}

/// "from A to B", or A alone.
std::string from_to(const std::string& before, const std::string& after) {
  return before == after ? before : fmt::format("from {} to {}", before, after);
}

SectionSummary sum_of(const std::vector<SectionSummary>& sections) {
  SectionSummary all;
  for (const SectionSummary& section : sections) {
    all.num_compared += section.num_compared;
    all.num_moved += section.num_moved;
    all.num_beyond += section.num_beyond;
    all.num_outside += section.num_outside;
  }
  return all;
}

/// Moves that count and are beyond the tolerance.
struct Counts {
  std::size_t worse = 0;
  std::size_t better = 0;
  std::size_t outside = 0;  // the old interval
  std::size_t gone = 0;
  std::size_t worse_verdicts = 0;
  std::size_t changed_limits = 0;
};

Counts counts_of(const Difference& difference) {
  Counts counts;
  for (const Move& move : difference.moves) {
    if (!move.counts) continue;
    if (move.is_beyond) ++(move.is_better ? counts.better : counts.worse);
    if (move.place == OldInterval::below || move.place == OldInterval::above) ++counts.outside;
  }
  for (const LonePrediction& gone : difference.removed)
    if (gone.counts) ++counts.gone;
  counts.changed_limits = difference.changed_limits().size();
  for (const ChangedWord& verdict : difference.verdicts)
    if (!verdict.before.empty() && !is_better(verdict)) ++counts.worse_verdicts;
  return counts;
}

/// Verdicts of both results that differ, for better or worse.
std::size_t num_changed(const Difference& difference) {
  return static_cast<std::size_t>(
      std::count_if(difference.verdicts.begin(), difference.verdicts.end(),
                    [](const ChangedWord& it) { return !it.before.empty(); }));
}

std::string_view answer_text(bool holds, const Counts& counts) {
  if (holds) return "No regression.";
  const bool only_limits = counts.changed_limits > 0 && counts.gone == 0 && counts.worse == 0 &&
                           counts.worse_verdicts == 0;
  if (only_limits) return "Limits changed, and no prediction is worse.";
  const bool only_gone = counts.gone > 0 && counts.worse == 0 && counts.worse_verdicts == 0 &&
                         counts.changed_limits == 0;
  return only_gone ? "Predictions are gone." : "Regression.";
}

/// The answer first, then what it rests on.
void write_counts(Text& out, const DifferenceReport& report) {
  const Difference& difference = report.difference;
  const Counts counts = counts_of(difference);
  const auto count = [](std::size_t number) { return format_count(static_cast<Count>(number)); };
  const std::string beyond =
      report.tolerance == 0 ? "" : " by more than " + format_ratio(report.tolerance);
  const std::string compared =
      difference.counts_all
          ? format_counted(static_cast<Count>(sum_of(difference.sections).num_compared),
                           "prediction", "predictions") +
                " in both"
          : "The inputs differ, so only budgets and the scenario's own steps count";
  out.paragraph(fmt::format(
      "{} {}: {} worse{}, {} better, {} out of the old interval, {} gone. {} changed.",
      answer_text(difference.holds(report.improvements), counts), compared, count(counts.worse),
      beyond, count(counts.better), count(counts.outside), count(counts.gone),
      format_counted(static_cast<Count>(num_changed(difference)), "verdict", "verdicts")));
}

/// "added time" of "delta_seconds": the table's cells have the unit.
std::string shown_number(const std::string& name) {
  constexpr std::string_view kUnit = "_seconds";
  if (name == "delta_seconds") return "added time";
  if (name == "residual_seconds") return "residual path";
  if (name == "have_low") return "need, low end";
  if (name == "have_median") return "need";
  if (name == "have_high") return "need, high end";
  return name.ends_with(kUnit) ? name.substr(0, name.size() - kUnit.size()) : name;
}

/// Empty where a training step has as much work as before, or nothing of one moved.
std::string work_text(const Difference& difference) {
  const bool has_training =
      std::any_of(difference.moves.begin(), difference.moves.end(),
                  [](const Move& move) { return move.row.starts_with("training"); });
  if (difference.trains_as_much || difference.counts_all || !has_training) return "";
  return "A training step has other tokens now: its per cent count, its seconds do not.";
}

/// A verdict as every other report calls it: "too much" for a budget that fails.
std::string shown_verdict(const std::string& budget, const std::string& word) {
  constexpr std::string_view kBudgets = "budgets.";
  if (!budget.starts_with(kBudgets)) return word;
  const auto kind = named<BudgetKind>(std::string_view(budget).substr(kBudgets.size()));
  const auto verdict = named<Verdict>(word);
  return kind && verdict ? std::string(name(fate_of(*kind, *verdict))) : word;
}

std::vector<ChangedWord> shown_verdicts(std::vector<ChangedWord> verdicts) {
  for (ChangedWord& verdict : verdicts) {
    verdict.before = shown_verdict(verdict.name, verdict.before);
    verdict.after = shown_verdict(verdict.name, verdict.after);
  }
  return verdicts;
}

/// "hardware.transfers" of "hardware.transfers[send, node, 2]" or of "hardware.transfers[...] #2";
/// any other name is its own.
std::string list_of(const std::string& name) {
  const std::size_t end = name.rfind(']');
  const bool is_entry = end != std::string::npos &&
                        name.find_first_not_of(" #0123456789", end + 1) == std::string::npos;
  return is_entry ? name.substr(0, name.find('[')) : name;
}

/// The entries of a long list as one word: other hardware has dozens of measured curves.
std::vector<ChangedWord> without_long_lists(const std::vector<ChangedWord>& words) {
  constexpr std::ptrdiff_t kMostEntries = 4;
  std::vector<ChangedWord> shown;
  for (const ChangedWord& word : words) {
    const auto is_of_list = [&](const ChangedWord& it) {
      return it.name != list_of(it.name) && list_of(it.name) == list_of(word.name);
    };
    const auto entries = std::count_if(words.begin(), words.end(), is_of_list);
    if (entries <= kMostEntries) {
      shown.push_back(word);
    } else if (shown.empty() || shown.back().name != list_of(word.name)) {
      const auto count = [&](std::string ChangedWord::*side) {
        const auto number = std::count_if(words.begin(), words.end(), [&](const ChangedWord& it) {
          return is_of_list(it) && !(it.*side).empty();
        });
        return number == 0 ? std::string() : format_count(number) + " that differ";
      };
      shown.push_back(
          {list_of(word.name), count(&ChangedWord::before), count(&ChangedWord::after)});
    }
  }
  return shown;
}

void write_words(Text& out, const std::string& heading, const std::vector<ChangedWord>& all) {
  if (all.empty()) return;
  const std::vector<ChangedWord> words = without_long_lists(all);
  out.heading(heading);
  Table table{{"name", "old", "new"}};
  const auto text = [](const std::string& word) {
    return word.empty() ? std::string(kNothing) : word;
  };
  for (const ChangedWord& word : words) {
    if (table.rows.size() == kMostWords) break;
    table.add(word.name, text(word.before), text(word.after));
  }
  out.table(table);
  if (words.size() > kMostWords)
    out.paragraph(fmt::format("And {} more: --format json.", words.size() - kMostWords));
}

void write_sections(Text& out, const DifferenceReport& report) {
  Table table{{"section", right("compared"), right("moved"), right("beyond tolerance"),
               right("outside interval"), right("largest")}};
  const auto count = [](std::size_t number) { return format_count(static_cast<Count>(number)); };
  for (const SectionSummary& section : report.difference.sections) {
    if (section.num_moved == 0) continue;
    table.add(section.section, count(section.num_compared), count(section.num_moved),
              count(section.num_beyond), count(section.num_outside),
              std::isinf(section.largest) ? "from zero" : format_ratio(section.largest));
  }
  if (table.rows.empty()) return;
  out.heading("What moved");
  out.table(table);
}

/// What the scenario is about comes first, then what became worse, then the largest.
std::vector<const Move*> sorted_moves(const std::string& section, const DifferenceReport& report) {
  std::vector<const Move*> moves;
  for (const Move& move : report.difference.moves)
    if (move.section == section) moves.push_back(&move);
  // Moves that differ in their last bits only keep their order.
  const auto rank = [&](const Move& move) {
    const bool is_own = !report.after.path.empty() && move.row.ends_with(report.after.path);
    return std::tuple(is_own, !move.is_better, round12(shown_size(move)));
  };
  std::stable_sort(moves.begin(), moves.end(),
                   [&](const Move* a, const Move* b) { return rank(*a) > rank(*b); });
  return moves;
}

/// Moves of several rows that read the same: each schedule has the step of the standard residual.
struct EqualMoves {
  std::vector<std::string> cells;  // all but the row's
  std::vector<std::string> rows;
};

std::vector<EqualMoves> grouped_moves(const SectionSummary& section,
                                      const std::vector<const Move*>& moves) {
  std::vector<EqualMoves> groups;
  for (const Move* move : moves) {
    const std::vector<std::string> cells{
        shown_number(move->before.name),
        quantity(move->before),
        quantity(move->after),
        change_text(*move),
        relative_text(*move),
        std::string(move->place == OldInterval::none ? kNothing : name(move->place))};
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const EqualMoves& known) { return known.cells == cells; });
    if (group == groups.end()) {
      if (groups.size() == kMostMoves) continue;
      group = groups.insert(groups.end(), {cells, {}});
    }
    group->rows.push_back(move->row.empty() ? section.section : move->row);
  }
  return groups;
}

void write_moves(Text& out, const SectionSummary& section, const DifferenceReport& report) {
  const std::vector<const Move*> moves = sorted_moves(section.section, report);
  if (moves.empty()) return;
  Table table{{"row", "number", right("old"), right("new"), right("change"), right("relative"),
               "old interval"}};
  std::size_t num_shown = 0;
  for (const EqualMoves& group : grouped_moves(section, moves)) {
    num_shown += group.rows.size();
    const std::size_t more = group.rows.size() - 1;
    std::vector<std::string> row{group.rows.front() +
                                 (more == 0 ? "" : fmt::format(" and {} more", more))};
    row.insert(row.end(), group.cells.begin(), group.cells.end());
    table.rows.push_back(std::move(row));
  }
  const auto count = [](std::size_t number) { return format_count(static_cast<Count>(number)); };
  out.heading(num_shown == moves.size() ? section.section
                                        : fmt::format("{}: {} of {} moves", section.section,
                                                      count(num_shown), count(moves.size())));
  out.table(table);
}

void write_lone(Text& out, const std::string& heading,
                const std::vector<LonePrediction>& predictions) {
  if (predictions.empty()) return;
  out.heading(heading);
  Table table{{"section", "row", "number"}};
  for (const LonePrediction& prediction : predictions) {
    if (table.rows.size() == kMostWords) break;
    table.add(prediction.section, prediction.row,
              prediction.quantity.empty() ? "all" : prediction.quantity);
  }
  out.table(table);
  if (predictions.size() > kMostWords)
    out.paragraph(fmt::format("And {} more: --format json.", predictions.size() - kMostWords));
}

/// What the new result lacks, and a reader of a log must not search for.
std::vector<LonePrediction> counted_lone(const Difference& difference) {
  std::vector<LonePrediction> counted = difference.removed;
  std::erase_if(counted, [](const LonePrediction& gone) { return !gone.counts; });
  return counted;
}

/// Every section but budgets and whole steps, and what only the new result has.
void write_rest(Text& out, const DifferenceReport& report) {
  const Difference& difference = report.difference;
  write_sections(out, report);
  for (const SectionSummary& section : difference.sections)
    if (!is_decisive(section)) write_moves(out, section, report);
  if (!difference.counts_all) write_lone(out, "Gone", difference.removed);
  write_lone(out, "New", difference.added);
}

/// What the scheme of the scenario adds, and to which step, where that is not as before.
std::vector<ChangedWord> changed_numbers(const DifferenceReport& report) {
  std::vector<ChangedWord> changed;
  for (const NamedWord& after : report.after.numbers)
    for (const NamedWord& before : report.before.numbers)
      if (before.name == after.name && before.word != after.word)
        changed.push_back({after.name, before.word, after.word});
  return changed;
}

std::string written(const DifferenceReport& report, TextStyle style) {
  const Difference& difference = report.difference;
  Text out(style);
  out.title(fmt::format("{}: {} -> {}", from_to(report.before.scenario, report.after.scenario),
                        report.before.file, report.after.file));
  if (report.before.program_version != report.after.program_version)
    out.paragraph(fmt::format("depthcost {} -> {}.", report.before.program_version,
                              report.after.program_version));
  write_counts(out, report);
  if (const std::string text = work_text(difference); !text.empty()) out.paragraph(text);
  write_words(out, "The scenario's scheme", changed_numbers(report));
  write_words(out, "Inputs that differ", difference.inputs);
  write_words(out, "Verdicts that changed", shown_verdicts(difference.verdicts));
  for (const ChangedWord& limit : difference.changed_limits())
    out.paragraph(limit.after.empty() ? fmt::format("{} was dropped.", limit.name)
                                      : fmt::format("The limit of {} changed from {} to {}.",
                                                    limit.name, limit.before, limit.after));
  write_lone(out, difference.counts_all ? "Gone" : "Gone, and counts", counted_lone(difference));
  for (const SectionSummary& section : difference.sections)
    if (is_decisive(section)) write_moves(out, section, report);
  const std::size_t rest = sum_of(difference.sections).num_moved + difference.added.size() +
                           (difference.counts_all ? 0 : difference.removed.size());
  if (rest == 0) return out.take();
  if (!out.folds() && report.shown == ShownMoves::steps) {
    out.paragraph("--details shows what else moved.");
    return out.take();
  }
  out.open_fold("What moved, section by section");
  write_rest(out, report);
  out.close_fold();
  return out.take();
}

}  // namespace

std::string_view name(OldInterval place) {
  switch (place) {
    case OldInterval::inside:
      return "inside";
    case OldInterval::below:
      return "below";
    case OldInterval::above:
      return "above";
    case OldInterval::none:
      break;
  }
  return "";
}

std::string to_table(const DifferenceReport& report) { return written(report, TextStyle::plain); }

std::string to_markdown(const DifferenceReport& report) {
  return written(report, TextStyle::markdown);
}

}  // namespace depthcost
