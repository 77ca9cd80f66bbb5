// Sixteen bytes of a row at a time, in registers as floats.
#pragma once

#include <type_traits>

#include "kernels/cuda/primitives/ptx.cuh"
#include "kernels/operations/bf16.hpp"

namespace depthcost::cuda {

inline constexpr unsigned kVectorBytes = 16;

/// Elements of T in a vector.
template <class T>
inline constexpr unsigned kWidth = kVectorBytes / sizeof(T);

__device__ inline float low_bf16(std::uint32_t pair) { return __uint_as_float(pair << 16); }
__device__ inline float high_bf16(std::uint32_t pair) {
  return __uint_as_float(pair & 0xFFFF0000U);
}

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(Bf16 value) {
  return __uint_as_float(std::uint32_t{value.bits} << 16);
}

/// Rounds to T once, to nearest even.
template <class T>
__device__ T rounded_to(float value);
template <>
__device__ inline float rounded_to<float>(float value) {
  return value;
}
template <>
__device__ inline Bf16 rounded_to<Bf16>(float value) {
  Bf16 result;
  result.bits = static_cast<std::uint16_t>(bf16_pair(value, 0.0F));
  return result;
}

/// The vector that begins at `from`, aligned to 16 bytes.
template <class T>
__device__ uint4 load_vector(const T* from) {
  return *reinterpret_cast<const uint4*>(from);
}
template <class T>
__device__ void store_vector(T* to, const uint4& vector) {
  *reinterpret_cast<uint4*>(to) = vector;
}

template <class T>
struct VectorOf;

template <>
struct VectorOf<float> {
  __device__ static void unpack(const uint4& vector, float (&x)[4]) {
    x[0] = __uint_as_float(vector.x);
    x[1] = __uint_as_float(vector.y);
    x[2] = __uint_as_float(vector.z);
    x[3] = __uint_as_float(vector.w);
  }
  __device__ static uint4 pack(const float (&x)[4]) {
    return {__float_as_uint(x[0]), __float_as_uint(x[1]), __float_as_uint(x[2]),
            __float_as_uint(x[3])};
  }
};

template <>
struct VectorOf<Bf16> {
  __device__ static void unpack(const uint4& vector, float (&x)[8]) {
    const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x[2 * i] = low_bf16(words[i]);
      x[2 * i + 1] = high_bf16(words[i]);
    }
  }
  __device__ static uint4 pack(const float (&x)[8]) {
    return {bf16_pair(x[0], x[1]), bf16_pair(x[2], x[3]), bf16_pair(x[4], x[5]),
            bf16_pair(x[6], x[7])};
  }
};

template <class T>
__device__ void unpack(const uint4& vector, float (&x)[kWidth<T>]) {
  VectorOf<T>::unpack(vector, x);
}
template <class T>
__device__ uint4 pack(const float (&x)[kWidth<T>]) {
  return VectorOf<T>::pack(x);
}

/// kCount floats from `from`, aligned to 16 bytes.
template <unsigned kCount>
__device__ void load_floats(const float* from, float (&x)[kCount]) {
  static_assert(kCount % 4 == 0);
#pragma unroll
  for (unsigned i = 0; i < kCount; i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + i);
    x[i] = four.x;
    x[i + 1] = four.y;
    x[i + 2] = four.z;
    x[i + 3] = four.w;
  }
}

/// kElements elements as they are stored: a whole vector, half of one, or a single element.
template <class T, unsigned kElements>
using Stored =
    std::conditional_t<kElements == 1, T, std::conditional_t<kElements == kWidth<T>, uint4, uint2>>;

template <class T, unsigned kElements>
__device__ Stored<T, kElements> load_stored(const T* from) {
  return *reinterpret_cast<const Stored<T, kElements>*>(from);
}
template <class T, unsigned kElements>
__device__ void unpack_stored(const Stored<T, kElements>& stored, float (&x)[kElements]) {
  if constexpr (kElements == 1) {
    x[0] = to_float(stored);
  } else if constexpr (kElements == kWidth<T>) {
    unpack<T>(stored, x);
  } else {
    static_assert(kElements == 4 && sizeof(T) == 2);
    x[0] = low_bf16(stored.x);
    x[1] = high_bf16(stored.x);
    x[2] = low_bf16(stored.y);
    x[3] = high_bf16(stored.y);
  }
}

template <unsigned kElements, class T>
__device__ void load_elements(const T* from, float (&x)[kElements]) {
  unpack_stored<T, kElements>(load_stored<T, kElements>(from), x);
}
/// Stores `x`, and leaves in it what was stored.
template <unsigned kElements, class T>
__device__ void store_elements(T* to, float (&x)[kElements]) {
  if constexpr (kElements == 1) {
    *to = rounded_to<T>(x[0]);
    x[0] = to_float(*to);
  } else if constexpr (kElements < kWidth<T>) {
    const uint2 half{bf16_pair(x[0], x[1]), bf16_pair(x[2], x[3])};
    *reinterpret_cast<uint2*>(to) = half;
    unpack_stored<T, kElements>(half, x);
  } else {
    const uint4 vector = pack<T>(x);
    store_vector(to, vector);
    unpack<T>(vector, x);
  }
}

/// kCount parameters; one of them needs no alignment.
template <unsigned kCount>
__device__ void load_parameters(const float* from, float (&x)[kCount]) {
  if constexpr (kCount == 1)
    x[0] = *from;
  else
    load_floats(from, x);
}

/// Stores kCount floats; one of them needs no alignment.
template <unsigned kCount>
__device__ void store_parameters(float* to, const float (&x)[kCount]) {
  if constexpr (kCount == 1) {
    *to = x[0];
  } else {
#pragma unroll
    for (unsigned i = 0; i < kCount; i += 4)
      *reinterpret_cast<float4*>(to + i) = {x[i], x[i + 1], x[i + 2], x[i + 3]};
  }
}

}  // namespace depthcost::cuda
