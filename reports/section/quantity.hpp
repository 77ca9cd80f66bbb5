// Numbers under the keys of the JSON contract, for every format that lists them.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>

#include "model/base/interval_end.hpp"
#include "reports/formats/json_writer.hpp"

namespace depthcost {

/// A value under its JSON key. Without a value: not known.
struct NamedQuantity {
  std::string_view key;
  std::optional<double> value;
  std::string_view unit;  // "d", "scalars", "bytes", "tokens", "FLOP", "launches", "s", "ratio"
};

template <std::size_t N>
void append(JsonWriter& json, const std::array<NamedQuantity, N>& quantities) {
  for (const NamedQuantity& quantity : quantities) json.member(quantity.key, quantity.value);
}

/// That end of the interval in base units; nothing where there is no estimate.
template <class Quantity>
std::optional<double> end_of(const std::optional<Estimate<Quantity>>& estimate, IntervalEnd end) {
  if (!estimate) return std::nullopt;
  if constexpr (std::is_same_v<Quantity, double>)
    return at(*estimate, end);
  else
    return at(*estimate, end).value;
}

}  // namespace depthcost
