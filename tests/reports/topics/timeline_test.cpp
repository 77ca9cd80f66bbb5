// A step is drawn with fewer micro-batches than it has, whatever its schedule needs.
#include "reports/topics/training/timeline.hpp"

#include <gtest/gtest.h>

#include "tests/studies.hpp"

namespace depthcost::timeline_test {
namespace {

TEST(Timeline, HasAsManyMicroBatchesAsItsScheduleTakes) {
  for (const Count stages : {4, 20})
    for (const PipelineSchedule schedule : kEnumerators<PipelineSchedule>) {
      const Count virtual_stages = schedule == PipelineSchedule::interleaved ? 2 : 1;
      Study study = test::training_study();
      study.pipeline = even_layout(stages, virtual_stages, 93, 2);
      study.training->schedule = schedule;
      study.training->num_micro_batches = 4 * stages;
      study.machine->link_bandwidth = study.machine->network_bandwidth = BytesPerSecond{50e9};
      const auto timeline = timeline_of(evaluate(study));
      ASSERT_TRUE(timeline) << stages << name(schedule);
      EXPECT_EQ(problem_of_micro_batches(schedule, stages, virtual_stages,
                                         timeline->order.num_micro_batches),
                "")
          << stages << name(schedule);
      EXPECT_LE(timeline->order.num_micro_batches, 4 * stages) << stages << name(schedule);
      EXPECT_FALSE(timeline->boxes.empty());
    }
}

}  // namespace
}  // namespace depthcost::timeline_test
