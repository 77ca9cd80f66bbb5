// The first tables of kernels/README.md: what each operation computes and moves, which its entry in
// the catalogue says, and which files run it.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kernels/operations/backward/operations.hpp"
#include "kernels/operations/operations.hpp"
#include "model/machine/catalogue.hpp"
#include "tests/marked_block.hpp"

namespace depthcost::bench::operations_table_test {
namespace {

const std::string kKernels = std::string(DEPTHCOST_SOURCE_DIR) + "/kernels/";

/// The structs of kernels/operations, by the name of the operation.
std::map<std::string_view, std::string_view> structs() {
#define DEPTHCOST_STRUCT(Op, name) {#name, #Op},
  return {DEPTHCOST_OPERATIONS(DEPTHCOST_STRUCT) DEPTHCOST_PHASE_OPERATIONS(DEPTHCOST_STRUCT)
              DEPTHCOST_BACKWARD_OPERATIONS(DEPTHCOST_STRUCT)};
#undef DEPTHCOST_STRUCT
}

/// The sources of a backend by their paths below kernels/, in order.
std::map<std::string, std::string> sources(const std::string& backend) {
  std::map<std::string, std::string> texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kKernels + backend)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cpp" && extension != ".cu") continue;
    const auto path = std::filesystem::relative(entry.path(), kKernels);
    texts.emplace(path.generic_string(), test::file_text(entry.path().string()));
  }
  return texts;
}

/// Links to the files that define `run` of a struct.
std::string links(const std::map<std::string, std::string>& sources, std::string_view name) {
  std::vector<std::string> found;
  for (const auto& [path, text] : sources)
    if (text.find(fmt::format("void run(const {}<", name)) != std::string::npos)
      found.push_back(fmt::format("[{}]({})", path.substr(path.rfind('/') + 1), path));
  EXPECT_FALSE(found.empty()) << name << " has no run()";
  return fmt::format("{}", fmt::join(found, ", "));
}

std::string readme_path() {
  const char* tree = std::getenv("DEPTHCOST_TREE");
  return std::string(tree == nullptr ? DEPTHCOST_SOURCE_DIR : tree) + "/kernels/README.md";
}

/// "; not measured yet" where no table of measurements has the operation.
std::string_view remark(const std::string& readme, std::string_view operation) {
  const std::string measured = readme.substr(readme.find("<!-- begin measured"));
  const bool has_row = measured.find(fmt::format("\n| `{}` |", operation)) != std::string::npos;
  return has_row ? "" : "; not measured yet";
}

/// A row for each entry that has a meaning, of forward or of backward passes.
std::string table(std::string_view what, bool is_backward) {
  const std::string readme = test::file_text(readme_path());
  const auto cpu = sources("cpu");
  const auto cuda = sources("cuda");
  const auto names = structs();
  std::string text = fmt::format(
      "\n| {} | meaning | d-vectors per token | CPU | CUDA |\n| --- | --- | --- | --- | --- |\n",
      what);
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.meaning.empty() || entry.name.ends_with("_backward") != is_backward) continue;
    const std::string_view name = names.at(entry.name);
    text +=
        fmt::format("| `{}` | {}{} | {} | {} | {} |\n", entry.name, entry.meaning,
                    remark(readme, entry.name), entry.moves, links(cpu, name), links(cuda, name));
  }
  return text + "\n";
}

TEST(KernelsReadme, SaysWhatOperationsComputeAndWhere) {
  test::expect_blocks(readme_path(), {{"operations", table("operation", false)},
                                      {"backward operations", table("backward operation", true)}});
}

/// What eager mode launches and variants of an operation have no row of their own.
TEST(KernelsReadme, HasARowForEveryOperation) {
  for (const CatalogueEntry& entry : catalogue()) {
    const bool has_row =
        !entry.name.starts_with("unfused_") && entry.name.find('/') == std::string_view::npos;
    EXPECT_EQ(has_row, !entry.meaning.empty()) << entry.name;
    EXPECT_EQ(entry.meaning.empty(), entry.moves.empty()) << entry.name;
  }
}

}  // namespace
}  // namespace depthcost::bench::operations_table_test
