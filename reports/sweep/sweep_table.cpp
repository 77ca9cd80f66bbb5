// The choices of a group as rows, and the recommendations of all groups.
#include <fmt/format.h>

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
  std::vector<std::size_t> front;
  std::optional<std::size_t> own;
};

Notes notes_of(const SweepReport& report, const SweepGroup& group) {
  return {recommend(group.sweep(), group.circumstance), front_of(group.sweep(), group.circumstance),
          own_choice(report, group)};
}

bool is_noted(const Notes& notes, std::size_t choice) {
  return choice == notes.recommendation.best || choice == notes.recommendation.runner_up ||
         choice == notes.own;
}

std::string note(const Sweep& sweep, const Notes& notes, std::size_t choice) {
  std::vector<std::string> words;
  if (choice == notes.recommendation.best) words.push_back("recommended");
  if (choice == notes.recommendation.runner_up) words.push_back("runner-up");
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
  const bool is_named = choice == said.cheapest || choice == said.by_size ||
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

std::string added_text(const std::optional<AddedTime>& added) {
  if (!added) return "";
  return added->overhead ? format_ratio(added->overhead->value, Sign::always)
                         : format_seconds(added->delta.value, Sign::always);
}

std::string verdict_text(const Sweep& sweep, const SweepPoint& point) {
  std::vector<std::string> broken;
  Verdict verdict = Verdict::pass;
  for (const PointBudget& row : sweep.budgets(point)) {
    const std::string kind(name(row.budget.kind));
    if (row.verdict == Verdict::fail)
      broken.push_back(kind);
    else if (is_broken(row))
      broken.push_back("likely " + kind);
    if (row.verdict == Verdict::unknown) verdict = Verdict::unknown;
  }
  // A terminal has no room for all of them.
  if (broken.size() > 1)
    return fmt::format("breaks {} and {} more", broken.front(), broken.size() - 1);
  if (!broken.empty()) return "breaks " + broken.front();
  return std::string(name(verdict));
}

/// Columns that all points of a group have alike; blocks are those of some schemes.
struct Shape {
  bool decode, prefill, training, payload, blocks, budgets, workload;
};

Shape shape_of(const Sweep& sweep, std::size_t circumstance) {
  const bool any_blocks =
      std::any_of(sweep.choices().begin(), sweep.choices().end(), source_blocks);
  for (std::size_t i = 0; i < sweep.choices().size(); ++i) {
    const SweepPoint point = sweep.point(circumstance, i);
    if (!point.exists()) continue;
    return {point.decode.has_value(),
            point.prefill.has_value(),
            point.training.has_value(),
            point.choice->payload_peak.has_value(),
            any_blocks,
            !sweep.study().budgets.empty(),
            point.memory.has_value()};
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
  add(true, "d/layer");
  add(shape.decode, "decode");
  add(shape.prefill, "prefill");
  add(shape.training, "training");
  add(true, shape.workload ? "state" : "state/token");
  add(shape.payload, "payload");
  add(true, "loss by S");
  add(true, "by N");
  all.push_back({"front"});
  if (shape.budgets) all.push_back({"budgets"});
  all.push_back({""});
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
  row.push_back(fmt::format(
      "{:.2f}", point.choice->mean[static_cast<std::size_t>(Convention::kernel)].value().mean_d));
  if (shape.decode) row.push_back(added_text(point.decode));
  if (shape.prefill) row.push_back(added_text(point.prefill));
  if (shape.training) row.push_back(added_text(point.training));
  row.push_back(format_bytes(point.memory ? point.memory->state : state_per_token(*point.choice),
                             Prefix::decimal));
  if (shape.payload) row.push_back(format_bytes(*point.choice->payload_peak, Prefix::decimal));
  row.push_back(loss_text(point.choice->quality.by_size));
  row.push_back(loss_text(point.choice->quality.by_count));
  const bool is_on_front = std::binary_search(notes.front.begin(), notes.front.end(), choice);
  row.push_back(is_on_front ? "yes" : "no");
  if (shape.budgets) row.push_back(verdict_text(sweep, point));
  row.push_back(note(sweep, notes, choice));
  return row;
}

std::string optional_label(const SweepGroup& group, std::optional<std::size_t> choice) {
  return choice ? choice_label(group.sweep(), *choice) : "none";
}

std::string binding_text(const SweepGroup& group, const Recommendation& said) {
  std::vector<std::string_view> names;
  for (const BindingBudget& binding : said.binding)
    names.push_back(name(group.sweep().study().budgets[binding.budget].kind));
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

std::string sweep_legend(const SweepReport& report, const SweepGroup& group) {
  const std::size_t shown = sweep_table(report, group).rows.size();
  const auto exists = static_cast<std::size_t>(
      std::count_if(group.sweep().choices().begin(), group.sweep().choices().end(),
                    [](const SweepChoice& choice) { return choice.refused.empty(); }));
  std::string text =
      "d/layer: d-vectors per token and layer, kernel. Times are added to the fused standard "
      "residual's, in per cent of its step where that is known. State: of the residual path on one "
      "device. Losses: published for 32 layers, ~ between two points; S: layers a block, N: blocks.";
  if (shown < exists)
    text += fmt::format(" {} of {} choices; all of them: --format csv.", shown, exists);
  return text;
}

Table recommendation_table(const SweepReport& report) {
  const std::vector<SweepGroup> groups = groups_of(report);
  Table table{{"under", "recommended", "runner-up", "binding"}};
  std::vector<std::string> last;
  for (const SweepGroup& group : groups) {
    count_group(report);
    const Recommendation said = recommend(group.sweep(), group.circumstance);
    std::vector<std::string> row{optional_label(group, said.best),
                                 optional_label(group, said.runner_up), binding_text(group, said)};
    const bool is_changed = row != last;
    last = row;
    if (groups.size() > kMostRows && !is_changed) continue;
    row.insert(row.begin(), circumstance_label(report, group));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace depthcost
