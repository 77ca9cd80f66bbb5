// Names of files in links.
#include "reports/formats/markdown_text.hpp"

#include <gtest/gtest.h>

namespace depthcost::markdown_text_test {
namespace {

TEST(MarkdownLinks, LeadToAnyName) {
  EXPECT_EQ(link("a_b", "plain.svg"), "[a\\_b](plain.svg)");
  EXPECT_EQ(link("a", "two words (1).svg"), "[a](<two words (1).svg>)");
}

TEST(MarkdownLinks, StayOnOneLineAndInOneTarget) {
  EXPECT_EQ(link("a", "x\ny.svg"), "[a](x%0Ay.svg)");
  EXPECT_EQ(link("a", "x> [b](c"), "[a](<x%3E [b](c>)");
  EXPECT_EQ(link("a", "50%.svg"), "[a](50%25.svg)");
  EXPECT_EQ(picture("a\nb", "c.svg"), "![a b](c.svg)\n\n");
}

}  // namespace
}  // namespace depthcost::markdown_text_test
