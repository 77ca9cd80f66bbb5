// A second simulator, simple and slow. It goes through time second by second and looks at every
// stage and every wire. Times are whole seconds, and every task takes at least one.
#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "model/pipeline/pipeline.hpp"
#include "model/pipeline/pipeline_simulation.hpp"

namespace depthcost::test {

class TickPipeline {
 public:
  struct Interval {
    double start = 0;
    double end = 0;
  };

  explicit TickPipeline(const PipelineWork& work)
      : work_(work), stages_(work.order.stages.size()) {}

  void run() {
    for (tick_ = 0; !all_done(); ++tick_) {
      while (anything_happens()) {
      }
      for (std::size_t stage = 0; stage < stages_.size(); ++stage)
        if (is_held_up(stage)) ++stages_[stage].communication;
    }
  }

  const std::vector<Interval>& tasks(std::size_t stage) const { return stages_[stage].tasks; }
  double communication(std::size_t stage) const { return stages_[stage].communication; }

 private:
  using Id = std::tuple<TaskKind, std::int32_t, std::int32_t>;

  struct Stage {
    std::size_t next = 0;
    bool runs = false;
    double ends = 0;
    bool holds = false;  // until its own message `held` has arrived
    Id held;
    PipelineTask output;                                              // that waits for its pair
    std::size_t leaves_at = std::numeric_limits<std::size_t>::max();  // `next` at that time
    double communication = 0;
    std::vector<Interval> tasks;
  };

  struct Parcel {
    Id id;
    double wire_seconds = 0;
    double latency = 0;
    double left = -1;  // when it left the wire; negative before that
  };

  static Id id_of(const PipelineTask& task) { return {task.kind, task.chunk, task.micro_batch}; }

  bool has_arrived(const Id& id) const {
    const auto found = arrivals_.find(id);
    return found != arrivals_.end() && found->second <= tick_;
  }

  bool all_done() const {
    return std::all_of(stages_.begin(), stages_.end(), [&](const Stage& stage) {
      const auto index = static_cast<std::size_t>(&stage - stages_.data());
      return !stage.runs && stage.next == work_.order.stages[index].size();
    });
  }

  bool anything_happens() {
    bool happened = false;
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) happened |= finishes(stage);
    for (auto& [ends, wire] : wires_) happened |= moves(wire);
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) happened |= starts(stage);
    return happened;
  }

  bool finishes(std::size_t stage) {
    Stage& here = stages_[stage];
    if (here.holds && has_arrived(here.held)) {
      here.holds = false;
      return true;
    }
    if (!here.runs || here.ends > tick_) return false;
    here.runs = false;
    const PipelineTask& task = work_.order.stages[stage][here.next++];
    done_.insert(id_of(task));
    if (task.kind == TaskKind::forward && task.paired_with > 0) {
      here.output = task;
      here.leaves_at = here.next + static_cast<std::size_t>(task.paired_with);
    } else if (task.kind == TaskKind::forward) {
      post(stage, task, task.chunk, +1);
    }
    if (hands_gradient_over(task))
      post(stage, {TaskKind::backward_input, task.chunk, task.micro_batch}, task.chunk - 1, -1);
    if (here.leaves_at == here.next) post(stage, here.output, here.output.chunk, +1);
    return true;
  }

  void post(std::size_t stage, const PipelineTask& task, std::int32_t transition, int step) {
    if (transition < 0 || transition + 1 == static_cast<std::int32_t>(work_.chunks.size())) return;
    const auto i = static_cast<std::size_t>(transition);
    sent_.insert(id_of(task));
    const auto receiver =
        static_cast<std::size_t>(stage_of_task(work_.order, task.chunk + step, task.micro_batch));
    if (receiver == stage) {
      arrivals_[id_of(task)] = tick_;
      return;
    }
    const Bytes bytes = step > 0 ? work_.forward_messages[i] : work_.backward_messages[i];
    const bool is_back = is_reversed(work_.order, task.micro_batch);
    const StageLink& link = work_.links[is_back ? work_.links.size() - 1 - i : i];
    wires_[{stage, receiver}].push_back({.id = id_of(task),
                                         .wire_seconds = (bytes / link.bandwidth).value,
                                         .latency = link.latency.value});
    stages_[stage].holds = work_.sends == Sends::blocking;
    stages_[stage].held = id_of(task);
  }

  bool moves(std::deque<Parcel>& wire) {
    if (wire.empty()) return false;
    Parcel& first = wire.front();
    if (first.left < 0) {
      first.left = tick_ + first.wire_seconds;
      return true;
    }
    if (first.left > tick_) return false;
    arrivals_[first.id] = tick_ + first.latency;
    wire.pop_front();
    return true;
  }

  bool starts(std::size_t stage) {
    Stage& here = stages_[stage];
    const std::vector<PipelineTask>& table = work_.order.stages[stage];
    if (here.runs || here.holds || here.next == table.size()) return false;
    const PipelineTask& task = table[here.next];
    for (const Id& id : inputs_of(task))
      if (!is_there(id, task)) return false;
    here.runs = true;
    here.ends = tick_ + duration(task);
    here.tasks.push_back({tick_, here.ends});
    return true;
  }

  std::vector<Id> inputs_of(const PipelineTask& task) const {
    const auto [kind, chunk, micro_batch] = id_of(task);
    const bool is_last = chunk + 1 == static_cast<std::int32_t>(work_.chunks.size());
    std::vector<Id> inputs;
    if (kind == TaskKind::forward) {
      if (chunk > 0) inputs.push_back({TaskKind::forward, chunk - 1, micro_batch});
    } else if (kind == TaskKind::backward_weight) {
      inputs.push_back({TaskKind::backward_input, chunk, micro_batch});
    } else {
      inputs.push_back({TaskKind::forward, chunk, micro_batch});
      if (!is_last) inputs.push_back({TaskKind::backward_input, chunk + 1, micro_batch});
    }
    return inputs;
  }

  bool is_there(const Id& id, const PipelineTask& task) const {
    return std::get<1>(id) == task.chunk ? done_.count(id) > 0 : has_arrived(id);
  }

  /// Whether the stage is idle while a message to it, or from it, is on the way.
  bool is_held_up(std::size_t stage) const {
    const Stage& here = stages_[stage];
    const std::vector<PipelineTask>& table = work_.order.stages[stage];
    if (here.runs || here.next == table.size()) return here.holds;
    if (here.holds) return true;
    for (const Id& id : inputs_of(table[here.next]))
      if (sent_.count(id) > 0 && !is_there(id, table[here.next])) return true;
    return false;
  }

  double duration(const PipelineTask& task) const {
    const ChunkTimes& chunk = work_.chunks[static_cast<std::size_t>(task.chunk)];
    switch (task.kind) {
      case TaskKind::forward:
        return chunk.forward.value;
      case TaskKind::recompute:
        return chunk.recompute.value;
      case TaskKind::backward_input:
        return chunk.backward_input.value;
      case TaskKind::backward_weight:
        return chunk.backward_weight.value;
    }
    return 0;
  }

  const PipelineWork& work_;
  double tick_ = 0;
  std::vector<Stage> stages_;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<Parcel>> wires_;
  std::set<Id> done_;
  std::set<Id> sent_;
  std::map<Id, double> arrivals_;
};

}  // namespace depthcost::test
