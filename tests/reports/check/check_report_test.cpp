// Verdicts as tables, JSON, JUnit, annotations and a summary that GitHub takes.
#include "reports/check/check_report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace depthcost::check_report_test {
namespace {

BudgetRow kept() { return {{BudgetKind::prefill_bank, 2.5e9, 4}, 2e9, 2e9, Verdict::pass, "", {}}; }
BudgetRow broken() {
  return {{BudgetKind::decode_overhead, 0.02, 5},
          0.03,
          0.05,
          Verdict::fail,
          "largest at decode/1",
          {{"schedule two_phase"}}};
}
BudgetRow open() {
  return {{BudgetKind::prefill_overhead, 0.02, 6}, 0.01, 0.05, Verdict::unknown,
          "the limit lies inside the interval",    {}};
}

CheckReport report() {
  return {.scenarios = {{.file = "a_1.yaml", .name = "A", .budgets = {kept(), broken(), open()}},
                        {.file = "bad.yaml",
                         .name = "",
                         .budgets = {},
                         .refused = RefusedScenario{7, "unknown key 'x|y'"}},
                        {.file = "silent.yaml", .name = "S", .budgets = {}}}};
}

TEST(CheckTable, HasTheWorstWordTheLimitsAndTheNearestFix) {
  EXPECT_EQ(to_table(report()),
            "a_1.yaml: A: too much\n\n"
            "budget               limit       predicted            over by  verdict\n"
            "----------------  --------  --------------  -----------------  --------\n"
            "prefill_bank      2.500 GB        2.000 GB                  -  OK\n"
            "decode_overhead      2.0 %  [3.0 %, 5.0 %]  1.0 to 3.0 points  too much\n"
            "prefill_overhead     2.0 %  [1.0 %, 5.0 %]                  -  unknown\n\n"
            "decode_overhead: largest at decode/1\n"
            "decode_overhead: schedule two_phase would keep it\n"
            "prefill_overhead: the limit lies inside the interval\n\n"
            "silent.yaml: S\n\nno budgets: nothing to check\n\n");
}

TEST(CheckTable, SaysThatWhatMayBreakPasses) {
  CheckReport open_alone = report();
  open_alone.scenarios.front().budgets = {kept(), open()};
  EXPECT_TRUE(
      to_table(open_alone)
          .starts_with("a_1.yaml: A: unknown. The check passes; with --strict it fails\n\n"))
      << to_table(open_alone);
  open_alone.unknowns = Unknowns::fail;
  EXPECT_TRUE(to_table(open_alone).starts_with("a_1.yaml: A: unknown\n\n"));
}

TEST(CheckJson, HasEveryScenarioAndEveryBudget) {
  const auto json = nlohmann::ordered_json::parse(to_json(report(), "0.1.0"));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["unknown_fails"], false);
  const auto& scenarios = json["scenarios"];
  ASSERT_EQ(scenarios.size(), 3U);
  EXPECT_EQ(scenarios[0]["verdict"], "fail");
  EXPECT_EQ(scenarios[0]["fails"], true);
  EXPECT_EQ(scenarios[1]["fails"], true);
  EXPECT_EQ(scenarios[2]["fails"], false);
  EXPECT_TRUE(scenarios[0]["error"].is_null());
  EXPECT_EQ(
      scenarios[0]["budgets"][1].dump(),
      R"({"name":"decode_overhead","need":0.02,"have_low":0.03,"have_high":0.05,)"
      R"("have_median":null,"margin":-0.03,"verdict":"fail","fate":"too much","unit":"ratio","reason":"largest at decode/1",)"
      R"("nearest":"schedule two_phase would keep it","shortfall":0.01})");
  EXPECT_EQ(scenarios[0]["budgets"][0]["shortfall"], 0);
  EXPECT_EQ(scenarios[1]["verdict"], "bad input");
  EXPECT_EQ(scenarios[1]["error"], "unknown key 'x|y'");
  EXPECT_TRUE(scenarios[2]["verdict"].is_null());
}

ComparedCase measured(double low_us, double high_us) {
  ComparedCase it;
  it.id = "h200_sxm/mhc_post/m:4/bf16/T:64/d:7168/graph/hot";
  it.hardware = "h200_sxm";
  it.call = {.operation = "mhc_post", .num_tokens = 64, .hidden_size = 7168};
  it.call.temperature = Temperature::hot;
  it.stacks = {{"engine 1.0", {10e-6}}};
  it.comparison.measured.value = {10e-6};
  it.comparison.predicted = {{low_us * 1e-6}, {8e-6}, {high_us * 1e-6}};
  it.comparison.is_inside = low_us <= 10 && 10 <= high_us;
  return it;
}

/// The broken budget beside a measurement.
CheckReport report_beside(const ComparedCase& nearest) {
  return {.scenarios = {
              {.file = "a.yaml",
               .name = "A",
               .budgets = {kept(), broken()},
               .nearest = {{BudgetKind::decode_overhead, "mhc", WorkloadId::decode(1), nearest}}}}};
}

const std::string kInside =
    "nearest measured kernel: mhc_post, T = 64, d = 7168, hot, on h200_sxm took 10.0 us (engine "
    "1.0), inside the predicted 8.00 us [6.00, 12.00]";
const std::string kOutside =
    "warning: nearest measured kernel: mhc_post, T = 64, d = 7168, hot, on h200_sxm took 10.0 us "
    "(engine 1.0), OUTSIDE the predicted 8.00 us [7.00, 9.00]: times of mhc at decode/1 may be as "
    "far off";

TEST(CheckMeasurements, StandBelowTheTable) {
  const std::string fix = "decode_overhead: schedule two_phase would keep it\n";
  EXPECT_TRUE(to_table(report_beside(measured(6, 12)))
                  .ends_with(fix + "decode_overhead: " + kInside + "\n\n"));
  EXPECT_TRUE(to_table(report_beside(measured(7, 9)))
                  .ends_with(fix + "decode_overhead: " + kOutside + "\n\n"));
}

TEST(CheckMeasurements, AreInJson) {
  const auto json = nlohmann::ordered_json::parse(to_json(report_beside(measured(7, 9)), "1"));
  EXPECT_EQ(json["scenarios"][0]["nearest_measurements"].dump(),
            R"([{"budget":"decode_overhead","scheme":"mhc","workload":"decode/1",)"
            R"("case":"h200_sxm/mhc_post/m:4/bf16/T:64/d:7168/graph/hot","stack":"engine 1.0",)"
            R"("measured_seconds":1e-05,"predicted_seconds":8e-06,"low_seconds":7e-06,)"
            R"("high_seconds":9e-06,"inside":false}])");
  EXPECT_EQ(json["scenarios"][0]["verdict"], "fail");
}

// A warning is a message: it is no outcome, and it is not in the message of a failure.
TEST(CheckMeasurements, AreToldToCiAndDecideNothing) {
  CheckReport outside = report_beside(measured(7, 9));
  outside.scenarios[0].budgets[1].verdict = Verdict::pass;
  const JunitSuite suite = junit_suite(outside);
  ASSERT_EQ(suite.cases.size(), 2U);
  EXPECT_EQ(suite.cases[1].outcome, JunitOutcome::passed);
  EXPECT_TRUE(suite.cases[1].output.ends_with("; " + kOutside)) << suite.cases[1].output;
  EXPECT_EQ(suite.cases[1].message.find("nearest measured"), std::string::npos);
  EXPECT_EQ(suite.cases[0].output.find("nearest measured"), std::string::npos);
  EXPECT_EQ(to_annotations(annotations(outside)),
            "::warning file=a.yaml,line=5,title=decode_overhead::" + kOutside + "\n");
  EXPECT_NE(step_summary(outside, kMostSummaryBytes).find("; warning: nearest measured kernel: "),
            std::string::npos);
  CheckReport inside = report_beside(measured(6, 12));
  EXPECT_EQ(annotations(inside).size(), 1U);
  EXPECT_TRUE(junit_suite(inside).cases[1].output.ends_with("; " + kInside));
  EXPECT_EQ(step_summary(inside, kMostSummaryBytes).find("nearest measured"), std::string::npos);
}

TEST(CheckJunit, FailsSkipsAndErrs) {
  const auto outcomes = [](const CheckReport& it) {
    std::string text;
    for (const JunitCase& each : junit_suite(it).cases)
      text += fmt::format("{}={} ", each.name, static_cast<int>(each.outcome));
    return text;
  };
  CheckReport it = report();
  EXPECT_EQ(outcomes(it),
            "a_1.yaml/prefill_bank=0 a_1.yaml/decode_overhead=1 a_1.yaml/prefill_overhead=2 "
            "bad.yaml=3 silent.yaml=2 ");
  it.unknowns = Unknowns::fail;
  EXPECT_EQ(outcomes(it),
            "a_1.yaml/prefill_bank=0 a_1.yaml/decode_overhead=1 a_1.yaml/prefill_overhead=1 "
            "bad.yaml=3 silent.yaml=2 ");
  EXPECT_EQ(junit_suite(it).cases[1].message,
            "too much: predicted [3.0 %, 5.0 %], the limit is 2.0 %; largest at decode/1; schedule "
            "two_phase would keep it");
}

TEST(CheckAnnotations, StandAtTheirLines) {
  EXPECT_EQ(to_annotations(annotations(report())),
            "::error file=a_1.yaml,line=5,title=decode_overhead::too much: predicted [3.0 "
            "%25, 5.0 %25], the limit is 2.0 %25; largest at decode/1; schedule two_phase would "
            "keep it\n"
            "::warning file=a_1.yaml,line=6,title=prefill_overhead::unknown: predicted [1.0 "
            "%25, 5.0 %25], the limit is 2.0 %25; the limit lies inside the interval\n"
            "::error file=bad.yaml,line=7,title=bad input::unknown key 'x|y'\n"
            "::warning file=silent.yaml,line=1,title=no budgets::nothing was checked\n");
}

TEST(CheckAnnotations, AreTenOfAKindAndCutToWhatGitHubShows) {
  CheckReport it;
  it.scenarios.resize(11, {.file = "a.yaml",
                           .name = "",
                           .budgets = {open()},
                           .refused = RefusedScenario{1, "\xC3\xA9" + std::string(5000, 'x')}});
  const std::string text = to_annotations(annotations(it));
  std::size_t errors = 0;
  std::size_t warnings = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    (line.starts_with("::error") ? errors : warnings) += 1;
    const std::string message = line.substr(line.find("::", 2) + 2);
    EXPECT_LE(message.size(), kMostMessageBytes);
    if (line.starts_with("::error")) {
      EXPECT_EQ(message.size(), kMostMessageBytes);
      EXPECT_TRUE(message.ends_with("xxx..."));
    }
  }
  EXPECT_EQ(errors, kMostAnnotations);
  EXPECT_EQ(warnings, kMostAnnotations);
}

TEST(Annotations, AreCutBetweenCharacters) {
  std::string message(kMostMessageBytes - 4, 'x');
  message += "\xC3\xA9\xC3\xA9\xC3\xA9";
  const std::vector<Annotation> one{{.file = "f", .title = "t", .message = message}};
  EXPECT_TRUE(to_annotations(one).ends_with("xxx...\n")) << "a half of e acute would stand there";
}

TEST(StepSummary, PutsTheWorstFirst) {
  EXPECT_EQ(
      step_summary(report(), kMostSummaryBytes),
      "### depthcost check: 4 gates: 1 bad input, 1 too much, 1 not sure, 1 OK\n\n"
      "| scenario | gate | limit | predicted | over by | verdict | why, and what would keep it "
      "|\n| --- | --- | ---: | ---: | ---: | --- | --- |\n"
      "| bad.yaml | - | - | - | - | bad input | unknown key 'x\\|y' |\n"
      "| a\\_1.yaml | `decode_overhead` | 2.0 % | [3.0 %, 5.0 %] | 1.0 to 3.0 points | too much | largest "
      "at decode/1; schedule two\\_phase would keep it |\n"
      "| a\\_1.yaml | `prefill_overhead` | 2.0 % | [1.0 %, 5.0 %] | - | unknown | the "
      "limit lies inside the interval |\n"
      "| a\\_1.yaml | `prefill_bank` | 2.500 GB | 2.000 GB | - | OK |  |\n\n");
}

TEST(StepSummary, KeepsWithinAnySizeAndCountsTheRest) {
  CheckReport it;
  for (int i = 0; i < 100; ++i) it.scenarios.push_back(report().scenarios.front());
  const std::string whole = step_summary(it, kMostSummaryBytes);
  EXPECT_EQ(whole.find("more."), std::string::npos);
  EXPECT_EQ(step_summary(it, whole.size()), whole);
  for (std::size_t max = 0; max < whole.size(); max += 97) {
    const std::string cut = step_summary(it, max);
    EXPECT_LE(cut.size(), max);
    EXPECT_TRUE(cut.empty() || cut.ends_with(" more.\n\n")) << max;
  }
  const std::string cut = step_summary(it, 20'000);
  const std::size_t rows = static_cast<std::size_t>(std::count(cut.begin(), cut.end(), '\n')) - 7;
  EXPECT_NE(cut.find(fmt::format("\nAnd {} more.\n", 300 - rows)), std::string::npos) << rows;
}

}  // namespace
}  // namespace depthcost::check_report_test
