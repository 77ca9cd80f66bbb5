// The README and the handbook: documents whose commands are run and whose marked blocks are printed
// by the program.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/marked_block.hpp"

namespace depthcost::test {

/// Their paths from the root, the README first.
inline std::vector<std::string> documents() {
  std::vector<std::string> pages;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(DEPTHCOST_SOURCE_DIR) + "/docs/pages"))
    if (entry.path().extension() == ".md")
      pages.push_back("docs/pages/" + entry.path().filename().string());
  std::sort(pages.begin(), pages.end());
  pages.insert(pages.begin(), "README.md");
  return pages;
}

/// The text of one of them.
inline std::string document_text(const std::string& document) {
  return file_text(std::string(DEPTHCOST_SOURCE_DIR) + "/" + document);
}

/// The documents that have a block of that name.
inline std::vector<std::string> documents_with(const std::string& block) {
  std::vector<std::string> found;
  for (const std::string& document : documents())
    if (document_text(document).find("<!-- begin " + block + " -->") != std::string::npos)
      found.push_back(document);
  if (found.empty()) throw std::runtime_error("no document has a block " + block);
  return found;
}

/// Expects every block to hold its text, wherever it stands.
inline void expect_blocks_of_documents(const std::map<std::string, std::string>& blocks) {
  for (const auto& [name, text] : blocks)
    for (const std::string& document : documents_with(name))
      expect_blocks(std::string(DEPTHCOST_SOURCE_DIR) + "/" + document, {{name, text}});
}

}  // namespace depthcost::test
