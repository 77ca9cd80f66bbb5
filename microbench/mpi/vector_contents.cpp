// One loop for each width of an element.
#include "microbench/mpi/vector_contents.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace depthcost::bench {
namespace {

/// The finalizer of MurmurHash3 (Appleby, 2011): every bit of the input reaches every bit.
constexpr std::uint32_t scrambled(std::uint32_t x) {
  x ^= x >> 16U;
  x *= 0x85EBCA6BU;
  x ^= x >> 13U;
  x *= 0xC2B2AE35U;
  return x ^ (x >> 16U);
}

/// Even the lowest bits of u and v differ from element to element: narrow widths keep only those.
constexpr std::uint32_t element(std::uint32_t seed, std::size_t i, LayerSum sum) {
  const std::uint32_t v = scrambled(seed ^ static_cast<std::uint32_t>(i));
  const std::uint32_t u = v * 0x9E3779B1U ^ v >> 7U;
  return static_cast<std::uint32_t>(sum.indices) * u + static_cast<std::uint32_t>(sum.count) * v;
}

template <class T>
T* elements(const Elements& x) {
  return reinterpret_cast<T*>(x.bytes.data());
}

template <class Visit>
auto with_width(const Elements& x, const Visit& visit) {
  switch (x.width) {
    case 1:
      return visit(elements<std::uint8_t>(x), x.bytes.size());
    case 2:
      return visit(elements<std::uint16_t>(x), x.bytes.size() / 2);
    default:
      return visit(elements<std::uint32_t>(x), x.bytes.size() / 4);
  }
}

template <class T>
T as(T*, std::uint32_t value) {
  return static_cast<T>(value);
}

}  // namespace

std::uint32_t seed_of(Content content, Count micro_batch, Count vector) {
  const std::uint32_t a = scrambled(static_cast<std::uint32_t>(content) + 1);
  const std::uint32_t b = scrambled(a ^ static_cast<std::uint32_t>(micro_batch));
  return scrambled(b + 0x9E3779B9U * static_cast<std::uint32_t>(vector));
}

void add_layers(const Elements& x, std::uint32_t seed, LayerSum sum) {
  with_width(x, [&](auto* values, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
      values[i] = as(values, values[i] + element(seed, i, sum));
  });
}

void set_layers(const Elements& x, std::uint32_t seed, LayerSum sum) {
  with_width(x, [&](auto* values, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) values[i] = as(values, element(seed, i, sum));
  });
}

void add(const Elements& x, const Elements& y) {
  assert(x.bytes.size() == y.bytes.size() && x.width == y.width);
  with_width(x, [&](auto* values, std::size_t size) {
    const auto* terms = reinterpret_cast<decltype(values)>(y.bytes.data());
    for (std::size_t i = 0; i < size; ++i)
      values[i] = as(values, std::uint32_t{values[i]} + std::uint32_t{terms[i]});
  });
}

std::optional<std::size_t> first_difference(const Elements& x, std::uint32_t seed, LayerSum sum,
                                            std::size_t stride) {
  return with_width(x, [&](auto* values, std::size_t size) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < size; i += stride)
      if (values[i] != as(values, element(seed, i, sum))) return i;
    return std::nullopt;
  });
}

}  // namespace depthcost::bench
