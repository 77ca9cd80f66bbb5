// Numbers with units, as every value of a file and every axis has them. What is accepted is read a
// second time by the C library.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "scenarios/text/quantity.hpp"
#include "tests/fuzz/choices.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/targets.hpp"

namespace depthcost::fuzz {
namespace {

const Position kPosition{"input", 1, 1};

constexpr std::array kDimensions{Dimension::bytes, Dimension::bytes_per_second, Dimension::seconds,
                                 Dimension::flops_per_second, Dimension::ratio};
constexpr std::array kRanges{Range::positive, Range::non_negative};

/// The number before the unit, by strtod, and the unit after it.
double second_reading(const std::string& text, Dimension dimension) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  while (*end == ' ') ++end;
  for (const Unit& unit : units())
    if (unit.dimension == dimension && unit.text == end)
      return number * unit.multiplier / unit.divisor;
  return std::nan("");
}

void require_same(double value, double second, const std::string& text) {
  if (std::abs(value - second) <= 1e-14 * std::abs(second)) return;
  require(false, fmt::format("'{}' is read as {} and as {}", text, value, second));
}

void require_in(Range range, double value, const std::string& text) {
  if (range == Range::positive ? value > 0 : value >= 0) return;
  require(false, fmt::format("'{}' is accepted as {}", text, value));
}

}  // namespace

bool read_quantity(std::string_view bytes) {
  Choices choices(bytes);
  const std::size_t kind = choices.below(kDimensions.size() + 2);
  const Range range = choices.one_of<Range>(kRanges);
  // Longer ones end where these do.
  constexpr std::size_t kLongest = 64;
  const std::string text(bytes.substr(std::min<std::size_t>(2, bytes.size()), kLongest));
  const ScalarNode scalar{text};
  return accepts([&] {
    double value = 0, second = 0;
    if (kind < kDimensions.size()) {
      value = parse_quantity(scalar, kPosition, kDimensions[kind], "key", range);
      second = second_reading(text, kDimensions[kind]);
    } else if (kind == kDimensions.size()) {
      value = parse_number(scalar, kPosition, "key", range);
      second = std::strtod(text.c_str(), nullptr);
    } else {
      const Count count = parse_count(scalar, kPosition, "key", range);
      require(std::to_string(count) == text, "a count is written in another way than it was read");
      value = second = static_cast<double>(count);
    }
    require_in(range, value, text);
    require_same(value, second, text);
  });
}

}  // namespace depthcost::fuzz
