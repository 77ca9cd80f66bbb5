// The text of every unit and of every kind of number.
#include "reports/formats/numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <locale>
#include <random>
#include <vector>

namespace depthcost::numbers_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct UnitCase {
  UnitKind kind;
  std::string text;
  double scale;
};

// Written out, not computed: the table must not be its own test.
std::vector<UnitCase> expected_units() {
  using enum UnitKind;
  return {{bytes, "B", 1},
          {bytes, "kB", 1000},
          {bytes, "MB", 1000000},
          {bytes, "GB", 1000000000},
          {bytes, "TB", 1000000000000},
          {bytes, "PB", 1000000000000000},
          {seconds, "ns", 1.0 / 1000000000},
          {seconds, "us", 1.0 / 1000000},
          {seconds, "ms", 1.0 / 1000},
          {seconds, "s", 1},
          {bytes_per_second, "B/s", 1},
          {bytes_per_second, "kB/s", 1000},
          {bytes_per_second, "MB/s", 1000000},
          {bytes_per_second, "GB/s", 1000000000},
          {bytes_per_second, "TB/s", 1000000000000},
          {bytes_per_second, "PB/s", 1000000000000000},
          {flops, "FLOP", 1},
          {flops, "kFLOP", 1000},
          {flops, "MFLOP", 1000000},
          {flops, "GFLOP", 1000000000},
          {flops, "TFLOP", 1000000000000},
          {flops, "PFLOP", 1000000000000000},
          {flops_per_second, "FLOP/s", 1},
          {flops_per_second, "kFLOP/s", 1000},
          {flops_per_second, "MFLOP/s", 1000000},
          {flops_per_second, "GFLOP/s", 1000000000},
          {flops_per_second, "TFLOP/s", 1000000000000},
          {flops_per_second, "PFLOP/s", 1000000000000000}};
}

TEST(Units, AreTheOnesThatWeMean) {
  const auto expected = expected_units();
  const auto rows = unit_rows();
  ASSERT_EQ(rows.size(), expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].kind, expected[i].kind) << expected[i].text;
    EXPECT_EQ(rows[i].text, expected[i].text);
    EXPECT_EQ(rows[i].scale, expected[i].scale) << expected[i].text;
  }
}

std::string in_unit(const UnitRow& unit) {
  const double v = 2.5 * unit.scale;
  switch (unit.kind) {
    case UnitKind::bytes:
      return format_bytes({v});
    case UnitKind::seconds:
      return format_seconds(Seconds{v});
    case UnitKind::bytes_per_second:
      return format_bandwidth({v});
    case UnitKind::flops:
      return format_flops({v});
    case UnitKind::flops_per_second:
      return format_flop_rate({v});
  }
  return "";
}

TEST(Units, AreEachWrittenByTheirFunction) {
  for (const UnitRow& unit : unit_rows()) {
    if (unit.text == "B") continue;  // never in fractions
    const std::string digits = unit.kind == UnitKind::bytes ? "2.500 " : "2.50 ";
    EXPECT_EQ(in_unit(unit), digits + std::string(unit.text));
  }
}

TEST(FormatBytes, WritesPowersOfTen) {
  EXPECT_EQ(format_bytes({15032385536.0}), "15.03 GB");
  EXPECT_EQ(format_bytes({1545.0 * 7168 * 2}), "22.15 MB");
  EXPECT_EQ(format_bytes({512}), "512 B");
  EXPECT_EQ(format_bytes({1}), "1 B");
  EXPECT_EQ(format_bytes({0}), "0 B");
}

TEST(FormatBytes, TakesTheUnitAfterRounding) {
  EXPECT_EQ(format_bytes({1023}), "1.023 kB");
  EXPECT_EQ(format_bytes({1023.0 * 1024}), "1.048 MB");
  EXPECT_EQ(format_bytes({1048575}), "1.049 MB");
  EXPECT_EQ(format_bytes({999949999.0}), "999.9 MB");
  EXPECT_EQ(format_bytes({999950000.0}), "1.000 GB");
}

TEST(FormatBytes, WritesWhatIsBeyondTheLargestUnit) {
  EXPECT_EQ(format_bytes({2e21}), "2000000 PB");
}

TEST(FormatSeconds, WritesThreeDigits) {
  EXPECT_EQ(format_seconds(Seconds{12.345e-6}), "12.3 us");
  EXPECT_EQ(format_seconds(Seconds{1.2649e-3}), "1.26 ms");
  EXPECT_EQ(format_seconds(Seconds{123.4e-6}), "123 us");
  EXPECT_EQ(format_seconds(Seconds{75}), "75.0 s");
  EXPECT_EQ(format_seconds(Seconds{86400}), "86400 s");
  EXPECT_EQ(format_seconds(Seconds{0.5e-9}), "0.500 ns");
  EXPECT_EQ(format_seconds(Seconds{0}), "0 s");
}

TEST(FormatSeconds, TakesTheUnitAfterRounding) {
  EXPECT_EQ(format_seconds(Seconds{999.4e-6}), "999 us");
  EXPECT_EQ(format_seconds(Seconds{999.96e-6}), "1.00 ms");
  EXPECT_EQ(format_seconds(Seconds{9.996e-6}), "10.0 us");
}

TEST(FormatSeconds, SignsDifferences) {
  EXPECT_EQ(format_seconds(Seconds{48.1e-6}, Sign::always), "+48.1 us");
  EXPECT_EQ(format_seconds(Seconds{-48.1e-6}, Sign::always), "-48.1 us");
  EXPECT_EQ(format_seconds(Seconds{-48.1e-6}), "-48.1 us");
  EXPECT_EQ(format_seconds(Seconds{0}, Sign::always), "0 s");
}

Estimate<Seconds> microseconds(double low, double value, double high) {
  return {{low * 1e-6}, {value * 1e-6}, {high * 1e-6}, Evidence::published};
}

TEST(FormatSeconds, WritesIntervalsInOneUnit) {
  EXPECT_EQ(format_seconds(microseconds(1.9, 48.1, 52.9)), "48.1 us [1.9, 52.9]");
  EXPECT_EQ(format_seconds(microseconds(900, 1260, 12390)), "1.26 ms [0.90, 12.39]");
  EXPECT_EQ(format_seconds(microseconds(-1.9, 48.1, 52.9), Sign::always), "+48.1 us [-1.9, 52.9]");
  EXPECT_EQ(format_seconds(microseconds(0, 0, 0), Sign::always), "0 s");
}

TEST(FormatSeconds, ChoosesTheUnitByTheEndsWhereTheValueIsNextToNothing) {
  EXPECT_EQ(format_seconds(microseconds(-40, 0.001, 50), Sign::always), "0.0 us [-40.0, 50.0]");
}

TEST(FormatRatio, WritesPerCentWithTwoDigits) {
  EXPECT_EQ(format_ratio(0.023), "2.3 %");
  EXPECT_EQ(format_ratio_beside({0.0134, 0.0197, 0.0281, Evidence::assumed}, 0.02),
            "1.97 % [1.34, 2.81]");
  EXPECT_EQ(format_ratio_beside({0.0134, 0.02, 0.0281, Evidence::assumed}, 0.02),
            "2.0 % [1.3, 2.8]");
  EXPECT_EQ(format_ratio_beside({0.0134, 0.0214, 0.0281, Evidence::assumed}, 0.02),
            "2.1 % [1.3, 2.8]");
  EXPECT_EQ(format_value_beside(0.020001, 0.02, Sign::always), "+2.0001 %");
  EXPECT_EQ(format_ratio(0.07), "7.0 %");
  EXPECT_EQ(format_ratio(0.1234), "12.3 %");
  EXPECT_EQ(format_ratio(0.0023), "0.23 %");
  EXPECT_EQ(format_ratio(0.00041), "0.041 %");
  EXPECT_EQ(format_ratio(2.314), "231 %");
  EXPECT_EQ(format_ratio(0.9964), "99.6 %");
  EXPECT_EQ(format_ratio(0.9996), "100 %");
  EXPECT_EQ(format_ratio(0), "0 %");
  EXPECT_EQ(format_ratio(-0.126, Sign::always), "-12.6 %");
  EXPECT_EQ(format_ratio(0.126, Sign::always), "+12.6 %");
}

TEST(FormatRatio, HasNoSignWhereNothingIsLeft) {
  EXPECT_EQ(format_ratio(-1e-9), "0.0000 %");
  EXPECT_EQ(format_ratio(1e-9, Sign::always), "0.0000 %");
}

TEST(FormatRatio, WritesIntervals) {
  EXPECT_EQ(format_ratio(Estimate<double>{0.001, 0.023, 0.025}), "2.3 % [0.1, 2.5]");
  EXPECT_EQ(format_ratio(Estimate<double>{-0.001, 0.0023, 0.0025}, Sign::always),
            "+0.23 % [-0.10, 0.25]");
  EXPECT_EQ(format_ratio(Estimate<double>{0, 0, 0}, Sign::always), "0 %");
}

TEST(FormatCount, SeparatesThousands) {
  EXPECT_EQ(format_count(15032385536), "15,032,385,536");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(100000), "100,000");
  EXPECT_EQ(format_count(-999), "-999");
  EXPECT_EQ(format_count(-123456), "-123,456");
  EXPECT_EQ(format_count(std::numeric_limits<Count>::min()), "-9,223,372,036,854,775,808");
}

TEST(FormatD, TrimsZerosAndRoundsHalvesUp) {
  EXPECT_EQ(format_d(8.25), "8.25 d");
  EXPECT_EQ(format_d(6.03125), "6.0313 d");
  EXPECT_EQ(format_d(1534.0 / 186), "8.2473 d");
  EXPECT_EQ(format_d(10), "10 d");
  EXPECT_EQ(format_d(0), "0 d");
  EXPECT_EQ(format_d(4.99999), "5 d");
  EXPECT_EQ(format_d(100), "100 d");
}

TEST(Format, SaysWhereThereIsNoNumber) {
  EXPECT_EQ(format_seconds(Seconds{kInfinity}), "n/a");
  EXPECT_EQ(format_bytes({std::nan("")}), "n/a");
  EXPECT_EQ(format_ratio(-kInfinity), "n/a");
  EXPECT_EQ(format_d(std::nan("")), "n/a");
  EXPECT_EQ(format_ratio(Estimate<double>{0, kInfinity, kInfinity}), "n/a");
  EXPECT_EQ(format_seconds(Estimate<Seconds>{{0}, {1e-6}, {kInfinity}}), "1.00 us");
  EXPECT_EQ(number_text(std::nan("")), "");
}

TEST(Round12, KeepsTwelveDigits) {
  EXPECT_EQ(round12(1.0 / 3), 0.333333333333);
  EXPECT_EQ(round12(-2.0 / 3e-20), -6.66666666667e19);
  EXPECT_EQ(round12(123456789012345.0), 123456789012000.0);
  EXPECT_EQ(round12(0.1 + 0.2), 0.3);
  EXPECT_EQ(round12(0), 0);
  EXPECT_EQ(round12(kInfinity), kInfinity);
}

TEST(Round12, HidesTheLastBitsOfAMathLibrary) {
  std::mt19937_64 random(20260316);
  std::uniform_real_distribution<double> exponent(-9, 9);
  for (int i = 0; i < 1000; ++i) {
    // On a grid well inside the rounding intervals; values at their edges must differ.
    const double x = round12(std::pow(10, exponent(random)));
    EXPECT_EQ(round12(std::nextafter(x, kInfinity)), x);
    EXPECT_EQ(round12(std::nextafter(x, 0)), x);
    EXPECT_EQ(round12(x), x);
  }
}

TEST(NumberText, IsShortAndReadsBackAsTheSameNumber) {
  EXPECT_EQ(number_text(15032385536.0), "15032385536");
  EXPECT_EQ(number_text(9007199254740992.0), "9007199254740992");
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(number_text(1534.0 / 186), "8.24731182796");
  EXPECT_EQ(number_text(2.0050176e-06), "2.0050176e-06");
  // The algorithm of nlohmann-json prints 0.00025526218005600003.
  EXPECT_EQ(number_text(0.000255262180056), "0.000255262180056");
  EXPECT_EQ(number_text(1e300), "1e+300");
}

TEST(ExactIntegers, EndAtTwoToThe53) {
  EXPECT_TRUE(is_exact_integer(9007199254740992.0));
  EXPECT_FALSE(is_exact_integer(9007199254740994.0));
  EXPECT_FALSE(is_exact_integer(0.5));
  EXPECT_FALSE(is_exact_integer(kInfinity));
  EXPECT_FALSE(is_exact_integer(std::nan("")));
}

/// Decimal commas and points between thousands, as in German.
struct GermanNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Format, DoesNotFollowTheLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new GermanNumbers));
  EXPECT_EQ(format_seconds(Seconds{1.2649e-3}), "1.26 ms");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_d(1234.5), "1234.5 d");
  EXPECT_EQ(number_text(1234.5), "1234.5");
  EXPECT_EQ(round12(1234.5), 1234.5);
  std::locale::global(before);
}

}  // namespace
}  // namespace depthcost::numbers_test
