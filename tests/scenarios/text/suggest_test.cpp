// Which misspelt names find their valid one.
#include "scenarios/text/suggest.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace depthcost::suggest_test {
namespace {

struct DistanceCase {
  std::string name;
  std::string a;
  std::string b;
  std::size_t expected;
};

std::ostream& operator<<(std::ostream& out, const DistanceCase& row) { return out << row.name; }

class EditDistance : public testing::TestWithParam<DistanceCase> {};

TEST_P(EditDistance, CountsTheFewestEditsBothWays) {
  EXPECT_EQ(edit_distance(GetParam().a, GetParam().b), GetParam().expected);
  EXPECT_EQ(edit_distance(GetParam().b, GetParam().a), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Words, EditDistance,
                         testing::Values(DistanceCase{"BothEmpty", "", "", 0},
                                         DistanceCase{"OneEmpty", "", "abc", 3},
                                         DistanceCase{"Equal", "block", "block", 0},
                                         DistanceCase{"Replacement", "block", "black", 1},
                                         DistanceCase{"Insertion", "block", "blocks", 1},
                                         DistanceCase{"SwapOfNeighbours", "block", "blcok", 1},
                                         DistanceCase{"SwapAtTheStart", "ab", "ba", 1},
                                         DistanceCase{"TwoSwaps", "abcd", "badc", 2},
                                         DistanceCase{"NoLetterTouchedTwice", "ca", "abc", 3},
                                         DistanceCase{"KittenSitting", "kitten", "sitting", 3}),
                         [](const auto& row) { return row.param.name; });

struct NearestCase {
  std::string name;
  std::string word;
  std::vector<std::string> candidates;
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const NearestCase& row) { return out << row.name; }

class NearestName : public testing::TestWithParam<NearestCase> {};

TEST_P(NearestName, IsFoundWhenNear) {
  EXPECT_EQ(nearest(GetParam().word, GetParam().candidates), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, NearestName,
    testing::Values(
        NearestCase{"ShortestContinuation", "h100", {"h100_pcie", "h100_sxm"}, "h100_sxm"},
        NearestCase{"GoesOnFromAName", "gb200_nvl72", {"b200_sxm", "gb200", "gb300"}, "gb200"},
        NearestCase{"CapitalLetters", "H100-SXM", {"h100_pcie", "h100_sxm"}, "h100_sxm"},
        NearestCase{
            "OtherSeparators", "llama3.1-70b", {"llama_3_1_8b", "llama_3_1_70b"}, "llama_3_1_70b"},
        NearestCase{"PartOfAName",
                    "attnres",
                    {"full_attnres", "attnres_sigmoid", "block_attnres"},
                    "block_attnres"},
        NearestCase{
            "PartOfTheFirstByName", "attnres", {"block_attnres", "full_attnres"}, "block_attnres"},
        NearestCase{"PieceOfAWordIsNoPart", "resid", {"full_attnresidual", "name"}, ""},
        NearestCase{"OneLetterWrong", "block_sise", {"name", "block_size"}, "block_size"},
        NearestCase{"NearerOfTwo", "num_block", {"num_locks", "num_blocks"}, "num_blocks"},
        NearestCase{"NearerOfTwoFirst", "num_block", {"num_blocks", "num_locks"}, "num_blocks"},
        NearestCase{"FirstOfEquals", "modal", {"model", "medal"}, "model"},
        NearestCase{"FirstOfEqualsReversed", "modal", {"medal", "model"}, "medal"},
        NearestCase{"AThirdOfTheLength", "abcdxx", {"abcdef"}, "abcdef"},
        NearestCase{"MoreThanAThird", "abcxxx", {"abcdef"}, ""},
        NearestCase{"ShortWordsMayMissByOne", "nam", {"name"}, "name"},
        NearestCase{"ShortWordsMayNotMissByTwo", "nm", {"name"}, ""},
        NearestCase{"TheStartOfALongerOne", "h200", {"gb200", "h200_sxm"}, "h200_sxm"},
        NearestCase{"TwoLettersAreNoStart", "h2", {"h200_sxm"}, ""},
        NearestCase{"OneLetterHasNoNeighbour", "x", {"y", "xy"}, ""},
        NearestCase{"MuchLonger", std::string(900'000, 'a'), {"a", "aaaa"}, ""},
        NearestCase{"NoWord", "", {"a"}, ""}, NearestCase{"NoCandidates", "name", {}, ""}),
    [](const auto& row) { return row.param.name; });

TEST(DidYouMean, PrefersTheShorterOfTwoThatContainTheWord) {
  EXPECT_EQ(nearest("h200", std::vector<std::string>{"mhc_h200", "h200_sxm"}), "h200_sxm");
  EXPECT_EQ(nearest("attnres", std::vector<std::string>{"attnres_raw_keys", "block_attnres"}),
            "block_attnres");
}

TEST(DidYouMean, SeesThroughCapitals) {
  const std::vector<std::string> candidates{"single_pass_mhc", "mhc", "mhc_lite"};
  EXPECT_EQ(did_you_mean("MHC", candidates), "; did you mean 'mhc'?");
  EXPECT_EQ(did_you_mean("Mhc-Lite", candidates), "; did you mean 'mhc_lite'?");
}

TEST(DidYouMean, NamesTheNearestOrSaysNothing) {
  const std::vector<std::string> candidates = {"block_size", "num_blocks"};
  EXPECT_EQ(did_you_mean("block_sise", candidates), "; did you mean 'block_size'?");
  EXPECT_EQ(did_you_mean("hardware", candidates), "");
  EXPECT_EQ(meant_or_known("hardware", candidates), " (known here: block_size, num_blocks)");
  EXPECT_EQ(meant_or_known("block_sise", candidates), "; did you mean 'block_size'?");
}

}  // namespace
}  // namespace depthcost::suggest_test
