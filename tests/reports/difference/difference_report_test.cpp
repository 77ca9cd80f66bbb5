// The whole text of a difference in each of its forms.
#include "reports/difference/difference_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace depthcost::difference_test {
namespace {

Result result(double seconds, double reads, const std::string& verdict) {
  return {
      .program_version = "0.1.0",
      .scenario = "Kimi",
      .inputs = {{"residual.block_size", reads == 8 ? "24" : "12"},
                 {"residual.scheme", "block_attnres"},
                 {"residual.schedule", "single_pass"}},
      .rows = {{"ledger",
                "block_attnres single_pass kernel total",
                {{"reads_d", PredictedUnit::d_vectors, reads, {}, {}},
                 {"writes_d", PredictedUnit::d_vectors, 2, {}, {}}}},
               {"step",
                "decode/64 block_attnres single_pass",
                {{"delta_seconds", PredictedUnit::seconds, seconds, 90e-6, 110e-6},
                 {"overhead", PredictedUnit::ratio, seconds / 10e-3, 0.009, 0.011}}},
               {"step",
                "decode/64 mhc fused",
                {{"delta_seconds", PredictedUnit::seconds, 4 * seconds - 320e-6, 70e-6, 900e-6}}}},
      .verdicts = {{"budgets.decode_overhead", verdict}},
      .path = "block_attnres single_pass"};
}

DifferenceReport report() {
  const Result before = result(100e-6, 8, "pass");
  Result after = result(120e-6, 7.5, "fail");
  after.program_version = "0.2.0";
  after.rows.push_back(
      {"rest", "decode/64 attention", {{"bytes", PredictedUnit::bytes, 1, {}, {}}}});
  after.rows[0].quantities.pop_back();
  return {.before = compared("old.json", before),
          .after = compared("new.json", after),
          .tolerance = 0.1,
          .difference = difference(before, after, 0.1)};
}

const std::string kChanges =
    "Kimi: old.json -> new.json\n\ndepthcost 0.1.0 -> 0.2.0.\n\n"
    "Regression. The inputs differ, so only budgets and the scenario's own steps count: 2 worse by "
    "more than 10.0 %, 0 better, 2 out of the old interval, 0 gone. 1 verdict changed.\n\n"
    "The scenario's scheme\n\n"
    "name              old                                                             new\n"
    "----------------  --------------------------------------------------------------  "
    "--------------------------------------------------------------\n"
    "decode/64, added  block_attnres single_pass: +100 us [90, 110], 1.0 % [0.9, 1.1]  "
    "block_attnres single_pass: +120 us [90, 110], 1.2 % [0.9, 1.1]\n\n"
    "Inputs that differ\n\n"
    "name                 old  new\n"
    "-------------------  ---  ---\n"
    "residual.block_size  24   12\n\n"
    "Verdicts that changed\n\n"
    "name                     old  new\n"
    "-----------------------  ---  --------\n"
    "budgets.decode_overhead  OK   too much\n\n"
    "step\n\n"
    "row                                  number                        old               new   "
    "     change  relative  old interval\n"
    "-----------------------------------  ----------  ---------------------  ----------------  "
    "------------  --------  ------------\n"
    "decode/64 block_attnres single_pass  added time       100 us [90, 110]  120 us [90, 110]      "
    "+20.0 us   +20.0 %  above\n"
    "decode/64 block_attnres single_pass  overhead         1.0 % [0.9, 1.1]  1.2 % [0.9, 1.1]  "
    "+0.20 points   +20.0 %  above\n"
    "decode/64 mhc fused                  added time  80.0 us [70.0, 900.0]  160 us [70, 900]      "
    "+80.0 us    +100 %  inside\n\n";

TEST(DifferenceTable, SaysInputsThenVerdictsThenStepsAndKeepsTheRestForAnOption) {
  EXPECT_EQ(to_table(report()), kChanges + "--details shows what else moved.\n");
}

TEST(DifferenceTable, SaysWhatElseMovedHowFarAndOutOfWhichInterval) {
  DifferenceReport it = report();
  it.shown = ShownMoves::all;
  EXPECT_EQ(
      to_table(it),
      kChanges +
          "What moved\n\n"
          "section  compared  moved  beyond tolerance  outside interval  largest\n"
          "-------  --------  -----  ----------------  ----------------  -------\n"
          "ledger          1      1                 0                 0    6.2 %\n"
          "step            3      3                 3                 2    100 %\n\n"
          "ledger\n\n"
          "row                                     number   old    new  change  relative  old "
          "interval\n"
          "--------------------------------------  -------  ---  -----  ------  --------  "
          "------------\n"
          "block_attnres single_pass kernel total  reads_d  8 d  7.5 d  -0.5 d    -6.2 %  -\n\n"
          "Gone\n\n"
          "section  row                                     number\n"
          "-------  --------------------------------------  --------\n"
          "ledger   block_attnres single_pass kernel total  writes_d\n\n"
          "New\n\n"
          "section  row                  number\n"
          "-------  -------------------  ------\n"
          "rest     decode/64 attention  all\n");
}

TEST(DifferenceMarkdown, FoldsWhatIsNoInputVerdictOrStep) {
  const std::string text = to_markdown(report());
  const std::size_t fold = text.find("<details><summary>What moved, section by section</summary>");
  ASSERT_NE(fold, std::string::npos);
  EXPECT_LT(text.find("## Inputs that differ"), text.find("## Verdicts that changed"));
  EXPECT_LT(text.find("## Verdicts that changed"), text.find("## step"));
  EXPECT_LT(text.find("## step"), fold);
  EXPECT_LT(fold, text.find("## ledger"));
  EXPECT_TRUE(text.ends_with("</details>\n")) << text;
}

TEST(DifferenceTable, OfTheSameResultSaysSoInTwoLines) {
  const Result one = result(100e-6, 8, "pass");
  EXPECT_EQ(
      to_table({.before = {"a.json", "Kimi", "0.1.0"},
                .after = {"b.json", "Kimi", "0.1.0"},
                .tolerance = 0,
                .difference = difference(one, one, 0)}),
      "Kimi: a.json -> b.json\n\nNo regression. 5 predictions in both: 0 worse, 0 better, 0 out of the "
      "old interval, 0 gone. 0 verdicts changed.\n");
}

/// A log shows no more than this.
TEST(DifferenceTable, NamesWhatCountsAndIsGone) {
  const Result before = result(100e-6, 8, "pass");
  Result after = result(100e-6, 7, "pass");
  after.rows.erase(after.rows.begin() + 1);
  const std::string text = to_table({.before = compared("old.json", before),
                                     .after = compared("new.json", after),
                                     .tolerance = 0,
                                     .difference = difference(before, after, 0)});
  EXPECT_NE(text.find("1 gone"), std::string::npos) << text;
  EXPECT_NE(text.find("Gone, and counts\n\n"
                      "section  row                                  number\n"
                      "-------  -----------------------------------  ------\n"
                      "step     decode/64 block_attnres single_pass  all\n"),
            std::string::npos)
      << text;
}

TEST(DifferenceTable, SaysWhereLimitsAloneChanged) {
  Result before = result(100e-6, 8, "pass");
  before.inputs.insert(before.inputs.begin(), {"budgets.decode_overhead", "2 %"});
  Result after = before;
  after.inputs.front().word = "5 %";
  const std::string text = to_table({.difference = difference(before, after, 0)});
  EXPECT_NE(text.find("Limits changed, and no prediction is worse. "), std::string::npos) << text;
}

/// Another GPU has as many curves as the table has lines.
TEST(DifferenceTable, CountsTheEntriesOfALongList) {
  Result before = result(100e-6, 8, "pass");
  for (const int ranks : {2, 3, 4, 5, 6})
    before.inputs.insert(before.inputs.begin(),
                         {"hardware.transfers[send, node, " + std::to_string(ranks) + "]", "5 us"});
  Result after = before;
  for (std::size_t i = 0; i < 5; ++i) after.inputs[i].word = "6 us";
  const std::string text = to_table({.difference = difference(before, after, 0)});
  EXPECT_NE(text.find("\nhardware.transfers  5 that differ  5 that differ\n"), std::string::npos)
      << text;
}

TEST(DifferenceTable, ShowsTheLargestMovesOfASection) {
  Result before;
  Result after;
  for (int i = 1; i <= 30; ++i) {
    const std::string name = std::to_string(i);
    before.rows.push_back({"time", name, {{"n", PredictedUnit::plain, 100, {}, {}}}});
    after.rows.push_back({"time", name, {{"n", PredictedUnit::plain, 100.0 + i, {}, {}}}});
  }
  const std::string text =
      to_table({.difference = difference(before, after, 0), .shown = ShownMoves::all});
  EXPECT_NE(text.find("time: 10 of 30 moves\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n30   n       100  130     +30"), std::string::npos) << text;
  EXPECT_NE(text.find("\n21   n       100  121"), std::string::npos);
  EXPECT_EQ(text.find("\n20   n"), std::string::npos);
}

/// The step of the standard residual stands beside each scheme and schedule.
TEST(DifferenceTable, ShowsMovesThatReadTheSameOnce) {
  const auto steps = [](double seconds) {
    Result it{
        .program_version = "0.1.0", .scenario = "s", .inputs = {}, .rows = {}, .verdicts = {}};
    for (const char* row : {"decode/64 mhc fused", "decode/64 mhc two_pass", "decode/1 mhc fused"})
      it.rows.push_back(
          {"step", row, {{"baseline_seconds", PredictedUnit::seconds, seconds, {}, {}}}});
    it.rows.back().quantities[0].value = 2 * seconds;
    return it;
  };
  const Result before = steps(1e-3);
  const Result after = steps(3e-3);
  const std::string text = to_table({.before = compared("old.json", before),
                                     .after = compared("new.json", after),
                                     .difference = difference(before, after, 0)});
  EXPECT_NE(text.find("\nstep\n\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\ndecode/64 mhc fused and 1 more  baseline"), std::string::npos) << text;
  EXPECT_NE(text.find("\ndecode/1 mhc fused              baseline"), std::string::npos) << text;
  EXPECT_EQ(text.find("two_pass"), std::string::npos) << text;
}

TEST(DifferenceMarkdown, EscapesWhatFilesSay) {
  DifferenceReport it = report();
  it.before.file = "a_*b*.json";
  it.difference.verdicts[0].name = "<b>|`x`";
  const std::string text = to_markdown(it);
  EXPECT_TRUE(text.starts_with("# Kimi: a\\_\\*b\\*.json -\\> new.json\n")) << text;
  EXPECT_NE(text.find("\n## Verdicts that changed\n\n| name | old | new |\n| --- | --- | --- |\n| "
                      "\\<b\\>\\|\\`x\\` | pass | fail |\n"),
            std::string::npos)
      << text;
}

TEST(DifferenceJson, HasEveryMove) {
  const auto json = nlohmann::ordered_json::parse(to_json(report(), "0.2.0"));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["old"]["program_version"], "0.1.0");
  EXPECT_EQ(json["tolerance"], 0.1);
  EXPECT_EQ(json["holds"], false);
  EXPECT_EQ(json["verdicts"][0].dump(),
            R"({"name":"budgets.decode_overhead","old":"pass","new":"fail"})");
  EXPECT_EQ(json["sections"][1].dump(),
            R"({"section":"step","compared":3,"moved":3,"beyond_tolerance":3,)"
            R"("outside_old_interval":2})");
  ASSERT_EQ(json["moved"].size(), 4U);
  EXPECT_EQ(json["moved"][0].dump(),
            R"({"section":"ledger","row":"block_attnres single_pass kernel total",)"
            R"("quantity":"reads_d","unit":"d","old":8,"old_low":null,"old_high":null,"new":7.5,)"
            R"("new_low":null,"new_high":null,"change":-0.5,"relative":-0.0625,)"
            R"("old_interval":null,"beyond_tolerance":false,"better":true,"counts":false})");
  EXPECT_EQ(json["moved"][1]["old_interval"], "above");
  EXPECT_EQ(json["removed"][0]["quantity"], "writes_d");
  EXPECT_TRUE(json["added"][0]["quantity"].is_null());
}

}  // namespace
}  // namespace depthcost::difference_test
