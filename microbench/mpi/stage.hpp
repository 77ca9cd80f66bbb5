// One stage of a pipeline: it runs its tasks one after the other, with real messages and with timed
// waits in place of the layers' arithmetic.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "microbench/mpi/chunk_passes.hpp"

namespace depthcost::bench {

/// Bytes that this stage has sent, by transition.
struct SentBytes {
  std::vector<Count> forward;
  std::vector<Count> backward;
};

class Stage {
 public:
  Stage(const PipelinePlan& plan, const Route& route, const PipelineOrder& order,
        Messenger& messenger);

  /// Runs the stage's part of one training step.
  void run(Checked checked);

  const SentBytes& sent() const { return sent_; }
  Count num_checked() const { return forward_.num_checked() + gradients_.num_checked(); }
  /// Tasks of timed steps that take time in the plan, and those of them whose own work took longer
  /// than that.
  Count num_timed() const { return num_timed_; }
  Count num_late() const { return num_late_; }

 private:
  enum class Direction : int { forward, backward };

  void run(const PipelineTask& task, Checked checked);
  Region input_of(const PipelineTask& task);
  Region output_of(const PipelineTask& task, Checked checked, Region&& input);
  Region receive(Direction direction, Count transition, Count micro_batch);
  void send(Direction direction, Count transition, Count micro_batch, Region&& message);
  int tag(Direction direction, Count transition, Count micro_batch) const;
  Seconds seconds_of(const PipelineTask& task) const;

  const PipelinePlan& plan_;
  const Route& route_;
  const PipelineOrder& order_;
  Messenger& messenger_;
  ForwardPass forward_;
  GradientPass gradients_;
  // Gradients, by chunk and micro-batch: made and not sent, received and not read.
  std::map<std::pair<Count, Count>, Region> unsent_;
  std::map<std::pair<Count, Count>, Region> unread_;
  SentBytes sent_;
  Count num_timed_ = 0;
  Count num_late_ = 0;
};

}  // namespace depthcost::bench
