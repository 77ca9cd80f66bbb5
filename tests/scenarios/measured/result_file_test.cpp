// Results that are read again: every number has its name, and files that are no result are refused.
#include "scenarios/measured/result_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "reports/documents/answer_documents.hpp"
#include "scenarios/read/scenario.hpp"
#include "tests/parsed_json.hpp"
#include "tests/scenarios/text/error_of.hpp"
#include "tests/studies.hpp"

namespace depthcost::result_file_test {
namespace {

using Json = nlohmann::ordered_json;

Json document_of(const Study& study) {
  return test::parsed_in_order(to_json(evaluate(study), {}, {"0.1.0", {}}));
}

Result read(const Json& document) {
  return parse_result(test::written_json(document), "it.json", 1);
}

std::string error_of(const std::string& text) {
  try {
    parse_result(text, "it.json", 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// The quantity as text, or what is missing.
std::string quantity(const Result& result, const std::string& section, const std::string& row,
                     const std::string& name) {
  for (const PredictedRow& it : result.rows) {
    if (it.section != section || it.name != row) continue;
    for (const PredictedQuantity& found : it.quantities)
      if (found.name == name)
        return found.low ? fmt::format("{} [{}, {}]", found.value, *found.low, *found.high)
                         : fmt::format("{}", found.value);
    return "no quantity";
  }
  return "no row";
}

const char* const kSmall = R"({"schema_version": 1, "program_version": "0.1.0",
  "scenario": {"name": "S", "values": {"hidden_size": {"value": "8", "origin": "it.yaml:1"}}},
  "ledger": [{"scheme": "mhc", "schedule": "fused", "convention": "kernel", "operation": "total",
              "layer": null, "reads_d": 10, "outside_domain": false},
             {"scheme": "mhc", "schedule": "fused", "convention": "kernel", "operation": "total",
              "layer": 3, "reads_d": 11}],
  "aggregation": {"source_rows": 5},
  "pipeline": {"formula": {"naive_d": 7},
               "events": [{"cache": "none", "embedding": "sent", "partial": "sent",
                           "transitions_d": [1, 2]}]},
  "step": [{"workload": "decode/1", "scheme": "mhc", "schedule": "fused", "seconds": 2, "low": 1,
            "high": 4, "overhead": null, "overhead_low": null, "overhead_high": null}],
  "training": {"stages": [{"busy_seconds": 1}, {"busy_seconds": 2}], "plan": {"tokens": 3}},
  "budgets": [{"name": "prefill_bank", "need": 9, "have_low": 3, "have_high": 4, "margin": 5,
               "verdict": "pass", "unit": "bytes"}]})";

TEST(ResultFile, NamesEveryPrediction) {
  const Result result = parse_result(kSmall, "it.json", 1);
  EXPECT_EQ(result.scenario, "S");
  EXPECT_EQ(result.program_version, "0.1.0");
  ASSERT_EQ(result.inputs.size(), 1U);
  EXPECT_EQ(result.inputs[0].name + "=" + result.inputs[0].word, "hidden_size=8");
  std::vector<std::string> names;
  for (const PredictedRow& row : result.rows)
    for (const PredictedQuantity& it : row.quantities)
      names.push_back(fmt::format("{}|{}|{}={}", row.section, row.name, it.name, it.value));
  EXPECT_EQ(names, (std::vector<std::string>{
                       "ledger|mhc fused kernel total|reads_d=10",
                       "ledger|mhc fused kernel total layer 3|reads_d=11",
                       "aggregation||source_rows=5",
                       "pipeline|formula|naive_d=7",
                       "pipeline|events[none sent sent]|transitions_d[0]=1",
                       "pipeline|events[none sent sent]|transitions_d[1]=2",
                       "step|decode/1 mhc fused|seconds=2",
                       "training|stages[0]|busy_seconds=1",
                       "training|stages[1]|busy_seconds=2",
                       "budgets|prefill_bank|have_low=3",
                       "budgets|prefill_bank|have_high=4",
                   }));
  EXPECT_EQ(quantity(result, "step", "decode/1 mhc fused", "seconds"), "2 [1, 4]");
  ASSERT_EQ(result.verdicts.size(), 1U);
  EXPECT_EQ(result.verdicts[0].name + "=" + result.verdicts[0].word, "budgets.prefill_bank=pass");
}

/// What the scenario writes replaces what the model ships.
TEST(ResultFile, KnowsThePathOfTheScenario) {
  const auto path = [](Json values) {
    Json document = test::parsed_in_order(kSmall);
    document["scenario"]["values"] = std::move(values);
    return read(document).path;
  };
  const Json shipped{{"value", "mhc"}, {"origin", "kimi.yaml:1"}};
  const Json written{{"value", "block_attnres"}, {"origin", "it.yaml:1"}};
  const Json schedule{{"value", "fused"}, {"origin", "default: what engines ship"}};
  EXPECT_EQ(path({{"model.residual.scheme", shipped}, {"residual.schedule", schedule}}),
            "mhc fused");
  EXPECT_EQ(path({{"model.residual.scheme", shipped},
                  {"residual.scheme", written},
                  {"residual.schedule", schedule}}),
            "block_attnres fused");
  EXPECT_EQ(path({{"residual.schedule", schedule}}), "");
}

TEST(ResultFile, KnowsWhatNobodyWrote) {
  Json document = test::parsed_in_order(kSmall);
  document["scenario"]["values"]["tensor"] = {{"value", "1"}, {"origin", "default: one device"}};
  EXPECT_EQ(read(document).defaults, std::vector<std::string>{"tensor"});
}

TEST(ResultFile, NumbersRowsThatNothingTellsApart) {
  const Result result = parse_result(
      R"({"schema_version": 1, "program_version": "1", "scenario": {"name": "S", "values": {}},
          "ledger": [{"scheme": "mhc", "bytes": 1}, {"scheme": "mhc", "bytes": 2}]})",
      "it.json", 1);
  EXPECT_EQ(quantity(result, "ledger", "mhc", "bytes"), "1");
  EXPECT_EQ(quantity(result, "ledger", "mhc #2", "bytes"), "2");
}

/// Without its value an end of an interval is a number like others, and a value needs both ends.
TEST(ResultFile, TakesHalfAnIntervalForPlainNumbers) {
  const Result result = parse_result(
      R"({"schema_version": 1, "program_version": "1",
          "scenario": {"name": "S", "values": {"a": {}, "b": {"value": [1]}}},
          "ledger": [{"scheme": "no_value", "low": 1, "high": 3},
                     {"scheme": "no_low", "seconds": 2, "high": 3},
                     {"scheme": "no_high", "seconds": 2, "low": 1}]})",
      "it.json", 1);
  EXPECT_EQ(quantity(result, "ledger", "no_value", "low"), "1");
  EXPECT_EQ(quantity(result, "ledger", "no_value", "high"), "3");
  EXPECT_EQ(quantity(result, "ledger", "no_low", "seconds"), "2");
  EXPECT_EQ(quantity(result, "ledger", "no_high", "seconds"), "2");
  ASSERT_EQ(result.inputs.size(), 2U);
  EXPECT_EQ(result.inputs[0].word, "");
  EXPECT_EQ(result.inputs[1].word, "");
}

TEST(ResultFile, OrderOfRowsDoesNotMatter) {
  Json document = document_of(test::kimi_k3_study());
  const Result before = read(document);
  for (const char* section : {"ledger", "memory", "step", "budgets", "flops"})
    std::reverse(document[section].begin(), document[section].end());
  const Difference none = difference(before, read(document), 0);
  EXPECT_TRUE(none.moves.empty());
  EXPECT_TRUE(none.removed.empty());
  EXPECT_TRUE(none.added.empty());
}

/// Numbers of the document, but inputs, limits and what follows from them, plans, identities, and
/// rates, which grow where everything becomes faster.
std::size_t count_numbers(const Json& json, const std::string& key = "") {
  static const std::vector<std::string> kLeftOut{"schema_version",
                                                 "scenario",
                                                 "need",
                                                 "margin",
                                                 "shortfall",
                                                 "limit",
                                                 "plan",
                                                 "kind",
                                                 "layer",
                                                 "sources",
                                                 "share",
                                                 "share_low",
                                                 "share_high",
                                                 "bubble",
                                                 "bytes_per_second",
                                                 "tokens_per_second",
                                                 "tokens_per_second_and_device",
                                                 "model_flops_per_second_and_device",
                                                 "mfu"};
  if (std::find(kLeftOut.begin(), kLeftOut.end(), key) != kLeftOut.end()) return 0;
  if (!json.is_structured()) return json.is_number() ? 1 : 0;
  std::size_t count = 0;
  for (const auto& [inner, value] : json.items()) count += count_numbers(value, inner);
  // The tokens of a launch say which one it is; those of the training setup are a number.
  if (json.contains("operation") && json.contains("tokens")) --count;
  return count;
}

TEST(ResultFile, MissesNoNumberOfAWholeAnswer) {
  for (const Study& study : {test::modelled_study(), test::training_study()}) {
    const Json document = document_of(study);
    const Result result = read(document);
    std::size_t numbers = 0;
    for (const PredictedRow& row : result.rows)
      for (const PredictedQuantity& it : row.quantities) numbers += it.low ? 3 : 1;
    EXPECT_EQ(numbers, count_numbers(document));
  }
}

/// Every key with a low or high end in the JSON belongs to a value that has an interval.
TEST(ResultFile, KnowsEveryInterval) {
  const Result result = read(document_of(test::modelled_study()));
  for (const PredictedRow& row : result.rows)
    for (const PredictedQuantity& it : row.quantities) {
      const bool is_end =
          it.name.find("low") != std::string::npos || it.name.find("high") != std::string::npos;
      EXPECT_TRUE(!is_end || it.name.starts_with("have_")) << row.section << " " << it.name;
    }
}

TEST(ResultFile, SeesEachNumberThatIsChanged) {
  const Json document = document_of(test::kimi_k3_study());
  const Result before = read(document);
  Json moved = document;
  moved["time"][0]["predicted_seconds"] = 1;
  moved["memory"][0]["bytes_per_device"] = 1;
  moved["parameters"][1]["total"] = 1;
  const Difference seen = difference(before, read(moved), 0);
  ASSERT_EQ(seen.moves.size(), 3U);
  EXPECT_EQ(seen.moves[0].section, "parameters");
  EXPECT_EQ(seen.moves[1].section, "memory");
  EXPECT_EQ(seen.moves[2].before.name, "predicted_seconds");
  EXPECT_EQ(seen.moves[2].place, OldInterval::above);
}

/// The reader takes no key twice, which a writer of maps does not see.
TEST(ResultFile, TakesWhatEveryShippedScenarioGives) {
  for (const auto& entry : std::filesystem::directory_iterator(DEPTHCOST_SOURCE_DIR "/scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    const Scenario scenario = read_scenario(entry.path());
    const std::string text = to_json(evaluate(scenario.study), scenario.values, {"0.1.0", {}});
    const Result result = parse_result(text, entry.path().filename(), 1);
    EXPECT_EQ(result.scenario, scenario.study.name);
    EXPECT_EQ(result.inputs.size(), scenario.values.size());
    EXPECT_GT(result.rows.size(), 10U) << entry.path();
  }
}

TEST(ResultFile, RefusesWhatIsNoResult) {
  const std::string has = " (a result of 'depthcost evaluate --format json' has it)";
  EXPECT_EQ(error_of("schema: depthcost/1\n"),
            "it.json:1:1: error: malformed JSON (invalid literal)");
  EXPECT_EQ(error_of(""), "it.json:1:1: error: empty document (holds no value)");
  EXPECT_EQ(error_of("[1]"), "it.json:1:1: error: invalid result (must be a map, not a list)");
  EXPECT_EQ(error_of("{}"), "it.json:1:1: error: missing key 'schema_version'" + has);
  EXPECT_EQ(error_of("{\"schema_version\": 1}"), "it.json:1:1: error: missing key 'ledger'" + has);
  EXPECT_EQ(error_of("{\"schema_version\": 1, \"ledger\": [], \"program_version\": \"1\",\n"
                     "\"scenario\": \"S\"}"),
            "it.json:2:13: error: invalid scenario 'S' (must be a map)");
  EXPECT_EQ(error_of("{\"schema_version\": 1, \"ledger\": [], \"program_version\": \"1\", "
                     "\"scenario\": {\"name\": \"S\"}}"),
            "it.json:1:73: error: missing key 'values'" + has);
  EXPECT_EQ(error_of("{\"schema_version\": 1, \"ledger\": [], \"program_version\": \"1\", "
                     "\"scenario\": {\"name\": \"S\", \"values\": {}}}"),
            "it.json:1:1: error: missing predictions (the file has no number; a result of "
            "'depthcost evaluate --format json' has it)");
}

TEST(ResultFile, RefusesAScenarioInItsPlace) {
  for (const std::string path : {"it.yaml", "it.yml"})
    EXPECT_EQ(test::error_of([&] { load_result(path, 1); }),
              path +
                  ":1:1: error: invalid result (must be what 'depthcost evaluate --format json' "
                  "prints, not a scenario)");
}

TEST(ResultFile, RefusesAnotherSchemaVersion) {
  const std::string reads = "' (this program reads 1; evaluate the scenario again)";
  EXPECT_EQ(error_of("{\n  \"schema_version\": 2}"),
            "it.json:2:21: error: invalid schema_version '2" + reads);
  EXPECT_EQ(error_of("{\"schema_version\": \"1\"}"),
            "it.json:1:20: error: invalid schema_version '1" + reads);
  EXPECT_EQ(error_of("{\"schema_version\": null}"),
            "it.json:1:20: error: invalid schema_version '" + reads);
}

TEST(ResultFile, RefusesWhatIsTooLargeOrTooDeep) {
  EXPECT_EQ(error_of(std::string(kMaxResultBytes + 1, ' ')),
            "it.json:1:1: error: file too large (at most 32 MB)");
  EXPECT_EQ(error_of(std::string(70, '[')),
            "it.json:1:65: error: nested too deeply (more than 64 levels)");
}

TEST(ResultFile, KeepsControlCharactersOutOfNames) {
  const Result result = parse_result(
      R"({"schema_version": 1, "program_version": "1", "scenario": {"name": "a\u001bb",
          "values": {}}, "ledger": [{"scheme": "x\ny", "bytes": 1}]})",
      "it.json", 1);
  EXPECT_EQ(result.scenario, "a\\x1Bb");
  EXPECT_EQ(result.rows[0].name, "x\\x0Ay");
}

}  // namespace
}  // namespace depthcost::result_file_test
