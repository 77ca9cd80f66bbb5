// Which published measurement stands beside a prediction.
#include "model/evaluation/nearest_measurement.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/studies.hpp"

namespace depthcost::nearest_measurement_test {
namespace {

ComparedCase published(const std::string& operation, Count tokens, const std::string& device) {
  ComparedCase one{.id = operation + "/" + std::to_string(tokens),
                   .hardware = device,
                   .hardware_name = device,
                   .call = {.operation = operation, .num_tokens = tokens, .hidden_size = 7168}};
  one.call.counts.num_sources = 4;
  return one;
}

std::vector<NearestMeasurement> rows_of(const std::vector<ComparedCase>& measurements,
                                        const Evaluation& evaluation) {
  return nearest_measurements(evaluation, measurements);
}

std::string at(const std::vector<NearestMeasurement>& rows, const std::string& scheme,
               WorkloadId workload) {
  for (const NearestMeasurement& row : rows)
    if (row.scheme == scheme &&
        std::find(row.workloads.begin(), row.workloads.end(), workload) != row.workloads.end())
      return row.measured->id;
  return "";
}

TEST(NearestMeasurements, AreOfTheSameOperationAndAsManyTokens) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const std::vector<ComparedCase> all{published("attnres_single_pass", 1, "Round 5"),
                                      published("attnres_single_pass", 500, "Round 5"),
                                      published("mhc_post", 1, "Round 5")};
  const auto rows = rows_of(all, evaluation);
  EXPECT_EQ(at(rows, "block_attnres", WorkloadId::decode(1)), "attnres_single_pass/1");
  EXPECT_EQ(at(rows, "block_attnres", WorkloadId::decode(512)), "attnres_single_pass/500");
  EXPECT_EQ(at(rows, "mhc", WorkloadId::decode(1)), "mhc_post/1");
  EXPECT_EQ(at(rows, "standard", WorkloadId::decode(1)), "");
}

/// The same device goes before another, but not at any distance.
TEST(NearestMeasurements, PreferTheSameDevice) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const std::vector<ComparedCase> near{published("mhc_post", 1, "another"),
                                       published("mhc_post", 4, "Round 5")};
  EXPECT_EQ(at(rows_of(near, evaluation), "mhc", WorkloadId::decode(1)), "mhc_post/4");
  const std::vector<ComparedCase> far{published("mhc_post", 1, "another"),
                                      published("mhc_post", 4096, "Round 5")};
  EXPECT_EQ(at(rows_of(far, evaluation), "mhc", WorkloadId::decode(1)), "mhc_post/1");
}

TEST(NearestMeasurementsAt, AreThoseOfTheOwnSchemeAtThatPoint) {
  const Evaluation evaluation = evaluate_budgets(test::kimi_k3_study());
  const std::vector<ComparedCase> all{published("attnres_single_pass", 1, "Round 5"),
                                      published("attnres_single_pass", 500, "Round 5"),
                                      published("mhc_post", 512, "Round 5")};
  const auto rows = nearest_measurements_at(WorkloadId::decode(512), evaluation, all);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].scheme, "block_attnres");
  EXPECT_EQ(rows[0].workloads, std::vector<WorkloadId>{WorkloadId::decode(512)});
  EXPECT_EQ(rows[0].measured, &all[1]);
  EXPECT_TRUE(nearest_measurements_at(WorkloadId::decode(2), evaluation, all).empty());
}

/// A micro-batch is one pass over all of its tokens.
TEST(NearestMeasurementsAt, HaveTheForwardPassOfATrainingStep) {
  Study study = test::training_study();
  const auto tokens =
      static_cast<Count>(study.training->sequence_length * study.training->micro_batch_size);
  const std::vector<ComparedCase> all{published("attnres_single_pass", 1, "Round 5"),
                                      published("attnres_single_pass", tokens, "Round 5"),
                                      published("attnres_phase1", 64 * tokens, "Round 5"),
                                      published("attnres_phase1", 2 * tokens, "Round 5"),
                                      published("attnres_phase2", tokens, "Round 5")};
  const auto at = [&](Schedule schedule) {
    study.schedule = schedule;
    std::vector<const ComparedCase*> nearest;
    const Evaluation evaluation = evaluate_budgets(study);
    for (const NearestMeasurement& row :
         nearest_measurements_at(WorkloadId::training(), evaluation, all))
      nearest.push_back(row.measured);
    std::sort(nearest.begin(), nearest.end());
    return nearest;
  };
  EXPECT_EQ(at(Schedule::single_pass), (std::vector<const ComparedCase*>{&all[1]}));
  // The output aggregation is a single pass.
  EXPECT_EQ(at(Schedule::two_phase), (std::vector<const ComparedCase*>{&all[1], &all[3], &all[4]}));
}

MeasuredStep step(const std::string& model) {
  return {.machine = *test::modelled_study().machine,
          .stack = "s",
          .model = model,
          .scheme = "block_attnres",
          .tensor = 8,
          .sequences = 64,
          .time = {1e-2},
          .source = "s"};
}

TEST(MeasuredSteps, AreThoseOfTheModelAndItsScheme) {
  const Study study = test::kimi_k3_study();
  const std::vector<MeasuredStep> all{step("Kimi K3"), step("Kimi K2")};
  ASSERT_EQ(measured_steps_of(study, all).size(), 1U);
  EXPECT_EQ(measured_steps_of(study, all)[0].model, "Kimi K3");
}

/// The study's own step, whose baseline holds the standard residual in place of its own.
TEST(MeasuredSteps, ArePredictedAsTheStudyIsOnTheSameDevice) {
  Study study = test::modelled_study();
  study.attachment = Attachment::standalone;  // as every published step ran
  const Evaluation evaluation = evaluate(study);
  const auto predicted = predicted_step(study, step("Kimi K3"));
  ASSERT_TRUE(predicted && predicted->step);
  for (const StepRow& row : evaluation.step)
    if (row.workload == WorkloadId::decode(64) && row.path == &evaluation.paths.front() &&
        row.schedule == Schedule::single_pass) {
      EXPECT_EQ(predicted->residual.value, row.residual.value);
      EXPECT_NEAR(predicted->step->value.value,
                  row.baseline_step->value.value + row.delta.value.value, 1e-15);
    }
}

/// Who asks about drafts, replicas and stages is shown the measured step as it ran.
TEST(MeasuredSteps, ArePredictedWithoutWhatTheyDidNotRunWith) {
  const Study plain = test::modelled_study();
  Study other = plain;
  other.decode->speculation = {.tokens = 4, .accepted = 2};
  other.data_parallel_size = 8;
  other.expert_parallel_size = 64;
  other.context_parallel_size = 2;
  other.pipeline = even_layout(2, 1, other.model.num_layers / 2, 2);
  other.routing = Routing::power_law;
  const auto expected = predicted_step(plain, step("Kimi K3"));
  const auto predicted = predicted_step(other, step("Kimi K3"));
  ASSERT_TRUE(predicted && predicted->step);
  EXPECT_EQ(predicted->step->value, expected->step->value);
  EXPECT_EQ(predicted->step->low, expected->step->low);
  EXPECT_EQ(predicted->residual.value, expected->residual.value);
}

TEST(MeasuredSteps, ArePredictedOnTheDeviceThatWasMeasured) {
  MeasuredStep slower = step("Kimi K3");
  for (LaunchFloor& entry : slower.machine.floors) entry.floor.value = {1e-3};
  const Study study = test::modelled_study();
  EXPECT_GT(predicted_step(study, slower)->residual.value.value, 0.187);
  MeasuredStep wider = step("Kimi K3");
  wider.tensor = 16;
  EXPECT_FALSE(predicted_step(study, wider).has_value());
  const auto unmodelled = predicted_step(test::kimi_k3_study(), step("Kimi K3"));
  ASSERT_TRUE(unmodelled.has_value());
  EXPECT_FALSE(unmodelled->step.has_value());
}

}  // namespace
}  // namespace depthcost::nearest_measurement_test
