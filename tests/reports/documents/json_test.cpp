// The JSON is stable: keys, their order, types and units, and some figures.
#include "reports/documents/answer_documents.hpp"

#include <gtest/gtest.h>

#include "tests/reports/json_rows.hpp"

namespace depthcost::json_test {
namespace {

using namespace test;

const Json& kimi_k3() {
  static const Json json = json_of(test::kimi_k3_study());
  return json;
}

TEST(Json, HasTheSectionsOfTheContractInOrder) {
  expect_keys(kimi_k3(), {"schema_version", "program_version", "scenario", "partitions", "ledger",
                          "aggregation", "parameters", "flops", "pipeline", "prefill", "memory",
                          "time", "step", "attachments", "rest", "budgets"});
  EXPECT_EQ(kimi_k3()["schema_version"], 1);
  EXPECT_EQ(kimi_k3()["program_version"], "0.1.0");
  for (const char* section :
       {"ledger", "parameters", "flops", "memory", "time", "step", "budgets"}) {
    ASSERT_TRUE(kimi_k3()[section].is_array()) << section;
    EXPECT_FALSE(kimi_k3()[section].empty()) << section;
  }
}

TEST(Json, CanLeaveOutTheRowsOfLaunches) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  Json all = parsed_in_order(to_json(evaluation, {}, {"0.1.0", {}}));
  all.erase("time");
  EXPECT_EQ(parsed_in_order(to_json(evaluation, {}, {"0.1.0", {}, LaunchRows::left_out})), all);
}

TEST(Json, StatesTheOriginOfEachValueOfTheScenario) {
  EXPECT_EQ(kimi_k3()["scenario"].dump(),
            R"({"name":"Kimi K3 on Round 5","values":{)"
            R"("residual.block_size":{"value":"24","origin":"scenario.yaml:7:15"},)"
            R"("residual.num_streams":{"value":"4","origin":"default: [mhc] Sec. 4.1"}}})");
}

TEST(JsonClaims, SayWhatBecameOfEachLimit) {
  EXPECT_FALSE(kimi_k3().contains("claims"));
  Study study = test::kimi_k3_study();
  study.claim = "under 2 %";
  study.budgets = {{BudgetKind::decode_overhead, 0.5}};
  const Json json = json_of(study);
  EXPECT_EQ(json["claims"].dump(),
            R"([{"text":"under 2 %","name":"decode_overhead","limit":0.5,"verdict":"holds",)"
            R"("condition":null}])");
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
  const Json ledger = parsed_in_order(to_json(evaluation, {}, {"0.1.0", layers}))["ledger"];
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
  const Json ledger = parsed_in_order(to_json(evaluation, {}, {"0.1.0", layers}))["ledger"];
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
    // A stage's share of all weights is no whole number.
    if (row["item"] != "scheme_weights") expect_integers(row, {"bytes_per_device"});
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
                 "baseline_low", "baseline_high", "baseline_evidence", "missing", "memory"});
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

TEST(JsonStep, IsNullWithoutABaseline) {
  const auto rows = rows_with(kimi_k3()["step"], {{"workload", "prefill"}});
  ASSERT_FALSE(rows.empty());
  for (const Json& row : rows)
    for (const char* key : {"seconds", "low", "high", "overhead", "overhead_low", "overhead_high",
                            "share", "share_low", "share_high"})
      EXPECT_TRUE(row.at(key).is_null()) << key;
}

TEST(JsonBudgets, HoldTheLimitAgainstAnInterval) {
  const Json& budgets = kimi_k3()["budgets"];
  ASSERT_EQ(budgets.size(), 3U);
  for (const Json& row : budgets) {
    expect_keys(
        row, {"name", "need", "have_low", "have_high", "have_median", "margin", "verdict", "fate"},
        {"unit", "reason", "nearest", "shortfall"});
    expect_strings(row, {"name", "verdict", "unit"});
    expect_numbers_or_null(row, {"need", "have_low", "have_high", "have_median", "margin"});
  }
  EXPECT_EQ(
      budgets[1].dump(),
      R"({"name":"prefill_bank","need":2500000000,"have_low":264241152,)"
      R"("have_high":264241152,"have_median":null,"margin":2235758848,"verdict":"pass","fate":"OK","unit":"bytes",)"
      R"("reason":null,"nearest":null,"shortfall":0})");
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
}  // namespace depthcost::json_test
