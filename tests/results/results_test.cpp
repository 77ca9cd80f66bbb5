// A digit or a text of a shipped answer changes only on purpose. tests/golden/results.csv has a
// fingerprint of what each command prints. UPDATE_GOLDEN=1 rewrites it. scripts/compare_builds runs
// the same commands with two builds and shows which numbers differ.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "model/pipeline/pipeline_order.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/text/input_text.hpp"
#include "tests/results/fingerprints.hpp"
#include "tests/results/program_outcome.hpp"

namespace depthcost::shipped_results {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = DEPTHCOST_SOURCE_DIR;

std::vector<std::string> files_of(const std::string& folder, const std::string& extension) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / folder))
    if (entry.path().extension() == extension)
      files.push_back(folder + "/" + entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> presets_of(std::string_view kind) {
  std::vector<std::string> ids;
  for (const Preset& preset : presets())
    if (preset.kind == kind) ids.emplace_back(preset.id);
  return ids;
}

/// What is asked of every shipped scenario.
constexpr std::array kOfScenario{"evaluate {} --format json --layers",
                                 "evaluate {} --format csv --layers",
                                 "evaluate {} --format plan",
                                 "check {} --format json --strict",
                                 "explain {}",
                                 "sweep {} --format json",
                                 "sweep {} --format csv",
                                 "family {} --format json",
                                 "mixing {} --scheme all --magnitude --format json",
                                 "mixing {} --scheme all --format csv"};

/// A model on a machine. Arguments: model, machine, schedule of the pipeline, its virtual
/// stages.
constexpr std::array kOfModel{
    "evaluate --model {0} --hardware {1} --tensor 8 --residual block_attnres --block-size 7 "
    "--compare standard,mhc,gated_residual,full_attnres --decode 1,3,16,130,700 --prefill 5000 "
    "--format json",
    "family --model {0} --hardware {1} --residual block_attnres --block-size 7 --decode 9 "
    "--format json",
    "evaluate scenarios/kimi_k3_training.yaml --set model={0} --set hardware={1} "
    "--set residual.scheme=block_attnres --set residual.block_size=5 "
    "--set parallelism.pipeline=4 --set parallelism.expert=1 "
    "--set workload.training.schedule={2} --set parallelism.virtual_stages={3} --format json"};

constexpr const char* kMachine = "h200_sxm";

/// A new preset adds commands and changes none: models run on one machine, and one model on every
/// machine.
std::vector<std::string> commands() {
  std::vector<std::string> lines{
      "compare --published --format json",
      "plan --model llama_3_1_70b --hardware rtx_pro_6000 --devices 16 --residual "
      "block_attnres,mhc --format json",
      "plan --model glm_5_3_flash --hardware gb200 --devices 16 --residual block_attnres,mhc "
      "--format json"};
  const auto add = [&](const char* command, const auto&... arguments) {
    lines.push_back(fmt::format(fmt::runtime(command), arguments...));
  };
  for (const std::string& file : files_of("scenarios", ".yaml"))
    for (const char* command : kOfScenario) add(command, file);
  for (const std::string& file : files_of("scenarios/profiles", ".yaml")) {
    add("compare {} --format json", file);
    add("profile show {}", file);
  }
  for (const std::string& file : files_of("tests/scenarios/configs", ".json"))
    add("import {}", file);
  for (const char* command : kOfModel) {
    for (const std::string& model : presets_of("models"))
      add(command, model, kMachine, "interleaved_1f1b", 2);
    for (const std::string& machine : presets_of("hardware"))
      if (machine != kMachine) add(command, "kimi_linear_48b", machine, "zb_h1", 1);
  }
  for (const std::string_view schedule : kNames<PipelineSchedule>)
    add(kOfModel.back(), "kimi_k3", "gb300", schedule, 1);
  return lines;
}

TEST(ShippedAnswers, ChangeOnlyOnPurpose) {
  const fs::path before = fs::current_path();
  fs::current_path(kRoot);  // documents name files as they are called
  test::Fingerprints fingerprints("results.csv", "command,exit_code,fingerprint");
  for (const std::string& command : commands()) {
    const test::ProgramOutcome outcome = test::outcome_of(test::words_of(command));
    fingerprints.expect(command, fmt::format("{},{}", outcome.code, hash_text(outcome.text)),
                        "depthcost " + command + " does not print what it printed before");
  }
  fs::current_path(before);
  fingerprints.finish();
}

}  // namespace
}  // namespace depthcost::shipped_results
