// The choices of a group as rows, and the recommendations of all groups.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/decision/decoder_layer.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/sweep/sweep_report.hpp"

namespace depthcost {
namespace {

constexpr std::size_t kMostRows = 40;

constexpr Count kPublishedSizes[] = {1, 2, 4, 8, 16, 32};

/// Remarks on the choices of a group.
struct Notes {
  Recommendation recommendation;
  std::optional<std::size_t> own;
};

Notes notes_of(const SweepReport& report, const SweepGroup& group) {
  return {recommend(group.sweep(), group.circumstance), own_choice(report, group)};
}

bool is_noted(const Notes& notes, std::size_t choice) {
  return choice == notes.recommendation.best || choice == notes.recommendation.runner_up ||
         choice == notes.own;
}

std::string note(const Sweep& sweep, const Notes& notes, std::size_t choice) {
  std::vector<std::string> words;
  if (choice == notes.recommendation.best) words.push_back("recommended");
  if (choice == notes.recommendation.runner_up) words.push_back("runner-up");
  if (choice == notes.recommendation.sure && choice != notes.recommendation.best)
    words.push_back("safe choice");
  if (choice == notes.own) words.push_back("as written");
  if (splits_decoder_layer(sweep.study(), sweep.choices()[choice].path.scheme))
    words.push_back("splits a decoder layer");
  return fmt::format("{}", fmt::join(words, ", "));
}

bool is_shown(const SweepGroup& group, const Notes& notes, std::size_t choice) {
  const auto& choices = group.sweep().choices();
  if (!choices[choice].refused.empty()) return false;
  if (choices.size() <= kMostRows || is_noted(notes, choice)) return true;
  const Recommendation& said = notes.recommendation;
  const bool is_named = choice == said.cheapest || choice == said.sure || choice == said.by_size ||
                        choice == said.by_count ||
                        std::any_of(said.binding.begin(), said.binding.end(),
                                    [&](const BindingBudget& b) { return b.allowed == choice; });
  const Partition* blocks = blocks_of(choices[choice].path.scheme);
  const bool is_published =
      blocks != nullptr && std::find(std::begin(kPublishedSizes), std::end(kPublishedSizes),
                                     blocks->block_size) != std::end(kPublishedSizes);
  const bool is_plain = group.sweep().choice_axes().size() == 1;
  return is_named || (is_published && is_plain) || choice + 1 == choices.size();
}

std::string added_text(const Study& study, WorkloadKind workload,
                       const std::optional<AddedTime>& added) {
  if (!added) return "";
  return added->overhead ? format_value_beside(added->overhead->value,
                                               overhead_limit(study, workload).limit, Sign::always)
                         : format_seconds(added->delta.value, Sign::always);
}

/// "device_memory and 2 more"; empty without names.
std::string first_of(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return fmt::format("{} and {} more", names.front(), names.size() - 1);
}

/// The word, and the budgets that are broken: surely, or else likely. Memory is named first.
std::string verdict_text(const Sweep& sweep, const SweepPoint& point) {
  std::vector<std::string> broken;
  std::vector<std::string> likely;
  std::vector<std::string> unknown;
  bool is_sure = true;
  bool is_tight = false;
  for (const PointBudget& row : sweep.budgets(point)) {
    std::vector<std::string>& names = row.verdict == Verdict::fail ? broken : likely;
    const std::string kind(name(row.budget.kind));
    const bool is_memory = row.budget.kind == BudgetKind::device_memory;
    if (is_broken(row)) names.insert(is_memory ? names.begin() : names.end(), kind);
    if (row.verdict != Verdict::unknown) continue;
    if (!row.high)
      unknown.push_back(kind);
    else if (is_memory)
      is_tight = true;
    else
      is_sure = false;
  }
  if (!broken.empty()) return "breaks " + first_of(broken);
  if (!likely.empty()) return "likely breaks " + first_of(likely);
  if (!unknown.empty()) return "not known: " + first_of(unknown);
  if (is_tight) return "may not fit";
  return is_sure ? "OK" : "likely OK";
}

/// Columns that all points of a group have alike; blocks are those of some schemes.
struct Shape {
  bool decode, prefill, training, blocks, budgets;

  bool operator==(const Shape&) const = default;
};

Shape shape_of(const Sweep& sweep, std::size_t circumstance) {
  const bool any_blocks =
      std::any_of(sweep.choices().begin(), sweep.choices().end(), source_blocks);
  for (std::size_t i = 0; i < sweep.choices().size(); ++i) {
    const SweepPoint point = sweep.point(circumstance, i);
    if (!point.exists()) continue;
    return {point.decode.has_value(), point.prefill.has_value(), point.training.has_value(),
            any_blocks, !sweep.study().budgets.empty()};
  }
  return {};
}

std::vector<Column> columns(const Sweep& sweep, const Shape& shape) {
  std::vector<Column> all;
  for (const SweptAxis& axis : sweep.choice_axes())
    all.push_back({last_part(name(axis.key)), Align::right});
  const auto add = [&](bool is_there, const char* header) {
    if (is_there) all.push_back({header, Align::right});
  };
  add(shape.blocks, "blocks");
  add(shape.decode, "decode");
  add(shape.prefill, "prefill");
  add(shape.training, "training");
  add(true, "loss");
  all.push_back({shape.budgets ? "verdict" : ""});
  return all;
}

std::vector<std::string> cells(const SweepGroup& group, const Shape& shape, const Notes& notes,
                               std::size_t choice) {
  const Sweep& sweep = group.sweep();
  const SweepPoint point = sweep.point(group.circumstance, choice);
  std::vector<std::string> row;
  for (std::size_t i = 0; i < sweep.choice_axes().size(); ++i)
    row.push_back(value_text(sweep.choice_axes()[i], point.choice->values[i]));
  if (shape.blocks) {
    const Partition* blocks = source_blocks(*point.choice);
    row.push_back(blocks == nullptr ? "" : std::to_string(blocks->num_blocks));
  }
  if (shape.decode) row.push_back(added_text(sweep.study(), WorkloadKind::decode, point.decode));
  if (shape.prefill) row.push_back(added_text(sweep.study(), WorkloadKind::prefill, point.prefill));
  if (shape.training)
    row.push_back(added_text(sweep.study(), WorkloadKind::training, point.training));
  row.push_back(loss_text(point.choice->quality.counted()));
  std::vector<std::string> remarks;
  if (shape.budgets) remarks.push_back(verdict_text(sweep, point));
  if (is_bound(point.choice->path.scheme, point.choice->schedule))
    remarks.emplace_back("a bound, never recommended");
  else if (shape.training && is_training_bound(point.choice->path.scheme, point.choice->schedule))
    remarks.emplace_back("its backward pass is a bound, never recommended");
  if (std::string said = note(sweep, notes, choice); !said.empty()) remarks.push_back(said);
  row.push_back(fmt::format("{}", fmt::join(remarks, "; ")));
  return row;
}

std::string optional_label(const SweepGroup& group, std::optional<std::size_t> choice) {
  return choice ? choice_label(group.sweep(), *choice) : "none";
}

/// The limits that decide: those without which another choice would be taken, or that no choice
/// keeps.
std::string deciding_limits(const SweepGroup& group, const Recommendation& said) {
  std::vector<std::string_view> names;
  const auto add = [&](std::size_t budget) {
    names.push_back(name(group.sweep().study().budgets[budget].kind));
  };
  for (const BindingBudget& binding : said.binding) add(binding.budget);
  for (const std::size_t budget : said.unattainable) add(budget);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Table sweep_table(const SweepReport& report, const SweepGroup& group) {
  const Shape shape = shape_of(group.sweep(), group.circumstance);
  const Notes notes = notes_of(report, group);
  Table table{columns(group.sweep(), shape), {}};
  for (std::size_t i = 0; i < group.sweep().choices().size(); ++i)
    if (is_shown(group, notes, i)) table.rows.push_back(cells(group, shape, notes, i));
  return table;
}

std::vector<SweepGroup> tabled_groups(const SweepReport& report) {
  std::vector<SweepGroup> groups = groups_of(report);
  const SweepGroup first = groups.front();
  const Shape shape = shape_of(first.sweep(), first.circumstance);
  std::size_t rows = 0;
  bool is_alike = true;
  for (const SweepGroup& group : groups) {
    rows += sweep_table(report, group).rows.size();
    is_alike = is_alike && shape_of(group.sweep(), group.circumstance) == shape;
  }
  if (rows > kMostRows || !is_alike) groups.resize(1);
  return groups;
}

Table sweep_table(const SweepReport& report) {
  const std::vector<SweepGroup> groups = tabled_groups(report);
  Table table = sweep_table(report, groups.front());
  if (groups.size() == 1) return table;
  table.columns.insert(table.columns.begin(), Column{"under"});
  table.rows.clear();
  for (const SweepGroup& group : groups)
    for (std::vector<std::string>& row : sweep_table(report, group).rows) {
      row.insert(row.begin(), circumstance_label(report, group));
      table.rows.push_back(std::move(row));
    }
  return table;
}

std::string sweep_legend(const SweepReport& report, const SweepGroup& group) {
  const std::size_t shown = sweep_table(report, group).rows.size();
  const auto exists = static_cast<std::size_t>(
      std::count_if(group.sweep().choices().begin(), group.sweep().choices().end(),
                    [](const SweepChoice& choice) { return choice.refused.empty(); }));
  const Shape shape = shape_of(group.sweep(), group.circumstance);
  std::vector<std::string> workloads;
  if (shape.decode) workloads.emplace_back("decode");
  if (shape.prefill) workloads.emplace_back("prefill");
  if (shape.training) workloads.emplace_back("training");
  std::string text;
  if (!workloads.empty())
    text = fmt::format(
        "{}: time added to the step with the fused standard residual, in per cent where that step is "
        "known. ",
        fmt::join(workloads, ", "));
  text +=
      "loss: published for 32 layers, by the size of blocks or by their number, whichever is higher; "
      "~ between two points.";
  if (shown < exists)
    text +=
        fmt::format(" {} of {} choices; --format csv has all, and every number.", shown, exists);
  if (tabled_groups(report).size() < groups_of(report).size())
    text += fmt::format(" Shown: {} alone; --format csv has every circumstance.",
                        circumstance_label(report, group));
  return text;
}

Table recommendation_table(const SweepReport& report) {
  const std::vector<SweepGroup> groups = groups_of(report);
  Table table{{"under", "recommended", "runner-up", "deciding limits"}};
  std::vector<std::string> last;
  for (const SweepGroup& group : groups) {
    count_group(report);
    const Recommendation said = recommend(group.sweep(), group.circumstance);
    std::vector<std::string> row{optional_label(group, said.best),
                                 optional_label(group, said.runner_up),
                                 deciding_limits(group, said)};
    const bool is_changed = row != last;
    last = row;
    if (groups.size() > kMostRows && !is_changed) continue;
    row.insert(row.begin(), circumstance_label(report, group));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace depthcost
