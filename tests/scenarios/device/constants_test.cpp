// Files of fitted constants: a user's own, and every mistake in one with the whole message.
#include "scenarios/device/constants.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/scenarios/text/error_of.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::constants_test {
namespace {

/// The shipped file with one piece of its text replaced.
std::string edited(const std::string& piece, const std::string& replacement) {
  std::string text = test::content_of(DEPTHCOST_SOURCE_DIR "/scenarios/constants/all.yaml");
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), replacement);
}

TEST(ConstantsOfAnOption, AreThoseOfItsFileOrThoseThatShip) {
  const test::TemporaryFolder folder;
  const std::string path =
      folder.written("mine.yaml", edited("loop_draw: 37.52 GB/s", "loop_draw: 12 GB/s"));
  EXPECT_EQ(constants_of_option(path).kernels.loop_draw, BytesPerSecond{12e9});
  EXPECT_EQ(constants_of_option("").kernels.loop_draw, BytesPerSecond{37.52e9});
}

struct Case {
  std::string name;
  std::string piece;
  std::string replacement;
  std::string expected;  // behind the path and its colon
};

std::ostream& operator<<(std::ostream& out, const Case& row) { return out << row.name; }

class BadConstants : public testing::TestWithParam<Case> {};

TEST_P(BadConstants, NameTheLineAndTheCause) {
  const test::TemporaryFolder folder;
  const std::string path =
      folder.written("mine.yaml", edited(GetParam().piece, GetParam().replacement));
  EXPECT_EQ(test::error_of([&] { load_constants(path); }), path + ":" + GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadConstants,
    testing::ValuesIn(std::vector<Case>{
        {"ValueBelowItsInterval", "ring_draw: 234 GB/s", "ring_draw: 100 GB/s",
         "17:12: error: invalid ring_draw (it does not lie between ring_draw_low and "
         "ring_draw_high)"},
        {"ValueAboveItsInterval", "sustained_rate: 0.65", "sustained_rate: 0.9",
         "44:17: error: invalid sustained_rate (it does not lie between sustained_rate_low and "
         "sustained_rate_high)"},
        {"ErrorsThatAllLieAbove", "dense_step_low: 0.6239", "dense_step_low: 1.1",
         "39:17: error: invalid dense_step (1 does not lie between low and high)"},
        {"ErrorsThatAllLieBelow", "token_high: 1.131", "token_high: 0.9",
         "27:45: error: invalid errors[0].token (1 does not lie between low and high)"},
        {"StackOfAFramework", "stack: vllm", "stack: eager",
         "31:13: error: invalid stacks[].stack 'eager' (no serving stack)"},
    }),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace depthcost::constants_test
