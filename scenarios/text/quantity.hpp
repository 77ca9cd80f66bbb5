// Reads numbers and units as users write them. No other file reads units.
#pragma once

#include <span>
#include <string_view>

#include "model/base/units.hpp"
#include "scenarios/text/document.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {

enum class Dimension { bytes, bytes_per_second, seconds, flops_per_second, ratio };

/// A number before the unit means number * multiplier / divisor in the base unit. Both factors are
/// exact. 1e-6 is not, and would round twice. So 7 % is the double nearest to 0.07.
struct Unit {
  std::string_view text;
  Dimension dimension;
  double multiplier;
  double divisor;
};

/// Every unit that can be written.
std::span<const Unit> units();

/// The largest count.
inline constexpr Count kMaxCount = Count{1} << 40;

enum class Range { positive, non_negative };

/// "4.8 TB/s" -> 4.8e12: a plain decimal number and a unit of the dimension, in base units (bytes,
/// seconds, operations; a ratio of 1). Throws InputError "invalid KEY 'TEXT' (reason)" otherwise.
double parse_quantity(const ScalarNode& scalar, const Position& position, Dimension dimension,
                      std::string_view key, Range range = Range::positive);

/// An integer in plain digits, at most kMaxCount.
Count parse_count(const ScalarNode& scalar, const Position& position, std::string_view key,
                  Range range = Range::positive);

/// A finite decimal number without a unit.
double parse_number(const ScalarNode& scalar, const Position& position, std::string_view key,
                    Range range = Range::positive);

}  // namespace depthcost
