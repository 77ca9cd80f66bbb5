// Whole texts of a plan: the best, the nearest that breaks a limit, the nearest that does not fit.
#include "reports/plan/plan_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/parsed_json.hpp"
#include "tests/studies.hpp"

namespace depthcost::plan_report_test {
namespace {

using json = nlohmann::json;

PlannedPlacement plan(const Placement& placement, double step, double overhead) {
  PlannedPlacement plan{.placement = placement,
                        .scheme = "block_attnres",
                        .fate = PlanFate::keeps,
                        .missing = {},
                        .memory = Bytes{40e9},
                        .schedule = Schedule::two_phase,
                        .shipped = Schedule::single_pass,
                        .blocks = partition_by_size(186, 24),
                        .quality = {loss_by_size(24), loss_by_count(8)},
                        .times = {},
                        .cost = step};
  plan.times.push_back(
      {WorkloadId::decode(64), test::plus_minus<Seconds>(step, 0.1, Evidence::assumed),
       test::plus_minus<Seconds>(overhead * step, 0.5, Evidence::assumed),
       test::plus_minus<double>(overhead, 0.5, Evidence::assumed), 0.02, 8 / step});
  return plan;
}

PlanReport report() {
  PlanReport report{.title = "Kimi", .devices = 8, .own = test::kimi_k3_study(), .plans = {}};
  report.own.decode->sequences = {64};
  report.memory_limit = Bytes{90e9};
  report.plans.searched = 9;
  report.plans.too_large = 4;
  report.plans.broken = 3;
  return report;
}

const std::string kGoal =
    "Goal: the most tokens per second and device, over a decode step of 64 sequences in all with a "
    "context of 100,000 tokens.\n"
    "Searched: 9 placements: 4 need more than 90.00 GB a device (90 % of its memory); 3 break a "
    "limit.\n";

TEST(PlanText, SaysHowManyPlacementsWereNotLookedAt) {
  PlanReport pruned = report();
  pruned.plans.best = {plan({.tensor = 8}, 10e-3, 0.01)};
  pruned.plans.kept = 1;
  pruned.plans.slower = 5;
  const std::string text = plan_text(pruned);
  EXPECT_THAT(
      text, testing::HasSubstr("3 break a limit; 5 are slower even without the residual path.\n"));
  EXPECT_EQ(test::parsed_json(plan_json(pruned, "0"))["slower"], 5);
}

TEST(PlanText, NamesTheBestAndWhy) {
  PlanReport two = report();
  two.plans.best = {plan({.tensor = 8}, 10e-3, 0.01), plan({.tensor = 4, .data = 2}, 12e-3, 0.015)};
  two.plans.kept = 2;
  EXPECT_EQ(
      plan_text(two),
      "Kimi, 8 devices\n\n"
      "1. tensor 8: block_attnres, two_phase, 8 blocks of 24 (the fastest)\n"
      "2. tensor 4, data 2: block_attnres, two_phase, 8 blocks of 24 (20.0 % slower)\n"
      "\n"
      "    workload                   step  tokens/s a device    added   % of standard step    memory\n"
      "--  ---------  --------------------  -----------------  -------  -------------------  --------\n"
      "1.  decode/64   10.0 ms [9.0, 11.0]                800  +100 us    +1.0 % [0.5, 1.5]  40.00 GB\n"
      "2.  decode/64  12.0 ms [10.8, 13.2]                667  +180 us  +1.5 % [0.8, 2.2] ?  40.00 GB\n"
      "\n"
      "?: the median keeps its limit, the high end does not.\n"
      "Block sizes: the lowest published loss that keeps the limits; losses closer than 0.001 count "
      "as one.\n"
      "Engines ship block_attnres as single_pass, not as two_phase: a plan takes the fastest "
      "schedule that can run. evaluate --set residual.schedule=single_pass has the times of what "
      "ships.\n"
      "decode/N is a step of N sequences on each data-parallel replica.\n"
      "One batch was asked about. Smaller batches may break the limit: --decode 2,64 asks about both (in a file workload.decode.sequences).\n" +
          kGoal);
}

/// The first takes 10.0 ms, 11.0 ms at most.
TEST(PlanText, SaysWhatTheFirstMayBeAsSlowAs) {
  PlanReport it = report();
  it.plans.best = {plan({.tensor = 8}, 10e-3, 0.01), plan({.tensor = 4, .data = 2}, 10.9e-3, 0.01),
                   plan({.tensor = 2, .data = 4}, 11.1e-3, 0.01)};
  it.plans.kept = 3;
  it.evaluations = {"depthcost evaluate one", "depthcost evaluate two"};
  const std::string text = plan_text(it);
  EXPECT_THAT(text, testing::HasSubstr(" (9.0 % slower, inside the interval of the first)\n"));
  EXPECT_THAT(text,
              testing::HasSubstr(" (11.0 % slower)\nThe first in full: depthcost evaluate one\n"));
  EXPECT_EQ(test::parsed_json(plan_json(it, "1")).at("evaluations").at(1),
            "depthcost evaluate two");
}

TEST(PlanText, NamesThreeOfThoseThatAreAsGood) {
  PlanReport it = report();
  it.plans.best = {plan({.tensor = 8}, 10e-3, 0.01)};
  it.plans.kept = 2;
  it.plans.best.front().as_good = {{.tensor = 8, .expert = 4}};
  EXPECT_THAT(
      plan_text(it),
      testing::HasSubstr(
          "With the same median time and memory as the first: tensor 8, expert 4.\nBlock sizes"));
  it.plans.best.front().as_good.assign(5, {.tensor = 8, .expert = 2});
  EXPECT_THAT(plan_text(it), testing::HasSubstr("tensor 8, expert 2; and 2 more.\nBlock sizes"));
  const json document = test::parsed_json(plan_json(it, "1"));
  EXPECT_EQ(document.at("plans").at(0).at("as_good").size(), 5U);
  EXPECT_EQ(document.at("plans").at(0).at("as_good").at(0).at("expert"), 2);
}

TEST(PlanText, NamesTheBestOfTheOtherSchemes) {
  PlanReport it = report();
  it.plans.best = {plan({.tensor = 8}, 10e-3, 0.01)};
  it.plans.others = {plan({.tensor = 4, .data = 2}, 12e-3, 0.01), plan({.tensor = 8}, 9e-3, 0.03)};
  it.plans.others[0].scheme = "mhc";
  it.plans.others[0].blocks.reset();
  it.plans.others[1].scheme = "full_attnres";
  it.plans.others[1].fate = PlanFate::breaks;
  const std::string text = plan_text(it);
  EXPECT_THAT(text,
              testing::HasSubstr(
                  "The best of mhc within the limits: tensor 4, data 2: mhc, two_phase (20.0 % "
                  "slower than the first)\n"));
  EXPECT_THAT(text, testing::HasSubstr(
                        "full_attnres keeps the limits nowhere. The nearest is tensor 8: "
                        "full_attnres, two_phase, 8 blocks of 24: it adds 3.0 % [1.5, 4.5] at "
                        "decode/64, above the limit of 2.0 %.\n"));
  const json others = test::parsed_json(plan_json(it, "1")).at("others");
  ASSERT_EQ(others.size(), 2U);
  EXPECT_EQ(others[0].at("scheme"), "mhc");
  EXPECT_EQ(others[1].at("keeps"), false);
}

TEST(PlanText, SaysThatStagesWaitForOneAnother) {
  PlanReport it = report();
  it.plans.best = {plan({.tensor = 4, .pipeline = 2}, 10e-3, 0.01)};
  EXPECT_THAT(plan_text(it), testing::HasSubstr("Pipeline stages are timed with one batch in "
                                                "flight: while one works, the others wait."));
  it.plans.best = {plan({.tensor = 8}, 10e-3, 0.01)};
  EXPECT_THAT(plan_text(it), testing::Not(testing::HasSubstr("Pipeline stages")));
}

TEST(PlanText, SaysWhichBlocksAreNotKept) {
  PlanReport it = report();
  it.plans.best = {plan({.tensor = 8}, 10e-3, 0.01)};
  it.scenario_blocks = partition_by_size(186, 12);
  EXPECT_THAT(plan_text(it),
              testing::HasSubstr("The scenario's blocks of 12 layers (sublayers) are not kept."));
  it.scenario_blocks = partition_by_size(186, 24);
  EXPECT_THAT(plan_text(it), testing::Not(testing::HasSubstr("are not kept")));
}

TEST(PlanText, SaysWhichReplicasWereLeftOut) {
  PlanReport it = report();
  it.plans.best = {plan({.tensor = 8}, 10e-3, 0.01)};
  it.left_out_data = 6;
  EXPECT_THAT(plan_text(it),
              testing::HasSubstr("6 placements with data-parallel replicas were left out: a batch "
                                 "cannot be shared out evenly. Ask for multiples of 8 sequences to "
                                 "include them.\n"));
}

TEST(PlanText, NamesTheNearestWhereNoneKeepsTheLimits) {
  PlanReport none = report();
  none.plans.nearest = plan({.tensor = 8}, 10e-3, 0.03);
  none.plans.nearest->fate = PlanFate::breaks;
  none.plans.faster = none.plans.nearest;
  const std::string fastest =
      "Kimi, 8 devices\n\n"
      "No plan keeps the limits. The fastest that fits is tensor 8: block_attnres, two_phase, 8 "
      "blocks of 24. It adds 3.0 % [1.5, 4.5] at decode/64, above the limit of 2.0 %.\n"
      "Blocks that are coarser than any with a published loss were not looked at.\n";
  EXPECT_EQ(plan_text(none), fastest + "\n" + kGoal);
  none.plans.nearest = plan({.tensor = 4, .data = 2, .expert = 8}, 25e-3, 0.025);
  none.plans.nearest->fate = PlanFate::breaks;
  EXPECT_EQ(
      plan_text(none),
      fastest +
          "The nearest to the limits is tensor 4, data 2, expert 8: block_attnres, two_phase, 8 "
          "blocks of 24. It adds 2.5 % [1.2, 3.8] at decode/64, above the limit of 2.0 %, and takes "
          "250 % of the time.\n\n" +
          kGoal);
  none.plans.nearest = none.plans.faster = plan({.tensor = 8}, 10e-3, 0.02002);
  EXPECT_THAT(plan_text(none),
              testing::HasSubstr("It adds 2.002 % [1.001, 3.003] at decode/64, above "
                                 "the limit of 2.0 %."));
}

/// One workload breaks its limit; or none does, and the bank of a prefill is too large.
TEST(PlanText, BlamesOnlyWhatBreaksALimit) {
  PlanReport none = report();
  PlannedPlacement broken = plan({.tensor = 8}, 10e-3, 0.03);
  broken.fate = PlanFate::breaks;
  broken.times.push_back(broken.times.front());
  broken.times.back().workload = WorkloadId::decode(1);
  broken.times.back().limit = 0.1;
  none.plans.nearest = none.plans.faster = broken;
  EXPECT_THAT(plan_text(none), testing::Not(testing::HasSubstr("decode/1,")));
  broken.times.front().limit = 0.1;
  none.plans.nearest = none.plans.faster = broken;
  EXPECT_THAT(plan_text(none), testing::HasSubstr(". It breaks another budget of the scenario.\n"))
      << plan_text(none);
}

TEST(PlanText, SaysWhatIsJustTooLarge) {
  PlanReport it = report();
  it.plans.best = {plan({.tensor = 8}, 10e-3, 0.01)};
  EXPECT_THAT(plan_text(it), testing::Not(testing::HasSubstr("Left out for its memory")));
  it.plans.just_too_large = plan({.tensor = 8}, 9e-3, 0.01);
  it.plans.just_too_large->memory = Bytes{90.02e9};
  EXPECT_THAT(plan_text(it),
              testing::HasSubstr("Left out for its memory: tensor 8: block_attnres, two_phase, 8 "
                                 "blocks of 24 needs 90.02 GB a device, and a plan fills 90.00 GB "
                                 "at most (90 % of its memory).\n"));
}

/// A plan takes the fastest schedule; who serves runs what engines ship.
TEST(PlanText, SaysWhereAScheduleIsNotWhatEnginesShip) {
  PlanReport it = report();
  it.plans.best = {plan({.tensor = 8}, 10e-3, 0.01)};
  EXPECT_THAT(plan_text(it),
              testing::HasSubstr(
                  "Engines ship block_attnres as single_pass, not as two_phase: a plan takes the "
                  "fastest schedule that can run. evaluate --set residual.schedule=single_pass has "
                  "the times of what ships.\n"));
  it.plans.best.front().schedule = Schedule::single_pass;
  EXPECT_THAT(plan_text(it), testing::Not(testing::HasSubstr("Engines ship")));
}

TEST(PlanText, NamesTheNearestWhereNoneFits) {
  PlanReport none = report();
  none.refused = 2;
  none.first_refusal = "tensor 1: no";
  none.plans.nearest = plan({.pipeline = 8}, 0, 0);
  none.plans.nearest->fate = PlanFate::does_not_fit;
  none.plans.nearest->memory = Bytes{208e9};
  const std::string text = plan_text(none);
  EXPECT_TRUE(text.starts_with(
      "Kimi, 8 devices\n\nNo plan fits. The nearest is pipeline 8: a device needs 208.0 GB, and "
      "90.00 GB can be used (90 % of its memory).\n\nGoal: "))
      << text;
  EXPECT_TRUE(
      text.ends_with("3 break a limit. 2 more are not possible (for example tensor 1: no).\n"))
      << text;
  none.plans.nearest.reset();
  EXPECT_THAT(plan_text(none),
              testing::HasSubstr("\n\nNo plan: nothing is known of any placement.\n"));
}

TEST(PlanText, SaysWhatItOrdersBy) {
  PlanReport it = report();
  it.own = test::training_study();
  EXPECT_NE(plan_text(it).find("Goal: the least time of a training step of 8 micro-batches in "
                               "all.\n"),
            std::string::npos);
  it.own = test::kimi_k3_study();
  it.own.decode.reset();
  EXPECT_NE(plan_text(it).find("Goal: the most prompts per second and device, over a prefill of "
                               "131,072 tokens.\n"),
            std::string::npos);
}

TEST(PlanJson, HasPlansOrTheNearest) {
  PlanReport it = report();
  it.plans.best = {plan({.tensor = 8}, 10e-3, 0.015)};
  const json document = test::parsed_json(plan_json(it, "1"));
  const json& first = document.at("plans").at(0);
  EXPECT_EQ(first.at("placement"),
            (json{{"tensor", 8}, {"pipeline", 1}, {"context", 1}, {"data", 1}, {"expert", 1}}));
  EXPECT_EQ(first.at("block_size"), 24);
  EXPECT_EQ(first.at("schedule"), "two_phase");
  EXPECT_EQ(first.at("keeps"), true);
  EXPECT_EQ(first.at("workloads").at(0).at("surely"), false);
  EXPECT_EQ(first.at("workloads").at(0).at("overhead"), 0.015);
  EXPECT_TRUE(document.at("nearest").is_null());
  it.plans.nearest = it.plans.best.front();
  it.plans.nearest->fate = PlanFate::does_not_fit;
  it.plans.best.clear();
  const json none = test::parsed_json(plan_json(it, "1"));
  EXPECT_EQ(none.at("plans").size(), 0U);
  EXPECT_EQ(none.at("nearest").at("fits"), false);
}

}  // namespace
}  // namespace depthcost::plan_report_test
