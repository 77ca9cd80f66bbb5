// Labels of points, groups of points, and one line for each reason why a point cannot exist.
#include <fmt/format.h>

#include <algorithm>

#include "model/schemes/list.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/sweep/sweep_report.hpp"

namespace depthcost {
namespace {

void append(std::string& label, std::string_view path, const std::string& value) {
  label += fmt::format("{}{} {}", label.empty() ? "" : ", ", last_part(path), value);
}

}  // namespace

std::string last_part(std::string_view path) {
  return std::string(path.substr(path.find_last_of('.') + 1));
}

std::vector<SweepGroup> groups_of(const SweepReport& report) {
  std::vector<SweepGroup> groups;
  for (const ReportedScene& scene : report.scenes)
    for (std::size_t c = 0; scene.sweep && c < scene.sweep->num_circumstances(); ++c)
      groups.push_back({&scene, c});
  return groups;
}

std::string circumstance_label(const SweepReport& report, const SweepGroup& group) {
  std::string label;
  for (std::size_t i = 0; i < report.scene_axes.size(); ++i)
    append(label, report.scene_axes[i], group.scene->values[i]);
  const auto& axes = group.sweep().circumstance_axes();
  const std::vector<Count> values = group.sweep().circumstance_values(group.circumstance);
  for (std::size_t i = 0; i < axes.size(); ++i)
    append(label, name(axes[i].key), value_text(axes[i], values[i]));
  return label;
}

std::string choice_label(const Sweep& sweep, std::size_t choice) {
  std::string label;
  const auto& axes = sweep.choice_axes();
  for (std::size_t i = 0; i < axes.size(); ++i)
    append(label, name(axes[i].key), value_text(axes[i], sweep.choices()[choice].values[i]));
  return label.empty() ? "the scenario" : label;
}

std::optional<std::size_t> own_choice(const SweepReport& report, const SweepGroup& group) {
  if (!report.own) return std::nullopt;
  const auto& choices = group.sweep().choices();
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i].refused.empty() && choices[i].schedule == report.own->schedule &&
        choices[i].path.scheme == report.own->path.scheme)
      return i;
  }
  return std::nullopt;
}

const Partition* source_blocks(const SweepChoice& choice) {
  return choice.refused.empty() ? attnres_blocks(choice.path.scheme) : nullptr;
}

std::string loss_text(const LossReading& reading) {
  if (!reading.loss) return std::string(name(reading.kind));
  return fmt::format("{}{:.3f}", reading.kind == ReadingKind::interpolated ? "~" : "",
                     *reading.loss);
}

std::vector<std::string> refusals(const SweepReport& report) {
  // Most reasons name the value: "invalid block_size '55' (...)"; one line for what follows it.
  struct Refusal {
    std::string reason;
    std::string first;
    std::string last;
    std::size_t count = 0;
  };
  std::vector<Refusal> all;
  const auto add = [&](const std::string& what, const std::string& reason) {
    const auto bracket = reason.starts_with("invalid ") ? reason.find(" (") : std::string::npos;
    const std::string cause = bracket == std::string::npos ? ": " + reason : reason.substr(bracket);
    if (all.empty() || all.back().reason != cause) all.push_back({cause, what, what, 0});
    all.back().last = what;
    ++all.back().count;
  };
  for (const ReportedScene& scene : report.scenes) {
    std::string label;
    for (std::size_t i = 0; i < report.scene_axes.size(); ++i)
      append(label, report.scene_axes[i], scene.values[i]);
    if (!scene.sweep) {
      add(label, scene.refused);
      continue;
    }
    const auto& choices = scene.sweep->choices();
    for (std::size_t i = 0; i < choices.size(); ++i)
      if (!choices[i].refused.empty())
        add((label.empty() ? "" : label + ", ") + choice_label(*scene.sweep, i),
            choices[i].refused);
  }
  std::vector<std::string> lines;
  for (const Refusal& refusal : all)
    lines.push_back(refusal.count == 1
                        ? fmt::format("cannot exist: {}{}", refusal.first, refusal.reason)
                        : fmt::format("cannot exist: {} to {}, {} of them{}", refusal.first,
                                      refusal.last, format_count(static_cast<Count>(refusal.count)),
                                      refusal.reason));
  return lines;
}

}  // namespace depthcost
