// What a step consists of beside the residual path, and what lies in a device's memory.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/step/step.hpp"
#include "reports/format.hpp"
#include "reports/quantities.hpp"
#include "reports/table.hpp"

namespace depthcost {
namespace {

template <class Text>
std::string text_or_dash(double value, const Text& text) {
  return value > 0 ? text() : std::string(kNothing);
}

/// What is measured has no interval.
std::string time_text(const Estimate<Seconds>& time) {
  return time.low == time.high ? format_seconds(time.value) : format_seconds(time);
}

bool is_modelled(const Evaluation& e, std::string_view workload) {
  return std::any_of(e.rest.begin(), e.rest.end(),
                     [&](const RestRow& row) { return row.workload == workload; });
}

std::vector<std::string> term_cells(const RestRow& row, const std::string& share) {
  return {
      std::string(name(row.term)),
      text_or_dash(row.bytes.value, [&] { return format_bytes(row.bytes, Prefix::decimal); }),
      text_or_dash(row.flops.value, [&] { return format_flops(row.flops); }),
      text_or_dash(row.launches, [&] { return format_count(static_cast<Count>(row.launches)); }),
      time_text(row.time),
      share,
      std::string(name(row.origin))};
}

/// The standard residual that the study's scheme is held against.
std::optional<StepRow> standard_step(const Evaluation& e, std::string_view workload) {
  const ResidualPath standard = baseline_path(e.study, e.paths.front());
  for (StepRow& row : step_rows(e.study, standard, Schedule::fused))
    if (row.workload == workload) return std::move(row);
  return std::nullopt;
}

/// What a device holds at one workload point.
struct Holding {
  Bytes weights;
  Bytes cache;
  Bytes phase1;
  Bytes state;  // the rest of the residual path
  Bytes all() const { return weights + cache + phase1 + state; }
};

Bytes& place_of(Holding& holding, MemoryItem item) {
  switch (item) {
    case MemoryItem::weights:
      return holding.weights;
    case MemoryItem::kv_cache:
      return holding.cache;
    case MemoryItem::phase1_outputs:
      return holding.phase1;
    default:
      return holding.state;
  }
}

/// By workload point, in order.
std::vector<std::pair<std::string, Holding>> holdings_of(const Study& study) {
  std::vector<std::pair<std::string, Holding>> holdings;
  for (const MemoryRow& row : memory_rows(study, study.path)) {
    if (holdings.empty() || holdings.back().first != row.workload)
      holdings.push_back({row.workload, {}});
    Bytes& place = place_of(holdings.back().second, row.item);
    place = place + row.bytes;
  }
  return holdings;
}

std::vector<std::string> holding_cells(const Study& study, const std::string& what,
                                       const Holding& holding) {
  const auto text = [](Bytes bytes) {
    return text_or_dash(bytes.value, [&] { return format_bytes(bytes, Prefix::binary); });
  };
  const bool has_capacity = study.machine && study.machine->memory_capacity;
  return {what,
          text(holding.weights),
          text(holding.cache),
          text(holding.state),
          text(holding.phase1),
          text(holding.all()),
          has_capacity ? format_ratio(holding.all() / *study.machine->memory_capacity)
                       : std::string(kNothing)};
}

/// The other way to hold a prefill's sequence: on every rank if it is sharded, else over the ranks
/// that are there. Nothing where there is one rank.
std::optional<Study> other_sharding(const Study& study) {
  if (!study.prefill) return std::nullopt;
  Study other = study;
  other.decode.reset();
  Count& shards = other.prefill->sequence_shards;
  shards = shards > 1 ? 1 : study.tensor_parallel_size;
  if (shards == study.prefill->sequence_shards) return std::nullopt;
  return other;
}

std::string sharding_text(const Study& study) {
  const Count shards = study.prefill->sequence_shards;
  return shards == 1 ? "prefill, not sharded" : fmt::format("prefill, {} shards", shards);
}

}  // namespace

std::vector<std::string> modelled_workloads(const Evaluation& evaluation) {
  std::vector<std::string> workloads;
  for (const RestRow& row : evaluation.rest)
    if (std::find(workloads.begin(), workloads.end(), row.workload) == workloads.end())
      workloads.push_back(row.workload);
  return workloads;
}

std::string rest_heading(std::string_view workload) {
  if (workload == "training")
    return "A forward pass of training: one micro-batch through all layers";
  return fmt::format("The baseline step of {}: its terms on one device", workload);
}

Table rest_table(const Evaluation& evaluation, std::string_view workload) {
  Table table{{{"term"},
               {"bytes", Align::right},
               {"operations", Align::right},
               {"launches", Align::right},
               {"time [90 %]", Align::right},
               {"of the step", Align::right},
               {"origin"}},
              {}};
  const auto standard = standard_step(evaluation, workload);
  RestOfStep rest;
  for (const RestRow& row : evaluation.rest)
    if (row.workload == workload) rest.rows.push_back(row);
  const bool is_step = standard && standard->baseline_step;
  const Estimate<Seconds> step = is_step ? *standard->baseline_step : rest.total();
  // A step that cannot be run has no shares.
  const bool fits = !standard || !does_not_fit(*standard);
  const auto share = [&](Seconds time) {
    return fits ? format_ratio(time / step.value) : std::string("does not fit");
  };
  for (const RestRow& row : rest.rows) table.rows.push_back(term_cells(row, share(row.time.value)));
  const auto push = [&](const std::string& what, const Estimate<Seconds>& time) {
    table.rows.push_back({what, std::string(kNothing), std::string(kNothing), std::string(kNothing),
                          time_text(time), share(time.value), "modelled"});
  };
  if (is_step) push("standard residual", standard->residual);
  push(is_step ? "baseline step" : "one forward pass", step);
  return table;
}

Table memory_table(const Evaluation& evaluation) {
  const Study& study = evaluation.study;
  Table table{{{"workload"},
               {"weights", Align::right},
               {"KV cache", Align::right},
               {"residual state", Align::right},
               {"Phase 1", Align::right},
               {"all", Align::right},
               {"of capacity", Align::right}},
              {}};
  const auto other = other_sharding(study);
  for (const auto& [workload, holding] : holdings_of(study))
    table.rows.push_back(holding_cells(
        study, other && workload == "prefill" ? sharding_text(study) : workload, holding));
  if (other)
    for (const auto& [workload, holding] : holdings_of(*other))
      table.rows.push_back(holding_cells(study, sharding_text(*other), holding));
  return table;
}

std::string missing_baseline(const Evaluation& evaluation) {
  for (const StepRow& row : evaluation.step)
    if (!row.baseline_step)
      return fmt::format("No %: {}; `baseline_step` would give it.", row.missing);
  return "";
}

std::string baseline_text(const Evaluation& evaluation, std::string_view workload) {
  for (const StepRow& row : evaluation.step) {
    if (row.workload != workload) continue;
    if (!row.baseline_step) return "not known";
    return time_text(*row.baseline_step) +
           (is_modelled(evaluation, workload) ? ", modelled" : ", measured");
  }
  return "no hardware";
}

}  // namespace depthcost
