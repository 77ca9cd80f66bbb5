// The JSON of steps is stable: modelled terms, and training.
#include <gtest/gtest.h>

#include "tests/reports/json_rows.hpp"

namespace depthcost::json_step_test {
namespace {

using namespace test;

const Json& kimi_k3() {
  static const Json json = json_of(kimi_k3_study());
  return json;
}

const Json& modelled() {
  static const Json json = json_of(test::modelled_study());
  return json;
}

TEST(JsonStep, HoldsAModelledBaselineWithItsInterval) {
  for (const Json& row : modelled()["step"]) {
    EXPECT_LT(row["baseline_low"], row["baseline_seconds"]) << row;
    EXPECT_LT(row["baseline_seconds"], row["baseline_high"]) << row;
    EXPECT_EQ(row["baseline_evidence"], "assumed");
    EXPECT_NEAR(row["seconds"].get<double>() /
                    (row["baseline_seconds"].get<double>() + row["delta_seconds"].get<double>()),
                1, 1e-11);
  }
}

TEST(JsonRest, HasATermInEachRow) {
  ASSERT_EQ(modelled()["rest"].size(), 4 * kEnumerators<RestTerm>.size());
  for (const Json& row : modelled()["rest"]) {
    expect_keys(row, {"workload", "term", "seconds", "low", "high", "bytes", "flops", "launches",
                      "origin", "evidence"});
    expect_strings(row, {"workload", "term", "origin", "evidence"});
    expect_numbers(row, {"seconds", "low", "high", "bytes", "flops", "launches"});
    EXPECT_EQ(row["origin"], "modelled");
  }
  EXPECT_TRUE(kimi_k3()["rest"].empty());
}

TEST(JsonRest, AddsUpToTheBaselineButForTheStandardResidual) {
  const Json standard =
      only_row(modelled()["step"],
               {{"workload", "decode/64"}, {"scheme", "standard"}, {"schedule", "fused"}});
  double sum = standard["residual_seconds"];
  for (const Json& row : rows_with(modelled()["rest"], {{"workload", "decode/64"}}))
    sum += row["seconds"].get<double>();
  EXPECT_NEAR(sum / standard["baseline_seconds"].get<double>(), 1, 1e-11);
}

TEST(JsonRest, SaysWhichTermsTheUserHasWritten) {
  Study study = test::modelled_study();
  study.written_terms = {{WorkloadKind::prefill, RestTerm::mlp, {Seconds{0.25}}}};
  const Json json = json_of(study);
  const Json row = only_row(json["rest"], {{"origin", "written"}});
  EXPECT_EQ(row.dump(),
            R"({"workload":"prefill","term":"mlp","seconds":0.25,"low":0.25,"high":0.25,)"
            R"("bytes":null,"flops":null,"launches":null,"origin":"written",)"
            R"("evidence":"measured"})");
}

// (8 + 1) x 2,048 tokens x 7,168 x 2 bytes over 24 layers of 576 elements of 2 bytes.
TEST(JsonPrefill, CountsTheBankInTokensOfTheCache) {
  EXPECT_TRUE(kimi_k3()["prefill"]["cache_tokens"].is_null());
  Study study = test::modelled_study();
  study.pipeline.reset();
  EXPECT_NEAR(json_of(study)["prefill"]["cache_tokens"].get<double>(),
              9.0 * 2048 * 7168 * 2 / (24 * 576 * 2), 1e-6);
}

const Json& in_training() {
  static const Json json = json_of(test::training_study());
  return json;
}

TEST(JsonTraining, HasTheSetupTheSchemesAndThePipeline) {
  EXPECT_FALSE(kimi_k3().contains("training"));
  const Json& training = in_training()["training"];
  expect_keys(training, {"sequence_length",
                         "micro_batch_size",
                         "num_micro_batches",
                         "tokens_per_device",
                         "num_stages",
                         "num_virtual_stages",
                         "pipeline_schedule",
                         "precision",
                         "activations",
                         "layers",
                         "optimizer",
                         "sharding",
                         "main_gradients",
                         "gradient_accumulation",
                         "cache",
                         "sends",
                         "gradient_dtype",
                         "wire_dtype",
                         "by_scheme",
                         "chunks",
                         "transitions",
                         "stages",
                         "plan",
                         "shapes"});
  expect_integers(training, {"sequence_length", "micro_batch_size", "num_micro_batches",
                             "tokens_per_device", "num_stages", "num_virtual_stages"});
  EXPECT_EQ(training["pipeline_schedule"], "interleaved_1f1b");
  EXPECT_EQ(training["by_scheme"].size(), 12u);
  EXPECT_EQ(training["chunks"].size(), 8u);
  EXPECT_EQ(training["transitions"].size(), 7u);
  EXPECT_EQ(training["stages"].size(), 4u);
  ASSERT_EQ(training["shapes"].size(), 6u);
  EXPECT_EQ(training["shapes"][0]["published_attnres_loss"], 1.877);
}

TEST(JsonTraining, HasARowForEverySchemeAndSchedule) {
  for (const Json& row : in_training()["training"]["by_scheme"]) {
    expect_keys(row,
                {"scheme", "schedule", "makespan_seconds", "reduction_seconds", "forward_seconds",
                 "backward_seconds", "recompute_seconds", "communication_seconds", "bubble",
                 "accumulation_d", "tokens_per_second", "tokens_per_second_and_device",
                 "model_flops_per_second_and_device", "mfu", "message_bytes", "stages"});
    EXPECT_EQ(row["message_bytes"].size(), 7u);
    EXPECT_EQ(row["stages"].size(), 4u);
    expect_keys(row["stages"][0], {"activation_bytes", "block_bytes", "micro_batches_in_flight"});
    EXPECT_EQ(row["recompute_seconds"], row["forward_seconds"]);
    const Json step = only_row(
        in_training()["step"],
        {{"workload", "training"}, {"scheme", row["scheme"]}, {"schedule", row["schedule"]}});
    EXPECT_NEAR(row["makespan_seconds"].get<double>() / step["seconds"].get<double>(), 1, 1e-10);
  }
}

// A cached d-vector of 4,096 tokens: 4,096 x 7,168 x 2 bytes.
TEST(JsonTraining, SendsWhatTheCacheLeaves) {
  const Json& pipeline = in_training()["pipeline"];
  const Json cached = only_row(pipeline["events"],
                               {{"cache", "received"}, {"embedding", "sent"}, {"partial", "sent"}});
  const Json& transitions = in_training()["training"]["transitions"];
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    expect_keys(transitions[i],
                {"forward_bytes", "backward_bytes", "latency_seconds", "bytes_per_second"});
    EXPECT_EQ(transitions[i]["forward_bytes"],
              cached["transitions_d"][i].get<double>() * 4096 * 7168 * 2);
    EXPECT_NEAR(transitions[i]["bytes_per_second"].get<double>() / 50e9, 1, 1e-7);
  }
}

TEST(JsonTraining, GivesLinksThatNobodyHasMeasuredAsNull) {
  Study study = test::training_study();
  study.machine->transfers.resize(2);
  const Json training = json_of(study)["training"];
  EXPECT_TRUE(training["transitions"][0]["bytes_per_second"].is_null());
  EXPECT_FALSE(training["plan"]["links"][0].contains("bytes_per_second"));
}

// 186 layers over 8 chunks, 4,096 tokens of 7,168 elements of 2 bytes: what bench_pipeline reads.
TEST(JsonTraining, HoldsAPlanThatCanBeRun) {
  const Json& plan = in_training()["training"]["plan"];
  expect_keys(
      plan, {"schema", "schedule", "activations", "num_stages", "num_virtual_stages",
             "num_micro_batches", "chunk_layers", "payload", "tokens", "hidden_size",
             "bytes_per_element", "gradient_bytes_per_element", "chunk_seconds", "links", "sends"});
  EXPECT_EQ(plan["schema"], "depthcost-pipeline/1");
  EXPECT_EQ(plan["activations"], "recomputed");
  EXPECT_EQ(plan["payload"].dump(),
            R"({"block_sizes":[24,24,24,24,24,24,24,18],"cache":"received"})");
  EXPECT_EQ(plan["tokens"], 4096);
  EXPECT_EQ(plan["bytes_per_element"], 2);
  EXPECT_EQ(plan["gradient_bytes_per_element"], 2);
  EXPECT_EQ(plan["chunk_seconds"].size(), 8u);
  EXPECT_EQ(plan["links"].size(), 7u);
  const Json& chunk = in_training()["training"]["chunks"][3];
  EXPECT_EQ(plan["chunk_seconds"][3]["forward"], chunk["forward_seconds"]);
  EXPECT_EQ(plan["chunk_seconds"][3]["backward_input"], chunk["backward_input_seconds"]);
  Study streams = test::training_study();
  std::swap(streams.path, streams.compare[1]);
  streams.schedule = Schedule::fused;
  EXPECT_EQ(json_of(streams)["training"]["plan"]["payload"].dump(), R"({"vectors":4})");
}

}  // namespace
}  // namespace depthcost::json_step_test
