// What the program says to values that no shipped file has changes only on purpose, refusals with
// their places too. A row of tests/golden/varied_settings.csv and varied_files.csv is the
// fingerprint of several answers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "scenarios/keys/keys.hpp"
#include "scenarios/text/input_text.hpp"
#include "tests/results/fingerprints.hpp"
#include "tests/results/program_outcome.hpp"
#include "tests/results/variations.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::varied_results {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = DEPTHCOST_SOURCE_DIR;

/// The answers to one thing that is varied.
struct Answers {
  std::size_t accepted = 0;
  std::size_t refused = 0;
  std::string text;

  void add(const test::ProgramOutcome& outcome) {
    // A checkout in another folder must answer alike.
    EXPECT_EQ(outcome.text.find(kRoot.string()), std::string::npos) << outcome.text;
    ++(outcome.code == 2 ? refused : accepted);
    text += fmt::format("{} {}\n", outcome.code, outcome.text);
  }
  std::string row() const { return fmt::format("{},{},{}", accepted, refused, hash_text(text)); }
};

/// What is served, on which machine and with which residual.
constexpr std::array kServed{
    "--model kimi_k3 --hardware h200_sxm --tensor 8",
    "--model kimi_k3 --hardware gb300 --tensor 16 --residual block_attnres --block-size 7",
    "--model llama_3_1_70b --hardware gb200 --tensor 4 --residual full_attnres "
    "--block-size 16",
    "--model llama_3_1_8b --hardware epyc_9654 --residual mhc",
    "--model gpt_oss_120b --hardware mi300x --residual gated_residual",
    "--model qwen3_8_flash_next --hardware b200_sxm --tensor 2",
    "--model gemma_3n_e2b --hardware rtx_4090",
    "--model mixtral_8x7b --hardware h100_sxm --tensor 2 --residual attnres_sliding_window",
    "--model deepseek_v4_flash --hardware h200_sxm --tensor 8 --residual laurel_lr",
    "--model kimi_linear_48b --hardware b300_sxm --pipeline 4 --residual block_attnres "
    "--block-size 6",
    "--model qwen3_32b --hardware h200_sxm --residual denseformer",
    "--model deepseek_v3 --hardware h200_sxm --tensor 8 --set parallelism.data=4 "
    "--set parallelism.expert=32 --residual mhc",
    "--model zaya1_8b --hardware a100_sxm --residual altup",
    "--model llama_3_1_70b --hardware scenarios/profiles/h200_vm.yaml --tensor 8 "
    "--residual block_attnres --block-size 10",
    "--model llama_3_1_8b --hardware scenarios/profiles/epyc_turin_vm.yaml --residual mhc",
};
constexpr const char* kServedWork =
    " --decode 3,130 --prefill 5000 --budget decode_overhead=2% --budget device_memory=fits";

constexpr std::array kTrained{
    "",
    "--set residual.block_size=7 --set residual.layout=replicated",
    "--set residual.scheme=mhc --set residual.schedule=one_pass --set residual.compare=standard",
    "--set residual.scheme=full_attnres --set residual.compare=[standard,block_attnres] "
    "--set residual.block_size=8 --set workload.training.activations=keep",
    "--set workload.training.schedule=zb_h1 --set parallelism.virtual_stages=1",
    "--set workload.training.schedule=dualpipe --set parallelism.virtual_stages=1",
    "--set workload.training.schedule=1f1b --set parallelism.virtual_stages=1 "
    "--set workload.training.sends=blocking",
    "--set parallelism.pipeline=1 --set parallelism.virtual_stages=1 "
    "--set workload.training.gradient_accumulation=per_block",
    "--set model=llama_3_1_8b --set parallelism.expert=1 --set parallelism.context=2 "
    "--set residual.scheme=block_attnres --set residual.block_size=4 "
    "--set workload.training.optimizer=adamw",
    "--set hardware=gb200 --set workload.training.activations=offload",
};
constexpr const char* kTraining =
    "scenarios/kimi_k3_training.yaml --set workload.training.micro_batches=16 ";

/// What a key means nothing without, so that some of its values are accepted.
const std::map<std::string_view, const char*> kNeeded{
    {"residual.remainder", "--set residual.scheme=block_attnres --set residual.num_blocks=7"},
    {"residual.weights", "--set residual.scheme=mhc"},
    {"parallelism.virtual_stages", "--set parallelism.pipeline=4"},
    {"parallelism.chunk_layers", "--set parallelism.pipeline=2"},
    {"workload.decode.speculative.tokens", "--set workload.decode.speculative.accepted=0.7"},
    {"workload.decode.speculative.accepted", "--set workload.decode.speculative.tokens=4"},
    {"workload.decode.prefill_context", "--set workload.decode.prefill_tokens=256"},
};

constexpr std::array kCommands{"evaluate", "check", "explain",           "family",
                               "evaluate", "sweep", "evaluate --details"};

/// A command whose scenario has this value. The value chooses the scenario.
std::vector<std::string> command_with(const Key& key, const std::string& setting) {
  const auto chosen = [&](const auto& list) {
    return std::string(list[fnv1a(setting) % list.size()]);
  };
  const bool is_trained = key.path.find("training") != std::string_view::npos ||
                          (key.path.starts_with("parallelism") && fnv1a(setting) / 64 % 2 == 0);
  const std::string scenario =
      is_trained ? kTraining + chosen(kTrained) : chosen(kServed) + kServedWork;
  std::string line = chosen(kCommands);
  if (line == "sweep")
    line += scenario.find("block_attnres") == std::string::npos && !is_trained
                ? " --axis parallelism.context=1,2"
                : " --axis block_size=3,8";
  if (!line.starts_with("explain") && line != "evaluate --details") line += " --format json";
  line += " " + scenario;
  if (const auto needed = kNeeded.find(key.path); needed != kNeeded.end())
    line += fmt::format(" {}", needed->second);
  std::vector<std::string> words = test::words_of(line);
  words.insert(words.end(), {"--set", setting});
  return words;
}

class VariedAnswers : public testing::Test {
 protected:
  VariedAnswers() : before_(fs::current_path()) { fs::current_path(kRoot); }
  ~VariedAnswers() override { fs::current_path(before_); }

 private:
  const fs::path before_;
};

TEST_F(VariedAnswers, OfSettingsChangeOnlyOnPurpose) {
  test::Fingerprints fingerprints("varied_settings.csv", "key,accepted,refused,fingerprint");
  for (const Key& key : scenario_keys().keys) {
    if (key.path == "schema" || key.path.find('[') != std::string_view::npos) continue;
    Answers answers;
    for (const std::string& value : test::values_to_try(key))
      answers.add(test::outcome_of(command_with(key, fmt::format("{}={}", key.path, value))));
    fingerprints.expect(std::string(key.path), answers.row(),
                        fmt::format("values of {} are not answered as before", key.path));
  }
  fingerprints.finish();
}

struct VariedFile {
  const char* path;
  const char* command;      // {f}: the file
  const char* beside = "";  // another file that it names
};

constexpr std::array kFiles{
    VariedFile{"scenarios/kimi_k3_32xh200.yaml", "check {f} --format json"},
    VariedFile{"scenarios/kimi_k3_training.yaml", "evaluate {f} --format json"},
    VariedFile{"scenarios/models/kimi_k3.yaml", "evaluate --model {f} --format json"},
    VariedFile{"scenarios/models/deepseek_v4_flash.yaml",
               "evaluate --model {f} --hardware h200_sxm --tensor 8 --decode 3 --format json"},
    VariedFile{"scenarios/models/qwen3_8_flash_next.yaml",
               "evaluate --model {f} --hardware b200_sxm --decode 3 --format json"},
    VariedFile{"scenarios/models/gemma_3n_e2b.yaml",
               "evaluate --model {f} --hardware rtx_4090 --decode 3 --format json"},
    VariedFile{"scenarios/models/gpt_oss_120b.yaml",
               "evaluate --model {f} --hardware mi300x --decode 3 --format json"},
    VariedFile{
        "scenarios/hardware/gb200.yaml",
        "evaluate --model llama_3_1_70b --tensor 16 --hardware {f} --decode 3 --format json"},
    VariedFile{"scenarios/hardware/epyc_9654.yaml",
               "evaluate --model llama_3_1_8b --hardware {f} --decode 3 --format json"},
    VariedFile{"scenarios/profiles/synthetic.yaml", "compare {f}", "synthetic.samples.json"},
    VariedFile{"scenarios/profiles/synthetic.yaml",
               "evaluate --model llama_3_1_8b --hardware {f} --decode 3 --format json"},
    VariedFile{"scenarios/profiles/synthetic.yaml", "profile verify {f}", "synthetic.samples.json"},
    VariedFile{"scenarios/profiles/synthetic.samples.json", "compare {f}"},
    VariedFile{"tests/scenarios/configs/kimi_k3.json", "import {f}"},
    VariedFile{"tests/scenarios/configs/deepseek_v4_1_flash.json", "import {f}"},
    VariedFile{"tests/scenarios/configs/gemma_3n_e2b.json", "import {f}"},
    VariedFile{"tests/scenarios/configs/qwen3_next_80b.json", "import {f}"},
    VariedFile{"scenarios/tolerances/measurements.yaml",
               "compare scenarios/profiles/synthetic.yaml --tolerances {f}"},
    VariedFile{"scenarios/tolerances/samples.yaml",
               "compare scenarios/profiles/synthetic.yaml --tolerances {f}"},
    VariedFile{"scenarios/kernel_names/vllm.yaml",
               "compare tests/profile/traces/files/step.json --scenario "
               "scenarios/kimi_k3_8xh200.yaml --workload decode/64 --steps 1 --kernel-names {f}"},
    VariedFile{
        "tests/profile/traces/files/step.json",
        "compare {f} --scenario scenarios/kimi_k3_8xh200.yaml --workload decode/64 --steps 1"},
    VariedFile{
        "tests/profile/traces/files/step.csv",
        "compare {f} --scenario scenarios/kimi_k3_8xh200.yaml --workload decode/64 --steps 1"},
};

/// What the command says to the file as written, without the name of the folder.
test::ProgramOutcome outcome_with(const VariedFile& file, const test::TemporaryFolder& folder,
                                  const std::string& text) {
  const std::string written = folder.written(fs::path(file.path).filename(), text);
  const std::string line = fmt::format(fmt::runtime(file.command), fmt::arg("f", written));
  test::ProgramOutcome outcome = test::outcome_of(test::words_of(line));
  for (std::size_t at; (at = outcome.text.find(folder.path())) != std::string::npos;)
    outcome.text.erase(at, folder.path().size());
  return outcome;
}

TEST_F(VariedAnswers, OfFilesChangeOnlyOnPurpose) {
  test::Fingerprints fingerprints("varied_files.csv", "line,accepted,refused,fingerprint");
  for (const VariedFile& file : kFiles) {
    const test::TemporaryFolder folder;
    const fs::path path = kRoot / file.path;
    if (*file.beside != '\0')
      folder.written(file.beside, test::content_of(path.parent_path() / file.beside));
    std::map<std::string, Answers> answers;
    for (const test::Variation& variation : test::variations_of(test::content_of(path)))
      answers[variation.line].add(outcome_with(file, folder, variation.text));
    const std::string command =
        fmt::format(fmt::runtime(file.command), fmt::arg("f", path.filename().string()));
    for (const auto& [line, answered] : answers)
      fingerprints.expect(fmt::format("{}: {}", command, line), answered.row(),
                          fmt::format("{}: changes of '{}' in {} are not answered as before",
                                      command, line, file.path));
  }
  fingerprints.finish();
}

}  // namespace
}  // namespace depthcost::varied_results
