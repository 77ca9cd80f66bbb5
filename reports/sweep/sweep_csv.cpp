// Points as lines, and their values under keys.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/decision/decoder_layer.hpp"
#include "reports/formats/csv_cell.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/section/quantity.hpp"
#include "reports/sweep/sweep_report.hpp"
#include "reports/sweep/sweep_values.hpp"

namespace depthcost {
namespace {

using Values = std::vector<PointValue>;

/// Keys of one workload, in the order of the ends: seconds, and ratios.
struct AddedKeys {
  std::array<std::string_view, 3> delta;
  std::array<std::string_view, 3> overhead;
};

constexpr AddedKeys kDecode{
    {"decode_delta_low_seconds", "decode_delta_seconds", "decode_delta_high_seconds"},
    {"decode_overhead_low", "decode_overhead", "decode_overhead_high"}};
constexpr AddedKeys kPrefill{
    {"prefill_delta_low_seconds", "prefill_delta_seconds", "prefill_delta_high_seconds"},
    {"prefill_overhead_low", "prefill_overhead", "prefill_overhead_high"}};
constexpr AddedKeys kTraining{
    {"training_delta_low_seconds", "training_delta_seconds", "training_delta_high_seconds"},
    {"training_overhead_low", "training_overhead", "training_overhead_high"}};

void add_number(Values& values, std::string_view key, std::optional<double> number) {
  values.push_back({.key = key, .number = number, .text = {}});
}

void add_text(Values& values, std::string_view key, std::string_view text) {
  values.push_back({.key = key, .number = {}, .text = text});
}

void add_time(Values& values, const AddedKeys& keys, const std::optional<AddedTime>& added) {
  const auto delta = added ? std::optional(added->delta) : std::nullopt;
  const auto overhead = added ? added->overhead : std::nullopt;
  for (std::size_t i = 0; i < kEnumerators<IntervalEnd>.size(); ++i)
    add_number(values, keys.delta[i], end_of(delta, kEnumerators<IntervalEnd>[i]));
  for (std::size_t i = 0; i < kEnumerators<IntervalEnd>.size(); ++i)
    add_number(values, keys.overhead[i], end_of(overhead, kEnumerators<IntervalEnd>[i]));
}

void add_blocks(Values& values, const SweepPoint& point) {
  const Partition* blocks = source_blocks(*point.choice);
  const auto count = [&](Count Partition::*member) -> std::optional<double> {
    if (blocks == nullptr) return std::nullopt;
    return static_cast<double>(blocks->*member);
  };
  add_number(values, "num_blocks", count(&Partition::num_blocks));
  add_number(values, "last_block_layers", count(&Partition::last_size));
}

void add_bytes(Values& values, const SweepPoint& point) {
  const auto if_exists = [&](double value) {
    return point.exists() ? std::optional(value) : std::nullopt;
  };
  const auto of_memory = [&](Bytes PointMemory::*item) -> std::optional<double> {
    if (!point.memory) return std::nullopt;
    return ((*point.memory).*item).value;
  };
  const auto& mean = point.choice->mean[static_cast<std::size_t>(Convention::kernel)];
  add_number(values, "kernel_mean_d", mean ? std::optional(mean->mean_d) : std::nullopt);
  add_number(values, "forward_bytes", if_exists(point.choice->forward_bytes.value));
  add_number(values, "state_per_token_bytes", if_exists(state_per_token(*point.choice).value));
  add_number(values, "state_bytes", of_memory(&PointMemory::state));
  add_number(values, "cache_bytes", of_memory(&PointMemory::cache));
  add_number(values, "memory_bytes", of_memory(&PointMemory::all));
  add_number(
      values, "payload_peak_bytes",
      point.choice->payload_peak ? std::optional(point.choice->payload_peak->value) : std::nullopt);
}

void add_quality(Values& values, const SweepPoint& point) {
  const QualityEvidence& quality = point.choice->quality;
  const auto kind = [&](const LossReading& reading) {
    return point.exists() ? name(reading.kind) : std::string_view{};
  };
  add_number(values, "loss_by_size", quality.by_size.loss);
  add_text(values, "loss_by_size_is", kind(quality.by_size));
  add_number(values, "loss_by_count", quality.by_count.loss);
  add_text(values, "loss_by_count_is", kind(quality.by_count));
}

void append_cells(std::string& line, const Values& values) {
  for (const PointValue& value : values) {
    line += ',';
    line += !value.text.empty() ? csv_cell(value.text)
            : value.number      ? number_text(*value.number)
                                : "";
  }
}

std::string axis_cells(const SweepGroup& group, std::size_t choice) {
  std::string cells;
  const auto add = [&](const std::string& text) {
    cells += (cells.empty() ? "" : ",") + csv_cell(text);
  };
  const Sweep& sweep = group.sweep();
  for (const std::string& value : group.scene->values) add(value);
  for (const Count value : sweep.circumstance_values(group.circumstance))
    add(std::to_string(value));
  for (std::size_t i = 0; i < sweep.choice_axes().size(); ++i)
    add(value_text(sweep.choice_axes()[i], sweep.choices()[choice].values[i]));
  return cells;
}

std::string header(const SweepReport& report, const SweepGroup& first, const Values& values) {
  std::string line;
  const auto add = [&](std::string_view key) {
    line += fmt::format("{}{}", line.empty() ? "" : ",", key);
  };
  for (const std::string& path : report.scene_axes) add(path);
  for (const SweptAxis& axis : first.sweep().circumstance_axes()) add(name(axis.key));
  for (const SweptAxis& axis : first.sweep().choice_axes()) add(name(axis.key));
  for (const PointValue& value : values) add(value.key);
  return line + "\n";
}

/// A scene that cannot be read has its own values and a reason.
std::string refused_line(const ReportedScene& scene, const SweepGroup& first,
                         const Values& values) {
  std::string line;
  for (const std::string& value : scene.values) line += (line.empty() ? "" : ",") + csv_cell(value);
  const std::size_t axes =
      first.sweep().circumstance_axes().size() + first.sweep().choice_axes().size();
  line += std::string(axes, ',');
  return line + ",false," + csv_cell(scene.refused) + std::string(values.size() - 2, ',') + "\n";
}

}  // namespace

GroupAnswer answer_for(const Sweep& sweep, std::size_t circumstance) {
  return {recommend(sweep, circumstance), front_of(sweep, circumstance)};
}

std::vector<PointValue> point_values(const Sweep& sweep, std::size_t circumstance,
                                     std::size_t choice, const GroupAnswer& answer) {
  const SweepPoint point = sweep.point(circumstance, choice);
  const auto truth = [](bool is_true) { return is_true ? "true" : "false"; };
  Values values;
  values.reserve(40);
  add_text(values, "exists", truth(point.exists()));
  add_text(values, "refused", point.choice->refused);
  add_blocks(values, point);
  add_text(values, "schedule", point.exists() ? name(point.choice->schedule) : std::string_view{});
  add_bytes(values, point);
  add_time(values, kDecode, point.decode);
  add_time(values, kPrefill, point.prefill);
  add_time(values, kTraining, point.training);
  add_quality(values, point);
  add_text(values, "on_front",
           truth(std::binary_search(answer.front.begin(), answer.front.end(), choice)));
  add_text(values, "splits_decoder_layer",
           truth(point.exists() && splits_decoder_layer(sweep.study(), point.choice->path.scheme)));
  add_text(values, "recommended", truth(choice == answer.recommendation.best));
  add_text(values, "runner_up", truth(choice == answer.recommendation.runner_up));
  add_text(values, "budgets", point.exists() ? name(sweep.verdict(point)) : std::string_view{});
  return values;
}

std::string sweep_csv(const SweepReport& report) {
  const SweepGroup first = groups_of(report).front();
  const Values keys = point_values(first.sweep(), 0, 0, answer_for(first.sweep(), 0));
  std::string text = header(report, first, keys);
  for (const ReportedScene& scene : report.scenes) {
    if (!scene.sweep) text += refused_line(scene, first, keys);
    for (std::size_t c = 0; scene.sweep && c < scene.sweep->num_circumstances(); ++c) {
      const GroupAnswer answer = answer_for(*scene.sweep, c);
      for (std::size_t i = 0; i < scene.sweep->choices().size(); ++i) {
        std::string line = axis_cells({&scene, c}, i);
        append_cells(line, point_values(*scene.sweep, c, i, answer));
        // A sweep without axes has no cell before the first.
        text += (line.front() == ',' ? line.substr(1) : line) + "\n";
      }
      count_group(report);
    }
  }
  return text;
}

}  // namespace depthcost
