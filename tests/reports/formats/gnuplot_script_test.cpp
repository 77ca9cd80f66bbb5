// Texts, labels and axes of gnuplot scripts.
#include "reports/formats/gnuplot_script.hpp"

#include <gtest/gtest.h>

#include "tests/reports/plot_script.hpp"

namespace depthcost::gnuplot_script_test {
namespace {

using test::contains;

TEST(GnuplotScript, CutsTextBetweenCharacters) {
  EXPECT_EQ(plotting::cleaned_line("abc", 3), "abc");
  EXPECT_EQ(plotting::cleaned_line("abcd", 3), "abc\u2026");
  EXPECT_EQ(plotting::cleaned_line("\u6df1\u5ea6\u5b66", 2), "\u6df1\u5ea6\u2026");
  EXPECT_EQ(plotting::cleaned_line("\xe6\xb7", 2), "??");
  EXPECT_EQ(plotting::cleaned_line("a\tb\r\n", 9), "a b  ");
}

TEST(GnuplotScript, QuotesByDoublingSingleQuotes) {
  EXPECT_EQ(plotting::gnuplot_text("it's \"\\n`\""), "'it''s \"\\n`\"'");
}

TEST(GnuplotScript, LabelsPowersOfTwo) {
  EXPECT_EQ(plotting::binary_label(512), "512");
  EXPECT_EQ(plotting::binary_label(1024), "1K");
  EXPECT_EQ(plotting::binary_label(Count{1} << 19), "512K");
  EXPECT_EQ(plotting::binary_label(Count{1} << 40), "1T");
  EXPECT_EQ(plotting::powers_of_two(3, 20), (std::vector<Count>{4, 8, 16}));
  EXPECT_EQ(plotting::powers_of_two(Count{1} << 62, INT64_MAX).size(), 1u);
  EXPECT_TRUE(plotting::powers_of_two(5, 7).empty());
}

TEST(GnuplotScript, LabelsTheEndsOfAnAxisBetweenPowers) {
  EXPECT_TRUE(contains(plotting::binary_x_axis(5, 7), "set xtics ('5' 5, '7' 7)"));
  EXPECT_TRUE(contains(plotting::binary_x_axis(1, 4), "set xtics ('1' 1, '2' 2, '4' 4)"));
  EXPECT_TRUE(contains(plotting::binary_x_axis(1, 8192), "('1' 1, '4' 4, '16' 16,"));
}

TEST(GnuplotScript, CountsInTheUnitsThatReportsWrite) {
  EXPECT_EQ(plotting::in_unit(22e6, UnitKind::bytes, "MB"), 22);
  EXPECT_EQ(plotting::in_unit(2e-6, UnitKind::seconds, "us"), 2);
}

}  // namespace
}  // namespace depthcost::gnuplot_script_test
