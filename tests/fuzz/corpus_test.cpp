// Runs every fuzz target over its corpus and over the shipped files that it must accept.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/fuzz/targets.hpp"

namespace depthcost::fuzz {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = DEPTHCOST_SOURCE_DIR;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

std::vector<fs::path> files_in(const fs::path& folder, const fs::path& extension) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && (extension.empty() || entry.path().extension() == extension))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class Corpus : public testing::TestWithParam<Target> {};

TEST_P(Corpus, HasNoDefect) {
  const std::vector<fs::path> inputs = files_in(kRoot / "tests/fuzz/corpus" / GetParam().name, "");
  ASSERT_FALSE(inputs.empty());
  for (const fs::path& input : inputs) GetParam().run(content_of(input));
}

INSTANTIATE_TEST_SUITE_P(Of, Corpus, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& target) { return std::string(target.param.name); });

TEST(ShippedFiles, AreAcceptedByTheirTargets) {
  for (const Target& target : targets()) {
    const fs::path pattern = target.shipped;
    if (pattern.empty()) continue;
    for (const fs::path& file : files_in(kRoot / pattern.parent_path(), pattern.extension()))
      EXPECT_TRUE(target.run(content_of(file))) << file;
  }
}

/// A target without its folder would not be fuzzed from a good start, and a folder without its
/// target not at all.
TEST(CorpusFolders, AreThoseOfTheTargets) {
  std::vector<std::string> folders, names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "tests/fuzz/corpus"))
    folders.push_back(entry.path().filename());
  for (const Target& target : targets()) names.emplace_back(target.name);
  std::sort(folders.begin(), folders.end());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(folders, names);
}

}  // namespace
}  // namespace depthcost::fuzz
