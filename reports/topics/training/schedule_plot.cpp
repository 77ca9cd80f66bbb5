// The pipeline of a training step as a timeline: one line for each stage, one box for each task.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/section/scheme_style.hpp"
#include "reports/topics/training/training_section.hpp"

namespace depthcost {
namespace {

using namespace plotting;

constexpr Count kMostMicroBatches = 32;
constexpr std::size_t kMostBoxes = 4000;   // half a megabyte of SVG
constexpr double kNarrowest = 1.0 / 5000;  // of the step: a seventh of a pixel

struct Box {
  std::size_t stage = 0;
  TaskKind kind = TaskKind::forward;
  Count virtual_stage = 0;
  Seconds start;
  Seconds end;
};

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

/// What is drawn: the study's pipeline with as many micro-batches as can be told apart, which is as
/// many as it has, or a number that its schedule takes.
PipelineWork drawn_work(const Study& study, const PipelineWork& work) {
  const PipelineOrder& order = work.order;
  if (order.num_micro_batches <= kMostMicroBatches) return work;
  const Count step = limits_of(study.training->schedule, order.num_stages, order.num_virtual_stages)
                         .micro_batch_step;
  const Count M = std::max(step, kMostMicroBatches / step * step);
  PipelineWork drawn = work;
  if (M < order.num_micro_batches) drawn.order = training_order(study, M);
  return drawn;
}

/// Both halves of a backward pass are one box where one follows the other.
bool continues(const Box& last, const Box& next) {
  return last.kind == TaskKind::backward_input && next.kind == TaskKind::backward_weight &&
         last.virtual_stage == next.virtual_stage && last.end == next.start;
}

std::vector<Box> boxes_of(const PipelineWork& work, const SimulatedStep& step) {
  std::vector<Box> boxes;
  for (std::size_t stage = 0; stage < step.stages.size(); ++stage)
    for (const TimedTask& timed : step.stages[stage]) {
      const Box box{stage, timed.task.kind,
                    virtual_stage_of_chunk<Count>(timed.task.chunk, work.order.num_stages),
                    timed.start, timed.end};
      if (box.end - box.start < kNarrowest * step.makespan) continue;
      const bool has_last = !boxes.empty() && boxes.back().stage == stage;
      const bool is_whole = timed.task.backward == BackwardPass::whole;
      if (is_whole && has_last && continues(boxes.back(), box))
        boxes.back().end = box.end;
      else
        boxes.push_back(box);
    }
  return boxes;
}

/// The earliest, if there are more than can be drawn; where they end.
Seconds keep_earliest(std::vector<Box>& boxes, Seconds makespan) {
  if (boxes.size() <= kMostBoxes) return makespan;
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const Box& a, const Box& b) { return a.start < b.start; });
  const Seconds end = boxes[kMostBoxes].start;
  boxes.resize(kMostBoxes);
  for (Box& box : boxes) box.end = std::min(box.end, end);
  return end;
}

std::string axes(Count num_stages, Seconds end, std::string_view unit) {
  std::string script =
      fmt::format("set xrange [0:{}]\nset yrange [{}:-0.5]\nset grid xtics noytics\n",
                  number_text(in_unit(end.value, UnitKind::seconds, unit)),
                  number_text(static_cast<double>(num_stages) - 0.5));
  script += fmt::format("set ytics {} scale 0\n", num_stages > 16 ? (num_stages + 15) / 16 : 1);
  return script;
}

std::vector<LegendEntry> legend_of(const std::vector<Box>& boxes, const PipelineWork& work) {
  std::vector<LegendEntry> legend;
  const auto push = [&](TaskKind kind, const char* text) {
    if (std::any_of(boxes.begin(), boxes.end(), [&](const Box& box) { return box.kind == kind; }))
      legend.push_back({Mark::box, color_of(kind), text});
  };
  const bool is_split = std::any_of(boxes.begin(), boxes.end(), [](const Box& box) {
    return box.kind == TaskKind::backward_weight;
  });
  push(TaskKind::forward, "forward");
  push(TaskKind::recompute, "recompute");
  push(TaskKind::backward_input, is_split ? "backward, inputs" : "backward");
  if (is_split) push(TaskKind::backward_weight, "backward, weights");
  if (work.order.num_virtual_stages > 1)
    legend.push_back({Mark::box, pale(Color::blue), "pale: every second virtual stage"});
  return legend;
}

/// Columns: middle, stage, ends, edges, colour.
DataBlock box_data(const std::vector<Box>& boxes, std::string_view unit) {
  constexpr double kHalfHeight = 0.4;
  DataBlock block{"tasks"};
  for (const Box& box : boxes) {
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

/// "32 of 64 micro-batches", and what is drawn of them up to `end`.
std::string shown_text(const PipelineWork& work, const PipelineWork& drawn, Seconds end,
                       Seconds makespan) {
  const Count M = work.order.num_micro_batches;
  const Count shown = drawn.order.num_micro_batches;
  std::string text = shown == M ? fmt::format("{} micro-batches", format_count(M))
                                : fmt::format("drawn with {} of {} micro-batches",
                                              format_count(shown), format_count(M));
  return end < makespan ? text + ", its beginning" : text;
}

}  // namespace

std::optional<Plot> schedule_plot(const Evaluation& evaluation) {
  const TrainingAnswer& training = evaluation.training;
  const Study& study = evaluation.study;
  if (!training.work || training.rest.rows.empty() || training.work->order.num_stages < 2)
    return std::nullopt;
  const PipelineWork drawn = drawn_work(study, *training.work);
  const SimulatedStep step = simulate(drawn);
  std::vector<Box> boxes = boxes_of(drawn, step);
  const Seconds end = keep_earliest(boxes, step.makespan);
  const std::string_view unit = end.value < 1e-3 ? "us" : end.value < 10 ? "ms" : "s";
  const std::string model = model_name(study);
  const std::string shown = shown_text(*training.work, drawn, end, step.makespan);
  const std::string schedule(name(study.training->schedule));
  const std::string scheme = label_of(study.path.scheme, study.schedule);
  const std::string script =
      opening({.title = "A training step of " + model + " as it is simulated",
               .y = fmt::format("stage; {}, {}, {}", schedule, scheme, shown),
               .x = fmt::format("{} from the start of the step", unit == "us"   ? "microseconds"
                                                                 : unit == "ms" ? "milliseconds"
                                                                                : "seconds"),
               .legend = legend_of(boxes, drawn)},
              {}) +
      axes(drawn.order.num_stages, end, unit) + box_data(boxes, unit).text() +
      plot_command({fmt::format("$tasks using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid {} "
                                "linecolor rgb variable",
                                border_of(boxes.size()))});
  const std::string caption = fmt::format(
      "Timeline of the {} stages in a training step of {}, {} under {}, {}; in the whole step a "
      "stage does not compute for {} of the time",
      drawn.order.num_stages, model, scheme, schedule, shown,
      format_ratio(bubble_share(*training.simulated)));
  return Plot{"schedule.svg", caption, script};
}

}  // namespace depthcost
