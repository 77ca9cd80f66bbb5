// Helpers that the tables of keys are written with.
#pragma once

#include <array>

#include "model/machine/chip.hpp"
#include "scenarios/keys/keys.hpp"

namespace depthcost::key_builders {

using enum Dimension;  // beside the model's bytes(), write Dimension::bytes
using enum KeyKind;
using Names = std::string_view;

inline constexpr std::array<Names, 2> kKinds{"gpu", "cpu"};
inline constexpr auto kArchitectures = [] {
  std::array<Names, kChips.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kChips[i].name;
  return names;
}();

/// Every scheme.
std::span<const Names> scheme_names();

constexpr Key key(KeyKind kind, std::string_view path, std::string_view meaning) {
  return {.path = path, .kind = kind, .meaning = meaning};
}

constexpr Key key(KeyKind kind, std::string_view path, Dimension dimension,
                  std::string_view meaning) {
  return {.path = path, .kind = kind, .meaning = meaning, .dimension = dimension};
}

constexpr Key key(KeyKind kind, std::string_view path, std::span<const Names> choices,
                  std::string_view meaning) {
  return {.path = path, .kind = kind, .meaning = meaning, .choices = choices};
}

constexpr Key required(Key key) {
  key.need = Need::required;
  return key;
}

constexpr Key non_negative(Key key) {
  key.range = Range::non_negative;
  return key;
}

constexpr Key with_default(Key key, std::string_view fallback, std::string_view source) {
  key.fallback = fallback;
  key.fallback_source = source;
  return key;
}

constexpr Key belonging_to(Key key, std::string_view other) {
  key.of = other;
  return key;
}

constexpr Key later(Key key) {
  key.use = Use::later;
  return key;
}

constexpr Key instead_of(std::string_view other, Key key) {
  key.instead_of = other;
  return key;
}

}  // namespace depthcost::key_builders
