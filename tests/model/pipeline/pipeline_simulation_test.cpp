// The simulation of a training step: closed forms on uniform chunks and free links, links worked
// out by hand, and order tables that cannot run.
#include "model/pipeline/pipeline_simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/base/infeasible.hpp"
#include "tests/model/pipeline/pipeline_steps.hpp"
#include "tests/model/pipeline/pipeline_theory.hpp"

namespace depthcost::pipeline_simulation_test {
namespace {

using test::every_pipeline;
using test::kActivations;
using test::kFreeLink;
using test::order_of;
using test::PipelineCase;
using test::uniform_work;

constexpr PipelineSchedule k1f1b = PipelineSchedule::one_forward_one_backward;
constexpr PipelineSchedule kInterleaved = PipelineSchedule::interleaved;
constexpr PipelineSchedule kZbH1 = PipelineSchedule::zb_h1;

// Times that sums keep exact in binary.
constexpr ChunkTimes kUneven{.forward = {3.5}, .backward_input = {4.25}, .backward_weight = {2.75}};
constexpr ChunkTimes kSlowForward{
    .forward = {9}, .backward_input = {1.5}, .backward_weight = {0.25}};

TEST(PipelineStep, OfUniformChunksAndFreeLinksIsTheoryExactly) {
  for (const ChunkTimes& chunk : {kUneven, kSlowForward}) {
    for (const Count P : {1, 2, 4, 8}) {
      for (const Count V : {1, 2, 4}) {
        for (const Count groups : {1, 2, 3, 5, 8}) {
          const Count M = groups * P;
          const auto whole = static_cast<double>(V);
          const SimulatedStep step =
              simulate(uniform_work(order_of({kInterleaved, P, V, M}), chunk));
          EXPECT_EQ(step.makespan, test::interleaved_makespan(
                                       P, V, M, whole * chunk.forward,
                                       whole * (chunk.backward_input + chunk.backward_weight)))
              << "P = " << P << " V = " << V << " M = " << M;
        }
      }
    }
  }
}

TEST(PipelineStep, Of1f1bIsTheoryForAnyNumberOfMicroBatches) {
  for (const ChunkTimes& chunk : {kUneven, kSlowForward}) {
    for (const Count P : {1, 2, 3, 4, 5, 8}) {
      for (Count M = 1; M <= 20; ++M) {
        const SimulatedStep step = simulate(uniform_work(order_of({k1f1b, P, 1, M}), chunk));
        EXPECT_EQ(step.makespan,
                  test::interleaved_makespan(P, 1, M, chunk.forward,
                                             chunk.backward_input + chunk.backward_weight))
            << "P = " << P << " M = " << M;
      }
    }
  }
}

// T_F, T_B, T_W; the last three are what the paper's formula does not cover.
TEST(PipelineStep, OfZbH1HasTheBubbleOfThePaper) {
  for (const auto& [F, B, W] :
       {std::array{1, 1, 1}, std::array{2, 3, 1}, std::array{3, 2, 1}, std::array{4, 4, 0},
        std::array{2, 1, 1}, std::array{1, 1, 2}, std::array{1, 2, 3}, std::array{2, 1, 2}}) {
    const ChunkTimes stage{.forward = {static_cast<double>(F)},
                           .backward_input = {static_cast<double>(B)},
                           .backward_weight = {static_cast<double>(W)}};
    for (const Count P : {1, 2, 3, 4, 8}) {
      for (const Count M : {P, P + 1, 2 * P, 3 * P + 1}) {
        const SimulatedStep step = simulate(uniform_work(order_of({kZbH1, P, 1, M}), stage));
        EXPECT_EQ(step.makespan, test::zb_h1_makespan(P, M, stage))
            << "P = " << P << " M = " << M << " F B W = " << F << B << W;
      }
    }
  }
  // [zero_bubble] Sec. 2.1: a third of 1F1B's bubble where the three tasks take as long.
  const ChunkTimes equal{.forward = {1}, .backward_input = {1}, .backward_weight = {1}};
  const Seconds work{3 * 16};
  const SimulatedStep h1 = simulate(uniform_work(order_of({kZbH1, 4, 1, 16}), equal));
  const SimulatedStep plain = simulate(uniform_work(order_of({k1f1b, 4, 1, 16}), equal));
  EXPECT_EQ(3 * (h1.makespan - work), plain.makespan - work);
}

Seconds dualpipe_makespan(Count P, Count M, const ChunkTimes& stage) {
  return simulate(uniform_work(order_of({PipelineSchedule::dualpipe, P, 1, M}), stage)).makespan;
}

// [dualpipe] Sec. 3.2.1: a bubble of (P/2 - 1)(F&B + B - 3W), drawn and exact for F = B_input = W;
// here F&B is F + B.
TEST(PipelineStep, OfDualPipeHasTheBubbleOfThePaper) {
  for (const double t : {1.0, 2.0}) {
    const ChunkTimes stage{.forward = {t}, .backward_input = {t}, .backward_weight = {t}};
    for (const Count P : {2, 4, 6, 8})
      for (const Count M : {2 * P, 2 * P + 2, 4 * P}) {
        const double both = t + 2 * t;
        const double bubble = (as_double(P) / 2 - 1) * (both + 2 * t - 3 * t);
        EXPECT_EQ(dualpipe_makespan(P, M, stage), Seconds{as_double(M) * both + bubble})
            << "P = " << P << " M = " << M;
      }
  }
}

/// Whatever the tasks take, both directions together wait less than one.
TEST(PipelineStep, OfDualPipeIsShorterThanThatOfOneDirection) {
  for (const auto& [F, B, W] : {std::array{3, 2, 1}, std::array{2, 3, 1}, std::array{1, 2, 1}}) {
    const ChunkTimes stage{.forward = {static_cast<double>(F)},
                           .backward_input = {static_cast<double>(B)},
                           .backward_weight = {static_cast<double>(W)}};
    for (const Count P : {4, 6, 8})
      EXPECT_LT(dualpipe_makespan(P, 2 * P, stage),
                simulate(uniform_work(order_of({kZbH1, P, 1, 2 * P}), stage)).makespan);
  }
}

/// [dualpipe]: activations of P + 1 micro-batches, on every stage.
TEST(PipelineStep, OfDualPipeHoldsOneMicroBatchMoreThanStages) {
  for (const Count P : {2, 4, 6, 8}) {
    const SimulatedStep step =
        simulate(uniform_work(order_of({PipelineSchedule::dualpipe, P, 1, 3 * P}), kUneven));
    for (const Count peak : step.peak_in_flight) EXPECT_EQ(peak, P + 1);
  }
}

TEST(PipelineStep, HoldsAsManyMicroBatchesInFlightAsIsKnown) {
  for (const PipelineCase& pipeline : every_pipeline()) {
    SCOPED_TRACE(to_string(pipeline));
    const auto [schedule, P, V, M] = pipeline;
    if (schedule == PipelineSchedule::dualpipe) continue;  // OfDualPipeHolds...
    const SimulatedStep step = simulate(uniform_work(order_of(pipeline), kUneven));
    for (Count stage = 0; stage < P; ++stage) {
      const auto s = static_cast<std::size_t>(stage);
      EXPECT_EQ(step.peak_in_flight[s], V == 1
                                            ? test::one_forward_one_backward_in_flight(P, M, stage)
                                            : test::interleaved_in_flight(P, V, M, stage));
      // Late weights are pending beside the pass that was just done.
      const Count late = schedule == kZbH1 ? std::min(stage, M - 1) : 0;
      EXPECT_EQ(step.peak_weights_pending[s], late + 1);
    }
  }
}

TEST(PipelineStep, WithoutABubbleIsBusyAllTheTime) {
  const SimulatedStep alone = simulate(uniform_work(order_of({k1f1b, 1, 1, 5}), kUneven));
  EXPECT_EQ(bubble_share(alone), 0);
  // 1f1b: (P - 1) / (M + P - 1) of the step is bubble.
  const SimulatedStep four = simulate(uniform_work(order_of({k1f1b, 4, 1, 12}), kUneven));
  EXPECT_DOUBLE_EQ(bubble_share(four), 3.0 / 15);
  EXPECT_EQ(bubble_share(simulate(uniform_work(order_of({k1f1b, 2, 1, 2}), {}))), 0);
}

// P = 2, M = 2; F = 2, B = 3, W = 1; a message takes 1 of latency and 6 bytes / 3 on the wire.
// Split and overlapped:
//   stage 0   F0 0-2  F1 2-4                    B0 13-16  W0 16-17        B1 19-22  W1 22-23
//   stage 1         F0 5-7  B0 7-10  W0 10-11  F1 11-13  B1 13-16  W1 16-17
// F0 leaves at 2 and arrives at 5, the gradients leave at 10 and 16 and arrive at 13 and 19.
void set_backward(PipelineOrder& order, BackwardPass backward) {
  for (std::vector<PipelineTask>& tasks : order.stages)
    for (PipelineTask& task : tasks) task.backward = backward;
}

PipelineWork two_stages(BackwardPass backward, Sends sends) {
  PipelineWork work = uniform_work(order_of({k1f1b, 2, 1, 2}),
                                   {.forward = {2}, .backward_input = {3}, .backward_weight = {1}});
  set_backward(work.order, backward);
  work.forward_messages = {{6}};
  work.backward_messages = {{6}};
  work.links = {{.latency = {1}, .bandwidth = {3}}};
  work.sends = sends;
  return work;
}

std::vector<double> starts_of(const SimulatedStep& step, std::size_t stage) {
  std::vector<double> starts;
  for (const TimedTask& task : step.stages[stage]) starts.push_back(task.start.value);
  return starts;
}

using Times = std::vector<double>;

TEST(PipelineLinks, DelayWhatWaitsForThemWhenSendsOverlap) {
  const SimulatedStep step = simulate(two_stages(BackwardPass::split, Sends::overlapped));
  EXPECT_EQ(starts_of(step, 0), (Times{0, 2, 13, 16, 19, 22}));  // F0 F1 B0 W0 B1 W1
  EXPECT_EQ(starts_of(step, 1), (Times{5, 7, 10, 11, 13, 16}));  // F0 B0 W0 F1 B1 W1
  EXPECT_EQ(step.makespan, Seconds{23});
  EXPECT_EQ(step.busy, (std::vector<Seconds>{{12}, {12}}));
  // Stage 0: gradient 0 is on the wire from 10 to 13, gradient 1 until 19, seen from 17 on.
  // Stage 1: activation 0 from 2 to 5.
  EXPECT_EQ(step.communication, (std::vector<Seconds>{{3 + 2}, {3}}));
}

TEST(PipelineLinks, CarryTheGradientOfAWholeBackwardPassAfterItsWeights) {
  const SimulatedStep step = simulate(two_stages(BackwardPass::whole, Sends::overlapped));
  EXPECT_EQ(starts_of(step, 0), (Times{0, 2, 14, 17, 20, 23}));
  EXPECT_EQ(starts_of(step, 1), (Times{5, 7, 10, 11, 13, 16}));
  EXPECT_EQ(step.makespan, Seconds{24});
  EXPECT_EQ(step.communication, (std::vector<Seconds>{{3 + 2}, {3}}));
}

TEST(PipelineLinks, KeepTheSenderUntilArrivalWhenSendsBlock) {
  const SimulatedStep step = simulate(two_stages(BackwardPass::split, Sends::blocking));
  EXPECT_EQ(starts_of(step, 0), (Times{0, 5, 13, 16, 22, 25}));  // F0 F1 B0 W0 B1 W1
  EXPECT_EQ(starts_of(step, 1), (Times{5, 7, 13, 14, 16, 22}));  // F0 B0 W0 F1 B1 W1
  EXPECT_EQ(step.makespan, Seconds{26});
  // Stage 0: two sends of 3; gradient 0 from 10 to 13; gradient 1 from 19 to 22.
  // Stage 1: activation 0; two sends of 3.
  EXPECT_EQ(step.communication, (std::vector<Seconds>{{6 + 3 + 3}, {3 + 6}}));
}

// Two micro-batches of 10 bytes, 1 byte/s, forward passes of 1: the second message is ready at 2,
// waits for the wire until 11 and for no latency but its own.
TEST(PipelineLinks, CarryOneMessageAfterTheOther) {
  PipelineWork work = uniform_work(order_of({k1f1b, 2, 1, 2}), {.forward = {1}});
  work.order.stages = {{{TaskKind::forward, 0, 0}, {TaskKind::forward, 0, 1}},
                       {{TaskKind::forward, 1, 0}, {TaskKind::forward, 1, 1}}};
  work.forward_messages = {{10}};
  work.links = {{.latency = {4}, .bandwidth = {1}}};
  const SimulatedStep step = simulate(work);
  EXPECT_EQ(starts_of(step, 1), (Times{1 + 10 + 4, 1 + 10 + 10 + 4}));
  EXPECT_EQ(step.communication[1], Seconds{14 + 9});
}

// P = 2, V = 2: transitions 0 and 2 go from stage 0 to stage 1, and so does the gradient of
// transition 1; all share the wire, at 1 byte/s. Each task takes 1.
//   stage 0   F0.0 0-1                 F2.0 102-103  F0.1 103-104  B2.0 105-106
//   stage 1            F1.0 101-102  F3.0 103-104  B3.0 104-105    B1.0 205-206  F1.1 206-207
// F0.0 is on the wire from 1 to 101, F0.1 from 104 to 204, and the gradient of B2.0, ready at 106,
// from 204 to 205.
TEST(PipelineLinks, AreSharedByTheChunksOfTwoStages) {
  PipelineWork work = uniform_work(order_of({kInterleaved, 2, 2, 2}),
                                   {.forward = {1}, .backward_input = {1}, .backward_weight = {1}});
  work.forward_messages = {{100}, {0}, {0}};
  work.backward_messages = {{0}, {1}, {0}};
  work.links.assign(3, {.latency = {0}, .bandwidth = {1}});
  work.order.stages = {{{TaskKind::forward, 0, 0},
                        {TaskKind::forward, 2, 0},
                        {TaskKind::forward, 0, 1},
                        {TaskKind::backward_input, 2, 0}},
                       {{TaskKind::forward, 1, 0},
                        {TaskKind::forward, 3, 0},
                        {TaskKind::backward_input, 3, 0},
                        {TaskKind::backward_input, 1, 0},
                        {TaskKind::forward, 1, 1}}};
  set_backward(work.order, BackwardPass::split);
  const SimulatedStep step = simulate(work);
  EXPECT_EQ(starts_of(step, 0), (Times{0, 102, 103, 105}));
  EXPECT_EQ(starts_of(step, 1), (Times{101, 103, 104, 205, 206}));
}

TEST(PipelineLinks, AreNotUsedBetweenChunksOfOneStage) {
  PipelineWork work = uniform_work(order_of({kInterleaved, 1, 3, 4}), kUneven);
  work.links.assign(2, {.latency = {1e6}, .bandwidth = {1e-6}});
  for (const Sends sends : {Sends::overlapped, Sends::blocking}) {
    work.sends = sends;
    const SimulatedStep step = simulate(work);
    EXPECT_EQ(step.makespan, step.busy[0]);
    EXPECT_EQ(step.communication[0], Seconds{0});
  }
}

TEST(PipelineLinks, WithoutTimeMakeBlockingSendsFree) {
  for (const PipelineCase& pipeline : every_pipeline()) {
    PipelineWork work = uniform_work(order_of(pipeline), kUneven);
    const SimulatedStep overlapped = simulate(work);
    work.sends = Sends::blocking;
    EXPECT_EQ(simulate(work).makespan, overlapped.makespan) << to_string(pipeline);
    for (const Seconds communication : overlapped.communication)
      EXPECT_EQ(communication, Seconds{0});
  }
}

// Engines recompute inside the backward pass, which waits for its gradient.
TEST(PipelineRecomputation, WaitsForTheGradient) {
  const ChunkTimes chunk{
      .forward = {2}, .recompute = {2}, .backward_input = {2}, .backward_weight = {2}};
  const auto makespan = [&](Count P, Activations activations) {
    return simulate(uniform_work(order_of({k1f1b, P, 1, 1}, activations), chunk)).makespan;
  };
  EXPECT_EQ(makespan(1, Activations::kept), Seconds{6});
  EXPECT_EQ(makespan(1, Activations::recomputed), Seconds{8});
  // One micro-batch through three stages, one after the other.
  EXPECT_EQ(makespan(3, Activations::kept), Seconds{3 * (2 + 4)});
  EXPECT_EQ(makespan(3, Activations::recomputed), Seconds{3 * (2 + 2 + 4)});
}

std::string refusal(PipelineWork work, std::vector<std::vector<PipelineTask>> stages) {
  work.order.stages = std::move(stages);
  try {
    simulate(work);
  } catch (const Infeasible& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PipelineDeadlock, IsRefusedWithTheTaskThatWaits) {
  const PipelineWork two = uniform_work(order_of({k1f1b, 2, 1, 1}), kUneven);
  EXPECT_EQ(refusal(two, {{{TaskKind::backward_input, 0, 0}, {TaskKind::forward, 0, 0}},
                          {{TaskKind::forward, 1, 0}, {TaskKind::backward_input, 1, 0}}}),
            "invalid pipeline order (stage 0 waits for ever to do backward_input of chunk 0, "
            "micro-batch 0)");
  EXPECT_EQ(refusal(two, {{}, {{TaskKind::forward, 1, 0}}}),
            "invalid pipeline order (stage 1 waits for ever to do forward of chunk 1, "
            "micro-batch 0)");
  const PipelineWork one = uniform_work(order_of({k1f1b, 1, 1, 1}), kUneven);
  for (const TaskKind kind : {TaskKind::recompute, TaskKind::backward_input}) {
    EXPECT_NE(refusal(one, {{{kind, 0, 0}, {TaskKind::forward, 0, 0}}}), "accepted");
  }
  EXPECT_NE(refusal(one, {{{TaskKind::forward, 0, 0}, {TaskKind::backward_weight, 0, 0}}}),
            "accepted");
}

}  // namespace
}  // namespace depthcost::pipeline_simulation_test
