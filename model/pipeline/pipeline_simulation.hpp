// A training step of a pipeline, simulated: the order tables of model/pipeline/pipeline_order.hpp
// as a dependency graph, with a time for every task and a link behind every chunk.
#pragma once

#include <cstdint>
#include <vector>

#include "model/base/units.hpp"
#include "model/pipeline/pipeline_order.hpp"

namespace depthcost {

/// Seconds of one chunk on one micro-batch.
struct ChunkTimes {
  Seconds forward;
  Seconds recompute;
  Seconds backward_input;
  Seconds backward_weight;
  Seconds exchange;  // the end of backward_weight, in which it waits for its replicas
};

constexpr Seconds task_seconds(const ChunkTimes& times, TaskKind kind) {
  switch (kind) {
    case TaskKind::forward:
      return times.forward;
    case TaskKind::recompute:
      return times.recompute;
    case TaskKind::backward_input:
      return times.backward_input;
    case TaskKind::backward_weight:
      return times.backward_weight;
  }
  return {};
}

/// The wire from one stage to another: t = latency + bytes / bandwidth. The bandwidth is above 0
/// and may be infinite. A message holds the wire for bytes / bandwidth; the next one need not wait
/// for the latency.
struct StageLink {
  Seconds latency;
  BytesPerSecond bandwidth;
};

/// Whether a stage goes on while its message is on the wire, or waits until it has arrived.
enum class Sends : std::uint8_t { overlapped, blocking };

/// Transition i lies between chunk i and chunk i + 1; there are PV - 1 of them.
struct PipelineWork {
  PipelineOrder order;
  std::vector<ChunkTimes> chunks;        // PV
  std::vector<Bytes> forward_messages;   // of one micro-batch, chunk i to chunk i + 1
  std::vector<Bytes> backward_messages;  // chunk i + 1 back to chunk i
  std::vector<StageLink> links;          // of each transition, the same both ways
  Sends sends = Sends::overlapped;
};

struct TimedTask {
  PipelineTask task;
  Seconds start;
  Seconds end;
};

struct SimulatedStep {
  std::vector<std::vector<TimedTask>> stages;  // in the order of the tables
  Seconds makespan;
  std::vector<Seconds> busy;           // of each stage, computing
  std::vector<Seconds> communication;  // of each stage: waiting for a message that was sent, and is
                                       // queued or on the wire, or for its own to leave
  std::vector<Count> peak_in_flight;   // of each stage: forward passes, of all its chunks, whose
                                       // gradients of the inputs are still to come
  std::vector<Count> peak_weights_pending;  // of each stage: gradients of the inputs that are done,
                                            // and those of the weights still to come
};

/// Each stage starts a task as soon as the one before it in its table is done and its inputs are
/// there: forward(c, m) needs the message of forward(c - 1, m); recompute(c, m) and
/// backward_input(c, m) the stage's own forward(c, m) and the gradient from chunk c + 1, which
/// leaves after backward_weight(c + 1, m) or, where the order splits the backward pass, after
/// backward_input(c + 1, m); backward_weight(c, m) the stage's own backward_input(c, m). No other
/// stage waits for what a chunk exchanges with its replicas.
/// Messages between the same two stages in the same direction follow one another on the link, in
/// the order in which their tasks end; none is sent between chunks of one stage. The output of a
/// forward pass that others run beside leaves with the last of them. O(tasks).
/// Throws Infeasible for order tables that wait for themselves.
SimulatedStep simulate(const PipelineWork& work);

/// The makespan alone, in a fraction of the time and memory. `work` needs no order of its own. No
/// task, message or link that is shorter makes it longer.
Seconds makespan_of(const PipelineOrder& order, const PipelineWork& work);

/// Share of the step in which a stage does not compute, as the mean over stages; 0 for a step
/// that takes no time.
double bubble_share(const SimulatedStep& step);

}  // namespace depthcost
