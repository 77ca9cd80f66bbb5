// The map of the rooms in CONTRIBUTING.md against the files and their includes, and the paths that
// texts name against the files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/temporary_folder.hpp"

namespace depthcost::rooms_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = DEPTHCOST_SOURCE_DIR;

/// The folders of sources.
const std::vector<std::string> kFolders{"cli",    "kernels", "microbench", "model", "profile",
                                        "python", "reports", "scenarios",  "web"};

struct Room {
  std::string name;                // "model/base", "kernels"
  std::set<std::string> includes;  // names of rooms, or of all rooms in a folder
};

std::vector<std::string> quoted(const std::string& text) {
  static const std::regex pattern("`([a-z/]+)`");
  std::vector<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    names.push_back((*it)[1]);
  return names;
}

/// "model" of "model/base", and of a room that is a whole folder its name.
std::string folder_of(const std::string& path) { return path.substr(0, path.find('/')); }

/// Whether a room may include those of its folder that stand above it in the map. The backends of
/// `kernels` stand side by side.
bool is_in_order(const std::string& folder) { return folder != "kernels"; }

/// Rows of the map, `| room | question | includes |`.
std::vector<Room> rooms() {
  static const std::regex pattern(R"(\| (`[a-z/]+`) \| [^|]+ \|([^|]*)\|)");
  std::vector<Room> found;
  std::set<std::string> above;
  std::stringstream lines(test::content_of(kRoot / "CONTRIBUTING.md"));
  std::smatch row;
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_match(line, row, pattern)) continue;
    const std::string name = quoted(row[1]).front();
    const std::vector<std::string> named = quoted(row[2]);
    Room room{name, {named.begin(), named.end()}};
    for (const std::string& other : above)
      if (folder_of(other) == folder_of(name) && is_in_order(folder_of(name)))
        room.includes.insert(other);
    above.insert(name);
    found.push_back(std::move(room));
  }
  return found;
}

bool is_source(const fs::path& file) {
  static const std::set<std::string> endings{".cpp", ".hpp", ".cu", ".cuh", ".c", ".h"};
  return endings.contains(file.extension().string());
}

std::vector<fs::path> sources_of(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
    if (is_source(entry.path())) files.push_back(entry.path());
  return files;
}

/// The room in which a path below the repository lies, or the path's first folder.
std::string room_of(const std::string& path, const std::vector<Room>& rooms) {
  for (const Room& room : rooms)
    if (path.starts_with(room.name + "/")) return room.name;
  return folder_of(path);
}

/// Paths of our own that a file includes.
std::vector<std::string> includes_of(const fs::path& file) {
  static const std::regex pattern("#include \"([^\"]+/[^\"]+)\"");
  const std::string text = test::content_of(file);
  std::vector<std::string> paths;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    paths.push_back((*it)[1]);
  return paths;
}

bool may_include(const Room& room, const std::string& other) {
  return other == room.name || room.includes.contains(other) ||
         room.includes.contains(folder_of(other));
}

TEST(Rooms, IncludeOnlyWhatTheMapSays) {
  const std::vector<Room> map = rooms();
  ASSERT_GT(map.size(), 40);
  std::size_t includes = 0;
  for (const Room& room : map)
    for (const fs::path& file : sources_of(room.name))
      for (const std::string& path : includes_of(file)) {
        EXPECT_TRUE(may_include(room, room_of(path, map))) << file << " includes " << path;
        ++includes;
      }
  EXPECT_GT(includes, 1000);
}

/// The model's ledger is what traffic is held against, in the tests of reference and CUDA alone:
/// the others are built without the model.
TEST(Rooms, KeepTheModelOutOfTheTestsOfKernels) {
  for (const std::string folder : {"operations", "cpu", "c"})
    for (const fs::path& file : sources_of("tests/kernels/" + folder))
      for (const std::string& path : includes_of(file))
        EXPECT_NE(folder_of(path), "model") << file << " includes " << path;
}

bool is_room(const std::string& name, const std::vector<Room>& map) {
  return std::any_of(map.begin(), map.end(), [&](const Room& room) { return room.name == name; });
}

TEST(Rooms, AreAllOnTheMap) {
  const std::vector<Room> map = rooms();
  for (const std::string& folder : kFolders)
    for (const fs::path& file : sources_of(folder)) {
      const std::string path = fs::relative(file, kRoot).string();
      EXPECT_TRUE(is_room(room_of(path, map), map)) << path << " lies in no room";
    }
}

TEST(Rooms, HaveAtMostThirtyFilesAFolder) {
  std::map<fs::path, int> files;
  for (const std::string& folder : kFolders)
    for (const fs::path& file : sources_of(folder)) ++files[file.parent_path()];
  for (const fs::path& file : sources_of("tests")) ++files[file.parent_path()];
  for (const auto& [folder, count] : files) EXPECT_LE(count, 30) << folder;
}

using Folders = std::map<std::string, std::set<std::string>>;

/// Folders below `room`, each with those that its files include.
Folders folders_in(const std::string& room) {
  const auto folder = [](const fs::path& path) { return path.parent_path().string(); };
  Folders includes;
  for (const fs::path& file : sources_of(room))
    for (const std::string& path : includes_of(file)) {
      const std::string own = folder(fs::relative(file, kRoot));
      if (path.starts_with(room + "/") && folder(path) != own) includes[own].insert(folder(path));
    }
  return includes;
}

/// Whether `folder` includes `wanted`, itself or by others.
bool reaches(const Folders& includes, const std::string& folder, const std::string& wanted,
             std::set<std::string>& seen) {
  const auto found = includes.find(folder);
  if (found == includes.end() || !seen.insert(folder).second) return false;
  for (const std::string& next : found->second)
    if (next == wanted || reaches(includes, next, wanted, seen)) return true;
  return false;
}

TEST(Rooms, TopicsOfReportsIncludeEachOtherWithoutCircles) {
  const Folders includes = folders_in("reports/topics");
  EXPECT_FALSE(includes.empty());
  for (const auto& [folder, others] : includes) {
    std::set<std::string> seen;
    EXPECT_FALSE(reaches(includes, folder, folder, seen)) << folder;
  }
}

TEST(Rooms, KeepEachLibraryInOnePlace) {
  for (const std::string& folder : kFolders)
    for (const fs::path& file : sources_of(folder)) {
      const std::string text = test::content_of(file);
      const bool has_yaml = text.find("#include <yaml.h>") != std::string::npos;
      const bool has_cli = text.find("#include <CLI/") != std::string::npos;
      EXPECT_TRUE(!has_yaml || folder == "scenarios") << file;
      EXPECT_TRUE(!has_cli || folder == "cli") << file;
      EXPECT_TRUE(text.find("#include <nanobind") == std::string::npos || folder == "python")
          << file;
    }
}

/// Sources, documents and scripts of a folder.
std::vector<fs::path> texts_of(const std::string& folder) {
  static const std::set<std::string> endings{".md", ".py", ".sh", ""};
  std::vector<fs::path> files = sources_of(folder);
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
    if (entry.is_regular_file() && endings.contains(entry.path().extension().string()))
      files.push_back(entry.path());
  return files;
}

/// The longest words of a text that could be paths.
std::vector<std::string> paths_in(const std::string& text) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
           c == '/';
  };
  std::vector<std::string> paths;
  for (auto at = text.begin(); at != text.end();) {
    const auto begin = std::find_if(at, text.end(), is_part);
    at = std::find_if_not(begin, text.end(), is_part);
    std::string word(begin, at);
    while (word.ends_with('.')) word.pop_back();
    if (word.find('/') != std::string::npos) paths.push_back(std::move(word));
  }
  return paths;
}

/// Whether the word is the path of a source or a document of ours. NAME stands for any name.
bool is_own_path(const std::string& word) {
  static const std::set<std::string> folders{"cli",       "cmake",   "kernels", "microbench",
                                             "model",     "profile", "python",  "reports",
                                             "scenarios", "scripts", "tests",   "web"};
  const fs::path path(word);
  return folders.contains(folder_of(word)) && (is_source(path) || path.extension() == ".md") &&
         word.find("NAME") == std::string::npos;
}

TEST(Texts, NameFilesThatExist) {
  std::vector<fs::path> files{kRoot / "README.md", kRoot / "CONTRIBUTING.md"};
  for (const auto& page : fs::directory_iterator(kRoot / "docs/pages"))
    if (page.is_regular_file()) files.push_back(page.path());
  for (const std::string folder : {"cli", "kernels", "microbench", "model", "profile", "python",
                                   "reports", "scenarios", "scripts", "tests", "web"})
    for (fs::path& file : texts_of(folder)) files.push_back(std::move(file));
  std::size_t named = 0;
  for (const fs::path& file : files)
    for (const std::string& path : paths_in(test::content_of(file))) {
      if (!is_own_path(path)) continue;
      const bool is_generated = fs::exists(kRoot / (path + ".in"));
      EXPECT_TRUE(is_generated || fs::exists(kRoot / path)) << file << " names " << path;
      ++named;
    }
  EXPECT_GT(named, 2000);
}

}  // namespace
}  // namespace depthcost::rooms_test
