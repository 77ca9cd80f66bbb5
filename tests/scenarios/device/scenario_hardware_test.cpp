// A scenario's machine: values that parts borrow, and values that stay unknown.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenarios/presets/presets.hpp"
#include "scenarios/read/scenario.hpp"
#include "tests/scenarios/read/parsed.hpp"

namespace depthcost::scenario_hardware_test {
namespace {

using namespace test;

Scenario on(const std::string& hardware) {
  return parsed("model: kimi_k3\nhardware: " + hardware + "\n");
}

/// The keys of all fallbacks, in the order of the notes.
std::vector<std::string> fallbacks_of(const Scenario& scenario) {
  std::vector<std::string> keys;
  for (const ResolvedValue& value : scenario.values)
    if (value.origin.starts_with("fallback")) keys.push_back(value.key);
  return keys;
}

/// A smaller variant of a part: what the driver shows is of the part that has it.
TEST(Hardware, OfAnotherCapacityDoesNotShowThatOfItsBase) {
  const Scenario smaller = on("{base: h200_sxm, memory_capacity: 80 GB}");
  EXPECT_EQ(smaller.study.machine->memory_capacity, Bytes{80e9});
  const Scenario same = on("{base: h200_sxm, bf16_rate: 1 PFLOP/s}");
  EXPECT_EQ(same.study.machine->memory_capacity, Bytes{143771.0 * 1048576});
}

TEST(Hardware, BorrowsWhatHasNoSourceWithAWiderInterval) {
  const Scenario b300 = on("b300_sxm");
  EXPECT_EQ(
      fallbacks_of(b300),
      (std::vector<std::string>{"hardware.sustained_bandwidth", "hardware.cache_transition",
                                "hardware.cache_bandwidth", "hardware.launch_floor",
                                "hardware.saturation_latency", "hardware.num_multiprocessors"}));
  EXPECT_EQ(listed(b300, "hardware.sustained_bandwidth"),
            "memory_bandwidth x the fractions of h200_sxm <- fallback: not sourced for this part; "
            "interval over h200_sxm");
  const Machine& borrowed = *b300.study.machine;
  const Machine own = *on("h200_sxm").study.machine;
  ASSERT_EQ(borrowed.memory_bandwidth.size(), own.memory_bandwidth.size());
  for (std::size_t i = 0; i < own.memory_bandwidth.size(); ++i) {
    const auto& theirs = own.memory_bandwidth[i].bandwidth;
    const auto& ours = borrowed.memory_bandwidth[i].bandwidth;
    EXPECT_EQ(borrowed.memory_bandwidth[i].read_share, own.memory_bandwidth[i].read_share);
    EXPECT_NEAR(ours.value / theirs.value, 8.0 / 4.8, 1e-12);
    EXPECT_GT(relative_width(ours), 1.5 * relative_width(theirs));
    EXPECT_EQ(theirs.evidence, Evidence::published);
    EXPECT_EQ(ours.evidence, Evidence::assumed);
    EXPECT_LT(ours.low, ours.value);
    EXPECT_GT(ours.high, ours.value);
  }
}

TEST(Hardware, HasANameInAnswersWhereItsFileHasNone) {
  EXPECT_EQ(on("{kind: gpu, memory_bandwidth: 3 TB/s}").study.machine->name, "unnamed hardware");
  EXPECT_EQ(on("{kind: gpu, name: Ours, memory_bandwidth: 3 TB/s}").study.machine->name, "Ours");
}

TEST(Hardware, OfH200NeedsNoFallback) {
  const Scenario scenario = on("h200_sxm");
  EXPECT_EQ(fallbacks_of(scenario), std::vector<std::string>{});
  const Machine& machine = *scenario.study.machine;
  EXPECT_EQ(machine.memory_ceiling.value, 4.8e12);
  EXPECT_EQ(machine.memory_bandwidth.size(), 4u);
  EXPECT_TRUE(
      std::is_sorted(machine.memory_bandwidth.begin(), machine.memory_bandwidth.end(),
                     [](const auto& a, const auto& b) { return a.read_share < b.read_share; }));
  EXPECT_EQ(machine.cache_bandwidth.size(), 2u);
  EXPECT_EQ(machine.transition.size(), 8u);
  EXPECT_EQ(machine.floors.size(), 12u);
  EXPECT_EQ(machine.memory_capacity, Bytes{143771.0 * 1048576});  // what the driver shows
  EXPECT_EQ(machine.half_saturation.value, 0.28e-6);
}

/// A floor of its own that nobody is cited for stands before other launch modes, and no other part
/// has one.
TEST(Hardware, HasItsOwnFloorOfProgrammaticLaunches) {
  const auto floor_of = [](const std::string& time) {
    const Scenario scenario = parsed(
        "model: kimi_k3\nhardware: {kind: gpu, memory_bandwidth: 1 TB/s, launch_floor: [{launch: "
        "graph_pdl, level: memory, skeleton: elementwise, value: " +
        time + "}, {launch: graph, level: memory, skeleton: elementwise, value: 2 us}]}\n");
    for (const LaunchFloor& floor : scenario.study.machine->floors)
      if (floor.launch == Launch::graph_pdl && floor.level == Level::memory &&
          floor.skeleton == Skeleton::elementwise)
        return floor.floor.value;
    return Seconds{};
  };
  EXPECT_EQ(floor_of("9 us"), Seconds{9e-6});
  EXPECT_EQ(floor_of("1 us"), Seconds{1e-6});
}

TEST(Hardware, TakesTheDatasheetWhereNoPartHelps) {
  const Scenario cpu = on("{kind: cpu, memory_bandwidth: 0.5 TB/s, memory_capacity: 1 TB}");
  EXPECT_EQ(cpu.study.machine->memory_capacity, Bytes{1e12});
  EXPECT_TRUE(cpu.study.machine->transition.empty());
  EXPECT_TRUE(cpu.study.machine->cache_bandwidth.empty());
  for (const MixBandwidth& entry : cpu.study.machine->memory_bandwidth) {
    EXPECT_LE(entry.bandwidth.low, entry.bandwidth.value);
    EXPECT_EQ(entry.bandwidth.evidence, Evidence::assumed);
  }
}

TEST(Hardware, HoldsWhatItsDriverShowsThoughNobodySaysWhatIsSold) {
  const std::string shown = "{kind: gpu, memory_bandwidth: 3 TB/s, visible_memory: 75 GB}";
  EXPECT_EQ(on(shown).study.machine->memory_capacity, Bytes{75e9});
}

/// A curve of another cache is none of its own. That of the nearest part is stretched to it.
TEST(Hardware, HasNoTransitionOfItsBaseAtAnotherCacheCapacity) {
  const Scenario small = on("{base: h200_sxm, cache_capacity: 25 MB}");
  EXPECT_EQ(fallbacks_of(small), std::vector<std::string>{"hardware.cache_transition"});
  EXPECT_LT(small.study.machine->transition.front().footprint,
            on("h200_sxm").study.machine->transition.front().footprint);
}

TEST(Hardware, IsOptional) { EXPECT_FALSE(parsed("model: kimi_k3\n").study.machine); }

TEST(Hardware, PresetsAllMakeAMachine) {
  int num_machines = 0;
  for (const Preset& preset : presets()) {
    if (preset.kind != "hardware") continue;
    SCOPED_TRACE(preset.id);
    const Scenario scenario = on(std::string(preset.id));
    const Machine& machine = *scenario.study.machine;
    EXPECT_FALSE(machine.name.empty());
    EXPECT_FALSE(machine.memory_bandwidth.empty());
    for (const MixBandwidth& entry : machine.memory_bandwidth) {
      EXPECT_LE(entry.bandwidth.low, entry.bandwidth.value);
      EXPECT_LE(entry.bandwidth.value, entry.bandwidth.high);
    }
    ++num_machines;
  }
  EXPECT_GE(num_machines, 19);
}

}  // namespace
}  // namespace depthcost::scenario_hardware_test
