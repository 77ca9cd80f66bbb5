// The few dimensions that the model needs, as types that do not mix: bytes, operations, seconds,
// and two rates. Base units only: GB and GiB are for texts.
#pragma once

#include <compare>
#include <cstdint>

#include "model/base/enum_names.hpp"

namespace depthcost {

/// A count of layers, blocks, tokens, ... as a user writes it.
using Count = std::int64_t;

/// Counts up to here are exact as doubles, and in JSON.
inline constexpr Count kMaxExactCount = Count{1} << 53;

/// A count as a factor; exact to kMaxExactCount.
constexpr double as_double(Count count) { return static_cast<double>(count); }

/// `all` shared out over `parts` >= 1: the largest share. Nothing overflows.
constexpr Count divided_up(Count all, Count parts) {
  return all / parts + (all % parts > 0 ? 1 : 0);
}

template <class Tag>
struct Quantity {
  double value = 0;

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(double k, Quantity a) { return {k * a.value}; }
  friend constexpr Quantity& operator+=(Quantity& a, Quantity b) { return a = a + b; }
  friend constexpr Quantity& operator-=(Quantity& a, Quantity b) { return a = a - b; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
};

using Bytes = Quantity<struct BytesTag>;
using Flops = Quantity<struct FlopsTag>;  // operations, never a rate
using Seconds = Quantity<struct SecondsTag>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag>;

constexpr Seconds operator/(Bytes b, BytesPerSecond r) { return {b.value / r.value}; }
constexpr Seconds operator/(Flops f, FlopsPerSecond r) { return {f.value / r.value}; }
constexpr BytesPerSecond operator/(Bytes b, Seconds t) { return {b.value / t.value}; }

/// Storage type of a d-vector.
enum class Dtype { bf16, f16, f32, fp8 };

constexpr double bytes_per_element(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp8:
      return 1;
    case Dtype::bf16:
    case Dtype::f16:
      return 2;
    case Dtype::f32:
      return 4;
  }
  return 0;
}

/// Loose scalars (softmax statistics, mHC coefficients) are kept in f32.
inline constexpr double kBytesPerScalar = 4;

/// The only way from elements to bytes.
constexpr Bytes storage(double num_elements, Dtype dtype) {
  return {num_elements * bytes_per_element(dtype)};
}

}  // namespace depthcost
