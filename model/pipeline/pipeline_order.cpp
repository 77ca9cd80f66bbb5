// The generators of order tables. See pipeline_order.hpp.
#include "model/pipeline/pipeline_order.hpp"

#include <algorithm>
#include <cassert>
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
    tasks_.push_back({.kind = kind, .chunk = chunk, .micro_batch = micro_batch});
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
      .alternate({.warm_up = order.num_stages - stage - 1, .weights_late = stage});
}

/// What there is to know of a schedule.
struct ScheduleRow {
  /// What a stage does, in order.
  std::vector<PipelineTask> (*tasks)(const PipelineOrder&, Count stage, Activations) = nullptr;
  ScheduleLimits limits = {};
  BackwardPass backward = BackwardPass::whole;
};

ScheduleRow row_of(PipelineSchedule schedule, Count P, Count V) {
  switch (schedule) {
    case PipelineSchedule::one_forward_one_backward:
      return {.tasks = tasks_of_1f1b};
    case PipelineSchedule::interleaved:
      return {.tasks = tasks_of_interleaved,
              .limits = {.has_virtual_stages = true, .micro_batch_step = V > 1 ? P : 1}};
    case PipelineSchedule::zb_h1:
      return {.tasks = tasks_of_zb_h1, .backward = BackwardPass::split};
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
  if (M % limits.micro_batch_step != 0) {
    throw Infeasible("invalid number of micro-batches '" + std::to_string(M) +
                     "' (must be a multiple of the " + std::to_string(limits.micro_batch_step) +
                     " stages for " + std::string(name(schedule)) + ")");
  }
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

PipelineOrder pipeline_order(PipelineSchedule schedule, Count num_stages, Count num_virtual_stages,
                             Count num_micro_batches, Activations activations) {
  const ScheduleRow row = row_of(schedule, num_stages, num_virtual_stages);
  PipelineOrder order{.num_stages = num_stages,
                      .num_virtual_stages = num_virtual_stages,
                      .num_micro_batches = num_micro_batches,
                      .stages = {},
                      .backward = row.backward};
  check(schedule, order);
  order.stages.reserve(static_cast<std::size_t>(num_stages));
  for (Count stage = 0; stage < num_stages; ++stage)
    order.stages.push_back(row.tasks(order, stage, activations));
  return order;
}

}  // namespace depthcost
