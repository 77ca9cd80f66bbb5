// Axes as they are typed: what they mean, and every way in which they can be wrong.
#include "scenarios/read/axis.hpp"

#include <gtest/gtest.h>

#include "model/schemes/list.hpp"
#include "scenarios/read/scenario_options.hpp"
#include "scenarios/read/sweep_plan.hpp"
#include "tests/scenarios/keys/scheme_choices.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::axis_test {
namespace {

using Texts = std::vector<std::string>;

SweepPlan plan_of_file(const std::string& path, const Texts& axes, Count max_points) {
  return plan_sweep(unread_scenario(path), axes, max_points);
}

Texts values(const std::string& argument, Count num_layers = 186) {
  return values_of(parse_axis(argument), num_layers);
}

TEST(Axis, TakesListsAndRanges) {
  EXPECT_EQ(values("block_size=8,16, 24"), (Texts{"8", "16", "24"}));
  EXPECT_EQ(values("residual.block_size=3..6"), (Texts{"3", "4", "5", "6"}));
  EXPECT_EQ(values("block_size=1..L", 3), (Texts{"1", "2", "3"}));
  EXPECT_EQ(values("workload.decode.sequences=1..1000:x10"), (Texts{"1", "10", "100", "1000"}));
  EXPECT_EQ(values("workload.decode.sequences=3..20:x2"), (Texts{"3", "6", "12"}));
  EXPECT_EQ(values("workload.prefill.chunk=64..200:+64"), (Texts{"64", "128", "192"}));
  EXPECT_EQ(values("hardware=h100_sxm,../my.yaml"), (Texts{"h100_sxm", "../my.yaml"}));
  EXPECT_EQ(values("hardware.memory_bandwidth=4 TB/s,8 TB/s"), (Texts{"4 TB/s", "8 TB/s"}));
  EXPECT_EQ(values("schedule=single_pass,two_phase"), (Texts{"single_pass", "two_phase"}));
  EXPECT_EQ(values("model.total_parameters=8e9,7e10"), (Texts{"8e9", "7e10"}));
  EXPECT_EQ(values("baseline_step.decode=12 ms,20 ms"), (Texts{"12 ms", "20 ms"}));
  EXPECT_EQ(values("residual.compare=mhc,standard"), (Texts{"mhc", "standard"}));
}

/// Counting makes no value: ranges may be as long as counts go.
TEST(Axis, IsCountedWithoutBeingMade) {
  for (const std::string argument : {"block_size=1..L", "workload.decode.sequences=3..20:x2",
                                     "workload.prefill.chunk=64..200:+64", "block_size=8,16"})
    EXPECT_EQ(num_values(parse_axis(argument), 186), static_cast<double>(values(argument).size()))
        << argument;
  EXPECT_EQ(num_values(parse_axis("workload.decode.sequences=1..1099511627776"), 1), 1099511627776);
}

TEST(Axis, EndsWhereTheNextValueWouldOverflow) {
  EXPECT_EQ(values("workload.decode.sequences=2..1099511627776:x1099511627776"), Texts{"2"});
}

struct BadAxis {
  std::string argument;
  std::string message;
};

class BadAxes : public testing::TestWithParam<BadAxis> {};

TEST_P(BadAxes, AreRefusedOnOneLine) {
  try {
    values(GetParam().argument);
    FAIL() << GetParam().argument;
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), "--axis:1:1: error: " + GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , BadAxes,
    testing::Values(
        BadAxis{"block_size",
                "invalid axis 'block_size' (must be KEY=VALUES, such as "
                "block_size=1..L)"},
        BadAxis{"blok_size=1", "unknown axis 'blok_size'; did you mean 'block_size'?"},
        BadAxis{"workload.decode.sequenes=1",
                "unknown axis 'workload.decode.sequenes'; did you mean "
                "'workload.decode.sequences'?"},
        BadAxis{"model.hiden_size=1",
                "unknown axis 'model.hiden_size'; did you mean "
                "'model.hidden_size'?"},
        BadAxis{"block_size=", "invalid axis 'block_size=' (no values)"},
        BadAxis{"block_size=1,,2", "invalid axis 'block_size=1,,2' (an empty value)"},
        BadAxis{"block_size=8,8", "invalid axis 'block_size=8,8' ('8' is there twice)"},
        BadAxis{"block_size=9..3", "invalid axis 'block_size=9..3' (an empty range: 9 is above 3)"},
        BadAxis{"block_size=200..L",
                "invalid axis 'block_size=200..L' (an empty range: the model has only 186 layers)"},
        BadAxis{"block_size=1..8:x1",
                "invalid axis 'block_size=1..8:x1' (a factor of 1 never "
                "ends)"},
        BadAxis{"block_size=1..8:2",
                "invalid axis 'block_size=1..8:2' (a step is :xFACTOR or "
                ":+DIFFERENCE)"},
        BadAxis{"block_size=1..8:*2",
                "invalid axis 'block_size=1..8:*2' (a step is :xFACTOR or "
                ":+DIFFERENCE)"},
        BadAxis{"workload.decode.prefill_tokens=0..8:x2",
                "invalid axis 'workload.decode.prefill_tokens=0..8:x2' (zero times anything is "
                "zero)"},
        BadAxis{"model.total_parameters=-1",
                "invalid model.total_parameters '-1' (must be positive)"},
        BadAxis{"baseline_step.decode=12",
                "invalid baseline_step.decode '12' (missing unit; need a time, such as '12 ms')"},
        BadAxis{"residual.compare=mch", "invalid residual.compare 'mch' " + test::scheme_choices() +
                                            "; did you mean 'mhc'?"},
        BadAxis{"workload.decode.sequences=1..L",
                "invalid axis 'workload.decode.sequences=1..L' (L is an end for block_size and "
                "num_blocks alone)"},
        BadAxis{"budgets.prefill_bank=1..3",
                "invalid axis 'budgets.prefill_bank=1..3' (only counts have ranges; write a list)"},
        BadAxis{"residual.scheme=mch", "invalid residual.scheme 'mch' " + test::scheme_choices() +
                                           "; did you mean 'mhc'?"}));

TEST(Axis, SaysTheKindOfNumberThatIsNeeded) {
  for (const std::string argument :
       {"block_size=0", "block_size=many", "block_size=1..x", "budgets.prefill_bank=3",
        "block_size=1..8:x0", "block_size=-1..3", "schema=3", "name=a,b"})
    EXPECT_THROW(values(argument), InputError) << argument;
}

// --- plans ---

class Plan : public testing::Test {
 protected:
  Plan() {
    folder_.written("kimi.yaml",
                    "schema: depthcost/1\nmodel: kimi_k3\nhardware: b300_sxm\n"
                    "workload: {prefill: {tokens: 4096}}\n");
  }

  SweepPlan plan(const Texts& axes, Count max_points = kDefaultMaxPoints) const {
    return plan_of_file(folder_.path("kimi.yaml"), axes, max_points);
  }

  std::string error(const Texts& axes, Count max_points = kDefaultMaxPoints) const {
    try {
      plan(axes, max_points);
    } catch (const InputError& refused) {
      return refused.what();
    }
    return "none";
  }

  const test::TemporaryFolder folder_;
};

TEST_F(Plan, IsOverAllBlockSizesWithoutAnAxis) {
  const SweepPlan all = plan({});
  ASSERT_EQ(all.scenes.size(), 1U);
  ASSERT_EQ(all.scenes.front().axes.size(), 1U);
  EXPECT_EQ(all.scenes.front().axes.front().key, SweptKey::block_size);
  EXPECT_EQ(all.scenes.front().axes.front().values.size(), 186U);
  EXPECT_EQ(study_as_written(all.source)->path.scheme.parameters.blocks.block_size, 24);
}

TEST_F(Plan, ReadsTheScenarioAgainOnlyForWhatTheModelCannotVary) {
  const SweepPlan both = plan({"hardware=h100_sxm,h200_sxm", "block_size=12,24",
                               "workload.decode.sequences=1..8", "model.hidden_size=4096,7168"});
  EXPECT_EQ(both.scene_axes, (Texts{"hardware", "model.hidden_size"}));
  ASSERT_EQ(both.scenes.size(), 4U);
  EXPECT_EQ(both.scenes[1].values, (Texts{"h100_sxm", "7168"}));
  EXPECT_EQ(both.scenes[2].study->machine->name, both.scenes[3].study->machine->name);
  EXPECT_NE(both.scenes[0].study->machine->name, both.scenes[2].study->machine->name);
  EXPECT_EQ(both.scenes[0].study->model.hidden_size, 4096);
  EXPECT_EQ(both.scenes[0].axes.size(), 2U);
}

TEST_F(Plan, ReadsEachSchemeAndLetsThemCompete) {
  const SweepPlan both = plan({"residual.scheme=mhc,block_attnres", "hardware=h100_sxm,h200_sxm"});
  EXPECT_EQ(both.scene_axes, Texts{"hardware"});
  ASSERT_EQ(both.scenes.size(), 2U);
  ASSERT_EQ(both.scenes[1].axes.size(), 1U);
  const SweptAxis& schemes = both.scenes[1].axes.front();
  EXPECT_EQ(schemes.key, SweptKey::scheme);
  EXPECT_EQ(schemes.values, (std::vector<Count>{0, 1}));
  EXPECT_EQ(schemes.schemes[0].path.scheme.rule, &schemes::kMhc);
  EXPECT_EQ(schemes.schemes[0].schedule, Schedule::fused);
  EXPECT_EQ(schemes.schemes[1].path.scheme, study_as_written(both.source)->path.scheme);
}

/// What the file compares with, and a schedule that only its own scheme has, are not said of a
/// scheme that takes its place.
class SchemeInAFile : public testing::TestWithParam<std::string> {};

TEST_P(SchemeInAFile, IsReadAsIfTheFileWereAboutIt) {
  const test::TemporaryFolder folder;
  folder.written("it.yaml",
                 "schema: depthcost/1\nmodel: kimi_k3\nresidual: {schedule: two_phase, "
                 "compare: " +
                     GetParam() + "}\nworkload: {prefill: {tokens: 4096}}\n");
  const SweepPlan swept = plan_of_file(
      folder.path("it.yaml"), {"residual.scheme=standard,mhc,full_attnres"}, kDefaultMaxPoints);
  std::vector<std::pair<std::string, Schedule>> read;
  for (const SchemePath& each : swept.scenes.front().schemes)
    read.emplace_back(each.refused + std::string(name(each.path.scheme)), each.schedule);
  EXPECT_EQ(read,
            (std::vector<std::pair<std::string, Schedule>>{{"standard", Schedule::fused},
                                                           {"mhc", Schedule::fused},
                                                           {"full_attnres", Schedule::two_phase}}));
}

INSTANTIATE_TEST_SUITE_P(, SchemeInAFile,
                         testing::Values("standard", "[mhc]", "[standard, mhc, full_attnres]",
                                         "{value: [full_attnres, mhc], source: a paper}"));

/// A wrong word is said whatever scheme is asked about.
TEST_F(Plan, HidesNoMistakeInWhatASchemeReplaces) {
  const auto refused = [&](const std::string& residual) {
    folder_.written("wrong.yaml",
                    "schema: depthcost/1\nmodel: kimi_k3\nresidual: " + residual + "\n");
    try {
      plan_of_file(folder_.path("wrong.yaml"), {"residual.scheme=mhc"}, kDefaultMaxPoints);
    } catch (const InputError& error) {
      return error.message();
    }
    return std::string("none");
  };
  EXPECT_TRUE(
      refused("{schedule: one_phase}").starts_with("invalid residual.schedule 'one_phase'"));
  EXPECT_EQ(refused("{compare: []}"), "invalid residual.compare (an empty list)");
}

TEST_F(Plan, TakesAnAxisOfSchedulesAtItsWord) {
  const SweepPlan both = plan({"residual.scheme=mhc,block_attnres", "schedule=two_phase"});
  EXPECT_EQ(both.scenes.front().axes.size(), 2U);
  EXPECT_EQ(both.scenes.front().axes.back().values,
            std::vector<Count>{static_cast<Count>(Schedule::two_phase)});
}

/// Three streams are no power of two; the others are there.
TEST_F(Plan, KeepsASchemeThatCannotExistWithItsReason) {
  folder_.written("streams.yaml",
                  "schema: depthcost/1\nmodel: kimi_k3\nresidual: {scheme: mhc, num_streams: 3}\n");
  const SweepPlan some =
      plan_of_file(folder_.path("streams.yaml"), {"residual.scheme=kromhc,mhc"}, kDefaultMaxPoints);
  const std::vector<SchemePath>& schemes = some.scenes.front().axes.front().schemes;
  EXPECT_EQ(schemes[0].refused,
            "invalid residual.num_streams '3' for kromhc (must be a power of two)");
  EXPECT_EQ(schemes[1].path.scheme.rule, &schemes::kMhc);
}

/// Both are read as if the file had said so.
TEST_F(Plan, GivesWhatTheFileWouldHaveSaid) {
  const test::TemporaryFolder folder;
  folder.written("written.yaml",
                 "schema: depthcost/1\nmodel: kimi_k3\nhardware: {base: b300_sxm, "
                 "memory_bandwidth: 4 TB/s}\nworkload: {prefill: {tokens: 4096}}\n");
  const SweepPlan written = plan_of_file(folder.path("written.yaml"), {}, kDefaultMaxPoints);
  const SweepPlan swept = plan({"hardware.memory_bandwidth=4 TB/s"});
  EXPECT_EQ(swept.scenes.front().study->machine->memory_ceiling,
            written.scenes.front().study->machine->memory_ceiling);
}

TEST_F(Plan, KeepsWhatCannotExistWithItsReason) {
  const SweepPlan some = plan({"parallelism.tensor=8,1024"});
  ASSERT_EQ(some.scenes.size(), 2U);
  EXPECT_TRUE(some.scenes[0].study.has_value());
  EXPECT_EQ(
      some.scenes[1].refused,
      "invalid parallelism.tensor '1024' (must divide the 96 attention heads: 1, 2, 3, 4, 6, 8, "
      "12, 16, 24, 32, 48, 96)");
}

TEST_F(Plan, RefusesMorePointsThanWereAskedFor) {
  EXPECT_EQ(error({"block_size=1..L", "workload.decode.sequences=1..100"}, 18599),
            "--axis:1:1: error: invalid axes (18600 points, more than 18599; --max-points 18600 "
            "asks for them)");
  EXPECT_EQ(error({"block_size=1..L", "workload.decode.sequences=1..100"}, 18600), "none");
  EXPECT_EQ(error({"parallelism.data=1..20000"}),
            "--axis:1:1: error: invalid axes (20000 readings of the scenario, more than 10000; "
            "axes of residual keys and workload sizes do not count)");
}

/// Each value of a workload axis is what a file could have.
TEST_F(Plan, RefusesAValueThatAFileCannotHaveWhereverItStands) {
  const std::string refused =
      "--axis:1:1: error: invalid workload.prefill.sequence_shards '999' (more than tensor x "
      "context = 8)";
  for (const char* values : {"999", "8,999", "999,8"})
    EXPECT_EQ(
        error({"parallelism.tensor=8", fmt::format("workload.prefill.sequence_shards={}", values)}),
        refused)
        << values;
  EXPECT_EQ(error({"parallelism.tensor=8", "workload.prefill.sequence_shards=2,8"}), "none");
}

TEST_F(Plan, RefusesTwoAxesThatSayTheSame) {
  EXPECT_EQ(error({"block_size=1..3", "residual.block_size=4"}),
            "--axis:1:1: error: invalid axis 'residual.block_size=4' (residual.block_size has an "
            "axis already)");
  EXPECT_EQ(error({"block_size=1..3", "num_blocks=4"}),
            "--axis:1:1: error: invalid axis 'num_blocks=4' (residual.block_size says the same)");
}

TEST_F(Plan, RefusesAPresetThatDoesNotExist) {
  EXPECT_EQ(error({"hardware=h100_sxm,h300_sxm"}),
            "--axis:1:1: error: unknown hardware 'h300_sxm'; did you mean 'b300_sxm'?");
  EXPECT_NE(error({"model=kimi_k4"}).find("unknown model 'kimi_k4'"), std::string::npos);
}

/// An axis of a key of the hardware makes a map of a name, but not of a list.
TEST_F(Plan, RefusesAListWhereAnAxisNeedsAMap) {
  folder_.written("kimi.yaml", "schema: depthcost/1\nmodel: kimi_k3\nhardware: [b300_sxm]\n");
  EXPECT_EQ(
      error({"hardware.memory_bandwidth=4 TB/s"}),
      folder_.path("kimi.yaml") + ":3:11: error: invalid hardware (must be a map, not a list)");
}

TEST_F(Plan, PassesOnWhatIsWrongWithTheScenario) {
  const test::TemporaryFolder folder;
  folder.written("bad.yaml", "schema: depthcost/1\nmodle: kimi_k3\n");
  try {
    plan_of_file(folder.path("bad.yaml"), {}, kDefaultMaxPoints);
    FAIL();
  } catch (const InputError& refused) {
    EXPECT_NE(std::string(refused.what()).find("bad.yaml:"), std::string::npos);
  }
}

/// llama's file counts blocks with a rule for the remainder; an axis of sizes takes their place.
TEST_F(Plan, ReplacesANumberOfBlocksByASize) {
  const SweepPlan llama = plan_of_file(DEPTHCOST_SOURCE_DIR "/scenarios/llama_3_1_70b_what_if.yaml",
                                       {"block_size=10,20"}, kDefaultMaxPoints);
  EXPECT_TRUE(llama.scenes.front().study.has_value());
  EXPECT_EQ(study_as_written(llama.source)->path.scheme.parameters.blocks.num_blocks, 8);
}

TEST_F(Plan, KeepsTheRuleForTheRemainder) {
  const SweepPlan llama = plan_of_file(DEPTHCOST_SOURCE_DIR "/scenarios/llama_3_1_70b_what_if.yaml",
                                       {"num_blocks=7,8"}, kDefaultMaxPoints);
  EXPECT_EQ(llama.scenes.front().axes.front().remainder, Remainder::strict);
}

/// Each scene has the rule that was put into it, whatever stands before or behind it.
TEST_F(Plan, KeepsTheRuleOfEachScene) {
  const std::string file = DEPTHCOST_SOURCE_DIR "/scenarios/llama_3_1_70b_what_if.yaml";
  for (const bool is_reversed : {false, true}) {
    const SweepPlan plan = plan_of_file(
        file, {"num_blocks=8", is_reversed ? "remainder=paper,strict" : "remainder=strict,paper"},
        kDefaultMaxPoints);
    ASSERT_EQ(plan.scenes.size(), 2U);
    for (const SweepScene& scene : plan.scenes)
      EXPECT_EQ(name(scene.axes.front().remainder), scene.values.front());
  }
}

/// Who asks about another axis of AttnRes without a block size asks about all of them.
TEST_F(Plan, SweepsBlockSizesWhereNoneIsWritten) {
  ScenarioOptions options;
  options.model = "llama_3_1_70b";
  options.scheme = "block_attnres";
  const SweepPlan plan = plan_sweep(asked_document("", options), {"schedule=single_pass,two_phase"},
                                    kDefaultMaxPoints);
  const std::vector<SweptAxis>& axes = plan.scenes.front().axes;
  ASSERT_EQ(axes.size(), 2U);
  EXPECT_EQ(axes.front().key, SweptKey::block_size);
  EXPECT_EQ(axes.front().values.size(), 160U);
  options.block_size = "16";
  EXPECT_EQ(
      plan_sweep(asked_document("", options), {"schedule=single_pass,two_phase"}, kDefaultMaxPoints)
          .scenes.front()
          .axes.size(),
      1U);
}

}  // namespace
}  // namespace depthcost::axis_test
