// Profiles of machines as hardware: what they leave out, and every mistake with the whole message.
#include "scenarios/device/profile.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/device/device.hpp"
#include "tests/scenarios/read/parsed.hpp"
#include "tests/scenarios/text/error_of.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::profile_test {
namespace {

using Edits = std::vector<std::pair<std::string, std::string>>;

/// The profile of a CPU that ships, with pieces of its text replaced.
std::string edited(const Edits& edits) {
  std::string text = test::content_of(DEPTHCOST_SOURCE_DIR "/scenarios/profiles/synthetic.yaml");
  for (const auto& [piece, replacement] : edits) {
    const std::size_t at = text.find(piece);
    EXPECT_NE(at, std::string::npos) << piece;
    text.replace(at, piece.size(), replacement);
  }
  return text;
}

/// The profile without its lines that begin with `start`.
std::string without(std::string text, const std::string& start) {
  for (std::size_t at = text.find("\n" + start); at != std::string::npos;
       at = text.find("\n" + start, at))
    text.erase(at, text.find('\n', at + 1) - at);
  return text;
}

/// A profile of a GPU with all that is required; `keys` starts at line 11.
std::string gpu(const std::string& keys) {
  return R"(schema: depthcost-profile/1
name: "Some GPU"
kind: gpu
date: "2026-11-20"
samples: {file: "it.json", hash: "0", kernels: "0"}
threads: 1
noise: 1 %
bandwidth:
  - {level: memory, threads: 0, reads: 1, writes: 0, in_place: 0, value: 3 TB/s, low: 2 TB/s,
     high: 4 TB/s}
)" + keys +
         R"(launch_floor:
  - {launch: graph, level: memory, skeleton: elementwise, value: 3 us, low: 2 us, high: 4 us}
)";
}

struct Read {
  Machine machine;
  std::vector<ResolvedValue> notes;
};

Read read(const std::string& text) {
  const test::TemporaryFolder folder;
  Read result;
  const std::string path = folder.written("p.yaml", text);
  result.machine = machine_from(resolve_device(path, "--hardware"), result.notes);
  return result;
}

/// The message without the path, which differs from run to run.
std::string error_in(const std::string& text) {
  const test::TemporaryFolder folder;
  const std::string path = folder.written("p.yaml", text);
  std::vector<ResolvedValue> notes;
  const std::string error =
      test::error_of([&] { machine_from(resolve_device(path, "--hardware"), notes); });
  return error.starts_with(path + ":") ? error.substr(path.size() + 1) : error;
}

TEST(Profiles, HaveNoLevelsAndNothingExposedWhereNoneWasMeasured) {
  std::string text = edited({});
  for (const char* key : {"first_level:", "second_level:", "core_form:", "exposed:"})
    text = without(text, key);
  const Core core = read(text).machine.core.value();
  EXPECT_EQ(core.first_level, Bytes{0});
  EXPECT_EQ(core.second_level, Bytes{0});
  EXPECT_EQ(core.form, CoreForm::passes);
  EXPECT_EQ(core.exposed, 0);
  const Core whole = read(edited({{"core_form: passes", "core_form: sum"}})).machine.core.value();
  EXPECT_EQ(whole.first_level, Bytes{32440.3});
  EXPECT_EQ(whole.form, CoreForm::sum);
}

/// Without the bandwidth of a cache nothing can be in it.
TEST(Profiles, HaveNoTransitionWithoutACache) {
  EXPECT_EQ(read(edited({})).machine.transition.size(), 2U);
  const Machine uncached = read(without(edited({}), "  - {level: L3,")).machine;
  EXPECT_TRUE(uncached.transition.empty());
  EXPECT_TRUE(uncached.cache_bandwidth.empty());
  std::string text = without(edited({}), "cache_transition:");
  text = without(text, "  - {footprint:");
  EXPECT_TRUE(read(text).machine.transition.empty());
}

TEST(Profiles, KeepACurveForEachNumberOfRanks) {
  const std::string links =
      "links:\n"
      "  - {transfer: all_reduce, ranks: 2, from: 1 B, latency: 1 us}\n"
      "  - {transfer: all_reduce, ranks: 2, from: 1 kB, latency: 2 us, bandwidth: 1 GB/s}\n"
      "  - {transfer: all_reduce, ranks: 4, from: 1 B, latency: 3 us}\n";
  const std::vector<LinkCurve> curves = read(gpu(links)).machine.links;
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].num_ranks, 2);
  EXPECT_EQ(curves[0].segments.size(), 2U);
  EXPECT_EQ(curves[1].num_ranks, 4);
  ASSERT_EQ(curves[1].segments.size(), 1U);
  EXPECT_EQ(curves[1].segments[0].latency, Seconds{3e-6});
}

/// An interval needs both of its ends.
TEST(Profiles, HaveAnIntervalWhereBothEndsAreWritten) {
  const Machine whole = read(edited({})).machine;
  EXPECT_EQ(whole.residual.low, 0.992133);
  EXPECT_EQ(whole.residual.high, 1.00672);
  const Machine half = read(edited({{", high: 1.00672}", "}"}})).machine;
  EXPECT_EQ(half.residual.low, 1);
  EXPECT_EQ(half.residual.high, 1);
}

TEST(Profiles, OfAGpuWithoutAPartHaveTheUsualMultiprocessors) {
  const Read alone = read(gpu(""));
  EXPECT_EQ(alone.machine.few_tokens->num_multiprocessors, 132);
  ASSERT_EQ(alone.notes.size(), 2U);
  EXPECT_EQ(alone.notes[0].key, "hardware.num_multiprocessors");
  EXPECT_EQ(alone.notes[0].origin, "fallback: the profile names no part");
  EXPECT_EQ(read(gpu("part: b200_sxm\n")).machine.few_tokens->num_multiprocessors, 148);
}

/// Only a part has links to other devices.
TEST(Profiles, OfSeveralDevicesBorrowTransfersForTheirPart) {
  const test::TemporaryFolder folder;
  const auto transfers_on = [&](const std::string& text) {
    const std::string path = folder.written("p.yaml", text);
    return test::parsed("model: kimi_k3\nparallelism: {tensor: 2}\nhardware: " + path + "\n")
        .study.machine->transfers;
  };
  EXPECT_TRUE(transfers_on(gpu("")).empty());
  const std::vector<TransferPoint> borrowed = transfers_on(gpu("part: h200_sxm\n"));
  const std::vector<TransferPoint> of_part =
      test::parsed("model: kimi_k3\nparallelism: {tensor: 2}\nhardware: h200_sxm\n")
          .study.machine->transfers;
  ASSERT_EQ(borrowed.size(), of_part.size());
  EXPECT_EQ(borrowed.back().time.value, of_part.back().time.value);
}

TEST(Profiles, HaveTheNetworkOfTheirPart) {
  EXPECT_EQ(read(gpu("part: h100_sxm\n")).machine.network_bandwidth, BytesPerSecond{50e9});
  EXPECT_FALSE(read(gpu("")).machine.network_bandwidth);
}

struct Case {
  std::string name;
  std::string text;
  std::string expected;  // behind the path and its colon
};

std::ostream& operator<<(std::ostream& out, const Case& row) { return out << row.name; }

class BadProfiles : public testing::TestWithParam<Case> {};

TEST_P(BadProfiles, NameTheLineAndTheCause) {
  EXPECT_EQ(error_in(GetParam().text), GetParam().expected);
}

std::string link(const std::string& members) {
  return "  - {transfer: one_way, " + members + "}\n";
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadProfiles,
    testing::ValuesIn(std::vector<Case>{
        {"List", "- kind: gpu\n", "1:1: error: invalid hardware (must be a map, not a list)"},
        {"ValueBelowItsInterval", edited({{"value: 38.2308 GB/s", "value: 30 GB/s"}}),
         "13:70: error: invalid value '30 GB/s' (outside its interval, 37.7896 GB/s to 38.2753 "
         "GB/s)"},
        {"ValueAboveItsInterval", edited({{"value: 49.9622 ns", "value: 60 ns"}}),
         "34:66: error: invalid value '60 ns' (outside its interval, 49.7649 ns to 50.2453 ns)"},
        {"MixOfNothing", edited({{"reads: 0, writes: 1", "reads: 0, writes: 0"}}),
         "13:36: error: invalid mix 0:0, 0 in place"},
        {"MoreInPlaceThanRead",
         edited({{"reads: 0, writes: 1, in_place: 0", "reads: 0, writes: 1, in_place: 1"}}),
         "13:36: error: invalid mix 0:1, 1 in place"},
        {"NoBandwidthOfMemory", without(edited({}), "  - {level: memory, threads"),
         "2:1: error: missing key 'bandwidth' (of memory, any mix)"},
        {"SizesThatFall",
         gpu("links:\n" + link("ranks: 2, from: 1 kB, latency: 1 us") +
             link("ranks: 2, from: 1 B, latency: 1 us")),
         "13:41: error: invalid from '1 B' (sizes of one link must rise)"},
        {"CurveInTwoPieces",
         gpu("links:\n" + link("ranks: 2, from: 1 B, latency: 1 us") +
             link("ranks: 4, from: 1 B, latency: 1 us") +
             link("ranks: 2, from: 1 kB, latency: 1 us")),
         "14:41: error: invalid from '1 kB' (sizes of one link must rise)"},
        {"ErrorsThatAllLieAbove", edited({{"low: 0.992133", "low: 1.001"}}),
         "10:17: error: invalid residual (1 does not lie between low and high)"},
        {"ErrorsThatAllLieBelow", edited({{"high: 1.00672", "high: 0.999"}}),
         "10:17: error: invalid residual (1 does not lie between low and high)"},
        {"ErrorsOfAnOperationThatAllLieAbove",
         edited({{"{operation: mhc_post, low: 0.", "{operation: mhc_post, low: 1."}}),
         "90:32: error: invalid residual (1 does not lie between low and high)"},
        {"MisspeltPart", gpu("part: h100_sxn\n"),
         "11:7: error: unknown part 'h100_sxn'; did you mean 'h100_sxm'?"},
        {"PartFarFromAny", gpu("part: qqq\n"),
         "11:7: error: unknown part 'qqq' (must be a hardware preset; 'depthcost presets list' "
         "shows them)"},
        {"PartOfAnotherKind", gpu("part: epyc_9654\n"),
         "11:7: error: invalid part 'epyc_9654' (a cpu's preset, and what was measured is a gpu)"},
    }),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace depthcost::profile_test
