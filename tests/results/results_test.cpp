// A digit of a shipped answer that changes must be meant to. tests/golden/results.csv has the
// fingerprint of what each command prints; UPDATE_GOLDEN=1 rewrites it, and scripts/compare_builds
// shows what differs between two builds.
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
#include "scenarios/presets/presets.hpp"
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

/// Every document on every shipped scenario, profile and config; each model on a few machines, each
/// machine with a few models.
std::vector<std::string> commands() {
  std::vector<std::string> lines{"compare --published --format json"};
  for (const std::string& file : files_of("scenarios", ".yaml"))
    for (const char* command :
         {"evaluate {} --format json --layers", "evaluate {} --format plan",
          "check {} --format json --strict", "explain {}", "sweep {} --format json",
          "family {} --format json", "mixing {} --scheme all --magnitude --format json"})
      lines.push_back(fmt::format(fmt::runtime(command), file));
  for (const std::string& file : files_of("scenarios/profiles", ".yaml")) {
    lines.push_back(fmt::format("compare {} --format json", file));
    lines.push_back(fmt::format("profile show {}", file));
  }
  for (const std::string& file : files_of("tests/scenarios/configs", ".json"))
    lines.push_back("import " + file);
  const std::vector<std::string> machines = presets_of("hardware");
  const std::array schedules{"schedule=1f1b --set parallelism.virtual_stages=1",
                             "schedule=interleaved_1f1b --set parallelism.virtual_stages=2",
                             "schedule=zb_h1 --set parallelism.virtual_stages=1",
                             "schedule=dualpipe --set parallelism.virtual_stages=1"};
  const std::vector<std::string> models = presets_of("models");
  for (std::size_t i = 0; i < std::max(models.size(), machines.size()); ++i) {
    const std::string& model = models[i % models.size()];
    const std::string& machine = machines[i % machines.size()];
    const auto add = [&](const char* command) {
      lines.push_back(fmt::format(fmt::runtime(command), fmt::arg("model", model),
                                  fmt::arg("machine", machine),
                                  fmt::arg("schedule", schedules[i % schedules.size()])));
    };
    add("evaluate --model {model} --hardware {machine} --tensor 8 --residual block_attnres "
        "--block-size 7 --compare standard,mhc,gated_residual,full_attnres --decode 1,3,16,130,700 "
        "--prefill 5000 --format json");
    add("family --model {model} --hardware {machine} --residual block_attnres --block-size 7 "
        "--decode 9 --format json");
    add("evaluate scenarios/kimi_k3_training.yaml --set model={model} --set hardware={machine} "
        "--set residual.scheme=block_attnres --set residual.block_size=5 "
        "--set parallelism.pipeline=4 --set parallelism.expert=1 "
        "--set workload.training.{schedule} --format json");
    if (i % 4 == 0)
      add("plan --model {model} --hardware {machine} --devices 16 --residual block_attnres,mhc "
          "--format json");
  }
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

/// FNV-1a, which is the same on every machine.
std::string fingerprint(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
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
  return fmt::format("{},{}", code, fingerprint(text));
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

TEST(Results, ChangeOnlyWhenMeant) {
  const fs::path before = fs::current_path();
  fs::current_path(kRoot);  // documents name files as they are called
  std::string table = "command,exit_code,fingerprint\n";
  const std::map<std::string, std::string> recorded = recorded_results();
  std::size_t num_equal = 0;
  for (const std::string& command : commands()) {
    const std::string result = result_of(command);
    table += fmt::format("\"{}\",{}\n", command, result);
    const auto row = recorded.find(command);
    if (row != recorded.end() && row->second == result)
      ++num_equal;
    else if (!test::is_updating_golden())
      ADD_FAILURE() << "depthcost " << command << " prints something else than " << kResults
                    << " has (scripts/compare_builds OLD NEW shows what; UPDATE_GOLDEN=1 if meant)";
  }
  fs::current_path(before);
  if (test::is_updating_golden())
    std::ofstream(kResults) << table;
  else
    EXPECT_EQ(num_equal, recorded.size()) << kResults << " has commands that are not run";
}

}  // namespace
}  // namespace depthcost
