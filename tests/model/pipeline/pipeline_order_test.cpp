// The order tables of pipeline schedules: small ones written out, what every table must contain,
// and what is refused.
#include "model/pipeline/pipeline_order.hpp"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "model/base/infeasible.hpp"
#include "tests/model/pipeline/pipeline_steps.hpp"

namespace depthcost::pipeline_order_test {
namespace {

using test::every_pipeline;
using test::kActivations;
using test::order_of;
using test::PipelineCase;
using test::spelled;

std::string refusal(const PipelineCase& pipeline) {
  try {
    order_of(pipeline);
  } catch (const Infeasible& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PipelineOrder, Of1f1bAlternatesAfterTheWarmUp) {
  const PipelineOrder order = order_of({PipelineSchedule::one_forward_one_backward, 3, 1, 4});
  EXPECT_EQ(spelled(order, 0), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(spelled(order, 1), "F0 F1 B0 W0 F2 B1 W1 F3 B2 W2 B3 W3");
  EXPECT_EQ(spelled(order, 2), "F0 B0 W0 F1 B1 W1 F2 B2 W2 F3 B3 W3");
}

TEST(PipelineOrder, OfZbH1IsLateWithWeightsByTheStage) {
  const PipelineOrder order = order_of({PipelineSchedule::zb_h1, 3, 1, 4});
  EXPECT_EQ(spelled(order, 0), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(spelled(order, 1), "F0 F1 B0 F2 B1 W0 F3 B2 W1 B3 W2 W3");
  EXPECT_EQ(spelled(order, 2), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
}

// [interleaved] Fig. 4 with two stages: chunks 0 and 2 on stage 0, 1 and 3 on stage 1.
TEST(PipelineOrder, OfInterleavedTakesGroupsOfMicroBatchesThroughTheChunks) {
  const PipelineOrder order = order_of({PipelineSchedule::interleaved, 2, 2, 4});
  EXPECT_EQ(spelled(order, 0),
            "F0.0 F0.1 F2.0 F2.1 F0.2 B2.0 W2.0 F0.3 B2.1 W2.1 F2.2 B0.0 W0.0 F2.3 B0.1 W0.1 "
            "B2.2 W2.2 B2.3 W2.3 B0.2 W0.2 B0.3 W0.3");
  EXPECT_EQ(spelled(order, 1),
            "F1.0 F1.1 F3.0 B3.0 W3.0 F3.1 B3.1 W3.1 F1.2 B1.0 W1.0 F1.3 B1.1 W1.1 "
            "F3.2 B3.2 W3.2 F3.3 B3.3 W3.3 B1.2 W1.2 B1.3 W1.3");
}

TEST(PipelineOrder, OfInterleavedWithAsManyMicroBatchesAsStagesStillAlternates) {
  const PipelineOrder order = order_of({PipelineSchedule::interleaved, 2, 2, 2});
  EXPECT_EQ(spelled(order, 0), "F0.0 F0.1 F2.0 F2.1 B2.0 W2.0 B2.1 W2.1 B0.0 W0.0 B0.1 W0.1");
  EXPECT_EQ(spelled(order, 1), "F1.0 F1.1 F3.0 B3.0 W3.0 F3.1 B3.1 W3.1 B1.0 W1.0 B1.1 W1.1");
}

TEST(PipelineOrder, OfInterleavedWithOneChunkPerStageIs1f1bForAnyNumberOfMicroBatches) {
  for (const Count P : {1, 2, 3, 4, 8}) {
    for (const Count M : {1, 2, 3, 7, 8, 17}) {
      EXPECT_EQ(order_of({PipelineSchedule::interleaved, P, 1, M}).stages,
                order_of({PipelineSchedule::one_forward_one_backward, P, 1, M}).stages);
    }
  }
}

TEST(PipelineOrder, PutsRecomputationRightBeforeTheGradientOfTheInputs) {
  const PipelineOrder order = order_of({PipelineSchedule::zb_h1, 2, 1, 2}, Activations::recomputed);
  EXPECT_EQ(spelled(order, 0), "F0 F1 R0 B0 W0 R1 B1 W1");
  EXPECT_EQ(spelled(order, 1), "F0 R0 B0 F1 R1 B1 W0 W1");
}

/// Place in its table of each task of a stage, by kind, chunk and micro-batch.
using Places = std::map<std::tuple<TaskKind, Count, Count>, std::size_t>;

Places places_of(const PipelineOrder& order, std::size_t stage) {
  Places places;
  for (const PipelineTask& task : order.stages[stage]) {
    places.emplace(std::tuple{task.kind, Count{task.chunk}, Count{task.micro_batch}},
                   places.size());
  }
  return places;
}

/// Tasks of a kind that hand a gradient over, on all stages.
Count num_handing_over(const PipelineCase& pipeline, TaskKind kind) {
  Count num = 0;
  for (const std::vector<PipelineTask>& tasks : order_of(pipeline).stages)
    for (const PipelineTask& task : tasks)
      num += task.kind == kind && hands_gradient_over(task) ? 1 : 0;
  return num;
}

TEST(PipelineOrder, SplitsTheBackwardPassForZbH1AndSomeOfDualPipe) {
  for (const PipelineCase& whole :
       {PipelineCase{PipelineSchedule::one_forward_one_backward, 2, 1, 2},
        PipelineCase{PipelineSchedule::interleaved, 2, 2, 2}}) {
    EXPECT_EQ(num_handing_over(whole, TaskKind::backward_input), 0);
    EXPECT_EQ(num_handing_over(whole, TaskKind::backward_weight), 2 * whole.num_virtual_stages * 2);
  }
  EXPECT_EQ(num_handing_over({PipelineSchedule::zb_h1, 2, 1, 2}, TaskKind::backward_input), 4);
  EXPECT_EQ(num_handing_over({PipelineSchedule::zb_h1, 2, 1, 2}, TaskKind::backward_weight), 0);
  const PipelineCase dual{PipelineSchedule::dualpipe, 4, 1, 8};
  EXPECT_GT(num_handing_over(dual, TaskKind::backward_input), 0);
  EXPECT_GT(num_handing_over(dual, TaskKind::backward_weight), 0);
}

TEST(PipelineOrder, HasEveryTaskOnceOnItsStageAndInTheOrderOfItsInputs) {
  for (const Activations activations : kActivations) {
    const Count kinds = activations == Activations::recomputed ? 4 : 3;
    for (const PipelineCase& pipeline : every_pipeline()) {
      SCOPED_TRACE(to_string(pipeline));
      const PipelineOrder order = order_of(pipeline, activations);
      const auto [schedule, P, V, M] = pipeline;
      ASSERT_EQ(static_cast<Count>(order.stages.size()), P);
      for (Count stage = 0; stage < P; ++stage) {
        const auto s = static_cast<std::size_t>(stage);
        const Places places = places_of(order, s);
        ASSERT_EQ(static_cast<Count>(order.stages[s].size()), kinds * V * M);
        for (Count chunk = 0; chunk < P * V; ++chunk) {
          for (Count m = 0; m < M; ++m) {
            if (stage_of_task(order, chunk, m) != stage) continue;
            const std::size_t forward = places.at({TaskKind::forward, chunk, m});
            const std::size_t input = places.at({TaskKind::backward_input, chunk, m});
            EXPECT_LT(forward, input);
            EXPECT_LT(input, places.at({TaskKind::backward_weight, chunk, m}));
            if (activations == Activations::kept) continue;
            EXPECT_EQ(places.at({TaskKind::recompute, chunk, m}) + 1, input);
          }
        }
      }
    }
  }
}

TEST(PipelineOrderErrors, AskDualPipeForPairsOfStagesAndTwoMicroBatchesEach) {
  EXPECT_EQ(refusal({PipelineSchedule::dualpipe, 3, 1, 8}),
            "invalid number of stages '3' (must be even for dualpipe)");
  EXPECT_EQ(refusal({PipelineSchedule::dualpipe, 4, 1, 6}),
            "invalid number of micro-batches '6' (must be at least 8, two a stage, for dualpipe)");
  EXPECT_EQ(refusal({PipelineSchedule::dualpipe, 4, 1, 9}),
            "invalid number of micro-batches '9' (must be a multiple of 2 for dualpipe)");
}

TEST(PipelineOrderErrors, NameTheScheduleThatHasVirtualStages) {
  EXPECT_EQ(refusal({PipelineSchedule::one_forward_one_backward, 4, 2, 8}),
            "invalid number of virtual stages '2' (must be 1 for 1f1b; interleaved_1f1b has more)");
  EXPECT_EQ(
      refusal({PipelineSchedule::zb_h1, 4, 3, 12}),
      "invalid number of virtual stages '3' (must be 1 for zb_h1; interleaved_1f1b has more)");
}

TEST(PipelineOrderErrors, AskForWholeGroupsOfMicroBatches) {
  EXPECT_EQ(refusal({PipelineSchedule::interleaved, 4, 2, 6}),
            "invalid number of micro-batches '6' (must be a multiple of the 4 stages for "
            "interleaved_1f1b)");
  EXPECT_EQ(refusal({PipelineSchedule::interleaved, 4, 1, 6}), "accepted");
}

TEST(PipelineOrderErrors, RefuseWhatNoMemoryHolds) {
  const Count huge = Count{1} << 62;
  EXPECT_EQ(refusal({PipelineSchedule::zb_h1, 2, 1, huge}),
            "invalid pipeline of 2 x 1 chunks and '4611686018427387904' micro-batches (the product "
            "must be at most 524288 to be simulated)");
  EXPECT_NE(refusal({PipelineSchedule::one_forward_one_backward, huge, 1, 4}), "accepted");
  EXPECT_NE(refusal({PipelineSchedule::interleaved, huge, huge, huge}), "accepted");
  EXPECT_EQ(refusal({PipelineSchedule::one_forward_one_backward, 1, 1, kMaxChunkPasses}),
            "accepted");
}

TEST(PipelineSchedules, HaveTheNamesThatScenariosUse) {
  EXPECT_EQ(name(PipelineSchedule::one_forward_one_backward), "1f1b");
  EXPECT_EQ(name(PipelineSchedule::interleaved), "interleaved_1f1b");
  EXPECT_EQ(name(PipelineSchedule::zb_h1), "zb_h1");
  EXPECT_EQ(name(TaskKind::forward), "forward");
  EXPECT_EQ(name(TaskKind::recompute), "recompute");
  EXPECT_EQ(name(TaskKind::backward_input), "backward_input");
  EXPECT_EQ(name(TaskKind::backward_weight), "backward_weight");
}

}  // namespace
}  // namespace depthcost::pipeline_order_test
