// The interval of a training step's utilisation.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/evaluation/evaluation.hpp"
#include "model/step/step.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/training/training_section.hpp"
#include "scenarios/read/scenario.hpp"

namespace depthcost::throughput_test {
namespace {

/// At each end, the utilisation times the step is the same work.
TEST(ThroughputTable, HasTheIntervalOfTheWholeStep) {
  const Scenario scenario =
      read_scenario(std::string(DEPTHCOST_SOURCE_DIR) + "/scenarios/kimi_k3_training.yaml");
  const Evaluation e = evaluate(scenario.study);
  const Table table = training_throughput_table(e);
  std::size_t row = 0;
  for (const TrainingRun& run : e.training.runs) {
    if (run.schedule != quoted_schedule(e.study, *run.path)) continue;
    const auto at = std::find_if(
        e.training.steps.begin(), e.training.steps.end(),
        [&](const StepRow& it) { return it.path == run.path && it.schedule == run.schedule; });
    ASSERT_NE(at, e.training.steps.end());
    const Estimate<Seconds> step = whole_step(*at);
    const double used = training_section::throughput_of(e, run)->utilization;
    EXPECT_EQ(table.rows.at(row++).back(),
              format_ratio(Estimate<double>{used * (step.value / step.high), used,
                                            used * (step.value / step.low)}));
  }
  EXPECT_EQ(row, table.rows.size());
  EXPECT_GT(row, 2U);
}

}  // namespace
}  // namespace depthcost::throughput_test
