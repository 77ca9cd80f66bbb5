// One table as text and as Markdown.
#include "reports/formats/text_table.hpp"

#include <gtest/gtest.h>

namespace depthcost::text_table_test {
namespace {

Table example() {
  return {{{"name"}, {"count", Align::right}, {"note"}},
          {{"a", "1", ""}, {"longer", "1,000", "b\u2080"}, {"\u00B5s", "10", "x"}}};
}

TEST(PlainText, AlignsColumnsByCodePoints) {
  EXPECT_EQ(plain_text(example()),
            "name    count  note\n"
            "------  -----  ----\n"
            "a           1\n"
            "longer  1,000  b\u2080\n"
            "\u00B5s         10  x\n");
}

TEST(PlainText, AlignsColumnsBesideWideCharacters) {
  EXPECT_EQ(plain_text({{{"name"}, {"note"}}, {{"\u6A21\u578B", "x"}, {"model", "y"}}}),
            "name   note\n"
            "-----  ----\n"
            "\u6A21\u578B   x\n"
            "model  y\n");
}

TEST(PlainText, PrintsTheHeaderOfAnEmptyTable) {
  EXPECT_EQ(plain_text({{{"name"}, {"count", Align::right}}, {}}), "name  count\n----  -----\n");
}

TEST(Markdown, MarksRightAlignedColumns) {
  EXPECT_EQ(markdown(example()),
            "| name | count | note |\n"
            "| --- | ---: | --- |\n"
            "| a | 1 |  |\n"
            "| longer | 1,000 | b\u2080 |\n"
            "| \u00B5s | 10 | x |\n");
}

TEST(Markdown, KeepsACellInItsCell) {
  EXPECT_EQ(markdown({{{"a|b"}}, {{"c\nd"}}}), "| a\\|b |\n| --- |\n| c d |\n");
}

TEST(Markdown, HasNoHtmlAndNoLinksFromOthers) {
  const auto cell = [](const std::string& text) {
    const std::string table = markdown({{{"x"}}, {{text}}});
    return table.substr(16, table.size() - 16 - 3);
  };
  EXPECT_EQ(cell("<img src=x>"), "\\<img src=x>");
  EXPECT_EQ(cell("\\<b>"), "\\<b>");        // escaped already
  EXPECT_EQ(cell("\\\\<b>"), "\\\\\\<b>");  // a backslash that is escaped, and then one that is not
  EXPECT_EQ(cell("![a](http://b)"), "![a]\\(http://b)");
  EXPECT_EQ(cell("`a < b`, [1] (c)"), "`a < b`, [1] (c)");
}

}  // namespace
}  // namespace depthcost::text_table_test
