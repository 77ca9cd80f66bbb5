// The synthetic profile and its samples in a folder of their own, and the program beside them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test {

inline const std::string kRoot = std::string(DEPTHCOST_SOURCE_DIR) + "/";
inline const std::string kSynthetic = kRoot + "scenarios/profiles/synthetic";

class ProfileFiles : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* ending : {".yaml", ".samples.json"})
      std::filesystem::copy_file(kSynthetic + ending,
                                 folder_.path(std::string("synthetic") + ending));
  }

  Outcome run(std::vector<std::string> arguments) const {
    return run_program({.arguments = std::move(arguments), .folder = folder_.path()});
  }

  void expect_error(const std::vector<std::string>& arguments, const std::string& line) const {
    expect_refusal(run(arguments), line);
  }

  void change(const std::string& file, const std::string& old_text,
              const std::string& new_text) const {
    std::string text = content_of(folder_.path(file));
    const auto at = text.find(old_text);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, old_text.size(), new_text);
    folder_.written(file, text);
  }

  const TemporaryFolder folder_;
};

}  // namespace depthcost::test
