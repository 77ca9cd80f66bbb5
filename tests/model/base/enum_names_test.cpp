// Enumerators and their names.
#include "model/base/enum_names.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace depthcost {
namespace enum_names_test {

enum class Colour : std::uint8_t { red, dark_green, blue };
enum class Speed { slow, fast };

template <class Enum, class... Names>
concept Compiles = requires(const Names&... names) {
  other_names<Enum>(names...);
};

}  // namespace enum_names_test

template <>
inline constexpr auto kNames<enum_names_test::Speed> =
    other_names<enum_names_test::Speed>("s l o w", "fast");

namespace enum_names_test {
namespace {

enum class Hidden { one };

TEST(EnumNames, AreTheIdentifiers) {
  EXPECT_EQ(kNames<Colour>, (std::array<std::string_view, 3>{"red", "dark_green", "blue"}));
  EXPECT_EQ(kEnumerators<Colour>, (std::array{Colour::red, Colour::dark_green, Colour::blue}));
  EXPECT_EQ(name(Colour::blue), "blue");
  EXPECT_EQ(name(Hidden::one), "one");
  EXPECT_EQ(kNames<Hidden>.size(), 1);
}

TEST(EnumNames, AreThoseOfTheTableWhereThereIsOne) {
  EXPECT_EQ(name(Speed::slow), "s l o w");
  EXPECT_EQ(named<Speed>("s l o w"), Speed::slow);
  EXPECT_EQ(named<Speed>("slow"), std::nullopt);
}

TEST(EnumNames, LeadBackToTheirValues) {
  for (const Colour colour : kEnumerators<Colour>) EXPECT_EQ(named<Colour>(name(colour)), colour);
  EXPECT_EQ(named<Colour>("yellow"), std::nullopt);
}

TEST(EnumNames, OfSomeValuesKeepTheirOrder) {
  EXPECT_EQ(names_of_some(std::array{Colour::blue, Colour::red}),
            (std::array<std::string_view, 2>{"blue", "red"}));
}

TEST(EnumNames, NeedOneNameAnEnumerator) {
  static_assert(Compiles<Speed, std::string_view, std::string_view>);
  static_assert(!Compiles<Speed, std::string_view>);
  static_assert(!Compiles<Speed, std::string_view, std::string_view, std::string_view>);
}

TEST(EnumNames, KnowNoValueBehindTheLast) {
  static_assert(enum_names::is_enumerator<Colour::blue>);
  static_assert(!enum_names::is_enumerator<static_cast<Colour>(3)>);
}

}  // namespace
}  // namespace enum_names_test
}  // namespace depthcost
