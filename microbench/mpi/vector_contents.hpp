// What the vectors of a run hold: integers as wide as an element on the wire. The output of layer l
// is
//
//   f_l(i) = l u(i) + v(i)        u and v: hashes of a seed and of the element
//
// A sum over layers has a closed form. Sums wrap around, so that they are exact for any number of
// layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "model/base/units.hpp"

namespace depthcost::bench {

/// A sum over layers: sum_l l, and how many layers there are.
struct LayerSum {
  Count indices = 0;
  Count count = 0;

  friend constexpr bool operator==(LayerSum, LayerSum) = default;
};

/// Layers first .. last; none where last < first.
constexpr LayerSum layers(Count first, Count last) {
  if (last < first) return {};
  const Count count = last - first + 1;
  return {.indices = (first + last) * count / 2, .count = count};
}

/// Vectors of different seeds hold different numbers.
enum class Content : std::uint32_t { values, gradients };
std::uint32_t seed_of(Content content, Count micro_batch, Count vector);

/// Elements of 1, 2 or 4 bytes each.
struct Elements {
  std::span<std::byte> bytes;
  Count width = 4;
};

/// x += sum over layers of f_l
void add_layers(const Elements& x, std::uint32_t seed, LayerSum sum);

/// x = sum over layers of f_l
void set_layers(const Elements& x, std::uint32_t seed, LayerSum sum);

/// x += y, of equal size
void add(const Elements& x, const Elements& y);

/// The first of every `stride`-th element of x that is not the sum over layers of f_l.
std::optional<std::size_t> first_difference(const Elements& x, std::uint32_t seed, LayerSum sum,
                                            std::size_t stride);

}  // namespace depthcost::bench
