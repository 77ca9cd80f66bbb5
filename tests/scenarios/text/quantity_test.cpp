// Every unit, and every way to get a number or a unit wrong, with the whole message.
#include "scenarios/text/quantity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "tests/scenarios/text/error_of.hpp"

namespace depthcost::quantity_test {
namespace {

using namespace test;

const Position kHere{"h200.yaml", 7, 19};

ScalarNode plain(const std::string& text) { return {text, false}; }

// --- every row of the unit table ---

struct UnitCase {
  std::string text;
  Dimension dimension;
  double one;    // value of "1 unit"
  double three;  // value of "3 unit", the nearest double
};

std::ostream& operator<<(std::ostream& out, const UnitCase& row) { return out << row.text; }

const std::vector<UnitCase> kUnitCases = {
    {"B", Dimension::bytes, 1.0, 3.0},
    {"kB", Dimension::bytes, 1000.0, 3000.0},
    {"MB", Dimension::bytes, 1000000.0, 3000000.0},
    {"GB", Dimension::bytes, 1000000000.0, 3000000000.0},
    {"TB", Dimension::bytes, 1000000000000.0, 3000000000000.0},
    {"PB", Dimension::bytes, 1000000000000000.0, 3000000000000000.0},
    {"KiB", Dimension::bytes, 1024.0, 3072.0},
    {"MiB", Dimension::bytes, 1048576.0, 3145728.0},
    {"GiB", Dimension::bytes, 1073741824.0, 3221225472.0},
    {"TiB", Dimension::bytes, 1099511627776.0, 3298534883328.0},
    {"PiB", Dimension::bytes, 1125899906842624.0, 3377699720527872.0},
    {"B/s", Dimension::bytes_per_second, 1.0, 3.0},
    {"kB/s", Dimension::bytes_per_second, 1000.0, 3000.0},
    {"MB/s", Dimension::bytes_per_second, 1000000.0, 3000000.0},
    {"GB/s", Dimension::bytes_per_second, 1000000000.0, 3000000000.0},
    {"TB/s", Dimension::bytes_per_second, 1000000000000.0, 3000000000000.0},
    {"PB/s", Dimension::bytes_per_second, 1000000000000000.0, 3000000000000000.0},
    {"KiB/s", Dimension::bytes_per_second, 1024.0, 3072.0},
    {"MiB/s", Dimension::bytes_per_second, 1048576.0, 3145728.0},
    {"GiB/s", Dimension::bytes_per_second, 1073741824.0, 3221225472.0},
    {"TiB/s", Dimension::bytes_per_second, 1099511627776.0, 3298534883328.0},
    {"PiB/s", Dimension::bytes_per_second, 1125899906842624.0, 3377699720527872.0},
    {"s", Dimension::seconds, 1.0, 3.0},
    {"ms", Dimension::seconds, 0.001, 0.003},
    {"us", Dimension::seconds, 0.000001, 0.000003},
    {"\xC2\xB5s", Dimension::seconds, 0.000001, 0.000003},
    {"\xCE\xBCs", Dimension::seconds, 0.000001, 0.000003},
    {"ns", Dimension::seconds, 0.000000001, 0.000000003},
    {"min", Dimension::seconds, 60.0, 180.0},
    {"FLOP/s", Dimension::flops_per_second, 1.0, 3.0},
    {"kFLOP/s", Dimension::flops_per_second, 1000.0, 3000.0},
    {"MFLOP/s", Dimension::flops_per_second, 1000000.0, 3000000.0},
    {"GFLOP/s", Dimension::flops_per_second, 1000000000.0, 3000000000.0},
    {"TFLOP/s", Dimension::flops_per_second, 1000000000000.0, 3000000000000.0},
    {"PFLOP/s", Dimension::flops_per_second, 1000000000000000.0, 3000000000000000.0},
    {"EFLOP/s", Dimension::flops_per_second, 1000000000000000000.0, 3000000000000000000.0},
    {"%", Dimension::ratio, 0.01, 0.03},
};

class UnitTable : public testing::TestWithParam<UnitCase> {};

TEST_P(UnitTable, ReadsTheUnitInBaseUnits) {
  const auto& [text, dimension, one, three] = GetParam();
  EXPECT_EQ(parse_quantity(plain("1 " + text), kHere, dimension, "key"), one);
  EXPECT_EQ(parse_quantity(plain("3" + text), kHere, dimension, "key"), three);
}

INSTANTIATE_TEST_SUITE_P(EveryRow, UnitTable, testing::ValuesIn(kUnitCases));

TEST(UnitTable, HasNoRowThatIsNotTested) {
  std::set<std::string> tested;
  for (const UnitCase& row : kUnitCases) tested.insert(row.text);
  for (const Unit& unit : units())
    EXPECT_TRUE(tested.contains(std::string(unit.text))) << unit.text;
  EXPECT_EQ(units().size(), tested.size()) << "a unit is there twice, or gone";
}

// --- quantities ---

struct ValueCase {
  std::string name;
  std::string text;
  Dimension dimension;
  double expected;
};

std::ostream& operator<<(std::ostream& out, const ValueCase& row) { return out << row.name; }

class Quantities : public testing::TestWithParam<ValueCase> {};

TEST_P(Quantities, AreReadToTheNearestDouble) {
  EXPECT_EQ(parse_quantity(plain(GetParam().text), kHere, GetParam().dimension, "key"),
            GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Quantities,
    testing::Values(ValueCase{"Fraction", "4.8 TB/s", Dimension::bytes_per_second, 4.8e12},
                    ValueCase{"Microseconds", "1.26 us", Dimension::seconds, 1.26e-6},
                    ValueCase{"SevenPercent", "7 %", Dimension::ratio, 0.07},
                    ValueCase{"Gibibytes", "139.8 GiB", Dimension::bytes, 139.8 * 1073741824},
                    ValueCase{"ZeroPoint", "0.5 GB", Dimension::bytes, 5e8},
                    ValueCase{"Exponent", "1.5e3 GB", Dimension::bytes, 1.5e12},
                    ValueCase{"NegativeExponent", "5E-1 GB", Dimension::bytes, 5e8},
                    ValueCase{"PlusInTheExponent", "5e+1 GB", Dimension::bytes, 5e10},
                    ValueCase{"NoSpace", "141GB", Dimension::bytes, 141e9},
                    ValueCase{"ManySpaces", "141   GB", Dimension::bytes, 141e9},
                    ValueCase{"PrefixE", "4EFLOP/s", Dimension::flops_per_second, 4e18}),
    [](const auto& row) { return row.param.name; });

TEST(Quantities, MayBeQuotedBecauseTheyAreTexts) {
  EXPECT_EQ(parse_quantity({"2 %", true}, kHere, Dimension::ratio, "budget"), 0.02);
}

TEST(Quantities, MayBeZeroWhereTheCallerSaysSo) {
  EXPECT_EQ(parse_quantity(plain("0 us"), kHere, Dimension::seconds, "launch", Range::non_negative),
            0);
}

struct ErrorCase {
  std::string name;
  std::string text;
  std::string reason;  // what follows "invalid KEY 'TEXT' "
};

std::ostream& operator<<(std::ostream& out, const ErrorCase& row) { return out << row.name; }

std::string row_name(const testing::TestParamInfo<ErrorCase>& row) { return row.param.name; }

/// The whole text of an error about the value at kHere.
std::string message_at_here(const std::string& key, const ErrorCase& row) {
  return "h200.yaml:7:19: error: invalid " + key + " '" + row.text + "' " + row.reason;
}

class CapacityErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(CapacityErrors, NameTheValueAndTheCause) {
  EXPECT_EQ(error_of([] {
              parse_quantity(plain(GetParam().text), kHere, Dimension::bytes, "memory_capacity");
            }),
            message_at_here("memory_capacity", GetParam()));
}

const std::string kNeedBytes = "need bytes, such as '141 GB')";
const std::string kMalformed = "(malformed number; write plain decimal digits)";

INSTANTIATE_TEST_SUITE_P(
    Numbers, CapacityErrors,
    testing::Values(ErrorCase{"Empty", "", "(missing value; " + kNeedBytes},
                    ErrorCase{"Word", "large", "(no number; " + kNeedBytes},
                    ErrorCase{"UnitOnly", "GB", "(no number; " + kNeedBytes},
                    ErrorCase{"NoIntegerPart", ".5 GB", "(no number; " + kNeedBytes},
                    ErrorCase{"Plus", "+4 GB", "(no number; " + kNeedBytes},
                    ErrorCase{"LeadingSpace", " 4 GB", "(no number; " + kNeedBytes},
                    ErrorCase{"Zero", "0 GB", "(must be positive)"},
                    ErrorCase{"ZeroFraction", "0.0 GB", "(must be positive)"},
                    ErrorCase{"Negative", "-4 GB", "(must be positive)"},
                    ErrorCase{"NotANumber", "nan GB", "(must be finite)"},
                    ErrorCase{"YamlNotANumber", ".NaN", "(must be finite)"},
                    ErrorCase{"Infinity", "inf GB", "(must be finite)"},
                    ErrorCase{"NegativeInfinity", "-Infinity GB", "(must be finite)"},
                    ErrorCase{"NumberTooLarge", "1e400 GB", "(out of range)"},
                    ErrorCase{"ValueTooLarge", "1e305 GB", "(out of range)"},
                    ErrorCase{"NumberTooSmall", "1e-400 GB", "(out of range)"},
                    ErrorCase{"LeadingZero", "010 GB", "(leading zero)"},
                    ErrorCase{"TwoZeros", "00.5 GB", "(leading zero)"},
                    ErrorCase{"Hexadecimal", "0x10 GB", kMalformed},
                    ErrorCase{"Underscore", "1_000 GB", kMalformed},
                    ErrorCase{"Comma", "1,000 GB", kMalformed},
                    ErrorCase{"PointWithoutDigits", "5. GB", kMalformed},
                    ErrorCase{"TwoPoints", "1.2.3 GB", kMalformed}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Units, CapacityErrors,
    testing::Values(
        ErrorCase{"Missing", "141", "(missing unit; " + kNeedBytes},
        ErrorCase{"OtherDimension", "4 TB/s", "(a rate in bytes per second; " + kNeedBytes},
        ErrorCase{"Time", "4 ms", "(a time; " + kNeedBytes},
        ErrorCase{"Rate", "4 TFLOP/s", "(a rate in FLOP/s; " + kNeedBytes},
        ErrorCase{"Percentage", "4 %", "(a percentage; " + kNeedBytes},
        ErrorCase{"Unknown", "4 stone", "(unknown unit 'stone'; " + kNeedBytes},
        ErrorCase{"ExponentWithoutDigits", "4e GB", "(unknown unit 'e GB'; " + kNeedBytes},
        ErrorCase{"TrailingText", "4 GB each", "(unknown unit 'GB each'; " + kNeedBytes},
        ErrorCase{"LowerCase", "141 gb", "(unknown unit 'gb'; did you mean 'GB'?)"},
        ErrorCase{"UpperCaseKilo", "4 KB", "(unknown unit 'KB'; did you mean 'kB'?)"},
        ErrorCase{"Bits", "4 Gb", "(unknown unit 'Gb'; did you mean 'GB'?)"},
        ErrorCase{"LowerCaseBinary", "4 gib", "(unknown unit 'gib'; did you mean 'GiB'?)"},
        ErrorCase{"Kubernetes", "4 Gi", "(unknown unit 'Gi'; did you mean 'GiB'?)"},
        ErrorCase{"Spelt", "4 Mbytes", "(unknown unit 'Mbytes'; did you mean 'MB'?)"},
        ErrorCase{"SpeltOne", "1 byte", "(unknown unit 'byte'; did you mean 'B'?)"}),
    row_name);

TEST(CapacityErrors, StayPrintableAndShort) {
  const std::string text = "4 \x1B[2J\n" + std::string(100, 'x');
  const std::string shown = "\\x1B[2J\\x0A";
  EXPECT_EQ(
      error_of([&] { parse_quantity(plain(text), kHere, Dimension::bytes, "memory_capacity"); }),
      "h200.yaml:7:19: error: invalid memory_capacity '4 " + shown + std::string(47, 'x') +
          "...' (unknown unit '" + shown + std::string(49, 'x') + "...'; " + kNeedBytes);
}

struct DimensionErrorCase {
  Dimension dimension;
  ErrorCase error;
};

std::ostream& operator<<(std::ostream& out, const DimensionErrorCase& row) {
  return out << row.error.name;
}

class DimensionErrors : public testing::TestWithParam<DimensionErrorCase> {};

TEST_P(DimensionErrors, SayWhatIsNeededInstead) {
  const DimensionErrorCase& row = GetParam();
  EXPECT_EQ(error_of([&] { parse_quantity(plain(row.error.text), kHere, row.dimension, "key"); }),
            message_at_here("key", row.error));
}

INSTANTIATE_TEST_SUITE_P(
    Units, DimensionErrors,
    testing::Values(
        DimensionErrorCase{Dimension::bytes_per_second,
                           {"SizeForRate", "4.8 TB",
                            "(a size in bytes; need bytes per second, such as '4.8 TB/s')"}},
        DimensionErrorCase{Dimension::bytes_per_second,
                           {"PerSecond", "4 GBps", "(unknown unit 'GBps'; did you mean 'GB/s'?)"}},
        DimensionErrorCase{
            Dimension::bytes_per_second,
            {"Bits", "400 Gb/s", "(unknown unit 'Gb/s'; write bytes: 8 Gb/s are 1 GB/s)"}},
        DimensionErrorCase{
            Dimension::bytes_per_second,
            {"BitsSpelt", "1 Tbit/s", "(unknown unit 'Tbit/s'; write bytes: 8 Tbit/s are 1 TB/s)"}},
        DimensionErrorCase{
            Dimension::bytes_per_second,
            {"SmallLetters", "4 gb/s", "(unknown unit 'gb/s'; did you mean 'GB/s'?)"}},
        DimensionErrorCase{Dimension::bytes_per_second,
                           {"PerSec", "4 GB/sec", "(unknown unit 'GB/sec'; did you mean 'GB/s'?)"}},
        DimensionErrorCase{
            Dimension::bytes_per_second,
            {"PerSecondSpelt", "4 GB/second", "(unknown unit 'GB/second'; did you mean 'GB/s'?)"}},
        DimensionErrorCase{
            Dimension::bytes_per_second,
            {"SpacesWithin", "4 TB / s", "(unknown unit 'TB / s'; did you mean 'TB/s'?)"}},
        DimensionErrorCase{
            Dimension::flops_per_second,
            {"FlopsUpperCase", "4 TFLOPS", "(unknown unit 'TFLOPS'; did you mean 'TFLOP/s'?)"}},
        DimensionErrorCase{
            Dimension::flops_per_second,
            {"FlopsPerSecond", "4 PFLOPs/s", "(unknown unit 'PFLOPs/s'; did you mean 'PFLOP/s'?)"}},
        DimensionErrorCase{
            Dimension::flops_per_second,
            {"FlopWithoutTime", "4 GFLOP", "(unknown unit 'GFLOP'; did you mean 'GFLOP/s'?)"}},
        DimensionErrorCase{
            Dimension::flops_per_second,
            {"BareRate", "989", "(missing unit; need FLOP/s, such as '989 TFLOP/s')"}},
        DimensionErrorCase{Dimension::seconds,
                           {"Sec", "4 msec", "(unknown unit 'msec'; did you mean 'ms'?)"}},
        DimensionErrorCase{Dimension::seconds,
                           {"Secs", "4 secs", "(unknown unit 'secs'; did you mean 's'?)"}},
        DimensionErrorCase{Dimension::seconds,
                           {"Seconds", "4 seconds", "(unknown unit 'seconds'; did you mean 's'?)"}},
        DimensionErrorCase{
            Dimension::seconds,
            {"Minutes", "4 minutes", "(unknown unit 'minutes'; did you mean 'min'?)"}},
        DimensionErrorCase{Dimension::seconds, {"TooSmall", "1e-320 ns", "(out of range)"}},
        DimensionErrorCase{Dimension::seconds,
                           {"BareTime", "12", "(missing unit; need a time, such as '12 ms')"}},
        DimensionErrorCase{
            Dimension::ratio,
            {"BareRatio", "0.02", "(missing unit; need a percentage, such as '2 %')"}},
        DimensionErrorCase{
            Dimension::ratio,
            {"PercentSpelt", "2 percent", "(unknown unit 'percent'; did you mean '%'?)"}}),
    [](const auto& row) { return row.param.error.name; });

// --- counts ---

TEST(Counts, AreReadUpToTheLimit) {
  EXPECT_EQ(parse_count(plain("1"), kHere, "num_blocks"), 1);
  EXPECT_EQ(parse_count(plain("7168"), kHere, "hidden_size"), 7168);
  EXPECT_EQ(parse_count(plain("1099511627776"), kHere, "tokens"), Count{1} << 40);
  EXPECT_EQ(parse_count(plain("0"), kHere, "chunk", Range::non_negative), 0);
}

class CountErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(CountErrors, NameTheValueAndTheCause) {
  EXPECT_EQ(error_of([] { parse_count(plain(GetParam().text), kHere, "num_blocks"); }),
            message_at_here("num_blocks", GetParam()));
}

const std::string kPositiveInteger = "(must be a positive integer)";
const std::string kPlainDigits = "(must be a positive integer in plain digits)";
const std::string kLeadingZero = "(leading zero; YAML 1.1 readers take it as octal)";
const std::string kTooLarge = "(must be at most 1099511627776)";

INSTANTIATE_TEST_SUITE_P(
    Texts, CountErrors,
    testing::Values(
        ErrorCase{"Zero", "0", kPositiveInteger}, ErrorCase{"Empty", "", kPositiveInteger},
        ErrorCase{"Negative", "-1", kPositiveInteger}, ErrorCase{"Plus", "+1", kPositiveInteger},
        ErrorCase{"Word", "eight", kPositiveInteger}, ErrorCase{"LeadingZero", "010", kLeadingZero},
        ErrorCase{"TwoZeros", "00", kLeadingZero}, ErrorCase{"Exponent", "1e3", kPlainDigits},
        ErrorCase{"Fraction", "1.0", kPlainDigits}, ErrorCase{"Hexadecimal", "0x10", kPlainDigits},
        ErrorCase{"Octal", "0o10", kPlainDigits}, ErrorCase{"Underscore", "1_000", kPlainDigits},
        ErrorCase{"Unit", "8 GB", kPlainDigits},
        ErrorCase{"AboveTheLimit", "1099511627777", kTooLarge},
        ErrorCase{"AboveAnyInteger", "99999999999999999999", kTooLarge}),
    row_name);

TEST(CountErrors, DistinguishTheRangesAndQuotes) {
  const std::string start = "h200.yaml:7:19: error: invalid chunk ";
  EXPECT_EQ(error_of([] { parse_count(plain("-1"), kHere, "chunk", Range::non_negative); }),
            start + "'-1' (must be a non-negative integer)");
  EXPECT_EQ(error_of([] {
              parse_count({"8", true}, kHere, "chunk");
            }),
            start + "'8' (a quoted text; write the bare number)");
}

// --- numbers without a unit ---

TEST(Numbers, AreReadAsPlainDecimals) {
  EXPECT_EQ(parse_number(plain("0.1"), kHere, "efficiency"), 0.1);
  EXPECT_EQ(parse_number(plain("8"), kHere, "efficiency"), 8);
  EXPECT_EQ(parse_number(plain("1.5e-3"), kHere, "efficiency"), 1.5e-3);
  EXPECT_EQ(parse_number(plain("0"), kHere, "efficiency", Range::non_negative), 0);
}

class NumberErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(NumberErrors, NameTheValueAndTheCause) {
  EXPECT_EQ(error_of([] { parse_number(plain(GetParam().text), kHere, "efficiency"); }),
            message_at_here("efficiency", GetParam()));
}

const std::string kPlainDecimal = "(must be a plain decimal number)";

INSTANTIATE_TEST_SUITE_P(Texts, NumberErrors,
                         testing::Values(ErrorCase{"Zero", "0", "(must be positive)"},
                                         ErrorCase{"Negative", "-0.5", "(must be positive)"},
                                         ErrorCase{"Infinity", ".inf", "(must be finite)"},
                                         ErrorCase{"NotANumber", "nan", "(must be finite)"},
                                         ErrorCase{"TooLarge", "1e400", "(out of range)"},
                                         ErrorCase{"LeadingZero", "08.5", "(leading zero)"},
                                         ErrorCase{"Empty", "", kPlainDecimal},
                                         ErrorCase{"Plus", "+1", kPlainDecimal},
                                         ErrorCase{"Hexadecimal", "0x1p3", kPlainDecimal},
                                         ErrorCase{"NoIntegerPart", ".5", kPlainDecimal},
                                         ErrorCase{"PointWithoutDigits", "5.", kPlainDecimal},
                                         ErrorCase{"NoExponent", "5e", kPlainDecimal},
                                         ErrorCase{"SignWithoutExponent", "5e+", kPlainDecimal},
                                         ErrorCase{"Unit", "5 GB", kPlainDecimal}),
                         row_name);

TEST(NumberErrors, DistinguishTheRangesAndQuotes) {
  const std::string start = "h200.yaml:7:19: error: invalid efficiency ";
  EXPECT_EQ(error_of([] { parse_number(plain("-1"), kHere, "efficiency", Range::non_negative); }),
            start + "'-1' (must not be negative)");
  EXPECT_EQ(error_of([] {
              parse_number({"0.5", true}, kHere, "efficiency");
            }),
            start + "'0.5' (a quoted text; write the bare number)");
}

}  // namespace
}  // namespace depthcost::quantity_test
