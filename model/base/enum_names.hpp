// The enumerators of an enum and their names, as they stand in files and reports. Names are the
// enumerators' own, unless the enum has a table of others beside it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace depthcost {
namespace enum_names {

/// The value as the compiler prints it: "depthcost::Dtype::fp8", or "(depthcost::Dtype)4" if no
/// enumerator has it. GCC and Clang print it behind the name of the template's parameter.
template <auto kValue>
constexpr std::string_view printed() {
  constexpr std::string_view signature = __PRETTY_FUNCTION__;
  constexpr std::string_view before = "kValue = ";
  constexpr std::size_t begin = signature.find(before) + before.size();
  return signature.substr(begin, signature.find_first_of(";]", begin) - begin);
}

template <auto kValue>
inline constexpr bool is_enumerator = printed<kValue>().front() != '(';

/// How many enumerators there are from `kFrom` on.
template <class Enum, std::size_t kFrom = 0>
constexpr std::size_t count() {
  if constexpr (is_enumerator<static_cast<Enum>(kFrom)>)
    return 1 + count<Enum, kFrom + 1>();
  else
    return 0;
}

/// `make` of each enumerator, as a template argument.
template <class Enum, class Make>
constexpr auto each(const Make& make) {
  return [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
    return std::array{make.template operator()<static_cast<Enum>(kAt)>()...};
  }
  (std::make_index_sequence<count<Enum>()>{});
}

}  // namespace enum_names

/// All values, in order. The enumerators count from 0.
template <class Enum>
inline constexpr auto kEnumerators = enum_names::each<Enum>([]<auto kValue>() { return kValue; });

/// Their names, in order. Specialise it with other_names() where they are no identifiers.
template <class Enum>
inline constexpr auto kNames = enum_names::each<Enum>([]<auto kValue>() {
  const std::string_view whole = enum_names::printed<kValue>();
  return whole.substr(whole.rfind(':') + 1);
});

/// A table for kNames; it compiles only with one name an enumerator.
template <class Enum, class... Names>
requires(sizeof...(Names) == kEnumerators<Enum>.size()) constexpr std::array<
    std::string_view, sizeof...(Names)> other_names(const Names&... names) {
  return {names...};
}

template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::string_view name(Enum value) {
  return kNames<Enum>[static_cast<std::size_t>(value)];
}

/// The names of some of the values: for a key that takes no others.
template <class Enum, std::size_t kSize>
constexpr std::array<std::string_view, kSize> names_of_some(const std::array<Enum, kSize>& values) {
  std::array<std::string_view, kSize> names;
  std::transform(values.begin(), values.end(), names.begin(), name<Enum>);
  return names;
}

/// The value of that name.
template <class Enum>
constexpr std::optional<Enum> named(std::string_view text) {
  const auto& names = kNames<Enum>;
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace depthcost
