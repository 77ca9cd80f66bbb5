// Comparisons as tables, JSON, JUnit and annotations.
#include "reports/comparison/comparison_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/comparison/comparison_gates.hpp"
#include "reports/comparison/kernel_tables.hpp"
#include "tests/parsed_json.hpp"
#include "tests/reports/plot_script.hpp"

namespace depthcost::comparison_test {
namespace {

ComparedCase compared(const std::string& id, double error, Agreement agreement, bool blocks) {
  ComparedCase it;
  it.id = id;
  it.hardware = "round";
  it.call = {.operation = "mhc_post", .num_tokens = 8192, .hidden_size = 4096};
  it.comparison.measured = {{99e-6}, {100e-6}, {101e-6}};
  it.comparison.predicted = {{90e-6}, {100e-6 / (1 + error)}, {110e-6}, Evidence::published};
  it.comparison.bound = {80e-6};
  it.comparison.error = error;
  it.comparison.tolerance = 0.05;
  it.comparison.agreement = agreement;
  it.comparison.attribution = {Term::bandwidth, 1 / (1 + error)};
  it.stacks = {{"A", {100e-6}, error}, {"B, 2", {125e-6}, error + 0.25}};
  it.rule = {.match = "*",
             .tolerance = {.relative = 0.05},
             .blocks = blocks,
             .reason = "why",
             .file = "rules.yaml",
             .line = 7};
  it.file = "kernels.csv";
  it.line = 12;
  return it;
}

ComparisonReport report() {
  return {.title = "A & B",
          .cases = {compared("good", 0.01, Agreement::pass, true),
                    compared("bad", 0.10, Agreement::fail, true),
                    compared("shown", -0.20, Agreement::fail, false),
                    compared("unsure", 0.06, Agreement::ambiguous, true),
                    compared("wrong", -0.30, Agreement::impossible, false)},
          .notes = {"Column 'x' was ignored."}};
}

TEST(AttributionText, SaysTheQuantityOfEachTerm) {
  EXPECT_EQ(attribution_text({Term::bytes, 1.04}), "+1.0 d");
  EXPECT_EQ(attribution_text({Term::bytes, -2}), "-2.0 d");
  EXPECT_EQ(attribution_text({Term::bandwidth, 0.871}), "0.87 x bandwidth");
  EXPECT_EQ(attribution_text({Term::launch, 1.9e-6}), "+1.90 us launch");
  EXPECT_EQ(attribution_text({Term::arithmetic, 0.5}), "0.50 x rate");
}

TEST(ComparisonTable, ShowsErrorIntervalAndVerdict) {
  const Table table = comparison_table(report().cases);
  ASSERT_EQ(table.rows.size(), 5U);
  EXPECT_EQ(table.rows[1], (std::vector<std::string>{"bad", "100 us", "90.9 us [90.0, 110.0]",
                                                     "+10.0 %", "fail", "0.91 x bandwidth"}));
  EXPECT_EQ(table.rows[2][4], "fail, reported");
  EXPECT_EQ(table.rows[4][4], "impossible");
  EXPECT_EQ(stack_table(report().cases).rows.size(), 10U);
}

TEST(ComparisonLines, SumUp) {
  EXPECT_EQ(error_line(report().cases),
            "5 cases: median |error| 10.0 %, 90th percentile 30.0 %, worst -30.0 %, 0 % inside the "
            "90 % interval.");
  EXPECT_EQ(verdict_line(report().cases),
            "Gates: 2 of 3 fail, so the exit code is 1. Of 5 kernels: 1 pass, 2 fail, 1 ambiguous, "
            "1 impossible.");
  EXPECT_EQ(error_table(report().cases).rows,
            (std::vector<std::vector<std::string>>{
                {"round mhc_post, launch up to 10 %", "5", "10.0 %", "30.0 %", "-30.0 %", "0 %"}}));
}

TEST(ComparisonLines, TellWhereLaunchCounts) {
  std::vector<ComparedCase> cases = report().cases;
  for (std::size_t i = 1; i < cases.size(); ++i) cases[i].comparison.terms.floor = {50e-6};
  EXPECT_TRUE(error_line(cases).ends_with(
      " 1 with up to 10 % of launch: median |error| 1.0 %, 90th percentile 1.0 %, worst +1.0 %, 0 % inside the "
      "90 % interval."));
  const Table table = error_table(cases);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0][0], "round mhc_post, launch up to 10 %");
  EXPECT_EQ(table.rows[1][0], "round mhc_post, launch above 10 %");
}

TEST(ComparisonJson, HasUnitsInItsKeysAndEveryStack) {
  const auto json = test::parsed_json(to_json(report(), "1.2.3"));
  EXPECT_EQ(json["program_version"], "1.2.3");
  EXPECT_EQ(json["summary"]["cases"], 5);
  const auto& it = json["cases"][1];
  EXPECT_EQ(it["case"], "bad");
  EXPECT_EQ(it["operation"], "mhc_post");
  EXPECT_EQ(it["streams"], 4);
  EXPECT_TRUE(it["sources"].is_null());
  EXPECT_EQ(it["measured_seconds"], 100e-6);
  EXPECT_EQ(it["verdict"], "fail");
  EXPECT_EQ(it["blocks"], true);
  EXPECT_EQ(it["term"], "bandwidth");
  EXPECT_TRUE(it.contains("difference_ratio"));
  EXPECT_EQ(it["rule"]["line"], 7);
  EXPECT_EQ(it["stacks"][1]["stack"], "B, 2");
  EXPECT_EQ(json["notes"][0], "Column 'x' was ignored.");
}

/// A served step that was measured at 2 s, with an interval of 1 to `high` seconds.
ComparedRun served(const std::string& model, const std::string& gpu, double high) {
  return {.id = model + "/" + gpu,
          .model = model,
          .gpu = gpu,
          .stack = "engine",
          .comparison = {.measured = {{2}, {2}, {2}},
                         .predicted = {{1}, {1.5}, {high}},
                         .error = 2 / 1.5 - 1,
                         .is_inside = high >= 2}};
}

TEST(ServingTable, HasARowForEachModelGpuAndForAll) {
  const std::vector<ComparedRun> servings{served("b", "h200", 3), served("a", "h200", 1.6)};
  const std::string error = "33.3 %";
  EXPECT_EQ(run_table(servings).rows, (std::vector<std::vector<std::string>>{
                                          {"model a", "1", error, error, "+33.3 %", "0 %"},
                                          {"model b", "1", error, error, "+33.3 %", "100 %"},
                                          {"GPU h200", "2", error, error, "+33.3 %", "50.0 %"},
                                          {"all", "2", error, error, "+33.3 %", "50.0 %"}}));
}

// b: (3 - 1) / 2, a: (0.6 + 20 x 0.4) / 2.
TEST(ComparisonJson, ScoresEachGroup) {
  ComparisonReport it = report();
  it.servings = {served("b", "h200", 3), served("a", "h200", 1.6)};
  const auto json = test::parsed_json(to_json(it, "1"));
  EXPECT_DOUBLE_EQ(json["summary"]["score"], 0.2);
  ASSERT_EQ(json["groups"].size(), 1U);
  const auto& group = json["groups"][0];
  EXPECT_EQ(group["hardware"], "round");
  EXPECT_EQ(group["operation"], "mhc_post");
  EXPECT_EQ(group["launch"], "up to 10 %");
  EXPECT_EQ(group["cases"], 5);
  EXPECT_DOUBLE_EQ(group["score"], 0.2);
  EXPECT_DOUBLE_EQ(group["scatter"], 0.25);
  ASSERT_EQ(json["serving_groups"].size(), 4U);
  EXPECT_EQ(json["serving_groups"][3]["by"], "all");
  EXPECT_DOUBLE_EQ(json["serving_groups"][3]["score"], 2.65);
}

/// Training steps have keys of their own, beside those of served ones.
TEST(ComparisonJson, HasTrainingStepsByThemselves) {
  ComparisonReport it = report();
  EXPECT_FALSE(test::parsed_json(to_json(it, "1")).contains("trainings"));
  it.trainings = {served("b", "h200", 3)};
  const auto json = test::parsed_json(to_json(it, "1"));
  EXPECT_FALSE(json.contains("servings"));
  ASSERT_EQ(json["trainings"].size(), 1U);
  EXPECT_EQ(json["trainings"][0]["inside"], true);
  EXPECT_EQ(json["training_groups"].size(), 3U);
  EXPECT_NE(to_markdown(it).find("Training steps"), std::string::npos);
}

/// Every point as a dull loop has it: 2 x 4096 x 8192 adds and so on, over the measured time.
TEST(RooflinePlot, HoldsEveryKernelUnderTheRoofOfItsBound) {
  const std::vector<ComparedCase> cases = report().cases;
  Machine machine;
  machine.name = "Round";
  const auto plot = roofline_plot(machine, cases);
  ASSERT_TRUE(plot);
  EXPECT_EQ(plot->file_name, "roofline.svg");
  const Operation operation = *find_operation(cases.front().call);
  const double operations = 8192.0 * 4096 * operation.flops_d;
  const double bytes = launch_bytes(operation, execution_of(cases.front().call)).value;
  const auto measured = test::rows_of(plot->script, "$measured");
  ASSERT_EQ(measured.size(), cases.size());
  EXPECT_NEAR(measured[0][0], operations / bytes, 1e-4);
  EXPECT_NEAR(measured[0][1], operations / 100e-6 / 1e12, 1e-4);
  // A bound of 80 us is a roof that much above 100 us.
  const auto roof = test::rows_of(plot->script, "$roof");
  EXPECT_NEAR(roof.back()[1] / roof.back()[0], bytes / 80e-6 / 1e12, 1e-4);
  EXPECT_NE(plot->script.find("Roofline of Round"), std::string::npos);
  EXPECT_FALSE(roofline_plot(machine, {}));
}

TEST(KernelTables, NameWhatCasesShareOnce) {
  ComparedCase one{.id = "gpu/mhc_post/m:4/T:64/d:4096/hot"};
  one.call.num_tokens = 64;
  ComparedCase other{.id = "gpu/mhc_post/m:4/T:8192/d:4096/hot"};
  other.call.num_tokens = 8192;
  ComparedCase apart{.id = "gpu/mhc_pre/m:4/T:64/d:4096/hot"};
  apart.call.num_tokens = 64;
  const auto tables = kernel_tables(std::vector<ComparedCase>{one, apart, other});
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].first, "gpu/mhc_post/m:4/d:4096/hot");
  EXPECT_EQ(tables[1].first, "gpu/mhc_pre/m:4/d:4096/hot");
  ASSERT_EQ(tables[0].second.rows.size(), 2U);
  EXPECT_EQ(tables[0].second.rows[0][0], "64");
  EXPECT_EQ(tables[0].second.rows[1][0], "8,192");
}

TEST(ComparisonText, BeginsWithTheVerdictsAndHasNoRowBeyond80Places) {
  const std::string text = to_table(report());
  EXPECT_TRUE(text.find("\nGates: ") < text.find("\n\n")) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.size() <= 80 || line.ends_with('.')) << line;
}

TEST(ComparisonText, GivesTheReasonOfWhatBlocksFirst) {
  const std::string text = to_table(report());
  std::vector<std::string> reasons;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && !line.empty();)
    if (line.find(", tolerance ") != std::string::npos)
      reasons.push_back(line.substr(0, line.find(", predicted")));
  ASSERT_EQ(reasons.size(), 3U) << text;
  EXPECT_EQ(reasons[1], "bad: fail: measured 100 us");
}

TEST(ComparisonJson, HasEveryTermOfThePrediction) {
  ComparisonReport it = report();
  it.cases.resize(1);
  Comparison& comparison = it.cases.front().comparison;
  comparison.terms = {{1e-6}, {60e-6}, {20e-6}, {38e-6}};
  comparison.predicted.value = comparison.terms.total();
  const auto json = test::parsed_json(to_json(it, "1"))["cases"][0];
  const auto seconds = [&](const std::string& term) {
    return json[term + "_seconds"].get<double>();
  };
  EXPECT_DOUBLE_EQ(
      seconds("predicted"),
      seconds("floor") + std::max(seconds("bytes"), seconds("operations")) + seconds("on_top"));
}

/// As `--strict` has it.
ComparisonReport strict_report() {
  ComparisonReport it = report();
  for (ComparedCase& compared : it.cases) compared.ambiguities = Ambiguities::fail;
  return it;
}

TEST(StrictGate, IsRedWhereverItIsRead) {
  const ComparisonReport it = strict_report();
  EXPECT_TRUE(verdict_line(it.cases).starts_with("Gates: 3 of 3 fail, so the exit code is 1. "))
      << verdict_line(it.cases);
  const JunitSuite suite = junit_suite(it);
  EXPECT_EQ(suite.cases[3].outcome, JunitOutcome::failed);
  EXPECT_EQ(suite.cases[3].failure_type, "ambiguous");
  EXPECT_EQ(suite.cases[2].outcome, JunitOutcome::skipped);
  EXPECT_EQ(comparison_table(it.cases).rows[3][4], "ambiguous");
  const auto lines = annotations(it);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[2].title, "unsure");
  EXPECT_EQ(lines[2].level, AnnotationLevel::error);
  EXPECT_EQ(test::parsed_json(to_json(it, "1"))["cases"][3]["blocks"], true);
}

TEST(Junit, FailsWhatBlocksAndSkipsWhatDoesNot) {
  const JunitSuite suite = junit_suite(report());
  const auto outcome = [&](std::size_t i) { return suite.cases[i].outcome; };
  EXPECT_EQ(outcome(0), JunitOutcome::passed);
  EXPECT_EQ(outcome(1), JunitOutcome::failed);
  EXPECT_EQ(outcome(2), JunitOutcome::skipped);
  EXPECT_EQ(outcome(3), JunitOutcome::skipped);
  EXPECT_EQ(outcome(4), JunitOutcome::failed);
  EXPECT_EQ(suite.cases[1].failure_type, "mispredict");
  EXPECT_EQ(suite.cases[4].failure_type, "impossible");
  EXPECT_EQ(suite.cases[1].class_name, "mhc_post");
  EXPECT_TRUE(suite.cases[2].message.starts_with("reported only: fail: measured 100 us"));
}

TEST(Junit, IsWellFormedWhateverItSays) {
  const JunitSuite suite{.name = "s",
                         .properties = {{"a", "<&>\"'"}},
                         .cases = {{.name = "x\ny\x01",
                                    .class_name = "c",
                                    .outcome = JunitOutcome::failed,
                                    .failure_type = "t",
                                    .message = "a<b",
                                    .output = "c>d"},
                                   {.name = "n", .class_name = "c"}}};
  EXPECT_EQ(to_junit(suite),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "  <testsuite name=\"s\" package=\"depthcost\" id=\"0\" "
            "timestamp=\"1970-01-01T00:00:00\" hostname=\"localhost\" tests=\"2\" failures=\"1\" "
            "errors=\"0\" skipped=\"0\" time=\"0\">\n"
            "    <properties>\n"
            "      <property name=\"a\" value=\"&lt;&amp;&gt;&quot;'\"/>\n"
            "    </properties>\n"
            "    <testcase name=\"x&#10;y\xEF\xBF\xBD\" classname=\"c\" time=\"0\">\n"
            "      <failure type=\"t\" message=\"a&lt;b\"/>\n"
            "    </testcase>\n"
            "    <testcase name=\"n\" classname=\"c\" time=\"0\">\n"
            "    </testcase>\n"
            "    <system-out>x&#10;y\xEF\xBF\xBD: c&gt;d\n</system-out>\n"
            "    <system-err></system-err>\n"
            "  </testsuite>\n</testsuites>\n");
}

TEST(Annotations, PointAtTheRowWorstFirst) {
  const auto lines = annotations(report());
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].title, "wrong");
  EXPECT_EQ(lines[1].title, "bad");
  EXPECT_EQ(lines[2].title, "unsure");
  EXPECT_EQ(lines[2].level, AnnotationLevel::warning);
  const std::string text = to_annotations(lines);
  EXPECT_TRUE(
      text.starts_with("::error file=kernels.csv,line=12,title=wrong::impossible: measured "));
  EXPECT_NE(text.find("tolerance 5.0 %25 (why)"), std::string::npos) << text;
}

TEST(Annotations, AreEscapedAndAtMostTenOfAKind) {
  const std::vector<Annotation> many(
      12, {.file = "a,b:c", .line = 2, .title = "50 %", .message = "a: b, 5 %\r\nc"});
  const std::string line = "::error file=a%2Cb%3Ac,line=2,title=50 %25::a: b, 5 %25%0D%0Ac\n";
  std::string expected;
  for (int i = 0; i < 10; ++i) expected += line;
  EXPECT_EQ(to_annotations(many), expected);
}

}  // namespace
}  // namespace depthcost::comparison_test
