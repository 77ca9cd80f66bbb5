// What the page shows is what the program prints: the same numbers, to the last digit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scenarios/import/import.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/parsed_json.hpp"
#include "tests/temporary_folder.hpp"
#include "web/engine/block_sizes.hpp"
#include "web/engine/choices.hpp"

namespace depthcost::page {
namespace {

using nlohmann::json;

const std::string kRoot = DEPTHCOST_SOURCE_DIR;

const std::string kServing =
    "schema: depthcost/1\nname: \"A question\"\nmodel: kimi_k3\nhardware: b300_sxm\n"
    "residual: {schedule: two_phase, compare: [standard, mhc]}\nparallelism: {tensor: 8}\n"
    "workload:\n  decode: {sequences: [4, 16], context: 100000}\n"
    "  prefill: {tokens: 131072, chunk: 16384, sequence_shards: 8}\n";

std::string training() { return test::content_of(kRoot + "/scenarios/kimi_k3_training.yaml"); }

json answer_of(const std::string& text) { return test::parsed_json(answer_json({text, "q.yaml"})); }

json evaluation_of(const std::string& text) {
  return test::parsed_json(evaluation_json({text, "q.yaml"}, DEPTHCOST_VERSION));
}

/// The rows of `all` with these values.
std::vector<json> rows(const json& all, const json& values) {
  std::vector<json> found;
  for (const json& row : all)
    if (std::all_of(values.items().begin(), values.items().end(),
                    [&](const auto& item) { return row.at(item.key()) == item.value(); }))
      found.push_back(row);
  return found;
}

json row(const json& all, const json& values) {
  const std::vector<json> found = rows(all, values);
  EXPECT_EQ(found.size(), 1) << values;
  return found.empty() ? json() : found.front();
}

TEST(PageAnswer, DrawsTheStepsOfTheProgram) {
  const json steps = evaluation_of(kServing).at("step");
  const json curves = answer_of(kServing).at("curves");
  EXPECT_EQ(curves.size(), 2);  // without the standard residual
  for (const json& curve : curves)
    for (const int batch : {4, 16}) {
      const json point = row(curve.at("points"), {{"sequences", batch}});
      EXPECT_TRUE(point.at("is_asked"));
      const json step = row(steps, {{"workload", "decode/" + std::to_string(batch)},
                                    {"scheme", curve.at("scheme")},
                                    {"schedule", curve.at("schedule")}});
      EXPECT_EQ(point.at("delta").at("low"), step.at("delta_low"));
      EXPECT_EQ(point.at("delta").at("value"), step.at("delta_seconds"));
      EXPECT_EQ(point.at("delta").at("high"), step.at("delta_high"));
      EXPECT_EQ(point.at("overhead").at("value"), step.at("overhead"));
    }
}

TEST(PageAnswer, SpansBatchesThatNobodyAskedFor) {
  const json points = answer_of(kServing).at("curves").at(0).at("points");
  EXPECT_EQ(points.front().at("sequences"), 1);
  EXPECT_EQ(points.back().at("sequences"), 1024);
  EXPECT_FALSE(points.front().at("is_asked"));
}

TEST(PageAnswer, JudgesAsTheProgramDoes) {
  const json answer = answer_of(kServing);
  const json own = row(answer.at("verdicts"), {{"is_own", true}});
  const json step = row(
      evaluation_of(kServing).at("step"),
      {{"workload", own.at("workload")}, {"scheme", "block_attnres"}, {"schedule", "two_phase"}});
  EXPECT_EQ(own.at("overhead").at("value"), step.at("overhead"));
  EXPECT_EQ(own.at("overhead").at("high"), step.at("overhead_high"));
  EXPECT_EQ(own.at("limit"), "2.0 %");
  EXPECT_TRUE(own.at("line").get<std::string>().starts_with("`block_attnres`, two_phase: "));
  EXPECT_EQ(answer.at("verdicts").size(), 2);
}

TEST(PageAnswer, SaysThatNothingFits) {
  std::string text = kServing;
  text.replace(text.find("[4, 16]"), 7, "[4096]");
  const json answer = answer_of(text);
  EXPECT_TRUE(
      answer.at("nothing_fits")
          .get<std::string>()
          .starts_with(
              "Out of memory at decode/4096 with every scheme, the standard residual included: decode/4096 "
              "needs "));
  EXPECT_EQ(answer_of(kServing).at("nothing_fits"), nullptr);
}

/// Then no scheme has a line of its own, and there is no table.
TEST(PageAnswer, HasALineForEachVerdictWhereNothingFitsAtAll) {
  std::string text = kServing;
  text.replace(text.find("[4, 16]"), 7, "[4096]");
  text.erase(text.find("  prefill: "));
  const json answer = answer_of(text);
  EXPECT_NE(answer.at("nothing_fits"), nullptr);
  ASSERT_FALSE(answer.at("verdicts").empty());
  for (const json& verdict : answer.at("verdicts")) EXPECT_EQ(verdict.at("line"), "") << verdict;
  EXPECT_FALSE(answer.contains("costs"));
}

TEST(PageAnswer, HoldsTheMemoryOfTheProgram) {
  const json memory = evaluation_of(kServing).at("memory");
  const json held = row(answer_of(kServing).at("memory"),
                        {{"workload", "decode/16"}, {"scheme", "block_attnres"}});
  double sum = 0;
  for (const json& item : held.at("items")) {
    EXPECT_EQ(item.at("bytes"), row(memory, {{"workload", "decode/16"},
                                             {"scheme", "block_attnres"},
                                             {"item", item.at("item")}})
                                    .at("bytes_per_device"));
    sum += item.at("bytes").get<double>();
  }
  EXPECT_DOUBLE_EQ(held.at("bytes").get<double>(), sum);
  EXPECT_GT(held.at("items").size(), 3);
}

TEST(PageAnswer, MovesTheBytesOfTheProgram) {
  const json ledger = evaluation_of(kServing).at("ledger");
  const json bars = answer_of(kServing).at("bytes");
  for (const json& bar : bars) {
    // 186 layers, and what the output aggregation moves behind them.
    double bytes = 0;
    for (const json& part : rows(ledger, {{"scheme", bar.at("scheme")},
                                          {"schedule", bar.at("schedule")},
                                          {"convention", "kernel"}}))
      bytes += part.at("bytes").get<double>() * (part.at("operation") == "total" ? 186 : 1);
    EXPECT_NEAR(bar.at("bytes").get<double>(), bytes, 1e-9 * bytes) << bar;
  }
}

TEST(PageAnswer, DrawsEveryTaskOfAPipelineInsideItsStep) {
  const json timeline = answer_of(training()).at("timeline");
  EXPECT_EQ(timeline.at("num_stages"), 16);
  EXPECT_EQ(timeline.at("num_micro_batches"), 32);
  EXPECT_EQ(timeline.at("all_micro_batches"), 64);
  EXPECT_GT(timeline.at("boxes").size(), 1000);
  for (const json& box : timeline.at("boxes")) {
    EXPECT_LT(box.at(0), 16);
    EXPECT_LT(box.at(3), box.at(4));
    EXPECT_LE(box.at(4), timeline.at("end"));
  }
  EXPECT_FALSE(answer_of(kServing).contains("timeline"));
}

TEST(BlockSizes, HaveTheCostOfTheProgramAtTheWrittenSize) {
  const json answer = test::parsed_json(block_sizes_json({kServing, "q.yaml"}));
  EXPECT_EQ(answer.at("own"), 24);
  EXPECT_EQ(answer.at("sizes").front().at("block_size"), 1);
  EXPECT_EQ(answer.at("sizes").back().at("block_size"), 186);
  const json own = row(answer.at("sizes"), {{"block_size", 24}});
  const json step =
      row(evaluation_of(kServing).at("step"),
          {{"workload", "prefill"}, {"scheme", "block_attnres"}, {"schedule", "two_phase"}});
  EXPECT_EQ(own.at("prefill").at("delta").at("value"), step.at("delta_seconds"));
  EXPECT_EQ(own.at("prefill").at("overhead").at("low"), step.at("overhead_low"));
}

TEST(BlockSizes, AreNoneOfASchemeWithoutBlocks) {
  std::string text = kServing;
  text.replace(text.find("{schedule: two_phase"), 20, "{scheme: highway");
  EXPECT_EQ(block_sizes_json({text, "q.yaml"}), "{}\n");
}

TEST(PageReport, HasItsAppendixBehindIt) {
  const std::string text = report_markdown({kServing, "q.yaml"}, DEPTHCOST_VERSION);
  EXPECT_TRUE(text.starts_with("# A question\n"));
  EXPECT_NE(text.find("\n# "), std::string::npos);
  EXPECT_NE(text.find("*No plots: the page saves each as a file of its own.*"), std::string::npos);
}

TEST(Choices, AreThePresetsAndSchemes) {
  const json choices = test::parsed_json(choices_json());
  const json k3 = row(choices.at("models"), {{"id", "kimi_k3"}});
  EXPECT_EQ(k3, json({{"id", "kimi_k3"},
                      {"name", "Kimi K3"},
                      {"num_layers", 186},
                      {"scheme", "block_attnres"},
                      {"is_whole", true}}));
  EXPECT_EQ(row(choices.at("models"), {{"id", "attnres_l128"}}).at("num_layers"), 128);
  EXPECT_TRUE(rows(choices.at("gpus"), {{"id", "epyc_9654"}}).empty());
  EXPECT_EQ(row(choices.at("schemes"), {{"has_blocks", true}}).at("id"), "block_attnres");
}

TEST(ImportedModels, AreWrittenAsTheProgramWritesThem) {
  const std::string config = test::content_of(kRoot + "/tests/scenarios/configs/qwen3_32b.json");
  const json imported = test::parsed_json(imported_json(config, "qwen3_32b.json"));
  EXPECT_EQ(imported.at("yaml"), to_yaml(import_config(config, "qwen3_32b.json")));
  EXPECT_EQ(imported.at("num_layers"), 128);
  EXPECT_EQ(imported.at("scheme"), "standard");
}

TEST(ImportedModels, AreRefusedAsTheProgramRefusesThem) {
  try {
    imported_json("{\"cities\": [\"Paris\"]}", "cities.json");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "cities.json:1:1: error: missing key 'model_type' (says how the model's layers are built)");
  }
}

}  // namespace
}  // namespace depthcost::page
