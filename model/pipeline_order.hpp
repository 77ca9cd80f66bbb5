// In which order the stages of a pipeline work through their micro-batches: one table per stage, as
// data. Chunk c runs on stage c mod P, as in model/pipeline.hpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/units.hpp"

namespace depthcost {

/// A backward pass is two tasks: the gradients of the inputs, which the stage before waits for, and
/// those of the weights, which nobody does. `recompute` repeats a forward pass whose activations
/// were not kept.
enum class TaskKind : std::uint8_t { forward, recompute, backward_input, backward_weight };

std::string_view name(TaskKind kind);

/// One chunk's work on one micro-batch.
struct PipelineTask {
  TaskKind kind = TaskKind::forward;
  std::int32_t chunk = 0;
  std::int32_t micro_batch = 0;

  friend constexpr bool operator==(const PipelineTask&, const PipelineTask&) = default;
};

/// What every stage does, in order. It waits for nothing but what a task needs.
struct PipelineOrder {
  Count num_stages = 1;          // P
  Count num_virtual_stages = 1;  // V
  Count num_micro_batches = 1;   // M
  std::vector<std::vector<PipelineTask>> stages;
};

enum class PipelineSchedule : std::uint8_t { one_forward_one_backward, interleaved, zb_h1 };

/// "1f1b", "interleaved_1f1b", "zb_h1".
std::string_view name(PipelineSchedule schedule);

/// Whether activations are kept from the forward to the backward pass.
enum class Activations : std::uint8_t { kept, recomputed };

/// The order table of a schedule. Throws Infeasible where the schedule does not exist: V > 1 for
/// 1f1b and zb_h1, M not a multiple of P for interleaved_1f1b.
PipelineOrder pipeline_order(PipelineSchedule schedule, Count num_stages, Count num_virtual_stages,
                             Count num_micro_batches, Activations activations);

}  // namespace depthcost
