// Transfers in hardware files: its own, those of the nearest parts, and unknown ones.
#include "scenarios/device/transfers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "scenarios/presets/presets.hpp"
#include "scenarios/presets/reference.hpp"
#include "scenarios/read/scenario.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/scenarios/read/parsed.hpp"
#include "tests/scenarios/read/refused_case.hpp"

namespace depthcost::transfers_test {
namespace {

/// On two devices, so that links matter; the map's keys start at line 4, column 55.
std::string asked(const std::string& keys) {
  return "schema: depthcost/1\nmodel: kimi_k3\nparallelism: {tensor: 2}\nhardware: {kind: gpu, "
         "memory_bandwidth: 4.8 TB/s" +
         (keys.empty() ? "" : ", " + keys) + "}\n";
}

/// As above, on a shipped part.
const std::string kShipped =
    "schema: depthcost/1\nmodel: kimi_k3\nparallelism: {tensor: 2}\nhardware: ";

std::string record(const std::string& members) {
  return asked("vendor: arm, transfers: [{" + members + "}]");
}

Scenario parsed(const std::string& text) { return test::parse_scenario(text, "it.yaml"); }

Machine machine(const std::string& text) { return parsed(text).study.machine.value(); }

std::vector<std::string> listed(const Scenario& scenario, const std::string& key) {
  std::vector<std::string> found;
  for (const ResolvedValue& value : scenario.values)
    if (value.key == key) found.push_back(fmt::format("{} <- {}", value.value, value.origin));
  return found;
}

std::vector<TransferPoint> of(const Machine& machine, TransferKind kind, TransferScope scope) {
  std::vector<TransferPoint> points;
  for (const TransferPoint& point : machine.transfers)
    if (point.kind == kind && point.scope == scope) points.push_back(point);
  return points;
}

TEST(Transfers, OfTheFileAreItsOwn) {
  const auto points =
      machine(record("kind: all_gather, scope: network, ranks: 16, size: 1 MiB, time: 40 us, "
                     "source: a talk, date: 2026-03-16"))
          .transfers;
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].kind, TransferKind::all_gather);
  EXPECT_EQ(points[0].scope, TransferScope::network);
  EXPECT_EQ(points[0].num_ranks, 16);
  EXPECT_EQ(points[0].size.value, 1048576);
  EXPECT_DOUBLE_EQ(points[0].time.value.value, 40e-6);
  EXPECT_DOUBLE_EQ(points[0].time.low.value, 36e-6);
  EXPECT_DOUBLE_EQ(points[0].time.high.value, 44e-6);
  EXPECT_EQ(points[0].time.evidence, Evidence::published);
}

TEST(Transfers, ThatNobodyIsCitedForAreAssumed) {
  const auto points =
      machine(record("kind: send, scope: node, ranks: 2, size: 1 MiB, time: 40 us")).transfers;
  ASSERT_EQ(points.size(), 1u);
  EXPECT_DOUBLE_EQ(points[0].time.low.value, 30e-6);
  EXPECT_DOUBLE_EQ(points[0].time.high.value, 50e-6);
  EXPECT_EQ(points[0].time.evidence, Evidence::assumed);
}

TEST(Transfers, ThatNoPartOfTheVendorHasAreUnknown) {
  const Scenario scenario =
      parsed(record("kind: send, scope: node, ranks: 2, size: 1 MiB, time: 40 us"));
  EXPECT_EQ(listed(scenario, "hardware.transfers"),
            (std::vector<std::string>{
                "unknown: all_reduce node, all_gather node, reduce_scatter node, all_to_all node, "
                "send network, all_reduce network, all_gather network, reduce_scatter network, "
                "all_to_all network <- fallback: not sourced for any part of this vendor"}));
  EXPECT_TRUE(machine(asked("")).transfers.empty()) << "no vendor, no part";
}

/// Tensor ranks, experts and stages may lie in any number of nodes.
TEST(Transfers, BetweenNodesAreKnownOnEveryHopperAndBlackwell) {
  for (const Preset& preset : presets()) {
    if (preset.kind != "hardware") continue;
    const Values values = preset_values(preset.id, hardware_reference());
    const std::string architecture = values.has("architecture") ? values.text("architecture") : "";
    if (architecture != "hopper" && architecture != "blackwell") continue;
    SCOPED_TRACE(preset.id);
    const Machine part = machine(kShipped + std::string(preset.id) + "\n");
    for (const TransferKind kind : kEnumerators<TransferKind>)
      for (const Count ranks : {2, 16, 32, 64, 144, 320}) {
        if (kind == TransferKind::send && ranks > 2) continue;
        if (kind != TransferKind::send && ranks <= part.devices_per_node) continue;
        const auto time = transfer_time(part, kind, TransferScope::network, ranks, Bytes{1e6});
        ASSERT_TRUE(time) << name(kind) << " " << ranks;
        EXPECT_EQ(time->evidence,
                  preset.id == "h100_sxm" && ranks == 2 ? Evidence::published : Evidence::assumed);
        EXPECT_GT(time->low.value, 4e-6);
        EXPECT_LT(time->low, time->value);
        EXPECT_LT(time->value, time->high);
      }
  }
}

/// A card without NVLink has the latency of such cards, and no end that beats its link.
TEST(Transfers, OfACardOnPcieAreThoseOfOtherCardsOnPcie) {
  const Machine card = machine(kShipped + "h100_pcie\n");
  const auto of = [&](TransferKind kind, double bytes) {
    return transfer_time(card, kind, TransferScope::node, 4, Bytes{bytes}).value();
  };
  EXPECT_GT(of(TransferKind::all_reduce, 16384).low.value, 6e-6);
  const double on_the_link = 0.75 * 268e6 / 64e9;
  EXPECT_GT(of(TransferKind::reduce_scatter, 268e6).low.value, 0.75 * on_the_link);
}

TEST(Transfers, TakeTheNetworkOfThePartThatIsNearest) {
  const Scenario scenario = parsed(kShipped + "h100_pcie\n");
  EXPECT_EQ(
      listed(scenario, "hardware.network_bandwidth"),
      (std::vector<std::string>{"50 GB/s, as h100_sxm <- fallback: not sourced for this part"}));
  EXPECT_EQ(scenario.study.machine->network_bandwidth, BytesPerSecond{50e9});
  EXPECT_FALSE(machine(kShipped + "mi300x\n").network_bandwidth) << "no part of that vendor has it";
  const std::string derived =
      "derived from network_bandwidth: all_reduce network, all_gather network, reduce_scatter "
      "network, all_to_all network";
  EXPECT_EQ(std::count_if(scenario.values.begin(), scenario.values.end(),
                          [&](const ResolvedValue& value) { return value.value == derived; }),
            1);
}

/// NearestParts are looked for in the text, before a file is read.
TEST(Transfers, OfPresetsAreWrittenAsDonorsAreLookedFor) {
  std::size_t num_records = 0;
  std::size_t num_found = 0;
  for (const Preset& preset : presets()) {
    if (preset.kind != "hardware") continue;
    const Values values = preset_values(preset.id, hardware_reference());
    for (const TransferPoint& point : own_transfers(values)) {
      const std::string words =
          fmt::format("kind: {}, scope: {}", name(point.kind), name(point.scope));
      num_found += preset.text.find(words) != std::string_view::npos;
      ++num_records;
    }
  }
  EXPECT_GE(num_records, 500u);
  EXPECT_EQ(num_found, num_records);
}

/// The H200 has no sends of its own; the H100 has, over as fast links.
TEST(Transfers, OfThePartWithTheNearestLinksStandIn) {
  const Machine h200 = machine(kShipped + "h200_sxm\n");
  const Machine h100 = machine(kShipped + "h100_sxm\n");
  for (const TransferScope scope : {TransferScope::node, TransferScope::network}) {
    const auto own = of(h100, TransferKind::send, scope);
    const auto borrowed = of(h200, TransferKind::send, scope);
    ASSERT_EQ(borrowed.size(), 4u);
    for (std::size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(own[i].time.evidence, Evidence::published);
      EXPECT_EQ(borrowed[i].time.evidence, Evidence::assumed);
      EXPECT_DOUBLE_EQ(borrowed[i].time.value.value, own[i].time.value.value);
      EXPECT_DOUBLE_EQ(borrowed[i].time.low.value, 0.75 * own[i].time.value.value);
      EXPECT_DOUBLE_EQ(borrowed[i].time.high.value, 1.25 * own[i].time.value.value);
    }
  }
  EXPECT_EQ(listed(parsed(kShipped + "h200_sxm\n"), "hardware.transfers").at(0),
            "as h100_sxm, bytes scaled by the links: send node, send network <- fallback: not "
            "sourced for this part");
}

/// 900 GB/s instead of 450: latency stays, and what bytes add to it halves.
TEST(Transfers, KeepLatencyAndScaleBytesOfOtherLinks) {
  const auto own = of(machine(kShipped + "h100_sxm\n"), TransferKind::send, TransferScope::node);
  const auto borrowed =
      of(machine(kShipped + "b300_sxm\n"), TransferKind::send, TransferScope::node);
  ASSERT_EQ(borrowed.size(), own.size());
  const double latency = own.front().time.value.value;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double measured = own[i].time.value.value;
    const double scaled = latency + (measured - latency) / 2;
    EXPECT_DOUBLE_EQ(borrowed[i].time.value.value, scaled);
    EXPECT_DOUBLE_EQ(borrowed[i].time.low.value, 0.75 * scaled);
    EXPECT_DOUBLE_EQ(borrowed[i].time.high.value, 1.25 * measured);
  }
}

TEST(Transfers, DoNotOutliveAnotherLink) {
  const auto node_sends = [](const std::string& hardware) {
    return of(machine(kShipped + hardware + "\n"), TransferKind::send, TransferScope::node);
  };
  const auto own = node_sends("h100_sxm");
  const auto network = node_sends("{base: h100_sxm, network_bandwidth: 100 GB/s}");
  ASSERT_EQ(network.size(), own.size());
  EXPECT_EQ(network.back().time.value, own.back().time.value) << "no send of a node goes there";
  EXPECT_EQ(network.back().time.evidence, Evidence::published);
  const auto slower = node_sends("{base: h100_sxm, link_bandwidth: 400 GB/s}");
  ASSERT_EQ(slower.size(), own.size());
  EXPECT_EQ(slower.front().time.value, own.front().time.value);
  EXPECT_GT(slower.back().time.value.value, 1.1 * own.back().time.value.value);
  EXPECT_EQ(slower.back().time.evidence, Evidence::assumed);
}

/// Latency is that of the nearest architecture, whatever links a user tries.
TEST(Transfers, AreNoSlowerOverAFasterLink) {
  double before = std::numeric_limits<double>::infinity();
  for (const char* link : {"300", "450", "600", "640", "900"}) {
    const Machine tried =
        machine(fmt::format("{}{{base: h100_sxm, link_bandwidth: {} GB/s}}\n", kShipped, link));
    const auto time = transfer_time(tried, TransferKind::all_reduce, 8, Bytes{1e6});
    ASSERT_TRUE(time) << link;
    EXPECT_LE(time->value.value, before) << link;
    before = time->value.value;
  }
}

/// NCCL 2.29.2 on 8 x H100, out of place, as bus bandwidth (nccl-tests
/// doc/PERFORMANCE.md): (n - 1) / n of the bytes over the time, 335 GB/s.
TEST(Transfers, OfPresetsAreTimesOfTheWholeVector) {
  const Machine h100 = machine(kShipped + "h100_sxm\n");
  const double bytes = 512.0 * 1024 * 1024;
  const auto time =
      transfer_time(h100.transfers, TransferKind::all_gather, TransferScope::node, 8, {bytes});
  ASSERT_TRUE(time);
  EXPECT_NEAR(bytes / time->value.value * 7 / 8 * 1e-9, 335, 1);
}

TEST(Transfers, AreListedOneLineForEachCurve) {
  const Scenario scenario = parsed(
      asked("vendor: arm, transfers: [{kind: send, scope: node, ranks: 2, size: 1 MiB, time: 40 "
            "us}, {kind: send, scope: node, ranks: 2, size: 2 kB, time: 5 us}]"));
  EXPECT_EQ(listed(scenario, "hardware.transfers[send, node, 2]"),
            std::vector<std::string>{"1 MiB 40 us, 2 kB 5 us <- it.yaml:4"});
}

TEST(Transfers, AreNotListedForOneDevice) {
  const Scenario scenario = parsed("schema: depthcost/1\nmodel: kimi_k3\nhardware: h100_sxm\n");
  EXPECT_FALSE(scenario.study.machine->transfers.empty());
  EXPECT_FALSE(std::any_of(
      scenario.values.begin(), scenario.values.end(),
      [](const ResolvedValue& value) { return value.key.starts_with("hardware.transfers"); }));
}

TEST(Links, AreReadAndCounted) {
  const Machine got = machine(
      asked("link_bandwidth: 900 GB/s, network_bandwidth: 50 GB/s, host_bandwidth: 55 GB/s, "
            "node_devices: 72, fp8_rate: 4 PFLOP/s"));
  EXPECT_EQ(got.link_bandwidth->value, 900e9);
  EXPECT_EQ(got.network_bandwidth->value, 50e9);
  EXPECT_EQ(got.host_bandwidth->value, 55e9);
  EXPECT_EQ(got.devices_per_node, 72);
  EXPECT_EQ(got.fp8_rate->value, 4e15);
}

TEST(Links, AreUnknownUnlessWrittenAndNodesHoldEight) {
  const Scenario scenario = parsed(asked(""));
  const Machine& got = *scenario.study.machine;
  EXPECT_FALSE(got.link_bandwidth);
  EXPECT_FALSE(got.network_bandwidth);
  EXPECT_FALSE(got.host_bandwidth);
  EXPECT_FALSE(got.fp8_rate);
  EXPECT_EQ(got.devices_per_node, 8);
  EXPECT_EQ(
      listed(scenario, "hardware.node_devices"),
      std::vector<std::string>{"8 <- default: [ours] the size of most nodes of accelerators"});
}

using test::RefusedCase;

class BadTransfers : public testing::TestWithParam<RefusedCase> {};

TEST_P(BadTransfers, NameTheLineAndTheCause) { test::expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Records, BadTransfers,
    testing::ValuesIn(std::vector<RefusedCase>{
        {"UnknownKind", record("kind: all_reduc, scope: node, ranks: 2, size: 1 B, time: 1 s"),
         "it.yaml:4:83: error: invalid transfers[].kind 'all_reduc' (must be send | all_reduce | all_gather | reduce_scatter | all_to_all); did you mean 'all_reduce'?"},
        {"UnknownScope", record("kind: send, scope: rack, ranks: 2, size: 1 B, time: 1 s"),
         "it.yaml:4:96: error: invalid transfers[].scope 'rack' (must be node | network)"},
        {"NoTime", record("kind: send, scope: node, ranks: 2, size: 1 B"),
         "it.yaml:4:76: error: missing key 'time' (transfers needs it)"},
        {"NoUnit", record("kind: send, scope: node, ranks: 2, size: 1, time: 1 s"),
         "it.yaml:4:118: error: invalid transfers[].size '1' (missing unit; need bytes, such as '141 GB')"},
        {"Lone", record("kind: all_reduce, scope: node, ranks: 1, size: 1 B, time: 1 s"),
         "it.yaml:4:115: error: invalid transfers[].ranks '1' (must be from 2 to 1048576)"},
        {"MoreThanAnyMachineHas",
         record("kind: all_reduce, scope: network, ranks: 1048577, size: 1 B, time: 1 s"),
         "it.yaml:4:118: error: invalid transfers[].ranks '1048577' (must be from 2 to 1048576)"},
        {"SendOfThree", record("kind: send, scope: node, ranks: 3, size: 1 B, time: 1 s"),
         "it.yaml:4:109: error: invalid transfers[].ranks '3' (a send has 2)"},
        {"Twice",
         record(
             "kind: send, scope: node, ranks: 2, size: 1 kB, time: 1 s}, {kind: send, scope: node, ranks: 2, size: 1000 B, time: 2 s"),
         "it.yaml:4:192: error: conflicting transfers[1] (says something else of the same as transfers[0])"},
        {"Instant", record("kind: send, scope: node, ranks: 2, size: 1 kB, time: 0 s"),
         "it.yaml:4:130: error: invalid transfers[].time '0 s' (must be positive)"},
        {"NoBandwidth", asked("link_bandwidth: 0 GB/s"),
         "it.yaml:4:67: error: invalid link_bandwidth '0 GB/s' (must be positive)"},
    }),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace depthcost::transfers_test
