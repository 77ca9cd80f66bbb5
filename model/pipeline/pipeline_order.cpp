// The generators of order tables. See pipeline_order.hpp.
#include "model/pipeline/pipeline_order.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <deque>
#include <string>
#include <utility>

#include "model/base/infeasible.hpp"
#include "model/pipeline/pipeline.hpp"

namespace depthcost {
namespace {

/// The k-th pass of a stage belongs to chunk and micro-batch of its k-th virtual micro-batch.
struct VirtualMicroBatch {
  std::int32_t chunk = 0;
  std::int32_t micro_batch = 0;
};

enum class Direction : std::uint8_t { forward, backward };

/// One stage of a schedule that alternates: `warm_up` forward passes, then one forward and one
/// backward pass in turn, each task for the weights `weights_late` backward passes after its own.
struct Alternation {
  Count warm_up = 0;
  Count weights_late = 0;
  BackwardPass backward = BackwardPass::whole;
};

class StageTable {
 public:
  StageTable(const PipelineOrder& order, Count stage, Activations activations)
      : num_stages_(order.num_stages),
        num_virtual_stages_(order.num_virtual_stages),
        num_passes_(order.num_virtual_stages * order.num_micro_batches),
        stage_(stage),
        activations_(activations) {}

  std::vector<PipelineTask> alternate(const Alternation& alternation) && {
    backward_ = alternation.backward;
    const Count warm_up = std::min(alternation.warm_up, num_passes_);
    const Count weights_late = std::min(alternation.weights_late, num_passes_);
    tasks_.reserve(static_cast<std::size_t>(num_passes_) *
                   (activations_ == Activations::recomputed ? 4 : 3));
    for (Count pass = 0; pass < warm_up; ++pass) append(TaskKind::forward, pass);
    for (Count pass = 0; pass < num_passes_; ++pass) {
      if (warm_up + pass < num_passes_) append(TaskKind::forward, warm_up + pass);
      if (activations_ == Activations::recomputed) append(TaskKind::recompute, pass);
      append(TaskKind::backward_input, pass);
      if (pass >= weights_late) append(TaskKind::backward_weight, pass - weights_late);
    }
    for (Count pass = num_passes_ - weights_late; pass < num_passes_; ++pass)
      append(TaskKind::backward_weight, pass);
    return std::move(tasks_);
  }

 private:
  void append(TaskKind kind, Count pass) {
    const auto [chunk, micro_batch] =
        at(pass, kind == TaskKind::forward ? Direction::forward : Direction::backward);
    tasks_.push_back(
        {.kind = kind, .chunk = chunk, .micro_batch = micro_batch, .backward = backward_});
  }

  /// Groups of P micro-batches go through the stage's chunks one after another, backward from the
  /// last. With V = 1 this is the pass itself, whether P divides M or not.
  VirtualMicroBatch at(Count pass, Direction direction) const {
    const Count P = num_stages_;
    const Count V = num_virtual_stages_;
    const Count group = pass / (P * V);
    const Count chunk_in_turn = pass % (P * V) / P;
    const Count v = direction == Direction::forward ? chunk_in_turn : V - 1 - chunk_in_turn;
    return {.chunk = static_cast<std::int32_t>(chunk_of_stage(stage_, v, P)),
            .micro_batch = static_cast<std::int32_t>(group * P + pass % P)};
  }

  Count num_stages_;
  Count num_virtual_stages_;
  Count num_passes_;
  Count stage_;
  Activations activations_;
  BackwardPass backward_ = BackwardPass::whole;
  std::vector<PipelineTask> tasks_;
};

/// [interleaved] Sec. 2.2.1: P - p - 1 passes of warm-up on stage p.
std::vector<PipelineTask> tasks_of_1f1b(const PipelineOrder& order, Count stage,
                                        Activations activations) {
  return StageTable(order, stage, activations).alternate({.warm_up = order.num_stages - stage - 1});
}

/// [interleaved] Sec. 2.2.2: 2 (P - p - 1) + (V - 1) P passes of warm-up, as in Megatron-LM,
/// megatron/core/pipeline_parallel/schedules.py; older versions of it run all forward passes first
/// for M = P, which takes as long and keeps more.
std::vector<PipelineTask> tasks_of_interleaved(const PipelineOrder& order, Count stage,
                                               Activations activations) {
  if (order.num_virtual_stages == 1) return tasks_of_1f1b(order, stage, activations);
  const Count P = order.num_stages;
  return StageTable(order, stage, activations)
      .alternate({.warm_up = 2 * (P - stage - 1) + (order.num_virtual_stages - 1) * P});
}

/// [zero_bubble] Sec. 2, above Table 2: device i, counted from 1, holds
/// "(p - i + 1) M_B + (i - 1) M_W", so the weights are late by p.
std::vector<PipelineTask> tasks_of_zb_h1(const PipelineOrder& order, Count stage,
                                         Activations activations) {
  return StageTable(order, stage, activations)
      .alternate({.warm_up = order.num_stages - stage - 1,
                  .weights_late = stage,
                  .backward = BackwardPass::split});
}

/// One stage of DualPipe. A phase is a direction as this stage sees it: phase 0 begins nearer to
/// the stage.
class DualPipeTable {
 public:
  DualPipeTable(const PipelineOrder& order, Count stage, Activations activations)
      : order_(order), stage_(stage), activations_(activations) {}

  /// deepseek-ai/DualPipe, dualpipe.py, steps 1 to 8; `h` is how far the stage is from its end.
  std::vector<PipelineTask> tasks() && {
    const Count P = order_.num_stages;
    const Count h = std::min(stage_, P - 1 - stage_);
    const Count inner = P / 2 - 1 - h;
    for (Count i = 0; i < 2 * inner; ++i) forward(0);
    for (Count i = 0; i <= h; ++i) {
      forward(0);
      forward(1);
    }
    for (Count i = 0; i < inner; ++i) {
      backward(1, BackwardPass::split);
      weights();
      forward(1);
    }
    for (Count i = 0; i < order_.num_micro_batches / 2 - P + h + 1; ++i) {
      pair(0, 1);
      pair(1, 0);
    }
    for (Count i = 0; i < inner; ++i) {
      backward(1, BackwardPass::whole);
      pair(1, 0);
    }
    drain(h);
    for (Count i = 0; i < inner; ++i) {
      weights();
      backward(0, BackwardPass::split);
    }
    for (Count i = 0; i <= h; ++i) weights();
    return std::move(tasks_);
  }

 private:
  /// Backward passes of both phases; from the middle on, their weights are late.
  void drain(Count h) {
    BackwardPass how = BackwardPass::whole;
    for (Count i = 0; i <= h; ++i) {
      const bool is_middle = i == (h + 1) / 2;
      if (is_middle && h % 2 == 1) how = BackwardPass::split;
      backward(1, how);
      if (is_middle && h % 2 == 0) how = BackwardPass::split;
      backward(0, how);
    }
  }

  PipelineTask task(TaskKind kind, std::size_t phase, Count pass, BackwardPass backward) const {
    const bool is_far = 2 * stage_ >= order_.num_stages;
    const bool is_reversed = (phase == 1) != is_far;
    const Count chunk = is_reversed ? order_.num_stages - 1 - stage_ : stage_;
    const Count first = is_reversed ? order_.num_micro_batches / 2 : 0;
    return {.kind = kind,
            .chunk = static_cast<std::int32_t>(chunk),
            .micro_batch = static_cast<std::int32_t>(first + pass),
            .backward = backward};
  }

  void forward(std::size_t phase) {
    tasks_.push_back(task(TaskKind::forward, phase, forwards_[phase]++, BackwardPass::whole));
  }

  /// A forward pass beside a whole backward pass of the other direction.
  void pair(std::size_t forward_phase, std::size_t backward_phase) {
    forward(forward_phase);
    const std::size_t first = tasks_.size();
    backward(backward_phase, BackwardPass::whole);
    tasks_[first - 1].paired_with = static_cast<std::int8_t>(tasks_.size() - first);
  }

  void backward(std::size_t phase, BackwardPass how) {
    const Count pass = backwards_[phase]++;
    if (activations_ == Activations::recomputed)
      tasks_.push_back(task(TaskKind::recompute, phase, pass, how));
    tasks_.push_back(task(TaskKind::backward_input, phase, pass, how));
    const PipelineTask weights = task(TaskKind::backward_weight, phase, pass, how);
    if (how == BackwardPass::whole)
      tasks_.push_back(weights);
    else
      late_.push_back(weights);
  }

  /// The oldest that are late.
  void weights() {
    tasks_.push_back(late_.front());
    late_.pop_front();
  }

  const PipelineOrder& order_;
  Count stage_;
  Activations activations_;
  std::array<Count, 2> forwards_{};
  std::array<Count, 2> backwards_{};
  std::deque<PipelineTask> late_;
  std::vector<PipelineTask> tasks_;
};

std::vector<PipelineTask> tasks_of_dualpipe(const PipelineOrder& order, Count stage,
                                            Activations activations) {
  return DualPipeTable(order, stage, activations).tasks();
}

/// What there is to know of a schedule.
struct ScheduleRow {
  /// What a stage does, in order.
  std::vector<PipelineTask> (*tasks)(const PipelineOrder&, Count stage, Activations) = nullptr;
  ScheduleLimits limits = {};
  Directions directions = Directions::one;
};

ScheduleRow row_of(PipelineSchedule schedule, Count P, Count V) {
  switch (schedule) {
    case PipelineSchedule::one_forward_one_backward:
      return {.tasks = tasks_of_1f1b};
    case PipelineSchedule::interleaved:
      return {.tasks = tasks_of_interleaved,
              .limits = {.has_virtual_stages = true, .micro_batch_step = V > 1 ? P : 1}};
    case PipelineSchedule::zb_h1:
      return {.tasks = tasks_of_zb_h1};
    case PipelineSchedule::dualpipe:
      return {.tasks = tasks_of_dualpipe,
              .limits = {.micro_batch_step = 2, .fewest_micro_batches = 2 * P, .stage_step = 2},
              .directions = Directions::both};
  }
  return {};
}

void check(PipelineSchedule schedule, const PipelineOrder& order) {
  const Count P = order.num_stages;
  const Count V = order.num_virtual_stages;
  const Count M = order.num_micro_batches;
  assert(P >= 1 && V >= 1 && M >= 1);
  const ScheduleLimits limits = limits_of(schedule, P, V);
  if (V > 1 && !limits.has_virtual_stages) {
    throw Infeasible("invalid number of virtual stages '" + std::to_string(V) +
                     "' (must be 1 for " + std::string(name(schedule)) +
                     "; interleaved_1f1b has more)");
  }
  if (P % limits.stage_step != 0)
    throw Infeasible("invalid number of stages '" + std::to_string(P) + "' (must be even for " +
                     std::string(name(schedule)) + ")");
  if (const std::string why = problem_of_micro_batches(schedule, P, V, M); !why.empty())
    throw Infeasible("invalid number of micro-batches '" + std::to_string(M) + "' (" + why + ")");
  // Quotients, since the product of three counts from a scenario may overflow.
  if (P > kMaxChunkPasses / V || P * V > kMaxChunkPasses / M) {
    throw Infeasible("invalid pipeline of " + std::to_string(P) + " x " + std::to_string(V) +
                     " chunks and '" + std::to_string(M) +
                     "' micro-batches (the product must be at most " +
                     std::to_string(kMaxChunkPasses) + " to be simulated)");
  }
}

}  // namespace

ScheduleLimits limits_of(PipelineSchedule schedule, Count num_stages, Count num_virtual_stages) {
  return row_of(schedule, num_stages, num_virtual_stages).limits;
}

std::string problem_of_micro_batches(PipelineSchedule schedule, Count num_stages,
                                     Count num_virtual_stages, Count num_micro_batches) {
  const ScheduleLimits limits = limits_of(schedule, num_stages, num_virtual_stages);
  const std::string for_schedule = " for " + std::string(name(schedule));
  const std::string step = std::to_string(limits.micro_batch_step);
  if (num_micro_batches % limits.micro_batch_step != 0)
    return "must be a multiple of " +
           (schedule == PipelineSchedule::interleaved ? "the " + step + " stages" : step) +
           for_schedule;
  if (num_micro_batches < limits.fewest_micro_batches)
    return "must be at least " + std::to_string(limits.fewest_micro_batches) + ", two a stage," +
           for_schedule;
  return "";
}

PipelineOrder pipeline_order(PipelineSchedule schedule, Count num_stages, Count num_virtual_stages,
                             Count num_micro_batches, Activations activations) {
  const ScheduleRow row = row_of(schedule, num_stages, num_virtual_stages);
  PipelineOrder order{.num_stages = num_stages,
                      .num_virtual_stages = num_virtual_stages,
                      .num_micro_batches = num_micro_batches,
                      .stages = {},
                      .directions = row.directions};
  check(schedule, order);
  order.stages.reserve(static_cast<std::size_t>(num_stages));
  for (Count stage = 0; stage < num_stages; ++stage)
    order.stages.push_back(row.tasks(order, stage, activations));
  return order;
}

}  // namespace depthcost
