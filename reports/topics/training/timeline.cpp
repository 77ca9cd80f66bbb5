// The simulated step, with as many tasks as can be told apart.
#include "reports/topics/training/timeline.hpp"

#include <algorithm>

namespace depthcost {
namespace {

constexpr Count kMostMicroBatches = 32;
constexpr std::size_t kMostBoxes = 4000;   // half a megabyte of SVG
constexpr double kNarrowest = 1.0 / 5000;  // of the step: a seventh of a pixel

/// What is drawn: the study's pipeline with as many micro-batches as can be told apart, which is as
/// many as it has, or a number that its schedule takes.
PipelineWork drawn_work(const Study& study, const PipelineWork& work) {
  const PipelineOrder& order = work.order;
  if (order.num_micro_batches <= kMostMicroBatches) return work;
  const ScheduleLimits limits =
      limits_of(study.training->schedule, order.num_stages, order.num_virtual_stages);
  const Count step = limits.micro_batch_step;
  const Count M = std::max({step, limits.fewest_micro_batches, kMostMicroBatches / step * step});
  PipelineWork drawn = work;
  if (M < order.num_micro_batches) drawn.order = training_order(study, M);
  return drawn;
}

/// Both halves of a backward pass are one box where one follows the other.
bool continues(const TaskBox& last, const TaskBox& next) {
  return last.kind == TaskKind::backward_input && next.kind == TaskKind::backward_weight &&
         last.virtual_stage == next.virtual_stage && last.end == next.start;
}

std::vector<TaskBox> boxes_of(const PipelineWork& work, const SimulatedStep& step) {
  std::vector<TaskBox> boxes;
  for (std::size_t stage = 0; stage < step.stages.size(); ++stage)
    for (const TimedTask& timed : step.stages[stage]) {
      const TaskBox box{stage, timed.task.kind,
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
Seconds keep_earliest(std::vector<TaskBox>& boxes, Seconds makespan) {
  if (boxes.size() <= kMostBoxes) return makespan;
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const TaskBox& a, const TaskBox& b) { return a.start < b.start; });
  const Seconds end = boxes[kMostBoxes].start;
  boxes.resize(kMostBoxes);
  for (TaskBox& box : boxes) box.end = std::min(box.end, end);
  return end;
}

}  // namespace

std::optional<Timeline> timeline_of(const Evaluation& evaluation) {
  const TrainingAnswer& training = evaluation.training;
  if (!training.work || training.rest.rows.empty() || training.work->order.num_stages < 2)
    return std::nullopt;
  PipelineWork drawn = drawn_work(evaluation.study, *training.work);
  const SimulatedStep step = simulate(drawn);
  std::vector<TaskBox> boxes = boxes_of(drawn, step);
  const Seconds end = keep_earliest(boxes, step.makespan);
  return Timeline{std::move(drawn.order), std::move(boxes), step.makespan, end};
}

}  // namespace depthcost
