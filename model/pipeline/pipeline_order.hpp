// In which order the stages of a pipeline work through their micro-batches: one table per stage, as
// data. Which stage runs a chunk: stage_of_task().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/base/enum_names.hpp"
#include "model/base/units.hpp"
#include "model/pipeline/pipeline.hpp"

namespace depthcost {

/// A backward pass is two tasks: the gradients of the inputs, which the stage before waits for, and
/// those of the weights, which nobody does. `recompute` repeats a forward pass whose activations
/// were not kept.
enum class TaskKind : std::uint8_t { forward, recompute, backward_input, backward_weight };

/// `whole`: one pass over the layers makes both kinds of gradients, the chunk's input last, and
/// hands that over at its end. `split`: the gradient of the input leaves before the weights' task.
enum class BackwardPass : std::uint8_t { whole, split };

/// One chunk's work on one micro-batch.
struct PipelineTask {
  TaskKind kind = TaskKind::forward;
  std::int32_t chunk = 0;
  std::int32_t micro_batch = 0;
  BackwardPass backward = BackwardPass::whole;  // that the task is of
  /// Tasks behind it that run beside a forward pass: its output leaves when they are done.
  std::int8_t paired_with = 0;

  /// Whether it is the same work; how a pass hands over is no part of that.
  friend constexpr bool operator==(const PipelineTask& a, const PipelineTask& b) {
    return a.kind == b.kind && a.chunk == b.chunk && a.micro_batch == b.micro_batch;
  }
};

/// `both`: the second half of the micro-batches goes from the last stage to the first, through
/// copies of the chunks.
enum class Directions : std::uint8_t { one, both };

/// What every stage does, in order. It waits for nothing but what a task needs.
struct PipelineOrder {
  Count num_stages = 1;          // P
  Count num_virtual_stages = 1;  // V
  Count num_micro_batches = 1;   // M
  std::vector<std::vector<PipelineTask>> stages;
  Directions directions = Directions::one;
};

/// Whether a micro-batch begins on the last stage.
constexpr bool is_reversed(const PipelineOrder& order, Count micro_batch) {
  return order.directions == Directions::both && 2 * micro_batch >= order.num_micro_batches;
}

/// The stage that runs a chunk of a micro-batch.
constexpr Count stage_of_task(const PipelineOrder& order, Count chunk, Count micro_batch) {
  const Count stage = stage_of_chunk(chunk, order.num_stages);
  return is_reversed(order, micro_batch) ? order.num_stages - 1 - stage : stage;
}

/// Whether the gradient of a chunk's input goes to the chunk before at the end of the task.
constexpr bool hands_gradient_over(const PipelineTask& task) {
  return task.kind == (task.backward == BackwardPass::whole ? TaskKind::backward_weight
                                                            : TaskKind::backward_input);
}

/// 1f1b: [interleaved] Sec. 2.2.1. interleaved: Sec. 2.2.2 there, as Megatron-LM runs it; with
/// V = 1 it is 1f1b. zb_h1: [zero_bubble] Sec. 2.1, 1f1b whose stage p is p weight tasks late: as
/// many micro-batches in flight, and the late tasks fill the bubble at the end. dualpipe:
/// [dualpipe], two directions: half of the micro-batches begin on the last stage, where a second
/// copy of the first chunk lies.
enum class PipelineSchedule : std::uint8_t {
  one_forward_one_backward,
  interleaved,
  zb_h1,
  dualpipe
};

template <>
inline constexpr auto kNames<PipelineSchedule> = other_names<PipelineSchedule>("1f1b",
                                                                               "interleaved_1f1b",
                                                                               "zb_h1", "dualpipe");

/// Copies of every chunk, and of its weights.
constexpr Count num_copies(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::dualpipe ? 2 : 1;
}

/// P V M at most. Such tables take about 200 MB, and their simulation about 0.4 s. [ours]
inline constexpr Count kMaxChunkPasses = Count{1} << 19;

/// Whether activations are kept from the forward to the backward pass, or made again by a
/// recompute task just before it. That task waits for the gradient too: engines run it inside their
/// backward pass.
enum class Activations : std::uint8_t { kept, recomputed };

/// Which pipelines a schedule takes.
struct ScheduleLimits {
  bool has_virtual_stages = false;  // whether V > 1 is possible
  Count micro_batch_step = 1;       // M is a multiple of it: 1, 2 or P
  Count fewest_micro_batches = 1;
  Count stage_step = 1;  // P is a multiple of it
};

ScheduleLimits limits_of(PipelineSchedule schedule, Count num_stages, Count num_virtual_stages);

/// Why a schedule does not take so many micro-batches: "must be a multiple of the 4 stages for
/// interleaved_1f1b". Empty where it does.
std::string problem_of_micro_batches(PipelineSchedule schedule, Count num_stages,
                                     Count num_virtual_stages, Count num_micro_batches);

/// The order table of a schedule; P, V, M >= 1. Throws Infeasible where limits_of() says that the
/// schedule does not exist, and for more than kMaxChunkPasses.
PipelineOrder pipeline_order(PipelineSchedule schedule, Count num_stages, Count num_virtual_stages,
                             Count num_micro_batches, Activations activations);

}  // namespace depthcost
