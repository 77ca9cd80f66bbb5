// Reads "number unit". Numbers are checked against a grammar of our own before decimal_value sees
// them, because YAML readers disagree about 010, 1_000, 0x10, +1 and .inf.
#include "scenarios/text/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "model/base/decimal.hpp"

namespace depthcost {
namespace {

// Limits of quantities in base units. No machine or budget is beyond them, and within them no
// formula leaves the range of doubles.
constexpr double kLeastQuantity = 1e-15;
constexpr double kLargestQuantity = 1e27;

constexpr double kKibi = 1024;
constexpr double kMebi = 1024 * kKibi;
constexpr double kGibi = 1024 * kMebi;
constexpr double kTebi = 1024 * kGibi;
constexpr double kPebi = 1024 * kTebi;

constexpr auto kUnits = std::to_array<Unit>({
    {"B", Dimension::bytes, 1, 1},
    {"kB", Dimension::bytes, 1e3, 1},
    {"MB", Dimension::bytes, 1e6, 1},
    {"GB", Dimension::bytes, 1e9, 1},
    {"TB", Dimension::bytes, 1e12, 1},
    {"PB", Dimension::bytes, 1e15, 1},
    {"KiB", Dimension::bytes, kKibi, 1},
    {"MiB", Dimension::bytes, kMebi, 1},
    {"GiB", Dimension::bytes, kGibi, 1},
    {"TiB", Dimension::bytes, kTebi, 1},
    {"PiB", Dimension::bytes, kPebi, 1},
    {"B/s", Dimension::bytes_per_second, 1, 1},
    {"kB/s", Dimension::bytes_per_second, 1e3, 1},
    {"MB/s", Dimension::bytes_per_second, 1e6, 1},
    {"GB/s", Dimension::bytes_per_second, 1e9, 1},
    {"TB/s", Dimension::bytes_per_second, 1e12, 1},
    {"PB/s", Dimension::bytes_per_second, 1e15, 1},
    {"KiB/s", Dimension::bytes_per_second, kKibi, 1},
    {"MiB/s", Dimension::bytes_per_second, kMebi, 1},
    {"GiB/s", Dimension::bytes_per_second, kGibi, 1},
    {"TiB/s", Dimension::bytes_per_second, kTebi, 1},
    {"PiB/s", Dimension::bytes_per_second, kPebi, 1},
    {"s", Dimension::seconds, 1, 1},
    {"ms", Dimension::seconds, 1, 1e3},
    {"us", Dimension::seconds, 1, 1e6},
    {"\u00B5s", Dimension::seconds, 1, 1e6},  // micro sign
    {"\u03BCs", Dimension::seconds, 1, 1e6},  // Greek mu: looks the same, and keyboards differ
    {"ns", Dimension::seconds, 1, 1e9},
    {"min", Dimension::seconds, 60, 1},
    {"FLOP/s", Dimension::flops_per_second, 1, 1},
    {"kFLOP/s", Dimension::flops_per_second, 1e3, 1},
    {"MFLOP/s", Dimension::flops_per_second, 1e6, 1},
    {"GFLOP/s", Dimension::flops_per_second, 1e9, 1},
    {"TFLOP/s", Dimension::flops_per_second, 1e12, 1},
    {"PFLOP/s", Dimension::flops_per_second, 1e15, 1},
    {"EFLOP/s", Dimension::flops_per_second, 1e18, 1},
    {"%", Dimension::ratio, 1, 100},
});

/// Words of a message about a dimension.
struct DimensionWords {
  std::string_view kind;     // "a size in bytes"
  std::string_view needed;   // "bytes"
  std::string_view example;  // "141 GB"
};

DimensionWords words_for(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return {"a size in bytes", "bytes", "141 GB"};
    case Dimension::bytes_per_second:
      return {"a rate in bytes per second", "bytes per second", "4.8 TB/s"};
    case Dimension::seconds:
      return {"a time", "a time", "12 ms"};
    case Dimension::flops_per_second:
      return {"a rate in FLOP/s", "FLOP/s", "989 TFLOP/s"};
    case Dimension::ratio:
      return {"a percentage", "a percentage", "2 %"};
  }
  return {};
}

std::string need(Dimension dimension) {
  const DimensionWords words = words_for(dimension);
  return fmt::format("need {}, such as '{}'", words.needed, words.example);
}

/// The value being read, for the messages about it.
struct Source {
  std::string_view text;
  const Position& position;
  std::string_view key;

  [[noreturn]] void fail(std::string_view reason) const {
    throw InputError(position, fmt::format("invalid {} '{}' ({})", key, printable(text), reason));
  }
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t num_leading_digits(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  return static_cast<std::size_t>(end - text.begin());
}

/// Length of the number at the start of the text: [-] digits [. digits] [e [+-] digits]; 0 if none.
std::size_t number_length(std::string_view text) {
  std::size_t length = text.starts_with('-') ? 1 : 0;
  const std::size_t num_digits = num_leading_digits(text.substr(length));
  if (num_digits == 0) return 0;
  length += num_digits;
  if (text.substr(length).starts_with('.')) {
    const std::size_t num_decimals = num_leading_digits(text.substr(length + 1));
    if (num_decimals > 0) length += 1 + num_decimals;
  }
  const std::string_view rest = text.substr(length);
  if (!rest.starts_with('e') && !rest.starts_with('E')) return length;
  const std::size_t sign = rest.size() > 1 && (rest[1] == '+' || rest[1] == '-') ? 1 : 0;
  const std::size_t num_exponent_digits = num_leading_digits(rest.substr(1 + sign));
  return num_exponent_digits == 0 ? length : length + 1 + sign + num_exponent_digits;
}

bool has_leading_zero(std::string_view number) {
  const std::string_view digits = number.substr(number.starts_with('-') ? 1 : 0);
  return digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]);
}

/// "inf", "-.nan" and the like: what YAML readers take as numbers and we do not.
bool is_not_finite(std::string_view text) {
  const std::size_t start = std::min(text.find_first_not_of("+-."), text.size());
  std::string word(text.substr(start, 3));
  for (char& c : word) c = static_cast<char>(c | 0x20);  // lower case, for letters
  return word == "inf" || word == "nan";
}

void check_sign(double value, Range range, const Source& source) {
  if (range == Range::positive && value <= 0) source.fail("must be positive");
  if (range == Range::non_negative && std::signbit(value)) source.fail("must not be negative");
}

/// The number's value; the caller has found its end.
double number_value(std::string_view number, Range range, const Source& source) {
  if (has_leading_zero(number)) source.fail("leading zero");
  const std::optional<double> value = decimal_value(number);
  if (!value) source.fail("out of range");
  check_sign(*value, range, source);
  return *value;
}

/// In "1_000", "1,000", "5.", "1.2.3" and "0x10" the rest is no unit but part of a bad number.
bool continues_number(std::string_view rest) {
  return !rest.empty() && std::string_view("_,.xX").find(rest[0]) != std::string_view::npos;
}

std::string lower_without_spaces(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == ' ') continue;
    result += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  }
  return result;
}

/// The unit that differs only in case and spaces, or nullptr.
const Unit* unit_ignoring_case(const std::string& text, Dimension dimension) {
  const auto found = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& unit) {
    return unit.dimension == dimension && lower_without_spaces(unit.text) == text;
  });
  return found == kUnits.end() ? nullptr : &*found;
}

/// The unit of the dimension that an unknown one probably meant, or nullptr. Not by edit distance:
/// units are so short that it would offer "kB" for "xB".
const Unit* suggested_unit(std::string_view text, Dimension dimension) {
  using Ending = std::pair<std::string_view, std::string_view>;
  // Examples: gb, GBps, GB/sec, TFLOPS, Gi (as Kubernetes writes it), Gbytes, msec.
  static constexpr auto kEndings = std::to_array<Ending>({
      {"", ""},
      {"ps", "/s"},
      {"/sec", "/s"},
      {"/second", "/s"},
      {"flops", "flop/s"},
      {"flops/s", "flop/s"},
      {"flop", "flop/s"},
      {"i", "ib"},
      {"bytes", "b"},
      {"byte", "b"},
      {"seconds", "s"},
      {"secs", "s"},
      {"sec", "s"},
      {"minutes", "min"},
      {"percent", "%"},
  });
  const std::string given = lower_without_spaces(text);
  for (const auto& [ending, replacement] : kEndings) {
    if (!given.ends_with(ending)) continue;
    const std::string stem = given.substr(0, given.size() - ending.size());
    const Unit* unit = unit_ignoring_case(stem + std::string(replacement), dimension);
    if (unit != nullptr) return unit;
  }
  return nullptr;
}

/// Whether it is a rate in bits, as data sheets of networks give it. All in small letters it most
/// likely means bytes.
bool is_in_bits(std::string_view text) {
  return !text.empty() && std::string_view("MGT").find(text.front()) != std::string_view::npos &&
         (text.substr(1) == "b/s" || text.substr(1) == "bps" || text.substr(1) == "bit/s");
}

[[noreturn]] void fail_for_unknown_unit(std::string_view text, Dimension dimension,
                                        const Source& source) {
  if (dimension == Dimension::bytes_per_second && is_in_bits(text))
    source.fail(
        fmt::format("unknown unit '{}'; write bytes: 8 {} are 1 {}B/s", text, text, text.front()));
  const Unit* suggestion = suggested_unit(text, dimension);
  source.fail(suggestion == nullptr
                  ? fmt::format("unknown unit '{}'; {}", printable(text), need(dimension))
                  : fmt::format("unknown unit '{}'; did you mean '{}'?", printable(text),
                                suggestion->text));
}

const Unit& unit_named(std::string_view text, Dimension dimension, const Source& source) {
  if (text.empty()) source.fail(fmt::format("missing unit; {}", need(dimension)));
  const auto found = std::find_if(kUnits.begin(), kUnits.end(),
                                  [text](const Unit& unit) { return unit.text == text; });
  if (found == kUnits.end()) fail_for_unknown_unit(text, dimension, source);
  if (found->dimension != dimension)
    source.fail(fmt::format("{}; {}", words_for(found->dimension).kind, need(dimension)));
  return *found;
}

std::string_view without_leading_spaces(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

/// 16.911433728 GB is a whole number of bytes, but the product of doubles is not.
double exact(double product) {
  const double whole = std::round(product);
  return std::fabs(product - whole) <= 0x1p-50 * product ? whole : product;
}

/// Refuses a number in quotes: elsewhere it is a text, and its writer may have meant one.
void refuse_quoted(const ScalarNode& scalar, const Source& source) {
  if (scalar.quoted) source.fail("a quoted text; write the bare number");
}

}  // namespace

std::span<const Unit> units() { return kUnits; }

double parse_quantity(const ScalarNode& scalar, const Position& position, Dimension dimension,
                      std::string_view key, Range range) {
  const Source source{scalar.text, position, key};
  if (scalar.text.empty()) source.fail(fmt::format("missing value; {}", need(dimension)));
  if (is_not_finite(source.text)) source.fail("must be finite");
  const std::size_t length = number_length(source.text);
  if (length == 0) source.fail(fmt::format("no number; {}", need(dimension)));
  const std::string_view rest = source.text.substr(length);
  if (continues_number(rest)) source.fail("malformed number; write plain decimal digits");
  const Unit& unit = unit_named(without_leading_spaces(rest), dimension, source);
  const double number = number_value(source.text.substr(0, length), range, source);
  const double value = exact(number * unit.multiplier / unit.divisor);
  if (value > kLargestQuantity || (value < kLeastQuantity && number != 0))
    source.fail("out of range");
  return value;
}

Count parse_count(const ScalarNode& scalar, const Position& position, std::string_view key,
                  Range range) {
  const Source source{scalar.text, position, key};
  refuse_quoted(scalar, source);
  const std::string_view kind =
      range == Range::positive ? "must be a positive integer" : "must be a non-negative integer";
  const std::size_t num_digits = num_leading_digits(source.text);
  if (num_digits == 0) source.fail(kind);
  if (num_digits < source.text.size()) source.fail(fmt::format("{} in plain digits", kind));
  if (has_leading_zero(source.text)) source.fail("leading zero; YAML 1.1 readers take it as octal");
  Count count = 0;
  const char* const end = source.text.data() + source.text.size();
  const bool overflows = std::from_chars(source.text.data(), end, count).ec != std::errc{};
  if (overflows || count > kMaxCount) source.fail(fmt::format("must be at most {}", kMaxCount));
  if (range == Range::positive && count == 0) source.fail(kind);
  return count;
}

double parse_number(const ScalarNode& scalar, const Position& position, std::string_view key,
                    Range range) {
  const Source source{scalar.text, position, key};
  refuse_quoted(scalar, source);
  if (is_not_finite(source.text)) source.fail("must be finite");
  const std::size_t length = number_length(source.text);
  if (length == 0 || length < source.text.size()) source.fail("must be a plain decimal number");
  const double value = number_value(source.text, range, source);
  if (value > kLargestQuantity) source.fail("out of range");
  return value;
}

}  // namespace depthcost
