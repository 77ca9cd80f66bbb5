// Texts of doubles: the nearest one, and nothing where there is none.
#include "model/base/decimal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace depthcost::decimal_test {
namespace {

TEST(DecimalValue, IsTheNumber) {
  EXPECT_EQ(decimal_value("0"), 0.0);
  EXPECT_EQ(decimal_value("0e999"), 0.0);
  EXPECT_EQ(decimal_value("-12.5e-1"), -1.25);
  EXPECT_EQ(decimal_value("4.9e-324"), 5e-324);
  EXPECT_EQ(decimal_value("1.7976931348623158e308"), 1.7976931348623157e308);
  EXPECT_TRUE(std::signbit(decimal_value("-0").value()));
}

TEST(DecimalValue, IsNothingWhereADoubleHoldsNone) {
  for (const char* text : {"1e400", "-1e400", "1e-400", "-2e-324", "1.7976931348623159e308"})
    EXPECT_EQ(decimal_value(text), std::nullopt) << text;
}

TEST(DecimalValue, IsNothingWhereTheTextIsNoNumber) {
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1x", "0x10", "inf", "-inf", "nan", "e5"})
    EXPECT_EQ(decimal_value(text), std::nullopt) << text;
}

/// The standard library of the compiler reads them, too: all doubles, with 2 to 21 digits.
TEST(DecimalValue, IsWhatTheStandardLibraryReads) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t bits = random();
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    if (!std::isfinite(number)) continue;
    const std::string text = fmt::format("{:.{}e}", number, 1 + i % 20);
    double expected = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), expected);
    const bool is_held = read.ec == std::errc();
    ASSERT_EQ(decimal_value(text), is_held ? std::optional(expected) : std::nullopt) << text;
  }
}

}  // namespace
}  // namespace depthcost::decimal_test
