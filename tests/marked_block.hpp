// Parts of a document that are printed by a program: between "<!-- begin NAME -->" and
// "<!-- end NAME -->". UPDATE_GOLDEN=1 rewrites them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace depthcost::test {

inline bool is_updating_golden() { return std::getenv("UPDATE_GOLDEN") != nullptr; }

inline std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Expects every block of the file at `path` to hold its text.
inline void expect_blocks(const std::string& path,
                          const std::map<std::string, std::string>& blocks) {
  std::string document = file_text(path);
  for (const auto& [name, text] : blocks) {
    const std::string begin = "<!-- begin " + name + " -->\n";
    const auto start = document.find(begin);
    const auto end = document.find("<!-- end " + name + " -->");
    ASSERT_NE(start, std::string::npos) << path << ": no block " << name;
    ASSERT_NE(end, std::string::npos) << path << ": no end of block " << name;
    const auto content = start + begin.size();
    if (is_updating_golden())
      document.replace(content, end - content, text);
    else
      EXPECT_EQ(document.substr(content, end - content), text) << path << ": " << name;
  }
  if (is_updating_golden()) std::ofstream(path) << document;
}

}  // namespace depthcost::test
