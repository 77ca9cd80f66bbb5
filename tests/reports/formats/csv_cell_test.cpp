// Quotes of a cell.
#include "reports/formats/csv_cell.hpp"

#include <gtest/gtest.h>

namespace depthcost::csv_cell_test {
namespace {

TEST(CsvCell, IsQuotedWhereItMustBe) {
  EXPECT_EQ(csv_cell(""), "");
  EXPECT_EQ(csv_cell("two words"), "two words");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"no\""), "\"say \"\"no\"\"\"");
  EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_cell("a\rb"), "\"a\rb\"");
}

}  // namespace
}  // namespace depthcost::csv_cell_test
