// Maps, the bases that they override, and paths.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenarios/presets/presets.hpp"
#include "scenarios/read/scenario.hpp"
#include "tests/scenarios/read/parsed.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::scenario_maps_test {
namespace {

using namespace test;

TEST(Maps, TakeTheKeysOfPresetFiles) {
  const Scenario scenario = parsed(
      "model: {name: mine, num_layers: 128, hidden_size: {value: 7168, source: a talk, date: "
      "2026-03-16}, dtype: bf16}\n"
      "residual: {scheme: standard, num_streams: 8, compare: mhc}\n");
  EXPECT_EQ(scenario.study.model.name, "mine");
  EXPECT_EQ(scenario.study.model.num_layers, 128);
  EXPECT_EQ(listed(scenario, "model.hidden_size"), "7168 <- it.yaml:2: a talk (2026-03-16)");
  EXPECT_EQ(names_of(scenario.study.compare), std::vector<std::string>{"mhc"});
  EXPECT_EQ(scenario.study.compare[0].scheme.parameters.num_streams, 8);
}

TEST(Maps, OverrideSingleValuesOfTheirBase) {
  const Scenario scenario = parsed(
      "model: {base: kimi_k3, hidden_size: 4096}\n"
      "hardware: {base: h200_sxm, memory_bandwidth: 4.9 TB/s}\n");
  EXPECT_EQ(scenario.study.model.num_layers, 186);
  EXPECT_EQ(scenario.study.model.hidden_size, 4096);
  EXPECT_EQ(blocks_of(scenario).block_size, 24);
  EXPECT_EQ(listed(scenario, "model.hidden_size"), "4096 <- it.yaml:2");
  EXPECT_EQ(listed(scenario, "model.dtype").substr(0, 22), "bf16 <- preset kimi_k3");
  EXPECT_EQ(listed(scenario, "model.base"), "");
  ASSERT_TRUE(scenario.study.machine);
  EXPECT_EQ(scenario.study.machine->memory_ceiling.value, 4.9e12);
  EXPECT_EQ(scenario.study.machine->name, "NVIDIA H200 SXM");
}

TEST(Maps, ScaleWhatWasMeasuredAtAnotherBandwidth) {
  const auto copy_bandwidth = [](const std::string& bandwidth) {
    const Scenario scenario =
        parsed("model: kimi_k3\nhardware: {base: h200_sxm, memory_bandwidth: " + bandwidth + "}\n");
    return scenario.study.machine->memory_bandwidth.front().bandwidth;
  };
  EXPECT_DOUBLE_EQ(copy_bandwidth("2.4 TB/s").value.value,
                   copy_bandwidth("4.8 TB/s").value.value / 2);
  EXPECT_EQ(copy_bandwidth("2.4 TB/s").evidence, Evidence::assumed);
  EXPECT_EQ(copy_bandwidth("4.8 TB/s").evidence, Evidence::published) << "nothing has changed";
}

/// Nobody knows which layers remain, nor what drafts for them.
TEST(Maps, DropTheDraftOfABaseWithItsLayers) {
  const Scenario scenario =
      parsed("model: {base: glm_5_3_flash, decoder_layers: 20}\nresidual: {scheme: mhc}\n");
  EXPECT_FALSE(scenario.study.model.architecture);
  EXPECT_EQ(scenario.study.model.num_layers, 40);
}

TEST(Maps, CountWhatNobodyIsCitedForAsAssumed) {
  const auto curve = [](const std::string& source) {
    const Scenario scenario = parsed(
        "model: kimi_k3\nhardware: {kind: gpu, memory_bandwidth: 1 TB/s, sustained_bandwidth: "
        "[{reads: 1, writes: 1, value: 0.9 TB/s" +
        source + "}]}\n");
    return scenario.study.machine->memory_bandwidth.front().bandwidth;
  };
  EXPECT_EQ(curve("").evidence, Evidence::assumed);
  EXPECT_DOUBLE_EQ(curve("").high.value, 0.99e12);
  EXPECT_EQ(curve(", source: a talk, date: 2026-03-16").evidence, Evidence::published);
  EXPECT_DOUBLE_EQ(curve(", source: a talk, date: 2026-03-16").high.value, 0.945e12);
}

TEST(Quantities, OfBytesAreWholeWhereTheyAreWritten) {
  const Scenario scenario = parsed(
      "model: kimi_k3\nworkload: {prefill: {tokens: 5}}\nbudgets: {prefill_bank: 16.911433728 "
      "GB}\n");
  EXPECT_EQ(scenario.study.budgets.front().limit, 16911433728.0);
}

TEST(Maps, ReplaceAKeyOfTheirBaseByItsAlternative) {
  const Scenario scenario =
      parsed("model: {base: kimi_k3, num_layers: 48, residual: {num_blocks: 6}}\n");
  EXPECT_EQ(scenario.study.model.num_layers, 48);
  EXPECT_EQ(blocks_of(scenario).num_blocks, 6);
  EXPECT_EQ(listed(scenario, "model.decoder_layers"), "");
  EXPECT_EQ(listed(scenario, "model.residual.block_size"), "");
}

TEST(Maps, ReplaceRecordsOfTheirBaseAsAWhole) {
  const Machine machine =
      *parsed(
           "model: kimi_k3\n"
           "hardware: {base: h200_sxm, sustained_bandwidth: [{reads: 1, writes: 1, value: 4 "
           "TB/s}]}\n")
           .study.machine;
  ASSERT_EQ(machine.memory_bandwidth.size(), 1u);
  EXPECT_EQ(machine.memory_bandwidth[0].read_share, 0.5);
  EXPECT_EQ(machine.memory_bandwidth[0].bandwidth.value.value, 4e12);
}

TEST(Paths, AreRelativeToTheFileThatNamesThem) {
  const test::TemporaryFolder folder;
  folder.written("models/small.yaml",
                 "schema: depthcost-model/1\nbase: parts/base.yaml\ndtype: f32\n");
  folder.written("models/parts/base.yaml",
                 "schema: depthcost-model/1\nname: Base\nnum_layers: 12\nhidden_size: 64\n"
                 "dtype: bf16\nresidual: {scheme: standard}\n");
  folder.written("chip.yaml",
                 "schema: depthcost-hardware/1\nname: Chip\nkind: gpu\nmemory_bandwidth: 1 TB/s\n");
  const std::string file = folder.written(
      "asks/it.yaml", "schema: depthcost/1\nmodel: ../models/small.yaml\nhardware: ../chip.yaml\n");
  const Scenario scenario = read_scenario(file);
  EXPECT_EQ(scenario.study.model.name, "Base");
  EXPECT_EQ(scenario.study.model.dtype, Dtype::f32);
  EXPECT_EQ(listed(scenario, "model.dtype"), "f32 <- small.yaml:3");
  EXPECT_EQ(listed(scenario, "model.num_layers"), "12 <- base.yaml:3");
  EXPECT_EQ(scenario.study.machine->name, "Chip");
}

TEST(Paths, MayBeAbsolute) {
  const test::TemporaryFolder folder;
  const std::string model =
      folder.written("m.yml",
                     "schema: depthcost-model/1\nnum_layers: 12\nhidden_size: 64\ndtype: bf16\n"
                     "residual: {scheme: standard}\n");
  EXPECT_EQ(parsed("model: " + model + "\n").study.model.num_layers, 12);
}

}  // namespace
}  // namespace depthcost::scenario_maps_test
