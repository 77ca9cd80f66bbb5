// A digit or a text of a shipped answer changes only on purpose. tests/golden/results.csv has a
// fingerprint of what each command prints. UPDATE_GOLDEN=1 rewrites it. scripts/compare_builds runs
// the same commands with two builds and shows which numbers differ.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program/program.hpp"
#include "model/pipeline/pipeline_order.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/text/input_text.hpp"
#include "tests/marked_block.hpp"

namespace depthcost {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kRoot = DEPTHCOST_SOURCE_DIR;
const fs::path kResults = fs::path(DEPTHCOST_GOLDEN_DIR) / "results.csv";

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

/// Of a model on a machine. Arguments: model, machine, schedule of the pipeline, its virtual
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

/// Prints numbers with nine digits, since the last ones are the C library's.
void write_rounded(const json& value, std::string& text) {
  if (value.is_number_float()) {
    text += fmt::format("{:.9g}", value.get<double>());
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      if (key == "program_version") continue;
      text += key + ":";
      write_rounded(member, text);
    }
  } else if (value.is_array()) {
    for (const json& element : value) write_rounded(element, text);
  } else {
    text += value.dump();
  }
  text += '\n';
}

/// The exit code, and the fingerprint of what the command prints.
std::string result_of(const std::string& line) {
  std::istringstream stream("depthcost --quiet " + line);
  std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run_program(static_cast<int>(pointers.size()), pointers.data());
  std::fflush(stdout);
  const std::string printed = testing::internal::GetCapturedStdout();
  const std::string errors = testing::internal::GetCapturedStderr();
  const json document = json::parse(printed, nullptr, false);
  std::string text = errors;
  if (document.is_discarded())
    text += printed;
  else
    write_rounded(document, text);
  return fmt::format("{},{}", code, hash_text(text));
}

std::map<std::string, std::string> recorded_results() {
  std::map<std::string, std::string> results;
  std::ifstream file(kResults);
  std::string row;
  std::getline(file, row);
  while (std::getline(file, row)) {
    const std::size_t end = row.rfind('"');
    results[row.substr(1, end - 1)] = row.substr(end + 2);
  }
  return results;
}

TEST(ShippedAnswers, ChangeOnlyOnPurpose) {
  const fs::path before = fs::current_path();
  fs::current_path(kRoot);  // documents name files as they are called
  std::string table = "command,exit_code,fingerprint\n";
  const std::map<std::string, std::string> recorded = recorded_results();
  std::size_t num_recorded = 0;
  for (const std::string& command : commands()) {
    const std::string result = result_of(command);
    table += fmt::format("\"{}\",{}\n", command, result);
    const auto row = recorded.find(command);
    num_recorded += row == recorded.end() ? 0 : 1;
    if (!test::is_updating_golden() && (row == recorded.end() || row->second != result))
      ADD_FAILURE() << "depthcost " << command
                    << " does not print what it printed before (its fingerprint in " << kResults
                    << " is another; UPDATE_GOLDEN=1 if the change is on purpose)";
  }
  fs::current_path(before);
  if (test::is_updating_golden())
    std::ofstream(kResults) << table;
  else
    EXPECT_EQ(num_recorded, recorded.size()) << kResults << " has commands that are not run";
}

}  // namespace
}  // namespace depthcost
