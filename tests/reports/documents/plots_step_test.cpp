// Plots of steps: overhead against the batch, and the schedule of a pipeline.
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/formats/gnuplot.hpp"
#include "reports/topics/time/step_section.hpp"
#include "reports/topics/training/training_section.hpp"
#include "tests/reports/plot_script.hpp"
#include "tests/studies.hpp"

namespace depthcost::plots_step_test {
namespace {

using namespace test;

// A term that is written batch by batch is known at those batches alone.
TEST(AddedTimePlot, NeedsNoRestBetweenTheBatches) {
  Study study = test::modelled_study();
  study.decode->sequences = {1, 64};
  study.written_terms = {{WorkloadKind::decode, RestTerm::mlp, {Seconds{1e-3}, Seconds{2e-3}}}};
  EXPECT_EQ(rows_of(added_time_plot(evaluate(study))->script, "$line0").size(), 7u);
}

TEST(OverheadPlot, HasThePerCentsOfTheEvaluation) {
  const Evaluation evaluation = evaluate(test::modelled_study());
  const Plot plot = *overhead_plot(evaluation);
  EXPECT_EQ(plot.file_name, "overhead.svg");
  EXPECT_TRUE(contains(plot.caption, "modelled"));
  for (const StepRow& row : evaluation.step) {
    if (row.path != &evaluation.paths[0] || row.schedule != Schedule::single_pass ||
        row.workload != WorkloadId::decode(64))
      continue;
    const std::vector<double> point = row_at(rows_of(plot.script, "$asked2"), 64);
    ASSERT_EQ(point.size(), 4u);
    EXPECT_NEAR(point[1], 100 * row.overhead->value, 1e-9 * point[1]);
    EXPECT_NEAR(point[2], 100 * row.overhead->low, 1e-9 * point[2]);
    EXPECT_NEAR(point[3], 100 * row.overhead->high, 1e-9 * point[3]);
  }
  // Powers of two from 1 to 64: what lies beyond does not fit.
  EXPECT_EQ(rows_of(plot.script, "$line2").size(), 7u);
}

TEST(OverheadPlot, DrawsTheBudget) {
  Study study = test::modelled_study();
  EXPECT_TRUE(contains(overhead_plot(evaluate(study))->script, "'budget: 2.0 %'"));
  EXPECT_FALSE(contains(added_time_plot(evaluate(study))->script, "budget"));
  study.budgets.clear();
  EXPECT_FALSE(contains(overhead_plot(evaluate(study))->script, "budget"));
}

TEST(OverheadPlot, HasOnlyTheBatchesThatWereMeasuredOneByOne) {
  Study study = test::kimi_k3_study();
  study.decode->sequences = {64, 1};
  study.decode->baseline_steps = {Seconds{2e-2}, Seconds{1e-2}};
  const Plot plot = *overhead_plot(evaluate(study));
  EXPECT_TRUE(contains(plot.caption, "measured"));
  const Rows line = rows_of(plot.script, "$line0");
  ASSERT_EQ(line.size(), 2u);
  EXPECT_EQ(line[0][0], 1);
  study.decode->baseline_steps = {Seconds{1e-2}};
  EXPECT_EQ(rows_of(overhead_plot(evaluate(study))->script, "$line0").size(), 7u);
}

TEST(OverheadPlot, IsNotThereWithoutABaseline) {
  Study study = test::kimi_k3_study();
  study.decode->baseline_steps.clear();
  EXPECT_FALSE(overhead_plot(evaluate(study)));
  EXPECT_TRUE(added_time_plot(evaluate(study)));
}

// 8 chunks x 8 micro-batches, forward, recompute and backward.
TEST(SchedulePlot, HasABoxForEveryTask) {
  const Evaluation evaluation = evaluate(test::training_study());
  const Plot plot = *schedule_plot(evaluation);
  const Rows boxes = rows_of(plot.script, "$tasks");
  ASSERT_EQ(boxes.size(), 3u * 64u);
  double last_end = 0;
  for (const std::vector<double>& box : boxes) last_end = std::max(last_end, box[3]);
  EXPECT_NEAR(last_end, evaluation.training.simulated->makespan.value * 1e3, 1e-6 * last_end);
  EXPECT_TRUE(
      contains(plot.script, "interleaved_1f1b, Block AttnRes, single pass, 8 micro-batches"));
  EXPECT_TRUE(contains(plot.script, "set yrange [3.5:-0.5]"));
}

TEST(SchedulePlot, KeepsHalvesOfABackwardPassApartWhereTheOrderDoes) {
  Study study = test::training_study();
  study.pipeline = even_layout(4, 1, 93, 2);
  study.training->schedule = PipelineSchedule::zb_h1;
  study.training->activations = ActivationPolicy::keep;
  const std::string script = schedule_plot(evaluate(study))->script;
  EXPECT_EQ(rows_of(script, "$tasks").size(), 3u * 4u * 8u);
  EXPECT_TRUE(contains(script, "'backward, weights'"));
  EXPECT_FALSE(contains(script, "virtual stage"));
}

TEST(SchedulePlot, DrawsFewerMicroBatchesAndSaysSo) {
  Study study = test::training_study();
  study.training->num_micro_batches = 100;
  study.training->activations = ActivationPolicy::keep;  // recomputation is too short to be seen
  const Plot plot = *schedule_plot(evaluate(study));
  EXPECT_EQ(rows_of(plot.script, "$tasks").size(), 2u * 8u * 32u);
  EXPECT_TRUE(contains(plot.script, "drawn with 32 of 100 micro-batches"));
}

TEST(SchedulePlot, ShowsTheBeginningOfVeryManyTasks) {
  Study study = test::training_study();
  study.pipeline = even_layout(31, 3, 93, 2);
  study.training->num_micro_batches = 62;
  const Plot plot = *schedule_plot(evaluate(study));
  EXPECT_EQ(rows_of(plot.script, "$tasks").size(), 4000u);
  EXPECT_TRUE(contains(plot.script, "31 of 62 micro-batches, its beginning"));
}

TEST(SchedulePlot, IsNotThereWithoutAPipelineOrARestOfTheStep) {
  Study study = test::training_study();
  study.model.architecture.reset();
  EXPECT_FALSE(schedule_plot(evaluate(study)));
  study = test::training_study();
  study.pipeline.reset();
  study.training->schedule = PipelineSchedule::one_forward_one_backward;
  EXPECT_FALSE(schedule_plot(evaluate(study)));
  EXPECT_FALSE(schedule_plot(evaluate(test::modelled_study())));
}

TEST(SchedulePlot, IsDrawnWellFormed) {
  const Drawing drawing = draw_svg(schedule_plot(evaluate(test::training_study()))->script);
  ASSERT_EQ(drawing.status, DrawingStatus::drawn) << drawing.error;
  EXPECT_TRUE(is_well_formed(drawing.svg));
  EXPECT_FALSE(contains(drawing.svg, "nan"));
}

}  // namespace
}  // namespace depthcost::plots_step_test
