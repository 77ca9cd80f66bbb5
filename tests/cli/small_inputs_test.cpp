// A small file takes little time and memory, or is refused before anything is computed. The limits
// of the processes stand far above what they take: they end what once took minutes.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::small_inputs_test {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr const char* kLimits = "ulimit -t 100";
constexpr double kMaxMegabytes = 1e6;
#else
constexpr const char* kLimits = "ulimit -t 15";
constexpr double kMaxMegabytes = 250;
#endif

/// In a process that is ended after some seconds of work.
Outcome run_limited(const std::string& text, std::vector<std::string> arguments) {
  const TemporaryFolder folder;
  folder.written("it.yaml", text);
  arguments.insert(arguments.begin(),
                   {"-c", std::string(kLimits) + "; exec \"$0\" \"$@\"", DEPTHCOST_PROGRAM});
  const Outcome outcome =
      run_program({.arguments = arguments, .folder = folder.path(), .program = "/bin/sh"});
  EXPECT_LT(outcome.peak_megabytes, kMaxMegabytes);
  return outcome;
}

std::string layers(int number, const std::string& scheme, const std::string& rest) {
  return fmt::format(
      "schema: depthcost/1\nmodel: {{num_layers: {}, hidden_size: 7168, dtype: bf16}}\n"
      "hardware: h200_sxm\nresidual: {{scheme: {}, block_size: 16}}\n{}",
      number, scheme, rest);
}

std::string training(const std::string& micro_batches, const std::string& parallelism = "") {
  return "schema: depthcost/1\nmodel: llama_3_1_8b\nhardware: h200_sxm\n"
         "residual: {scheme: block_attnres, block_size: 16}\n" +
         parallelism +
         "workload: {training: {sequence_length: 4096, micro_batches: " + micro_batches + "}}\n";
}

const std::string kDecode = "workload: {decode: {sequences: 1}}\n";

/// A part with so many records of a list, each with its number in it.
template <class Record>
std::string records(const std::string& list, int number, const Record& record) {
  std::string text =
      "schema: depthcost/1\nmodel: kimi_k3\nhardware:\n  kind: gpu\n"
      "  memory_bandwidth: 4.8 TB/s\n  " +
      list + ":\n";
  for (int i = 1; i <= number; ++i) text += "    - {" + record(i) + "}\n";
  return text;
}

TEST(SmallInputs, MayHaveManyRecords) {
  const std::vector<std::string> texts{
      records("sustained_bandwidth", 12000,
              [](int i) { return fmt::format("reads: {}, writes: 7, value: 3 TB/s", i); }),
      records("cache_transition", 12000,
              [](int i) { return fmt::format("footprint: {} MB, memory_weight: 50%", i); }),
      records("transfers", 10000, [](int i) {
        return fmt::format("kind: all_reduce, scope: node, ranks: 8, size: {} B, time: 3 us", i);
      })};
  for (const std::string& text : texts)
    EXPECT_EQ(run_limited(text, {"evaluate", "it.yaml"}).exit_code, 0);
}

TEST(SmallInputs, MayBeTablesOfAProfiler) {
  const Outcome outcome = run_limited(
      "Start (ns),Duration (ns),Name\n1,2,unknown\n",
      {"compare", "it.yaml", "--scenario", DEPTHCOST_SOURCE_DIR "/scenarios/kimi_k3_8xh200.yaml",
       "--workload", "decode/64", "--steps", "1"});
  EXPECT_EQ(outcome.errors,
            "it.yaml:1:1: error: no known kernel (the longest of 1 is 'unknown'; --kernel-names "
            "FILE says which operation a name is)\n");
}

TEST(SmallInputs, HaveNoSweepOfAllPairsOfLayers) {
  EXPECT_EQ(run_limited(layers(16384, "full_attnres", kDecode), {"sweep", "it.yaml"}).errors,
            "--axis:1:1: error: invalid axes (268435456 layers of all choices to go through, more "
            "than 8388608; write fewer values)\n");
  EXPECT_EQ(run_limited(layers(512, "full_attnres", kDecode), {"sweep", "it.yaml"}).exit_code, 0);
}

TEST(SmallInputs, MayHaveAsManyLayersAsAreAllowed) {
  const Outcome outcome =
      run_limited(layers(16384, "full_attnres", kDecode), {"evaluate", "it.yaml"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
}

TEST(SmallInputs, HaveNoMillionsOfLaunches) {
  std::string batches = "1";
  for (int i = 2; i <= 256; ++i) batches += fmt::format(",{}", i);
  const Outcome outcome = run_limited(
      layers(512, "full_attnres", "workload: {decode: {sequences: [" + batches + "]}}\n"),
      {"evaluate", "it.yaml", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.errors.rfind("it.yaml:5:32: error: invalid workload.decode.sequences (", 0), 0U)
      << outcome.errors;
  EXPECT_NE(
      outcome.errors.find(" kinds of launches to time, in all batches, schemes and schedules; "
                          "at most 262144)\n"),
      std::string::npos)
      << outcome.errors;
}

TEST(SmallInputs, HaveNoPipelineOfMillionsOfPasses) {
  const std::string line = "it.yaml:5:61: error: invalid workload.training.micro_batches ";
  EXPECT_EQ(run_limited(training("4194305"), {"evaluate", "it.yaml"}).errors,
            line + "'4194305' (more than 524288 passes of 1 chunk)\n");
  EXPECT_EQ(
      run_limited(training("131076", "parallelism: {pipeline: 4}\n"), {"evaluate", "it.yaml"})
          .errors,
      "it.yaml:6:61: error: invalid workload.training.micro_batches '131076' (more than 524288 "
      "passes of 4 chunks)\n");
}

TEST(SmallInputs, HaveNoMillionsOfExperts) {
  EXPECT_EQ(run_limited("schema: depthcost/1\nmodel: {base: mixtral_8x7b, mlp: [{kind: experts, "
                        "decoder_layers: 32, experts: 16000000, active: 2, width: 14336}]}\n"
                        "hardware: h200_sxm\n" +
                            kDecode,
                        {"evaluate", "it.yaml"})
                .errors,
            "it.yaml:2:80: error: invalid mlp[].experts '16000000' (more than 65536)\n");
}

TEST(SmallInputs, AreReadBeforeTheyAreSwept) {
  EXPECT_EQ(run_limited("schema: depthcost/1\nmodel: kimi_k3\nhardware: h200_sxm\n"
                        "residual: {scheme: nonsense}\n" +
                            kDecode,
                        {"sweep", "it.yaml", "--axis", "model.hidden_size=1..9999"})
                .errors.rfind("it.yaml:4:20: error: invalid residual.scheme 'nonsense'", 0),
            0U);
}

TEST(SmallInputs, MayAskForFourMillionPointsAtMost) {
  EXPECT_EQ(run_limited(layers(32, "full_attnres", kDecode),
                        {"sweep", "it.yaml", "--max-points", "100000000"})
                .errors,
            "--max-points:1:1: error: invalid value '100000000' (must be from 1 to 4000000; see "
            "depthcost sweep --help)\n");
}

TEST(SmallInputs, HaveAValueInsideItsInterval) {
  const Outcome outcome = run_limited(
      "schema: depthcost/1\nmodel: mixtral_8x7b\nhardware: h200_sxm\n"
      "residual: {scheme: block_attnres, block_size: 16}\nparallelism: {context: 8, data: 8, "
      "expert: 8}\nworkload: {decode: {sequences: 1}}\n",
      {"evaluate", "it.yaml"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
}

TEST(Numbers, OfOptionsAreDecimal) {
  for (const std::string value : {"010", "0x10"})
    EXPECT_EQ(run_program({.arguments = {"mixing", "it.yaml", "--seed=" + value}}).errors,
              "--seed:1:1: error: invalid value '" + value +
                  "' (must be a whole number in plain digits)\n");
  EXPECT_EQ(run_program({.arguments = {"sweep", "it.yaml", "--compute=0x10"}}).errors,
            "--compute:1:1: error: invalid value '0x10' (must be a number in plain digits)\n");
}

TEST(Results, WithoutANumberAreNoResults) {
  const TemporaryFolder folder;
  folder.written(
      "empty.json",
      "{\"schema_version\": 1, \"program_version\": \"x\", \"ledger\": [], \"scenario\": "
      "{\"name\": \"a\", \"values\": {}}}");
  const Outcome outcome =
      run_program({.arguments = {"diff", "empty.json", "empty.json"}, .folder = folder.path()});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.errors.rfind(
                "empty.json:1:1: error: missing predictions (the file has no number; ", 0),
            0U)
      << outcome.errors;
}

}  // namespace
}  // namespace depthcost::test::small_inputs_test
