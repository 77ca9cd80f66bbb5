// The contract: keys, their order, types and units, and a handful of figures.
#include "reports/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/studies.hpp"

namespace depthcost {
namespace {

using Json = nlohmann::ordered_json;
using Keys = std::vector<std::string>;

const std::vector<ResolvedValue> kValues{{"residual.block_size", "24", "scenario.yaml:7:15"},
                                         {"residual.num_streams", "4", "default: [mhc] Sec. 4.1"}};

Json json_of(const Study& study) {
  return Json::parse(to_json(evaluate(study), kValues, {"0.1.0", {}}));
}

const Json& kimi_k3() {
  static const Json json = json_of(test::kimi_k3_study());
  return json;
}

Keys keys_of(const Json& object) {
  Keys keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

/// `object` has exactly `keys` in front, in this order, and `added` behind them.
void expect_keys(const Json& object, Keys keys, const Keys& added = {}) {
  keys.insert(keys.end(), added.begin(), added.end());
  EXPECT_EQ(keys_of(object), keys);
}

void expect_strings(const Json& row, const Keys& keys) {
  for (const std::string& key : keys) EXPECT_TRUE(row.at(key).is_string()) << key << " in " << row;
}

void expect_integers(const Json& row, const Keys& keys) {
  for (const std::string& key : keys)
    EXPECT_TRUE(row.at(key).is_number_integer()) << key << " in " << row;
}

void expect_numbers(const Json& row, const Keys& keys) {
  for (const std::string& key : keys) EXPECT_TRUE(row.at(key).is_number()) << key << " in " << row;
}

void expect_numbers_or_null(const Json& row, const Keys& keys) {
  for (const std::string& key : keys)
    EXPECT_TRUE(row.at(key).is_number() || row.at(key).is_null()) << key << " in " << row;
}

/// The rows of a section that have these values.
std::vector<Json> rows_with(const Json& section, const Json& values) {
  std::vector<Json> rows;
  for (const Json& row : section) {
    bool matches = true;
    for (const auto& [key, value] : values.items()) matches = matches && row.at(key) == value;
    if (matches) rows.push_back(row);
  }
  return rows;
}

Json only_row(const Json& section, const Json& values) {
  const auto rows = rows_with(section, values);
  EXPECT_EQ(rows.size(), 1U) << values;
  return rows.empty() ? Json() : rows.front();
}

TEST(Json, HasTheSectionsOfTheContractInOrder) {
  expect_keys(kimi_k3(), {"schema_version", "program_version", "scenario", "partitions", "ledger",
                          "aggregation", "parameters", "flops", "pipeline", "prefill", "memory",
                          "time", "step", "rest", "budgets"});
  EXPECT_EQ(kimi_k3()["schema_version"], 1);
  EXPECT_EQ(kimi_k3()["program_version"], "0.1.0");
  for (const char* section :
       {"ledger", "parameters", "flops", "memory", "time", "step", "budgets"}) {
    ASSERT_TRUE(kimi_k3()[section].is_array()) << section;
    EXPECT_FALSE(kimi_k3()[section].empty()) << section;
  }
}

TEST(Json, StatesTheOriginOfEachValueOfTheScenario) {
  EXPECT_EQ(kimi_k3()["scenario"].dump(),
            R"({"name":"Kimi K3 on Round 5","values":{)"
            R"("residual.block_size":{"value":"24","origin":"scenario.yaml:7:15"},)"
            R"("residual.num_streams":{"value":"4","origin":"default: [mhc] Sec. 4.1"}}})");
}

TEST(JsonPartitions, AreThoseOfSchemesWithBlocks) {
  EXPECT_EQ(kimi_k3()["partitions"].dump(),
            R"([{"scheme":"block_attnres","num_layers":186,"block_size":24,"num_blocks":8,)"
            R"("last_block_size":18},{"scheme":"full_attnres","num_layers":186,"block_size":24,)"
            R"("num_blocks":8,"last_block_size":18}])");
}

TEST(JsonLedger, HasTheKeysOfTheContract) {
  for (const Json& row : kimi_k3()["ledger"]) {
    expect_keys(row,
                {"scheme", "schedule", "convention", "operation", "layer", "reads_d", "writes_d",
                 "reads_scalars", "writes_scalars", "bytes"},
                {"outside_domain"});
    expect_strings(row, {"scheme", "schedule", "convention", "operation"});
    expect_numbers(row, {"reads_d", "writes_d", "reads_scalars", "writes_scalars", "bytes"});
    EXPECT_TRUE(row["layer"].is_null());
    EXPECT_TRUE(row["outside_domain"].is_boolean());
  }
}

TEST(JsonLedger, HoldsTheFiguresOfKimiK3) {
  const Json values{{"scheme", "block_attnres"},
                    {"schedule", "single_pass"},
                    {"convention", "kernel"},
                    {"operation", "total"}};
  const Json mean = only_row(kimi_k3()["ledger"], values);
  EXPECT_NEAR(mean["reads_d"].get<double>() + mean["writes_d"].get<double>(), 1534.0 / 186, 1e-10);
  EXPECT_NEAR(mean["bytes"].get<double>(), 1534.0 / 186 * 7168 * 2, 1e-6);
  EXPECT_EQ(mean["outside_domain"], false);
  Json of_output = values;
  of_output["operation"] = "output_aggregation";
  const Json output = only_row(kimi_k3()["ledger"], of_output);
  EXPECT_EQ(output["reads_d"], 10);
  EXPECT_EQ(output["writes_d"], 1);
  EXPECT_EQ(output["bytes"], 11 * 7168 * 2);
  expect_integers(output, {"reads_d", "writes_d", "reads_scalars", "writes_scalars", "bytes"});
}

TEST(JsonLedger, MarksThePaperOutsideItsDomain) {
  const auto paper = rows_with(kimi_k3()["ledger"], {{"convention", "paper"}});
  ASSERT_EQ(paper.size(), 4U);
  for (const Json& row : paper)
    EXPECT_EQ(row["outside_domain"],
              row["scheme"] == "block_attnres" || row["scheme"] == "full_attnres")
        << row;
}

TEST(JsonLedger, AppendsTheRowsOfSingleLayers) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const Counting physical{Schedule::single_pass, Convention::physical};
  const auto layers = layer_rows(evaluation.study, evaluation.paths.front(), physical);
  const Json ledger = Json::parse(to_json(evaluation, {}, {"0.1.0", layers}))["ledger"];
  ASSERT_EQ(ledger.size(), evaluation.ledger.size() + 186);
  const Json last = ledger.back();
  EXPECT_EQ(last["layer"], 186);
  EXPECT_EQ(last["operation"], "total");
  EXPECT_EQ(last["convention"], "physical");
}

TEST(JsonLedger, NamesTheOperationsOfALayer) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const Counting kernel{Schedule::two_phase, Convention::kernel};
  const auto layers = operation_rows(evaluation.study, evaluation.paths.front(), kernel.schedule);
  const Json ledger = Json::parse(to_json(evaluation, {}, {"0.1.0", layers}))["ledger"];
  const Json first = ledger[evaluation.ledger.size()];
  EXPECT_EQ(first["layer"], 1);
  EXPECT_EQ(first["operation"], "attnres_phase1");
  EXPECT_EQ(first["reads_d"], 1);
  EXPECT_EQ(first["writes_d"], 24);
  EXPECT_TRUE(ledger.back()["layer"].is_null());  // behind the last layer
}

TEST(JsonAggregation, CountsEightBlocksOfKimiK3) {
  EXPECT_EQ(kimi_k3()["aggregation"].dump(),
            R"({"sublayer_calls":186,"source_rows":1003,"max_sources":9,"output_sources":9})");
}

TEST(JsonParameters, AreThoseOfEachScheme) {
  for (const Json& row : kimi_k3()["parameters"]) {
    expect_keys(row, {"scheme", "per_layer", "total"});
    expect_integers(row, {"per_layer", "total"});
  }
  EXPECT_EQ(only_row(kimi_k3()["parameters"], {{"scheme", "block_attnres"}})["total"],
            187 * 2 * 7168);
  EXPECT_EQ(only_row(kimi_k3()["parameters"], {{"scheme", "standard"}})["total"], 0);
}

TEST(JsonFlops, AreThoseOfEachSchedule) {
  for (const Json& row : kimi_k3()["flops"]) {
    expect_keys(row, {"scheme", "schedule", "per_layer", "total"});
    expect_strings(row, {"scheme", "schedule"});
    expect_numbers(row, {"per_layer", "total"});
  }
  EXPECT_EQ(kimi_k3()["flops"].size(), 3U + 2U + 4U + 3U);
}

TEST(JsonPipeline, HasTheKeysOfTheContract) {
  const Json& pipeline = kimi_k3()["pipeline"];
  expect_keys(pipeline, {"formula", "events", "by_scheme"},
              {"cached_blocks_per_stage_d", "uncached_copies_per_stage_d"});
  EXPECT_EQ(pipeline["formula"].dump(), R"({"naive_d":28,"cached_d":22})");
  ASSERT_EQ(pipeline["events"].size(), 12U);
  for (const Json& event : pipeline["events"]) {
    expect_keys(event, {"cache", "embedding", "partial", "transitions_d", "total_d", "peak_d"});
    expect_strings(event, {"cache", "embedding", "partial"});
    expect_integers(event, {"total_d", "peak_d"});
    EXPECT_EQ(event["transitions_d"].size(), 7U);
  }
}

TEST(JsonPipeline, SendsWhatTheNextLayerNeeds) {
  const Json event = only_row(kimi_k3()["pipeline"]["events"],
                              {{"cache", "none"}, {"embedding", "sent"}, {"partial", "sent"}});
  EXPECT_EQ(event["transitions_d"].dump(), "[2,3,4,5,6,7,8]");
  EXPECT_EQ(event["total_d"], 35);
  EXPECT_EQ(event["peak_d"], 8);
  EXPECT_EQ(only_row(kimi_k3()["pipeline"]["by_scheme"], {{"scheme", "mhc"}}).dump(),
            R"({"scheme":"mhc","naive_total_d":28,"naive_peak_d":4,)"
            R"("cached_total_d":28,"cached_peak_d":4})");
}

TEST(JsonPrefill, HoldsTheBankOfOneDevice) {
  const double bank = 8.0 * (16384.0 / 8) * 7168 * 2;
  const Json& prefill = kimi_k3()["prefill"];
  const Keys keys{"bank_bytes_per_device", "bank_with_embedding_bytes_per_device",
                  "phase1_bytes_per_device"};
  expect_keys(prefill, keys, {"cache_tokens", "by_scheme"});
  expect_integers(prefill, keys);
  EXPECT_EQ(prefill["bank_bytes_per_device"], bank);
  EXPECT_EQ(prefill["bank_with_embedding_bytes_per_device"], bank * 9 / 8);
  ASSERT_EQ(prefill["by_scheme"].size(), 4U);
  for (const Json& row : prefill["by_scheme"]) {
    expect_keys(row, {"scheme"}, {keys[0], keys[1], keys[2], "cache_tokens"});
    expect_integers(row, keys);
  }
  EXPECT_EQ(prefill["by_scheme"][0]["bank_bytes_per_device"], bank);
}

TEST(JsonMemory, HoldsBytesOfOneDevice) {
  for (const Json& row : kimi_k3()["memory"]) {
    expect_keys(row, {"workload", "scheme", "item", "bytes_per_device"});
    expect_strings(row, {"workload", "scheme", "item"});
    expect_integers(row, {"bytes_per_device"});
  }
  EXPECT_EQ(only_row(kimi_k3()["memory"], {{"workload", "decode/64"},
                                           {"scheme", "block_attnres"},
                                           {"item", "bank"}})["bytes_per_device"],
            8 * 64 * 7168 * 2);
}

TEST(JsonTime, HasTheKeysOfTheContract) {
  for (const Json& row : kimi_k3()["time"]) {
    expect_keys(row,
                {"workload", "scheme", "schedule", "operation", "sources", "tokens", "calls",
                 "launch", "residency", "predicted_seconds", "low_seconds", "high_seconds",
                 "bound_seconds", "critical_seconds", "evidence"},
                {"memory_share", "reads_d", "writes_d", "kind", "parameter_bytes"});
    expect_strings(
        row, {"workload", "scheme", "schedule", "operation", "launch", "residency", "evidence"});
    expect_integers(row, {"sources", "tokens", "calls"});
    expect_numbers(row, {"predicted_seconds", "low_seconds", "high_seconds", "bound_seconds",
                         "critical_seconds", "memory_share", "reads_d", "writes_d"});
    EXPECT_LE(row["low_seconds"], row["predicted_seconds"]) << row;
    EXPECT_LE(row["predicted_seconds"], row["high_seconds"]) << row;
  }
}

TEST(JsonTime, CallsEveryAggregationOfKimiK3) {
  double calls = 0;
  for (const Json& row : rows_with(
           kimi_k3()["time"],
           {{"workload", "decode/64"}, {"scheme", "block_attnres"}, {"schedule", "single_pass"}}))
    calls += row["calls"].get<double>();
  EXPECT_EQ(calls, 187);
}

TEST(JsonTime, NamesTheMemoryThatServesTheBytes) {
  for (const Json& row : kimi_k3()["time"]) {
    const double share = row["memory_share"];
    EXPECT_EQ(row["residency"], share == 1 ? "memory" : share == 0 ? "cache" : "mixed") << row;
  }
}

TEST(JsonStep, HasTheKeysOfTheContract) {
  const Keys ratios{"overhead", "overhead_low", "overhead_high",
                    "share",    "share_low",    "share_high"};
  for (const Json& row : kimi_k3()["step"]) {
    expect_keys(row,
                {"workload", "scheme", "schedule", "seconds", "low", "high", "delta_seconds",
                 "delta_low", "delta_high", "overhead", "overhead_low", "overhead_high", "share",
                 "share_low", "share_high", "dominant", "evidence"},
                {"residual_seconds", "residual_low", "residual_high", "baseline_seconds",
                 "baseline_low", "baseline_high", "baseline_evidence"});
    expect_strings(row, {"workload", "scheme", "schedule", "dominant", "evidence"});
    expect_numbers(row, {"delta_seconds", "delta_low", "delta_high", "residual_seconds",
                         "residual_low", "residual_high"});
    expect_numbers_or_null(row, ratios);
  }
}

TEST(JsonStep, AddsTheDifferenceToTheBaseline) {
  const Json row = only_row(
      kimi_k3()["step"],
      {{"workload", "decode/64"}, {"scheme", "block_attnres"}, {"schedule", "single_pass"}});
  const double delta = row["delta_seconds"];
  EXPECT_GT(delta, 0);
  EXPECT_NEAR(row["seconds"].get<double>(), 12e-3 + delta, 1e-13);
  EXPECT_NEAR(row["overhead"].get<double>(), delta / 12e-3, 1e-11);
  const Json standard =
      only_row(kimi_k3()["step"],
               {{"workload", "decode/64"}, {"scheme", "standard"}, {"schedule", "fused"}});
  EXPECT_EQ(standard["delta_seconds"], 0);
  EXPECT_EQ(standard["seconds"], 12e-3);
  for (const char* key : {"baseline_seconds", "baseline_low", "baseline_high"})
    EXPECT_EQ(row[key], 12e-3);
  EXPECT_EQ(row["baseline_evidence"], "measured");
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
  ASSERT_EQ(modelled()["rest"].size(), 4 * kRestTerms.size());
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

TEST(JsonStep, IsNullWithoutABaseline) {
  const auto rows = rows_with(kimi_k3()["step"], {{"workload", "prefill"}});
  ASSERT_FALSE(rows.empty());
  for (const Json& row : rows)
    for (const char* key : {"seconds", "low", "high", "overhead", "overhead_low", "overhead_high",
                            "share", "share_low", "share_high"})
      EXPECT_TRUE(row.at(key).is_null()) << key;
}

const Json& in_training() {
  static const Json json = json_of(test::training_study());
  return json;
}

TEST(JsonTraining, HasTheSetupTheSchemesAndThePipeline) {
  EXPECT_FALSE(kimi_k3().contains("training"));
  const Json& training = in_training()["training"];
  expect_keys(training,
              {"sequence_length", "micro_batch_size", "num_micro_batches", "tokens_per_device",
               "num_stages", "num_virtual_stages", "pipeline_schedule", "activations",
               "gradient_accumulation", "cache", "sends", "gradient_dtype", "wire_dtype",
               "by_scheme", "chunks", "transitions", "stages", "plan"});
  expect_integers(training, {"sequence_length", "micro_batch_size", "num_micro_batches",
                             "tokens_per_device", "num_stages", "num_virtual_stages"});
  EXPECT_EQ(training["pipeline_schedule"], "interleaved_1f1b");
  EXPECT_EQ(training["by_scheme"].size(), 12u);
  EXPECT_EQ(training["chunks"].size(), 8u);
  EXPECT_EQ(training["transitions"].size(), 7u);
  EXPECT_EQ(training["stages"].size(), 4u);
}

TEST(JsonTraining, HasARowForEverySchemeAndSchedule) {
  for (const Json& row : in_training()["training"]["by_scheme"]) {
    expect_keys(row, {"scheme", "schedule", "makespan_seconds", "forward_seconds",
                      "backward_seconds", "recompute_seconds", "communication_seconds", "bubble",
                      "accumulation_d", "message_bytes", "stages"});
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
  expect_keys(plan, {"schema", "schedule", "activations", "num_stages", "num_virtual_stages",
                     "num_micro_batches", "chunk_layers", "payload", "tokens", "hidden_size",
                     "bytes_per_element", "chunk_seconds", "links", "sends"});
  EXPECT_EQ(plan["schema"], "depthcost-pipeline/1");
  EXPECT_EQ(plan["activations"], "recomputed");
  EXPECT_EQ(plan["payload"].dump(),
            R"({"block_sizes":[24,24,24,24,24,24,24,18],"cache":"received"})");
  EXPECT_EQ(plan["tokens"], 4096);
  EXPECT_EQ(plan["bytes_per_element"], 2);
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

TEST(JsonBudgets, HoldTheLimitAgainstAnInterval) {
  const Json& budgets = kimi_k3()["budgets"];
  ASSERT_EQ(budgets.size(), 3U);
  for (const Json& row : budgets) {
    expect_keys(row, {"name", "need", "have_low", "have_high", "margin", "verdict"},
                {"unit", "reason", "nearest"});
    expect_strings(row, {"name", "verdict", "unit"});
    expect_numbers_or_null(row, {"need", "have_low", "have_high", "margin"});
  }
  EXPECT_EQ(budgets[1].dump(),
            R"({"name":"prefill_bank","need":2500000000,"have_low":264241152,)"
            R"("have_high":264241152,"margin":2235758848,"verdict":"pass","unit":"bytes",)"
            R"("reason":null,"nearest":null})");
  EXPECT_EQ(budgets[0]["unit"], "ratio");
  EXPECT_EQ(budgets[2]["verdict"], "unknown");
  EXPECT_TRUE(budgets[2]["have_high"].is_null());
  EXPECT_TRUE(budgets[2]["margin"].is_null());
  EXPECT_TRUE(budgets[2]["reason"].is_string());
}

TEST(JsonBudgets, AreNullWhereNothingIsKnown) {
  Study study = test::kimi_k3_study();
  study.prefill.reset();
  study.machine->memory_capacity.reset();
  study.budgets = {{BudgetKind::prefill_bank, 2.5e9}, {BudgetKind::device_memory, 0}};
  const Json budgets = json_of(study)["budgets"];
  EXPECT_EQ(budgets[0]["need"], 2.5e9);
  EXPECT_TRUE(budgets[0]["have_low"].is_null());
  EXPECT_TRUE(budgets[1]["need"].is_null());
  EXPECT_TRUE(budgets[1]["have_low"].is_number());
}

TEST(Json, LeavesOutWhatIsNotAskedFor) {
  Study study = test::kimi_k3_study();
  study.pipeline.reset();
  study.decode.reset();
  study.prefill.reset();
  study.machine.reset();
  study.budgets.clear();
  const Json json = json_of(study);
  EXPECT_FALSE(json.contains("pipeline"));
  EXPECT_FALSE(json.contains("prefill"));
  for (const char* section : {"memory", "time", "step", "rest", "budgets"})
    EXPECT_EQ(json[section], Json::array()) << section;
}

}  // namespace
}  // namespace depthcost
