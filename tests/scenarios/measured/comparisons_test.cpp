// Published measurements and users' tables as cases.
#include "scenarios/measured/comparisons.hpp"

#include <gtest/gtest.h>

#include <set>

#include "scenarios/measured/tolerances.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/presets/reference.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost::comparisons_test {
namespace {

ToleranceRule any_rule() { return {.match = "*", .tolerance = {.relative = 0.05}}; }

const std::string kPublished =
    "schema: depthcost-published/1\nname: x\nmeasurements:\n"
    "  - {hardware: h200_sxm, stack: A, operation: mhc_post, tokens: 8192, hidden_size: 4096, "
    "dtype: bf16, launch: graph, temperature: hot, time: 150 us, source: s, date: 2026-01-01}\n";

TEST(PublishedCases, AreJudgedByTheFastestStackAndKeepTheScatter) {
  std::string text = kPublished;
  std::string second = kPublished.substr(kPublished.find("  - "));
  second.replace(second.find("stack: A"), 8, "stack: B");
  second.replace(second.find("150 us"), 6, "120 us");
  const auto cases =
      published_cases(parse_published(text + second, "it.yaml").kernels, {any_rule()});
  ASSERT_EQ(cases.size(), 1U);
  const ComparedCase& it = cases.front();
  EXPECT_EQ(it.id, "h200_sxm/mhc_post/m:4/bf16/T:8192/d:4096/graph/hot");
  EXPECT_EQ(it.hardware, "h200_sxm");
  EXPECT_DOUBLE_EQ(it.comparison.measured.value.value, 120e-6);
  ASSERT_EQ(it.stacks.size(), 2U);
  EXPECT_EQ(it.stacks[0].stack, "B");
  EXPECT_DOUBLE_EQ(it.stacks[0].error, it.comparison.error);
  EXPECT_NEAR(it.scatter(), 0.25, 1e-12);
}

struct BadPublished {
  const char* written;
  const char* instead;
  const char* expected;
};

TEST(PublishedFiles, AreReadStrictly) {
  const BadPublished cases[] = {
      {"h200_sxm", "h300", "4:16: error: unknown hardware 'h300' (not a preset)"},
      {"mhc_post", "mhc_past",
       "4:47: error: unknown operation 'mhc_past'; did you mean 'mhc_post'?"},
      {"mhc_post", "attnres_phase2x",
       "4:47: error: unknown operation 'attnres_phase2x'; did you mean 'attnres_phase2'?"},
      {"mhc_post", "unfused_mix", "4:47: error: missing sources (unfused_mix needs them: sources)"},
      {"150 us", "0 us", "4:142: error: invalid measurements[].time '0 us' (must be positive)"},
      {"time: 150 us, ", "", "4:5: error: missing key 'time' (measurements needs it)"}};
  for (const auto& [written, instead, expected] : cases) {
    std::string text = kPublished;
    text.replace(text.find(written), std::string(written).size(), instead);
    try {
      parse_published(text, "it.yaml");
      ADD_FAILURE() << expected;
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), std::string("it.yaml:") + expected);
    }
  }
}

/// Where a value was found, without what it says there: "derived: 0.9 x 4.8 TB/s from A, read" ->
/// A.
std::string address_of(const std::string& origin) {
  std::string text = origin.substr(origin.find(": ") + 2);
  const auto from = text.find(" from ");
  if (text.starts_with("derived: ") && from != std::string::npos) text.erase(0, from + 6);
  return text.substr(0, text.find_first_of(",("));
}

TEST(PublishedMeasurements, ShareNoSourceWithThePresetThatTheyJudge) {
  std::set<std::pair<std::string, std::string>> judged;
  for (const PublishedMeasurement& row : published_measurements())
    judged.insert({row.hardware, address_of(row.source)});
  EXPECT_GE(judged.size(), 10U);
  std::size_t checked = 0;
  for (const std::string& id : preset_ids("hardware")) {
    const Values values = preset_values(id, hardware_reference());
    for (const auto& [path, value] : values.all()) {
      if (!value.has_source) continue;
      EXPECT_FALSE(judged.contains({id, address_of(value.origin)})) << id << " " << path;
      ++checked;
    }
  }
  EXPECT_GE(checked, 100U);
}

TEST(PublishedMeasurements, HaveASourceAndADateEach) {
  for (const PublishedMeasurement& row : published_measurements())
    EXPECT_NE(row.source.find(" (2026-"), std::string::npos) << row.source;
}

/// Six GPUs, each predicted by constants that have not seen it.
TEST(PublishedCases, KeepThePromiseOfMhcPostFrom4096Tokens) {
  std::size_t promised = 0;
  for (const ComparedCase& it :
       published_cases(published_measurements(), shipped_rules("published"))) {
    EXPECT_NE(it.comparison.agreement, Agreement::impossible) << it.id;
    if (!it.rule.blocks) continue;
    ++promised;
    EXPECT_EQ(it.call.operation, "mhc_post") << it.id;
    EXPECT_GE(it.call.num_tokens, 4096) << it.id;
    EXPECT_EQ(it.comparison.tolerance, 0.10) << it.id;
    EXPECT_LE(std::abs(it.comparison.error), 0.10) << it.id;
  }
  EXPECT_EQ(promised, 131U);
}

TEST(MeasuredCases, AreNamedByDeviceAndNumberedWhereTheyRepeat) {
  const std::string row = "mhc_post,8192,4096,150\n";
  const MeasurementTable table =
      parse_measurements("operation,tokens,hidden_size,microseconds\n" + row + row, "it.csv");
  const auto cases = measured_cases(table, device_of("h200_sxm"), {any_rule()});
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].id, "h200_sxm/mhc_post/m:4/bf16/T:8192/d:4096/graph/cold");
  EXPECT_EQ(cases[1].id, cases[0].id + "#2");
  EXPECT_EQ(cases[0].stacks.size(), 1U);
  EXPECT_EQ(cases[1].file, "it.csv");
  EXPECT_EQ(cases[1].line, 3);
}

TEST(Devices, AreNamedAsTheUserDid) {
  EXPECT_EQ(device_of("h200_sxm").machine.name, "NVIDIA H200 SXM");
  try {
    device_of("h200_smx");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "--hardware:1:1: error: unknown hardware 'h200_smx'; did you mean 'h200_sxm'?");
  }
}

}  // namespace
}  // namespace depthcost::comparisons_test
