// The simulation of a training step. See pipeline_simulation.hpp.
//
// No queue of events: a stage's times follow from its own table and from what it receives, and a
// directed link is fed by one stage alone, whose tasks end in the order of its table. So every
// order in which stages are visited gives the same times, and each goes on as far as it can.
#include "model/pipeline/pipeline_simulation.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "model/base/infeasible.hpp"
#include "model/pipeline/pipeline.hpp"

namespace depthcost {
namespace {

/// Between chunks of one stage both times are the same.
struct Message {
  Seconds sent;
  Seconds arrives;
};

constexpr Seconds kNotYet{-1};

/// What a simulation knows of every chunk and micro-batch, which is most of its memory.
struct Messages {
  std::vector<Message> forward;  // to each chunk, for each micro-batch
  std::vector<Message> backward;
  std::vector<std::uint8_t> forward_done;
  std::vector<std::uint8_t> backward_done;

  void clear(std::size_t count) {
    forward.assign(count, {kNotYet, kNotYet});
    backward.assign(count, {kNotYet, kNotYet});
    forward_done.assign(count, 0);
    backward_done.assign(count, 0);
  }
};

/// Keeps what every task and stage did.
class StepRecord {
 public:
  explicit StepRecord(const PipelineOrder& order) {
    step_.stages.resize(order.stages.size());
    step_.busy.resize(order.stages.size());
    step_.communication.resize(order.stages.size());
    for (std::size_t stage = 0; stage < order.stages.size(); ++stage)
      step_.stages[stage].reserve(order.stages[stage].size());
  }
  void add(std::size_t stage, const TimedTask& timed, Seconds duration, Seconds exposed) {
    step_.stages[stage].push_back(timed);
    step_.busy[stage] += duration;
    step_.communication[stage] += exposed;
    step_.makespan = std::max(step_.makespan, timed.end);
  }
  void add_sending(std::size_t stage, Seconds sending) { step_.communication[stage] += sending; }
  SimulatedStep result() && { return std::move(step_); }

 private:
  SimulatedStep step_;
};

/// Keeps the end alone.
class MakespanRecord {
 public:
  explicit MakespanRecord(const PipelineOrder&) {}
  void add(std::size_t, const TimedTask& timed, Seconds, Seconds) {
    makespan_ = std::max(makespan_, timed.end);
  }
  void add_sending(std::size_t, Seconds) {}
  Seconds result() const { return makespan_; }

 private:
  Seconds makespan_;
};

/// Takes the order tables from `order`, not from `work`.
template <class Record>
class Simulator {
 public:
  Simulator(const PipelineOrder& order, const PipelineWork& work, Messages& scratch)
      : order_(order),
        work_(work),
        num_stages_(order.stages.size()),
        num_chunks_(work.chunks.size()),
        num_micro_batches_(static_cast<std::size_t>(order.num_micro_batches)),
        stages_(num_stages_),
        links_free_(2 * num_stages_),
        of_(scratch),
        record_(order) {
    of_.clear(num_chunks_ * num_micro_batches_);
  }

  auto run() && {
    runnable_.resize(num_stages_);
    std::iota(runnable_.begin(), runnable_.end(), std::size_t{0});
    while (!runnable_.empty()) {
      const std::size_t stage = runnable_.back();
      runnable_.pop_back();
      advance(stage);
    }
    refuse_deadlock();
    return std::move(record_).result();
  }

 private:
  struct Stage {
    std::size_t next = 0;  // in its table
    Seconds free;          // from when on it can do that
    bool waits = false;    // for a message that nobody has sent yet
    PipelineTask output;   // a forward pass that others run beside
    int paired = 0;        // tasks until its output leaves; 0: there is none
  };

  void advance(std::size_t stage) {
    const std::vector<PipelineTask>& tasks = order_.stages[stage];
    Stage& here = stages_[stage];
    for (; here.next < tasks.size(); ++here.next) {
      const std::optional<Message> input = input_of(tasks[here.next]);
      here.waits = !input.has_value();
      if (here.waits) return;
      perform(stage, tasks[here.next], *input);
    }
  }

  /// What a task waits for beside the task before it; nothing while that has not been sent. A task
  /// of the same stage that is done was done before.
  std::optional<Message> input_of(const PipelineTask& task) const {
    const std::size_t at = index(task);
    const Message past{};
    switch (task.kind) {
      case TaskKind::forward:
        return task.chunk == 0 ? past : if_sent(of_.forward[at]);
      case TaskKind::recompute:
      case TaskKind::backward_input:
        if (!of_.forward_done[at]) return std::nullopt;
        return is_last_chunk(task) ? past : if_sent(of_.backward[at]);
      case TaskKind::backward_weight:
        return of_.backward_done[at] ? std::optional(past) : std::nullopt;
    }
    return std::nullopt;
  }

  void perform(std::size_t stage, const PipelineTask& task, const Message& input) {
    Stage& here = stages_[stage];
    const Seconds start = std::max(here.free, input.arrives);
    const Seconds duration = duration_of(task);
    const Seconds end = start + duration;
    const Seconds exposed = start - std::min(start, std::max(here.free, input.sent));
    record_.add(stage, {.task = task, .start = start, .end = end}, duration, exposed);
    here.free = end;
    finish(stage, task);
    if (here.paired > 0 && --here.paired == 0)
      hand_output_over(stage, here.output, end - exchange_of(task));
    record_.add_sending(stage, here.free - end);
  }

  void finish(std::size_t stage, const PipelineTask& task) {
    const std::size_t at = index(task);
    const auto chunk = static_cast<std::size_t>(task.chunk);
    if (task.kind == TaskKind::forward) of_.forward_done[at] = 1;
    if (task.kind == TaskKind::backward_input) of_.backward_done[at] = 1;
    if (task.kind == TaskKind::forward && task.paired_with == 0)
      hand_output_over(stage, task, stages_[stage].free);
    if (task.kind == TaskKind::forward && task.paired_with > 0) {
      stages_[stage].output = task;
      stages_[stage].paired = task.paired_with + 1;  // itself among them
    }
    if (hands_gradient_over(task) && chunk > 0) {
      const Bytes bytes = work_.backward_messages[chunk - 1];
      of_.backward[at - num_micro_batches_] =
          send(stage, task, stages_[stage].free - exchange_of(task), {chunk - 1, chunk - 1, bytes});
    }
  }

  void hand_output_over(std::size_t stage, const PipelineTask& task, Seconds ready) {
    if (is_last_chunk(task)) return;
    const auto chunk = static_cast<std::size_t>(task.chunk);
    of_.forward[index(task) + num_micro_batches_] =
        send(stage, task, ready, {chunk + 1, chunk, work_.forward_messages[chunk]});
  }

  Seconds exchange_of(const PipelineTask& task) const {
    if (task.kind != TaskKind::backward_weight) return {};
    return work_.chunks[static_cast<std::size_t>(task.chunk)].exchange;
  }

  struct Parcel {
    std::size_t to_chunk;
    std::size_t transition;
    Bytes bytes;
  };

  /// A message over a transition to a chunk, ready when the task has made it.
  Message send(std::size_t sender, const PipelineTask& task, Seconds ready, const Parcel& parcel) {
    const auto receiver = static_cast<std::size_t>(
        stage_of_task(order_, static_cast<Count>(parcel.to_chunk), task.micro_batch));
    Stage& here = stages_[sender];
    Message message{.sent = ready, .arrives = ready};
    if (sender != receiver) {
      const StageLink& link = work_.links[link_of(task, parcel.transition)];
      Seconds& link_free = links_free_[2 * sender + (receiver == stage_behind(sender) ? 0 : 1)];
      link_free = std::max(link_free, message.sent) + parcel.bytes / link.bandwidth;
      message.arrives = link_free + link.latency;
      if (work_.sends == Sends::blocking) here.free = std::max(here.free, message.arrives);
    }
    if (stages_[receiver].waits) {
      stages_[receiver].waits = false;
      runnable_.push_back(receiver);
    }
    return message;
  }

  void refuse_deadlock() const {
    for (std::size_t stage = 0; stage < num_stages_; ++stage) {
      const std::vector<PipelineTask>& tasks = order_.stages[stage];
      if (stages_[stage].next == tasks.size()) continue;
      const PipelineTask& task = tasks[stages_[stage].next];
      throw Infeasible("invalid pipeline order (stage " + std::to_string(stage) +
                       " waits for ever to do " + std::string(name(task.kind)) + " of chunk " +
                       std::to_string(task.chunk) + ", micro-batch " +
                       std::to_string(task.micro_batch) + ")");
    }
  }

  Seconds duration_of(const PipelineTask& task) const {
    return task_seconds(work_.chunks[static_cast<std::size_t>(task.chunk)], task.kind);
  }

  static std::optional<Message> if_sent(const Message& message) {
    return message.sent == kNotYet ? std::nullopt : std::optional(message);
  }

  bool is_last_chunk(const PipelineTask& task) const {
    return static_cast<std::size_t>(task.chunk) + 1 == num_chunks_;
  }

  std::size_t index(const PipelineTask& task) const {
    return static_cast<std::size_t>(task.chunk) * num_micro_batches_ +
           static_cast<std::size_t>(task.micro_batch);
  }

  /// The wire of a transition: that between the same two stages, whichever way the micro-batch
  /// goes.
  std::size_t link_of(const PipelineTask& task, std::size_t transition) const {
    return is_reversed(order_, task.micro_batch) ? work_.links.size() - 1 - transition : transition;
  }

  /// A stage's first chunk has its number.
  std::size_t stage_behind(std::size_t stage) const {
    return stage_of_chunk(stage + 1, num_stages_);
  }

  const PipelineOrder& order_;
  const PipelineWork& work_;
  std::size_t num_stages_;
  std::size_t num_chunks_;
  std::size_t num_micro_batches_;
  std::vector<Stage> stages_;
  std::vector<Seconds> links_free_;  // from each stage to the next, and to the one before
  Messages& of_;
  std::vector<std::size_t> runnable_;
  Record record_;
};

[[maybe_unused]] bool is_complete(const PipelineWork& work) {
  const PipelineOrder& order = work.order;
  const std::size_t num_chunks = work.chunks.size();
  return order.stages.size() == static_cast<std::size_t>(order.num_stages) &&
         num_chunks == static_cast<std::size_t>(order.num_stages * order.num_virtual_stages) &&
         work.forward_messages.size() + 1 == num_chunks &&
         work.backward_messages.size() + 1 == num_chunks && work.links.size() + 1 == num_chunks;
}

/// The most `opening` tasks whose `closing` task is still to come.
Count peak_open(const std::vector<PipelineTask>& tasks, TaskKind opening, TaskKind closing) {
  Count open = 0;
  Count peak = 0;
  for (const PipelineTask& task : tasks) {
    if (task.kind == opening) peak = std::max(peak, ++open);
    if (task.kind == closing) --open;
  }
  return peak;
}

}  // namespace

SimulatedStep simulate(const PipelineWork& work) {
  assert(is_complete(work));
  Messages scratch;
  SimulatedStep step = Simulator<StepRecord>(work.order, work, scratch).run();
  for (const std::vector<PipelineTask>& tasks : work.order.stages) {
    step.peak_in_flight.push_back(peak_open(tasks, TaskKind::forward, TaskKind::backward_input));
    step.peak_weights_pending.push_back(
        peak_open(tasks, TaskKind::backward_input, TaskKind::backward_weight));
  }
  return step;
}

Seconds makespan_of(const PipelineOrder& order, const PipelineWork& work) {
  // Thousands of simulations would each be given its memory by the system anew.
  thread_local Messages scratch;
  return Simulator<MakespanRecord>(order, work, scratch).run();
}

double bubble_share(const SimulatedStep& step) {
  if (step.makespan == Seconds{}) return 0;
  double busy = 0;
  for (const Seconds stage : step.busy) busy += stage / step.makespan;
  return 1 - busy / static_cast<double>(step.busy.size());
}

}  // namespace depthcost
