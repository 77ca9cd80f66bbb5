// The tables of kernels/README.md are those of the samples in scenarios/profiles.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "microbench/harness/program.hpp"
#include "model/machine/catalogue.hpp"
#include "profile/profile_file.hpp"
#include "tests/marked_block.hpp"
#include "tests/microbench/results/measured_table.hpp"
#include "tests/parsed_json.hpp"

namespace depthcost::bench::kernels_readme_test {
namespace {

/// The project, or the copy of it that scripts/h200 writes to.
std::string root() {
  const char* tree = std::getenv("DEPTHCOST_TREE");
  return std::string(tree == nullptr ? DEPTHCOST_SOURCE_DIR : tree) + "/";
}

const std::string kRoot = root();

/// "xeon.samples.json" -> "xeon"; of the synthetic machine, which is none, nothing.
std::string machine_of_file(const std::filesystem::path& path) {
  const std::string file = path.filename().string();
  const auto end = file.find(".samples.json");
  return end == std::string::npos || file.starts_with("synthetic") ? "" : file.substr(0, end);
}

/// What the passes of a core alone would take, by the rates of the machine's profile.
CoreSeconds core_seconds_of(const std::string& machine) {
  const profile::LoadedProfile loaded =
      profile::load_profile(kRoot + "scenarios/profiles/" + machine + ".yaml");
  CoreSeconds seconds;
  if (!loaded.profile.machine.core) return seconds;
  for (const profile::KernelSample& kernel : loaded.samples.kernels) {
    const CoreTime core =
        core_time(*loaded.profile.machine.core, *find_operation(kernel.call),
                  static_cast<double>(kernel.call.num_tokens),
                  static_cast<double>(kernel.call.hidden_size), kernel.call.dtype);
    seconds[kernel.name] = (core.beside + core.on_top).value;
  }
  return seconds;
}

TEST(KernelsReadme, ShowsWhatWasMeasured) {
  std::map<std::string, std::string> blocks;
  for (const auto& file : std::filesystem::directory_iterator(kRoot + "scenarios/profiles")) {
    const std::string machine = machine_of_file(file.path());
    if (machine.empty()) continue;
    const Results results = results_of(test::parsed_json(test::file_text(file.path())));
    ASSERT_EQ(weakness(results), std::nullopt) << file.path();
    const bool is_gpu = !results.device.empty();
    blocks["measured " + machine] =
        "\n" +
        measured_table(results, is_gpu ? "cuda" : "cpu",
                       is_gpu ? DEPTHCOST_CUDA_KERNELS_HASH : kernels_hash(),
                       core_seconds_of(machine)) +
        "\n";
  }
  ASSERT_FALSE(blocks.empty());
  test::expect_blocks(kRoot + "kernels/README.md", blocks);
}

/// A machine's table: what stands above it, and its cells by operation.
struct MachineTable {
  std::string heading;  // machine and kernels, and whether these have changed since
  std::map<std::string, std::vector<std::string>> cells;
};

MachineTable table_of(const std::string& machine) {
  const auto path = kRoot + "scenarios/profiles/" + machine + ".samples.json";
  const Results results = results_of(test::parsed_json(test::file_text(path)));
  const bool is_gpu = !results.device.empty();
  const std::string text = measured_table(
      results, is_gpu ? "cuda" : "cpu", is_gpu ? DEPTHCOST_CUDA_KERNELS_HASH : kernels_hash(), {});
  MachineTable table{.heading = text.substr(0, text.find("\n\n")), .cells = {}};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const auto end = line.find('`', 3);
    auto& row = table.cells[line.substr(3, end - 3)];
    for (auto at = line.find("| ", end); at != std::string::npos && at + 2 < line.size();) {
      const auto next = line.find(" |", at + 1);
      const std::string cell = line.substr(at + 2, next - at - 2);
      row.push_back(cell.substr(0, cell.find("; loop")));
      at = line.find("| ", next);
    }
  }
  return table;
}

/// The README's few rows are those of kernels/README.md.
TEST(ProjectReadme, ShowsHowFastTheKernelsAre) {
  const MachineTable gpu = table_of("h200_vm");
  const MachineTable cpu = table_of("epyc_turin_vm");
  std::string text = fmt::format(
      "\n{}\n{}\n\n"
      "| operation, bf16 | H200, T = 8192 | H200, T = 1, cold / hot | one core of EPYC Turin |\n"
      "| --- | --- | --- | --- |\n",
      gpu.heading, cpu.heading);
  for (const char* operation : {"residual_add_rmsnorm", "attnres_single_pass", "attnres_phase1",
                                "attnres_phase2", "mhc_post", "mhc_boundary"})
    text += fmt::format("| `{}` | {} | {} | {} |\n", operation, gpu.cells.at(operation).at(0),
                        gpu.cells.at(operation).at(2), cpu.cells.at(operation).at(0));
  test::expect_blocks(kRoot + "README.md", {{"kernels", text + "\n"}});
}

/// The operations of the first tables: "| `mhc_pre` | ...".
std::vector<std::string> operations_of(const std::string& readme) {
  std::vector<std::string> operations;
  std::istringstream lines(readme.substr(0, readme.find("## Measured")));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("| `")) operations.push_back(line.substr(3, line.find('`', 3) - 3));
  return operations;
}

TEST(KernelsReadme, SaysWhatIsNotMeasured) {
  const std::string readme = test::file_text(kRoot + "kernels/README.md");
  const std::string measured = readme.substr(readme.find("<!-- begin measured"));
  ASSERT_GT(operations_of(readme).size(), 10U);
  for (const std::string& operation : operations_of(readme)) {
    const std::size_t begin = readme.find("\n| `" + operation + "` |");
    const std::string row = readme.substr(begin, readme.find('\n', begin + 1) - begin);
    const bool is_excepted =
        readme.find("every kernel but `" + operation + "`") != std::string::npos ||
        row.find("not measured yet") != std::string::npos;
    const bool is_measured = measured.find("\n| `" + operation + "` |") != std::string::npos;
    EXPECT_NE(is_measured, is_excepted) << operation;
  }
}

}  // namespace
}  // namespace depthcost::bench::kernels_readme_test
