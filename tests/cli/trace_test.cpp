// `compare TRACE --scenario S` as a user runs it: what it prints, and the whole text of every
// error. All traces here are made by hand: none is a measurement.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/parsed_json.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::trace_test {
namespace {

const std::string kSource = DEPTHCOST_SOURCE_DIR;

class CompareTrace : public testing::Test {
 protected:
  CompareTrace() {
    folder_.written("step.json", content_of(kSource + "/tests/profile/traces/files/step.json"));
    folder_.written("step.csv", content_of(kSource + "/tests/profile/traces/files/step.csv"));
    folder_.written("s.yaml",
                    "schema: depthcost/1\nmodel: kimi_linear_48b\nhardware: h200_sxm\n"
                    "workload: {decode: {sequences: [1, 64]}}\n");
  }

  Outcome run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "compare");
    return run_program({.arguments = std::move(arguments), .folder = folder_.path()});
  }

  void expect_error(const std::vector<std::string>& arguments, const std::string& line) const {
    expect_refusal(run(arguments), line);
  }

  /// What is wrong with a trace of that content.
  void expect_fault(const std::string& text, const std::string& line) const {
    folder_.written("it.json", text);
    expect_error({"it.json", "--scenario", "s.yaml"}, line);
  }

  const TemporaryFolder folder_;
};

TEST_F(CompareTrace, ShowsTheResidualPathBesideItsPrediction) {
  const Outcome outcome = run({"step.json", "--scenario", "s.yaml"});
  EXPECT_NE(outcome.output.find("\nPredicted: block_attnres, single_pass (at decode "),
            std::string::npos)
      << "which attachment the prediction has";
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(outcome.output.starts_with(
      "step.json against s.yaml\n"
      "\n"
      "The overhead is not known: some kernels hold an all-reduce too. Without them the residual "
      "path takes 17.2 % of the step. Trace with the fusion off to see all of it.\n"
      "\n"
      "The residual path in the trace\n"
      "\n"
      "operation                             launches     time  of kernel time\n"
      "------------------------------------  --------  -------  --------------\n"
      "residual_add_rmsnorm with all-reduce         1  20.0 us          24.4 %\n"
      "attnres_single_pass                          2  14.3 us          17.4 %\n"
      "residual_add_rmsnorm                         1  6.00 us           7.3 %\n"
      "residual path                                3  15.5 us          18.9 %\n"
      "\n"
      "Beside the prediction\n"))
      << outcome.output;
  EXPECT_NE(
      outcome.output.find("\nKernels without an operation\n"
                          "\n"
                          "kernel                             launches     time  of kernel time\n"
                          "---------------------------------  --------  -------  --------------\n"
                          "nvjet_tst_64x8_64x16_4x1_v_bz_TNT         1  50.0 us          61.0 %\n"),
      std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("\n5 kernels run in 82.0 us of 90.0 us from the first to the last. "
                                "That is 1 step. "),
            std::string::npos);
}

TEST_F(CompareTrace, WritesJsonWithTheOverheadOfThisStep) {
  const auto json =
      parsed_json(run({"step.json", "--scenario", "s.yaml", "--format", "json"}).output);
  EXPECT_EQ(json["steps"], 1);
  EXPECT_NEAR(json["share_of_kernel_time"], 15.5 / 82, 1e-9);
  EXPECT_NEAR(json["share_of_span"], 15.5 / 90, 1e-9);
  ASSERT_EQ(json["predicted"].size(), 2U);
  EXPECT_TRUE(json["predicted"][0]["traced_overhead"].is_null()) << "4 kernels are not 55";
}

/// A step of `count` kernels of AttnRes of 4 us each, one every 100 us.
std::string step_of(int count) {
  std::string events = R"({"name": "ProfilerStep#1", "cat": "user_annotation"})";
  for (int i = 0; i < count; ++i)
    events += R"(, {"cat": "kernel", "name": "_attn_res_kernel", "ts": )" +
              std::to_string(100 * i) + R"(, "dur": 4})";
  return "[" + events + "]";
}

TEST_F(CompareTrace, SaysWhatTheResidualPathAddsToTheStep) {
  folder_.written("it.json", step_of(55));
  const std::vector<std::string> call{"it.json", "--scenario", "s.yaml"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = call;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments).output;
  };
  EXPECT_TRUE(with({}).starts_with(
      "it.json against s.yaml\n\nThe overhead is not known. --workload NAME says which of these the "
      "trace is a step of: decode/1, decode/64.\n"))
      << with({});
  const std::string answer = with({"--workload", "decode/64"});
  EXPECT_NE(answer.find("\nIn the trace the residual path adds +"), std::string::npos) << answer;
  EXPECT_NE(answer.find("% to the step. Predicted for decode/64: +"), std::string::npos) << answer;
  EXPECT_NE(answer.find("The prediction launches 55 kernels of the residual path in a step; the "
                        "trace has 55.\n"),
            std::string::npos)
      << answer;
  const std::string set = with({"--set", "workload.decode.sequences=64"});
  EXPECT_EQ(set.substr(0, set.find("\n\nThe residual")),
            answer.substr(0, answer.find("\n\nThe residual")));
  const auto json = parsed_json(with({"--workload", "decode/64", "--format", "json"}));
  EXPECT_EQ(json["workload"], "decode/64");
  const double standard = json["predicted"][1]["standard_seconds"];
  const double added = 55 * 4e-6 - standard;
  EXPECT_NEAR(json["predicted"][1]["traced_overhead"], added / (5404e-6 - added), 1e-9);
}

TEST_F(CompareTrace, AsksWhetherTheModelIsTheRightOne) {
  folder_.written("it.json", step_of(55));
  const Outcome outcome = run({"it.json", "--scenario", "s.yaml", "--set", "residual.scheme=mhc"});
  EXPECT_TRUE(outcome.output.starts_with(
      "it.json against s.yaml\n\nNone of these kernels is of the predicted scheme. Is the trace of "
      "another model?\n"))
      << outcome.output;
  EXPECT_NE(outcome.output.find("The predicted scheme has no attnres_single_pass.\n"),
            std::string::npos);
}

TEST_F(CompareTrace, NeedsTheNumberOfStepsForTheOverhead) {
  const Outcome unknown = run({"step.csv", "--scenario", "s.yaml"});
  EXPECT_TRUE(unknown.output.starts_with(
      "step.csv against s.yaml\n\nThe overhead is not known. --steps N says how many steps the "
      "trace holds.\n"))
      << unknown.output;
  EXPECT_NE(
      unknown.output.find(
          "Only kernels of device 'NVIDIA H200 (0)' are counted, because it has the most; 1 other "
          "device is left out.\n"),
      std::string::npos);
  const Outcome two = run({"step.json", "--scenario", "s.yaml", "--steps", "2"});
  EXPECT_NE(two.output.find("\nThe trace names 1 of the profiler's steps; --steps 2 was taken.\n"),
            std::string::npos)
      << two.output;
}

TEST_F(CompareTrace, TakesNamesOfOnesOwn) {
  folder_.written("names.yaml",
                  "schema: depthcost-kernel-names/1\nname: mine\nkernels:\n"
                  "  - {match: nvjet*, operation: mhc_boundary, source: mine}\n");
  const auto json = parsed_json(
      run({"step.json", "--scenario", "s.yaml", "--kernel-names", "names.yaml", "--format", "json"})
          .output);
  ASSERT_EQ(json["operations"].size(), 1U);
  EXPECT_EQ(json["operations"][0]["operation"], "mhc_boundary");
  EXPECT_EQ(json["unmapped"].size(), 3U);
}

TEST_F(CompareTrace, ListsTenKernelsAndCountsTheRest) {
  std::string events = R"({"cat": "kernel", "name": "_attn_res_kernel", "ts": 0, "dur": 10})";
  for (int i = 0; i < 12; ++i)
    events += R"(, {"cat": "kernel", "name": "k)" + std::to_string(i) + R"(", "ts": )" +
              std::to_string(100 * (i + 1)) + R"(, "dur": )" + std::to_string(i + 1) + "}";
  folder_.written("it.json", "[" + events + "]");
  const std::string text = run({"it.json", "--scenario", "s.yaml"}).output;
  EXPECT_NE(text.find("\n2 more kernels have no operation, 3.4 % of the kernel time if summed.\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("\nk1 "), std::string::npos);
  EXPECT_NE(text.find("\nk2 "), std::string::npos);
}

TEST_F(CompareTrace, SaysWhichKernelsItLeavesOut) {
  const auto kernel = [](int device, const std::string& rest) {
    return R"({"cat": "kernel", "name": "_attn_res_kernel", "args": {"device": )" +
           std::to_string(device) + R"(}, "ts": 0)" + rest + "}";
  };
  const std::string timed = R"(, "dur": 10)";
  const std::string first = "[" + kernel(0, timed) + ", " + kernel(0, timed) + ", " +
                            kernel(0, "") + ", " + kernel(1, timed);
  folder_.written("two.json", first + "]");
  folder_.written("three.json", first + ", " + kernel(2, timed) + "]");
  const std::string two = run({"two.json", "--scenario", "s.yaml"}).output;
  EXPECT_NE(
      two.find(
          "Only kernels of device '0' are counted, because it has the most; 1 other device is left out.\n"),
      std::string::npos)
      << two;
  EXPECT_NE(two.find("1 kernel without a duration was left out.\n"), std::string::npos) << two;
  const std::string three = run({"three.json", "--scenario", "s.yaml"}).output;
  EXPECT_NE(three.find("2 other devices are left out.\n"), std::string::npos) << three;
}

// Events that are no kernels leave nothing behind.
TEST_F(CompareTrace, HoldsTheKernelsAndNotTheFile) {
  const std::string operation =
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2, "args": {"a": [1]}}, )";
  const std::string kernel = R"({"cat": "kernel", "name": "_attn_res_kernel", "ts": 0, "dur": 10})";
  std::string events;
  for (int i = 0; i < 400'000; ++i) events += operation;
  folder_.written("long.json", "[" + events + kernel + "]");
  folder_.written("short.json", "[" + kernel + "]");
  const Outcome of_long = run({"long.json", "--scenario", "s.yaml"});
  const Outcome of_short = run({"short.json", "--scenario", "s.yaml"});
  EXPECT_EQ(of_long.exit_code, 0) << of_long.errors;
  ASSERT_GE(events.size(), 30'000'000U);
  EXPECT_LT(of_long.peak_megabytes, of_short.peak_megabytes + 5);
}

TEST_F(CompareTrace, RefusesWhatIsNoTrace) {
  const std::string at = "it.json:1:1: error: ";
  expect_fault("", at + "empty trace (holds no kernels)");
  expect_fault("\n", at + "empty trace (holds no kernels)");
  expect_fault(std::string("\x1F\x8B\x08\x00", 4), at + "broken gzip file (it ends too early)");
  expect_fault(std::string("\x1F\x8B\x08\x00", 4) + "no gzip stream",
               at + "broken gzip file (its content is damaged)");
  expect_fault(std::string("SQLite format 3\0", 16) + "and nothing of it",
               at + "cannot read the SQLite database (file is not a database)");
  expect_fault("{\"traceEvents\": []}", at + "no kernels (was the GPU profiled?)");
  expect_fault(R"([{"ph": "B", "cat": "kernel", "name": "_attn_res_kernel", "ts": 1}])",
               at + "no durations (none of 1 kernels has one)");
  expect_fault(R"([{"cat": "kernel", "name": "_attn_res_kernel", "ts": 1, "dur": 0}])",
               at + "no durations (every kernel takes 0 ns)");
  expect_fault(R"([{"cat": "kernel", "name": "gemm", "ts": 1, "dur": 2}])",
               at + "no known kernel (the longest of 1 is 'gemm'; --kernel-names FILE says which "
                    "operation a name is)");
  expect_fault("{\"traceEvents\": [\n {\"cat\": \"kernel\", \"name\": \"k\",",
               "it.json:2:32: error: malformed JSON (unexpected end of input; expected string "
               "literal)");
  expect_fault("a,b\n1,2\n", at + "no columns 'Start', 'Duration' and 'Name' (nsys stats -r "
                                  "cuda_gpu_trace -f csv writes them)");
  expect_error({"missing.json", "--scenario", "s.yaml"},
               "missing.json:1:1: error: cannot read the file (no such file or directory)");
}

TEST_F(CompareTrace, RefusesOptionsThatItDoesNotHave) {
  const std::string us = "compare:1:1: error: ";
  expect_error({"--scenario", "s.yaml"},
               us + "missing trace (--scenario says what a trace is a step of)");
  expect_error({"step.json", "--scenario", "s.yaml", "--hardware", "h200_sxm"},
               us + "conflicting --hardware (the scenario names its own)");
  expect_error({"step.json", "--scenario", "s.yaml", "--strict"},
               us + "conflicting --tolerances, --junit, --github or --strict (a trace has no "
                    "verdicts)");
  expect_error({"--published", "--scenario", "s.yaml"},
               us + "conflicting --published (--scenario is given)");
  expect_error({"step.json", "--scenario", "s.yaml", "--workload", "decode/4"},
               us + "unknown workload 'decode/4' (the scenario has: decode/1, decode/64)");
  expect_error(
      {"step.json", "--scenario", "s.yaml", "--set", "workload.decode.sequences=x"},
      "--set:1:1: error: invalid workload.decode.sequences 'x' (must be a positive integer)");
  expect_error({"step.json", "--workload", "decode/1"},
               us + "missing --scenario (what the trace is a step of)");
  expect_error({"step.json", "--steps", "2"},
               us + "missing --scenario (what the trace is a step of)");
  expect_error({"step.json"},
               us + "missing --hardware (the profile of the machine; of a trace: --scenario)");
  folder_.written("bare.yaml",
                  "schema: depthcost/1\nmodel: kimi_linear_48b\nresidual: {scheme: mhc}\n");
  expect_error({"step.json", "--scenario", "bare.yaml"},
               "bare.yaml:1:1: error: missing key 'hardware' (a trace is compared with predicted "
               "times)");
  folder_.written("names.yaml",
                  "schema: depthcost-kernel-names/1\nname: mine\nkernels:\n"
                  "  - {match: x, operation: mhc_past, source: mine}\n");
  expect_error({"step.json", "--scenario", "s.yaml", "--kernel-names", "names.yaml"},
               "names.yaml:4:27: error: unknown operation 'mhc_past'; did you mean 'mhc_post'?");
  folder_.written("none.yaml", "schema: depthcost-kernel-names/1\nname: mine\n");
  expect_error({"step.json", "--scenario", "s.yaml", "--kernel-names", "none.yaml"},
               "none.yaml:1:1: error: missing key 'kernels' (a file of names needs one)");
}

}  // namespace
}  // namespace depthcost::test::trace_test
