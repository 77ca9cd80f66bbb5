// The simulation of any pipeline: against a second simulator that walks through time, and
// properties that follow from dependencies and links.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "model/pipeline/pipeline_simulation.hpp"
#include "tests/model/pipeline/pipeline_steps.hpp"
#include "tests/model/pipeline/tick_pipeline.hpp"

namespace depthcost::pipeline_simulation_properties_test {
namespace {

using test::order_of;
using test::PipelineCase;
using test::TickPipeline;

Count pick(Count low, Count high) { return *rc::gen::inRange<Count>(low, high + 1); }

Seconds pick_seconds(Count low, Count high) { return {static_cast<double>(pick(low, high))}; }

PipelineCase random_pipeline() {
  PipelineCase pipeline;
  pipeline.schedule = *rc::gen::elementOf(kEnumerators<PipelineSchedule>);
  const bool is_dual = pipeline.schedule == PipelineSchedule::dualpipe;
  pipeline.num_stages = is_dual ? 2 * pick(1, 3) : pick(1, 5);
  if (limits_of(pipeline.schedule, 1, 1).has_virtual_stages)
    pipeline.num_virtual_stages = pick(1, 3);
  const ScheduleLimits limits =
      limits_of(pipeline.schedule, pipeline.num_stages, pipeline.num_virtual_stages);
  const Count step = limits.micro_batch_step;
  pipeline.num_micro_batches =
      std::max(limits.fewest_micro_batches, step * pick(1, step > 1 ? 3 : 9));
  return pipeline;
}

/// Unequal chunks and links, all times whole seconds.
PipelineWork random_work() {
  PipelineWork work{
      .order = order_of(random_pipeline(),
                        *rc::gen::element(Activations::kept, Activations::recomputed)),
      .sends = *rc::gen::element(Sends::overlapped, Sends::blocking)};
  // Both messages of a pair leave at once, which a stage that waits for each cannot do.
  if (work.order.directions == Directions::both) work.sends = Sends::overlapped;
  const Count num_chunks = work.order.num_stages * work.order.num_virtual_stages;
  for (Count chunk = 0; chunk < num_chunks; ++chunk) {
    work.chunks.push_back({.forward = pick_seconds(1, 9),
                           .recompute = pick_seconds(1, 9),
                           .backward_input = pick_seconds(1, 9),
                           .backward_weight = pick_seconds(1, 9)});
  }
  // A reversed micro-batch crosses the links in the other order, in whole seconds too.
  const auto common = static_cast<double>(pick(1, 4));
  const bool is_dual = work.order.directions == Directions::both;
  for (Count transition = 0; transition + 1 < num_chunks; ++transition) {
    const double bytes_per_second = is_dual ? common : static_cast<double>(pick(1, 4));
    const auto message = [&] { return Bytes{bytes_per_second * pick_seconds(0, 12).value}; };
    work.forward_messages.push_back(message());
    work.backward_messages.push_back(message());
    work.links.push_back({.latency = pick_seconds(0, 6), .bandwidth = {bytes_per_second}});
  }
  return work;
}

RC_GTEST_PROP(PipelineStep, EqualsWalkingThroughTimeSecondBySecond, ()) {
  const PipelineWork work = random_work();
  const SimulatedStep step = simulate(work);
  TickPipeline ticks(work);
  ticks.run();
  for (std::size_t stage = 0; stage < step.stages.size(); ++stage) {
    RC_ASSERT(step.stages[stage].size() == ticks.tasks(stage).size());
    for (std::size_t i = 0; i < step.stages[stage].size(); ++i) {
      RC_ASSERT(step.stages[stage][i].task == work.order.stages[stage][i]);
      RC_ASSERT(step.stages[stage][i].start.value == ticks.tasks(stage)[i].start);
      RC_ASSERT(step.stages[stage][i].end.value == ticks.tasks(stage)[i].end);
    }
    RC_ASSERT(step.communication[stage].value == ticks.communication(stage));
  }
}

/// Also in memory that a simulation before has used.
RC_GTEST_PROP(PipelineStep, HasTheMakespanThatIsFoundAlone, ()) {
  PipelineWork work = random_work();
  const PipelineOrder order = std::exchange(work.order, {});
  const Seconds alone = makespan_of(order, work);
  PipelineWork shorter = work;
  for (ChunkTimes& chunk : shorter.chunks) chunk.recompute = Seconds{};
  for (Bytes& message : shorter.forward_messages) message = Bytes{};
  RC_ASSERT(makespan_of(order, shorter) <= alone);
  work.order = order;
  RC_ASSERT(simulate(work).makespan == alone);
}

using TaskTimes = std::map<std::tuple<TaskKind, Count, Count>, TimedTask>;

TaskTimes times_of(const SimulatedStep& step) {
  TaskTimes times;
  for (const std::vector<TimedTask>& stage : step.stages)
    for (const TimedTask& timed : stage)
      times[{timed.task.kind, timed.task.chunk, timed.task.micro_batch}] = timed;
  return times;
}

/// Seconds from one chunk to the next on an empty wire.
double alone_on_the_wire(const PipelineWork& work, Count transition, Count micro_batch,
                         Bytes bytes) {
  if (work.order.num_stages == 1) return 0;
  const auto i = static_cast<std::size_t>(transition);
  const StageLink& link =
      work.links[is_reversed(work.order, micro_batch) ? work.links.size() - 1 - i : i];
  return (link.latency + bytes / link.bandwidth).value;
}

RC_GTEST_PROP(PipelineStep, RespectsEveryDependency, ()) {
  const PipelineWork work = random_work();
  const TaskTimes times = times_of(simulate(work));
  const auto num_chunks = static_cast<Count>(work.chunks.size());
  for (const auto& [id, timed] : times) {
    const auto [kind, chunk, m] = id;
    const auto follows = [&, start = timed.start.value](TaskKind before, Count its_chunk,
                                                        Count its_micro_batch, double wire) {
      RC_ASSERT(start >= times.at({before, its_chunk, its_micro_batch}).end.value + wire);
    };
    const auto c = static_cast<std::size_t>(chunk);
    if (kind == TaskKind::forward) {
      if (chunk == 0) continue;
      follows(TaskKind::forward, chunk - 1, m,
              alone_on_the_wire(work, chunk - 1, m, work.forward_messages[c - 1]));
    } else if (kind == TaskKind::backward_weight) {
      follows(TaskKind::backward_input, chunk, m, 0);
    } else {
      follows(TaskKind::forward, chunk, m, 0);
      if (chunk + 1 == num_chunks) continue;
      const PipelineTask weights = times.at({TaskKind::backward_weight, chunk + 1, m}).task;
      follows(hands_gradient_over(weights) ? TaskKind::backward_weight : TaskKind::backward_input,
              chunk + 1, m, alone_on_the_wire(work, chunk, m, work.backward_messages[c]));
    }
  }
}

RC_GTEST_PROP(PipelineStep, NeverRunsTwoTasksOfAStageAtOnce, ()) {
  const SimulatedStep step = simulate(random_work());
  for (const std::vector<TimedTask>& stage : step.stages) {
    RC_ASSERT(stage.front().start >= Seconds{0});
    for (std::size_t i = 1; i < stage.size(); ++i) RC_ASSERT(stage[i].start >= stage[i - 1].end);
  }
}

RC_GTEST_PROP(PipelineStep, TakesAtLeastWhatItsBusiestStageComputesAndWaitsFor, ()) {
  const PipelineWork work = random_work();
  const SimulatedStep step = simulate(work);
  double total = 0;
  for (const ChunkTimes& chunk : work.chunks) {
    const bool recomputes =
        work.order.stages[0].size() ==
        static_cast<std::size_t>(4 * work.order.num_virtual_stages * work.order.num_micro_batches);
    total += (chunk.forward + chunk.backward_input + chunk.backward_weight).value +
             (recomputes ? chunk.recompute.value : 0);
  }
  double busy = 0;
  for (std::size_t stage = 0; stage < step.busy.size(); ++stage) {
    busy += step.busy[stage].value;
    RC_ASSERT(step.makespan >= step.busy[stage] + step.communication[stage]);
    RC_ASSERT(step.makespan >= step.stages[stage].back().end);
  }
  RC_ASSERT(busy == total * static_cast<double>(work.order.num_micro_batches));
  RC_ASSERT(bubble_share(step) >= 0);
  RC_ASSERT(bubble_share(step) < 1);
}

RC_GTEST_PROP(PipelineStep, NeverGetsShorterWithLongerMessagesOrBlockingSends, ()) {
  PipelineWork work = random_work();
  work.sends = Sends::overlapped;
  const Seconds before = simulate(work).makespan;
  PipelineWork blocking = work;
  blocking.sends = Sends::blocking;
  RC_ASSERT(simulate(blocking).makespan >= before);
  if (work.links.empty()) return;
  const auto transition =
      static_cast<std::size_t>(pick(0, static_cast<Count>(work.links.size()) - 1));
  std::vector<Bytes>& messages =
      *rc::gen::element(0, 1) == 0 ? work.forward_messages : work.backward_messages;
  messages[transition] += Bytes{static_cast<double>(pick(1, 50))};
  RC_ASSERT(simulate(work).makespan >= before);
}

RC_GTEST_PROP(PipelineStep, ScalesWithItsTimes, ()) {
  PipelineWork work = random_work();
  const Seconds before = simulate(work).makespan;
  for (ChunkTimes& chunk : work.chunks) {
    chunk = {.forward = 4 * chunk.forward,
             .recompute = 4 * chunk.recompute,
             .backward_input = 4 * chunk.backward_input,
             .backward_weight = 4 * chunk.backward_weight};
  }
  for (StageLink& link : work.links)
    link = {.latency = 4 * link.latency, .bandwidth = 0.25 * link.bandwidth};
  RC_ASSERT(simulate(work).makespan == 4 * before);
}

}  // namespace
}  // namespace depthcost::pipeline_simulation_properties_test
