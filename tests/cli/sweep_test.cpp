// `sweep` as users run it: formats, files, errors on one line, and what the README shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"
#include "tests/documents.hpp"
#include "tests/parsed_json.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::sweep_test {
namespace {

const std::string kRoot = DEPTHCOST_SOURCE_DIR;

class SweepCommand : public testing::Test {
 protected:
  SweepCommand() {
    folder_.written("kimi.yaml",
                    "schema: depthcost/1\nname: Kimi\nmodel: kimi_k3\nhardware: b300_sxm\n"
                    "parallelism: {tensor: 8}\n"
                    "workload: {decode: {sequences: 64, context: 1000}}\n");
  }

  Outcome run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"sweep", "kimi.yaml"});
    return run_program({.arguments = arguments, .folder = folder_.path()});
  }

  void expect_error(const std::vector<std::string>& arguments, const std::string& line) const {
    expect_refusal(run(arguments), line);
  }

  const TemporaryFolder folder_;
};

TEST_F(SweepCommand, GoesOverAllBlockSizesByItself) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.output.starts_with("Kimi: 186 points\n"));
  // The finest are better, and cost more than the paper's 2 % in the median.
  EXPECT_NE(outcome.output.find("Recommended: block_size 4 "), std::string::npos);
  EXPECT_NE(outcome.output.find("Without the limit on decode_overhead (2.0 %) block_size 1 "),
            std::string::npos)
      << outcome.output;
}

TEST_F(SweepCommand, TakesSeveralAxesOfBothKinds) {
  const Outcome outcome =
      run({"--axis", "block_size=12,24", "--axis", "hardware=h100_sxm,h200_sxm", "--axis",
           "workload.decode.sequences=1..1024:x2", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  const auto document = parsed_json(outcome.output);
  EXPECT_EQ(document.at("points").size(), 2U * 2 * 11);
  EXPECT_EQ(document.at("recommendations").size(), 2U * 11);
  const auto& last = document.at("points").back();
  EXPECT_EQ(last.at("hardware"), "h200_sxm");
  EXPECT_EQ(last.at("workload.decode.sequences"), 1024);
  EXPECT_EQ(last.at("residual.block_size"), 24);
}

/// Those that the file compares with too. What breaks a budget is not recommended beside what keeps
/// it.
TEST_F(SweepCommand, ShowsEveryCircumstanceThatATableHasRoomFor) {
  const std::string few = run({"--axis", "workload.decode.sequences=1,64"}).output;
  EXPECT_NE(few.find("\n\nUnder sequences 1:\n"), std::string::npos) << few;
  for (const char* row : {"\nsequences 1 ", "\nsequences 64 "})
    EXPECT_NE(few.find(row, few.find("\nunder         blocks")), std::string::npos) << few;
  const std::string many =
      run({"--axis", "block_size=1..20", "--axis", "workload.decode.sequences=1..4"}).output;
  EXPECT_NE(many.find(" Shown: sequences 1 alone; --format csv has every circumstance.\n"),
            std::string::npos)
      << many;
}

TEST_F(SweepCommand, LetsSchemesCompete) {
  folder_.written("kimi.yaml",
                  "schema: depthcost/1\nmodel: kimi_k3\nresidual: {schedule: two_phase, compare: "
                  "[standard, mhc]}\nworkload: {prefill: {tokens: 131072}}\n"
                  "budgets: {prefill_bank: 3 GB}\n");
  const Outcome outcome =
      run({"--axis", "residual.scheme=full_attnres,mhc,standard", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  const auto document = parsed_json(outcome.output);
  EXPECT_EQ(document.at("refused").size(), 0U);
  std::vector<std::string> said;
  for (const auto& point : document.at("points"))
    said.push_back(point.at("residual.scheme").get<std::string>() + " " +
                   point.at("schedule").get<std::string>() + " " +
                   point.at("budgets").get<std::string>() +
                   (point.at("recommended") == true ? " recommended" : ""));
  EXPECT_EQ(said, (std::vector<std::string>{"full_attnres two_phase fail", "mhc fused fail",
                                            "standard fused pass recommended"}));
  EXPECT_EQ(document.at("recommendations").at(0).at("recommended"),
            (nlohmann::json{{"residual.scheme", "standard"}}));
}

TEST_F(SweepCommand, WritesADocumentWithItsPlots) {
  const Outcome outcome = run({"--format", "markdown", "-o", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(outcome.output.ends_with("-> out/kimi-sweep.md\n"));
  const std::string text = file_text(folder_.path("out/kimi-sweep.md"));
  EXPECT_TRUE(text.starts_with("# Kimi: which block size?\n"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path("out"))) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".svg")) continue;
    EXPECT_NE(text.find(name), std::string::npos) << name;
  }
}

TEST_F(SweepCommand, ListsWhatCannotExist) {
  const Outcome outcome = run({"--axis", "block_size=186,187,188"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("cannot exist: block_size 187 to block_size 188, 2 of them (the "
                                "model has only 186 layers)"),
            std::string::npos);
}

/// The scenario's own scheme is the first choice, and has no blocks.
TEST_F(SweepCommand, AnswersWhereTheFirstChoiceCannotExist) {
  const Outcome outcome =
      run({"--axis", "residual.scheme=mhc,block_attnres", "--axis", "block_size=4,8"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("scheme mhc has no blocks"), std::string::npos) << outcome.output;
}

/// A key that one of the schemes takes is no mistake; a key that none takes is one.
TEST_F(SweepCommand, WarnsOfAKeyThatNoSchemeTakes) {
  const auto warned = [&](const std::string& setting) {
    return run({"--axis", "residual.scheme=standard,mhc", "--set", setting})
               .output.find("Warning: ") != std::string::npos;
  };
  EXPECT_FALSE(warned("residual.num_streams=2"));
  EXPECT_TRUE(warned("residual.heads=2"));
}

TEST_F(SweepCommand, RefusesWhatIsWrongOnOneLine) {
  expect_error({"--axis", "blok_size=1"},
               "--axis:1:1: error: unknown axis 'blok_size'; did you mean 'block_size'?");
  expect_error({"--axis", "block_size=9..3"},
               "--axis:1:1: error: invalid axis 'block_size=9..3' (an empty range: 9 is above 3)");
  expect_error({"--axis", "block_size=200..300"},
               "--axis:1:1: error: nothing to sweep: invalid block_size '200' (the "
               "model has only 186 layers)");
  expect_error({"--axis", "workload.decode.sequences=1..2000000"},
               "--axis:1:1: error: invalid axes (2000000 points, more than 1000000; --max-points "
               "2000000 asks for them)");
  expect_error({"--compute", "-1"},
               "--compute:1:1: error: invalid compute '-1' (must be PFLOP/s-days above zero)");
}

TEST_F(SweepCommand, TakesMorePointsWhereTheyAreAskedFor) {
  expect_error({"--axis", "block_size=1..9", "--max-points", "8"},
               "--axis:1:1: error: invalid axes (9 points, more than 8; --max-points 9 asks for "
               "them)");
  EXPECT_EQ(run({"--axis", "block_size=1..9", "--max-points", "9"}).exit_code, 0);
}

/// As the file that would ask the same.
TEST(SweepWithoutAScenario, TakesAModelInItsPlace) {
  const TemporaryFolder folder;
  folder.written("it.yaml",
                 "schema: depthcost/1\nname: kimi_k3 on 8 x b300_sxm\nmodel: kimi_k3\nhardware: "
                 "b300_sxm\nresidual: {compare: [standard]}\nparallelism: {tensor: 8}\nworkload: "
                 "{decode: {sequences: [64], context: 8192}, prefill: {tokens: 4096, chunk: 4096, "
                 "sequence_shards: 8}}\nbudgets: {decode_overhead: 1 %}\n");
  const std::vector<std::string> axis{"--axis", "hardware=b300_sxm,h200_sxm", "--format", "csv"};
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "sweep");
    arguments.insert(arguments.end(), axis.begin(), axis.end());
    const Outcome outcome = run_program({.arguments = arguments, .folder = folder.path()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    return outcome.output;
  };
  const std::string by_file = run({"it.yaml"});
  EXPECT_FALSE(by_file.empty());
  EXPECT_EQ(
      run({"--model", "kimi_k3", "--hardware", "b300_sxm", "--tensor", "8", "--compare", "standard",
           "--decode", "64", "--prefill", "4096", "--budget", "decode_overhead=1%"}),
      by_file);
}

TEST(SweepWithoutAScenario, SaysHowToAskAboutBlocksThatAModelHasNot) {
  const Outcome outcome = run_program({.arguments = {"sweep", "--model", "llama_3_1_8b"}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(outcome.errors,
            "--axis:1:1: error: nothing to sweep: scheme standard has no blocks "
            "(add --residual block_attnres, or set residual.scheme in the scenario)\n");
}

/// A scheme without blocks is swept over its schedules.
TEST(SweepWithoutAnAxis, AsksWhichScheduleWhereThereAreNoBlocks) {
  const auto schedules_of = [](const std::string& model) {
    const Outcome outcome =
        run_program({.arguments = {"sweep", "--model", model, "--hardware", "h200_sxm", "--tensor",
                                   "8", "--format", "json"}});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    std::vector<std::string> schedules;
    const auto document = parsed_json(outcome.output);
    for (const auto& point : document.at("points"))
      schedules.push_back(point.at("residual.schedule"));
    return schedules;
  };
  EXPECT_EQ(schedules_of("qwen3_8_flash_next"),
            (std::vector<std::string>{"unfused", "fused", "fused_gate", "folded_norm", "two_pass",
                                      "one_pass"}));
  EXPECT_EQ(schedules_of("gemma_3n_e4b"), std::vector<std::string>{"fused"});
}

/// Kimi K3 as it is released, Kimi Linear as the paper trains it.
TEST(PublishedSettings, StandOnTheFront) {
  for (const auto& [scenario, block_size] :
       {std::pair{"kimi_k3_8xb300", 24}, std::pair{"kimi_linear_48b", 6}}) {
    const Outcome outcome = run_program(
        {.arguments = {"sweep", std::string("scenarios/") + scenario + ".yaml", "--format", "json"},
         .folder = kRoot});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    const auto document = parsed_json(outcome.output);
    const auto& point = document.at("points").at(static_cast<std::size_t>(block_size - 1));
    EXPECT_EQ(point.at("residual.block_size"), block_size) << scenario;
    EXPECT_EQ(point.at("on_front"), true) << scenario;
  }
}

TEST(Sweep, SaysWhichWorkloadDoesNotFitAndWhatWouldHelp) {
  const Outcome outcome =
      run_program({.arguments = {"sweep", "--model", "llama_3_1_70b", "--hardware", "h100_sxm",
                                 "--residual", "block_attnres"}});
  EXPECT_NE(outcome.output.find(
                "No recommendation: no choice fits into the device's memory. With block_size 1 "
                "prefill needs 227.3 GB, and a device has 85.52 GB. What would help: "
                "tensor 8 (8 devices)."),
            std::string::npos)
      << outcome.output;
}

/// Its usual values, of which an axis replaces one.
TEST(Sweep, VariesAWorkloadThatIsNamedAlone) {
  const TemporaryFolder folder;
  const auto swept = [&](const std::string& workload) {
    folder.written("it.yaml",
                   "schema: depthcost/1\nname: it\nhardware: h200_sxm\nmodel: llama_3_1_70b\n"
                   "residual: {scheme: block_attnres, block_size: 8}\nworkload: " +
                       workload + "\n");
    return run_program({.arguments = {"sweep", "it.yaml", "--axis",
                                      "workload.prefill.tokens=4096,8192", "--format", "csv"},
                        .folder = folder.path()});
  };
  const Outcome named = swept("prefill");
  EXPECT_EQ(named.exit_code, 0) << named.errors;
  EXPECT_EQ(named.output, swept("{prefill: {tokens: 9, chunk: 16384}}").output);
}

TEST(SweepInTheHandbook, IsWhatTheProgramPrints) {
  const Outcome outcome =
      run_program({.arguments = {"sweep", "scenarios/kimi_linear_48b.yaml"}, .folder = kRoot});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  expect_blocks_of_documents({{"sweep", "\n```text\n" + outcome.output + "```\n\n"}});
}

TEST(ShapesInTheHandbook, AreWhatTheProgramPrints) {
  const Outcome outcome =
      run_program({.arguments = {"explain", "scenarios/kimi_k3_training.yaml", "training.shapes"},
                   .folder = kRoot});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  expect_blocks_of_documents({{"shapes", "\n```text\n" + outcome.output + "```\n\n"}});
}

TEST(FamilyInTheHandbook, IsWhatTheProgramPrints) {
  const auto block = [](const std::vector<std::string>& arguments) {
    return "\n```text\n" + run_program({.arguments = arguments, .folder = kRoot}).output +
           "```\n\n";
  };
  const std::string scenario = "scenarios/kimi_k3_8xb300.yaml";
  expect_blocks_of_documents(
      {{"family", block({"family", scenario})},
       {"family_explain", block({"explain", scenario, "family.siamese_norm"})}});
}

}  // namespace
}  // namespace depthcost::test::sweep_test
