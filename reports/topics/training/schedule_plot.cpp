// The pipeline of a training step as a timeline: one line for each stage, one box for each task.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/section/scheme_style.hpp"
#include "reports/topics/training/timeline.hpp"
#include "reports/topics/training/training_section.hpp"

namespace depthcost {
namespace {

using namespace plotting;

Color color_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::forward:
      return Color::blue;
    case TaskKind::recompute:
      return Color::grey;
    case TaskKind::backward_input:
      return Color::orange;
    case TaskKind::backward_weight:
      return Color::green;
  }
  return Color::black;
}

std::string axes(Count num_stages, Seconds end, std::string_view unit) {
  std::string script =
      fmt::format("set xrange [0:{}]\nset yrange [{}:-0.5]\nset grid xtics noytics\n",
                  number_text(in_unit(end.value, UnitKind::seconds, unit)),
                  number_text(static_cast<double>(num_stages) - 0.5));
  script += fmt::format("set ytics {} scale 0\n", num_stages > 16 ? (num_stages + 15) / 16 : 1);
  return script;
}

std::vector<LegendEntry> legend_of(const Timeline& timeline) {
  const std::vector<TaskBox>& boxes = timeline.boxes;
  std::vector<LegendEntry> legend;
  const auto push = [&](TaskKind kind, const char* text) {
    if (std::any_of(boxes.begin(), boxes.end(),
                    [&](const TaskBox& box) { return box.kind == kind; }))
      legend.push_back({Mark::box, color_of(kind), text});
  };
  const bool is_split = std::any_of(boxes.begin(), boxes.end(), [](const TaskBox& box) {
    return box.kind == TaskKind::backward_weight;
  });
  push(TaskKind::forward, "forward");
  push(TaskKind::recompute, "recompute");
  push(TaskKind::backward_input, is_split ? "backward, inputs" : "backward");
  if (is_split) push(TaskKind::backward_weight, "backward, weights");
  if (timeline.order.num_virtual_stages > 1)
    legend.push_back({Mark::box, pale(Color::blue), "pale: every second virtual stage"});
  return legend;
}

/// Columns: middle, stage, ends, edges, colour.
DataBlock box_data(const std::vector<TaskBox>& boxes, std::string_view unit) {
  constexpr double kHalfHeight = 0.4;
  DataBlock block{"tasks"};
  for (const TaskBox& box : boxes) {
    const double start = in_unit(box.start.value, UnitKind::seconds, unit);
    const double end = in_unit(box.end.value, UnitKind::seconds, unit);
    const auto stage = static_cast<double>(box.stage);
    const Color full = color_of(box.kind);
    const Color color = box.virtual_stage % 2 == 0 ? full : pale(full);
    block.push_back({(start + end) / 2, stage, start, end, stage - kHalfHeight, stage + kHalfHeight,
                     static_cast<double>(color)});
  }
  return block;
}

/// Few tasks are told apart by white lines; between many there would be nothing else.
std::string border_of(std::size_t num_boxes) {
  constexpr std::size_t kMostBordered = 600;
  return num_boxes > kMostBordered ? "noborder" : "border " + rgb(Color::white);
}

/// "32 of 64 micro-batches", and that their beginning is drawn if it is all there is room for.
std::string shown_text(const Timeline& timeline, Count num_micro_batches) {
  const Count shown = timeline.order.num_micro_batches;
  std::string text = shown == num_micro_batches
                         ? fmt::format("{} micro-batches", format_count(num_micro_batches))
                         : fmt::format("drawn with {} of {} micro-batches", format_count(shown),
                                       format_count(num_micro_batches));
  return timeline.end < timeline.makespan ? text + ", its beginning" : text;
}

}  // namespace

std::optional<Plot> schedule_plot(const Evaluation& evaluation) {
  const TrainingAnswer& training = evaluation.training;
  const Study& study = evaluation.study;
  const std::optional<Timeline> timeline = timeline_of(evaluation);
  if (!timeline) return std::nullopt;
  const auto& [order, boxes, makespan, end] = *timeline;
  const std::string_view unit = end.value < 1e-3 ? "us" : end.value < 10 ? "ms" : "s";
  const std::string model = model_name(study);
  const std::string shown = shown_text(*timeline, training.work->order.num_micro_batches);
  const std::string schedule(name(study.training->schedule));
  const std::string scheme = label_of(study.path.scheme, study.schedule);
  const std::string script =
      opening({.title = "A training step of " + model + " as it is simulated",
               .y = fmt::format("stage; {}, {}, {}", schedule, scheme, shown),
               .x = fmt::format("{} from the start of the step", unit == "us"   ? "microseconds"
                                                                 : unit == "ms" ? "milliseconds"
                                                                                : "seconds"),
               .legend = legend_of(*timeline)},
              {}) +
      axes(order.num_stages, end, unit) + box_data(boxes, unit).text() +
      plot_command({fmt::format("$tasks using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid {} "
                                "linecolor rgb variable",
                                border_of(boxes.size()))});
  const std::string caption = fmt::format(
      "Timeline of the {} stages in a training step of {}, {} under {}, {}; in the whole step a "
      "stage does not compute for {} of the time",
      order.num_stages, model, scheme, schedule, shown,
      format_ratio(bubble_share(*training.simulated)));
  return Plot{"schedule.svg", caption, script};
}

}  // namespace depthcost
