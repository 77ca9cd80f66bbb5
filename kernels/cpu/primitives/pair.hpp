// Rows of float or Bf16 as pairs of float vectors. For Bf16 a pair holds the even and the odd
// elements of 2 N consecutive ones, so that widening is a shift and a mask, and narrowing a shift
// and an or: no lane moves. For float it holds the lower and the upper N.
//
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_PAIR) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_PAIR
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_PAIR
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_PAIR
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/operations/bf16.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<float>;
using Bits = hn::RebindToUnsigned<Lanes>;
using Halves = hn::Repartition<std::uint16_t, Lanes>;
using Vec = hn::Vec<Lanes>;

inline constexpr std::size_t kLanes = HWY_LANES(float);
/// Elements of a pair.
inline constexpr std::size_t kBlock = 2 * kLanes;

struct Pair {
  Vec first;
  Vec second;
};

/// How much of a block is in the row: all of it, or the first `count` elements. The rest of a part
/// is read as zeros and not written.
struct Whole {};
struct Part {
  std::size_t count = 0;
};

inline std::size_t padded(std::size_t count) { return (count + kBlock - 1) / kBlock * kBlock; }

/// Elements of a row from `begin`, a multiple of kBlock, up to `end`.
struct Columns {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// body(offset, Whole or Part) over columns of a row.
template <class Body>
HWY_INLINE void for_each_block(Columns columns, const Body& body) {
  std::size_t i = columns.begin;
  for (; i + kBlock <= columns.end; i += kBlock) body(i, Whole{});
  if (i < columns.end) body(i, Part{columns.end - i});
}

/// The same over a row of `size` elements.
template <class Body>
HWY_INLINE void for_each_block(std::size_t size, const Body& body) {
  for_each_block(Columns{0, size}, body);
}

HWY_INLINE Vec broadcast(float value) { return hn::Set(Lanes(), value); }
HWY_INLINE Pair zeros() { return {hn::Zero(Lanes()), hn::Zero(Lanes())}; }
HWY_INLINE Pair operator+(Pair a, Pair b) {
  return {hn::Add(a.first, b.first), hn::Add(a.second, b.second)};
}
HWY_INLINE Pair operator*(Pair a, Pair b) {
  return {hn::Mul(a.first, b.first), hn::Mul(a.second, b.second)};
}
/// a b + c.
HWY_INLINE Pair multiply_add(Pair a, Pair b, Pair c) {
  return {hn::MulAdd(a.first, b.first, c.first), hn::MulAdd(a.second, b.second, c.second)};
}
HWY_INLINE Pair multiply_add(Vec a, Pair b, Pair c) { return multiply_add(Pair{a, a}, b, c); }
HWY_INLINE float sum(Vec a) { return hn::GetLane(hn::SumOfLanes(Lanes(), a)); }
HWY_INLINE float sum(Pair a) { return sum(hn::Add(a.first, a.second)); }

HWY_INLINE Vec load_vec(const float* p) { return hn::LoadU(Lanes(), p); }

/// Loads and stores pairs without reordering. Scratch rows, which are padded, hold pairs this way.
HWY_INLINE Pair load_raw(const float* p) { return {load_vec(p), load_vec(p + kLanes)}; }
HWY_INLINE void store_raw(float* p, Pair a) {
  hn::StoreU(a.first, Lanes(), p);
  hn::StoreU(a.second, Lanes(), p + kLanes);
}
HWY_INLINE void add_raw(float* p, Pair a) { store_raw(p, load_raw(p) + a); }

HWY_INLINE Pair load(const float* p, Whole) { return load_raw(p); }
HWY_INLINE Pair load(const Bf16* p, Whole) {
  const auto halves = hn::LoadU(Halves(), reinterpret_cast<const std::uint16_t*>(p));
  const auto words = hn::BitCast(Bits(), halves);
  return {hn::BitCast(Lanes(), hn::ShiftLeft<16>(words)),
          hn::BitCast(Lanes(), hn::And(words, hn::Set(Bits(), 0xFFFF0000U)))};
}

/// A pair of consecutive elements, whatever the type: (lower, upper).
HWY_INLINE Pair load_in_order(const float* p, Whole) { return load_raw(p); }
HWY_INLINE Pair load_in_order(const Bf16* p, Whole) {
  const hn::Rebind<std::uint16_t, Lanes> half;
  const auto* bits = reinterpret_cast<const std::uint16_t*>(p);
  const auto lower = hn::PromoteTo(Bits(), hn::LoadU(half, bits));
  const auto upper = hn::PromoteTo(Bits(), hn::LoadU(half, bits + kLanes));
  return {hn::BitCast(Lanes(), hn::ShiftLeft<16>(lower)),
          hn::BitCast(Lanes(), hn::ShiftLeft<16>(upper))};
}

/// A pair of consecutive floats in the order in which rows of T are loaded.
template <class T>
HWY_INLINE Pair in_order_of(Pair a) {
  if constexpr (std::is_same_v<T, Bf16>)
    return {hn::ConcatEven(Lanes(), a.second, a.first), hn::ConcatOdd(Lanes(), a.second, a.first)};
  else
    return a;
}

/// The inverse of `in_order_of`, into a scratch row.
template <class T>
HWY_INLINE void store_in_order(float* p, Pair a) {
  if constexpr (std::is_same_v<T, Bf16>)
    hn::StoreInterleaved2(a.first, a.second, Lanes(), p);
  else
    store_raw(p, a);
}

/// Floats that go with a row of T: gains, queries.
template <class T>
HWY_INLINE Pair load_for(const float* p, Whole) {
  return in_order_of<T>(load_raw(p));
}

/// Loads a part of a block through a buffer that holds a whole one.
template <class T>
struct Padded {
  HWY_ALIGN T elements[kBlock] = {};

  HWY_INLINE Padded() = default;
  HWY_INLINE Padded(const T* p, Part part) {
    std::memcpy(static_cast<void*>(elements), p, part.count * sizeof(T));
  }
};

template <class T>
HWY_INLINE Pair load(const T* p, Part part) {
  return load(Padded<T>(p, part).elements, Whole{});
}
template <class T>
HWY_INLINE Pair load_in_order(const T* p, Part part) {
  return load_in_order(Padded<T>(p, part).elements, Whole{});
}
template <class T>
HWY_INLINE Pair load_for(const float* p, Part part) {
  return load_for<T>(Padded<float>(p, part).elements, Whole{});
}

/// The upper half of each word, rounded to nearest even; the lower half cleared. Not for NaNs.
HWY_INLINE Vec round_numbers_to_bf16(Vec value) {
  const Bits bits;
  const auto word = hn::BitCast(bits, value);
  const auto is_odd = hn::TestBit(word, hn::Set(bits, 0x10000));
  const auto half = hn::IfThenElse(is_odd, hn::Set(bits, 0x8000), hn::Set(bits, 0x7FFF));
  return hn::BitCast(Lanes(), hn::And(hn::Add(word, half), hn::Set(bits, 0xFFFF0000U)));
}

/// As Bf16(float), for any value: a NaN becomes quiet and keeps its upper payload.
HWY_INLINE Vec round_to_bf16(Vec value) {
  const Bits bits;
  const auto quiet = hn::Or(hn::BitCast(bits, value), hn::Set(bits, 0x400000));
  const auto cleared = hn::BitCast(Lanes(), hn::And(quiet, hn::Set(bits, 0xFFFF0000U)));
  return hn::IfThenElse(hn::IsNaN(value), cleared, round_numbers_to_bf16(value));
}

#if HWY_TARGET <= HWY_AVX3
/// As round_numbers_to_bf16 in half the operations, but for what becomes NaN, infinite or
/// subnormal: 2^16 x - x has 24 bits, so what is missing from it to 2^16 x is x with 8 bits, to
/// nearest even.
HWY_INLINE Vec round_normal_to_bf16(Vec x) {
  const Vec shift = broadcast(0x1p16F);
  return hn::MulSub(x, shift, hn::MulSub(x, shift, x));
}

HWY_INLINE bool has_nan_infinity_or_subnormal(Pair a) {
  constexpr int kClasses = 0x01 | 0x08 | 0x10 | 0x20 | 0x80;
  return _kortestz_mask16_u8(_mm512_fpclass_ps_mask(a.first.raw, kClasses),
                             _mm512_fpclass_ps_mask(a.second.raw, kClasses)) == 0;
}
#endif

HWY_INLINE Pair rounded_by_integers(Pair a) {
  // NaNs are rare: one test for both vectors. (Infinities of either sign also take the slow way.)
  if (HWY_LIKELY(hn::AllFalse(Lanes(), hn::IsNaN(hn::Add(a.first, a.second)))))
    return {round_numbers_to_bf16(a.first), round_numbers_to_bf16(a.second)};
  return {round_to_bf16(a.first), round_to_bf16(a.second)};
}

HWY_INLINE Pair rounded_to_bf16(Pair a) {
#if HWY_TARGET <= HWY_AVX3
  const Pair rounded{round_normal_to_bf16(a.first), round_normal_to_bf16(a.second)};
  if (HWY_LIKELY(!has_nan_infinity_or_subnormal(rounded))) return rounded;
  return {round_to_bf16(a.first), round_to_bf16(a.second)};
#else
  return rounded_by_integers(a);
#endif
}

/// Rounds to values that T can store.
template <class T>
HWY_INLINE Pair rounded_to(Pair a) {
  if constexpr (std::is_same_v<T, float>)
    return a;
  else
    return rounded_to_bf16(a);
}

/// Where a store goes. Streaming stores skip the read of the line that they fill, and the caches:
/// for outputs that are large, and vectors that are aligned.
struct Cached {};
struct Streaming {};

HWY_INLINE hn::Vec<Halves> packed(Pair rounded) {
  const auto even = hn::ShiftRight<16>(hn::BitCast(Bits(), rounded.first));
  return hn::BitCast(Halves(), hn::Or(even, hn::BitCast(Bits(), rounded.second)));
}

/// Stores values that are `rounded_to` the type.
HWY_INLINE void store(float* p, Pair rounded, Whole, Cached) { store_raw(p, rounded); }
HWY_INLINE void store(Bf16* p, Pair rounded, Whole, Cached) {
  hn::StoreU(packed(rounded), Halves(), reinterpret_cast<std::uint16_t*>(p));
}
HWY_INLINE void store(float* p, Pair rounded, Whole, Streaming) {
  hn::Stream(rounded.first, Lanes(), p);
  hn::Stream(rounded.second, Lanes(), p + kLanes);
}
HWY_INLINE void store(Bf16* p, Pair rounded, Whole, Streaming) {
  hn::Stream(packed(rounded), Halves(), reinterpret_cast<std::uint16_t*>(p));
}
template <class T, class Policy>
HWY_INLINE void store(T* p, Pair rounded, Part part, Policy) {
  Padded<T> buffer;
  store(buffer.elements, rounded, Whole{}, Cached{});
  std::memcpy(static_cast<void*>(p), buffer.elements, part.count * sizeof(T));
}

#if HWY_TARGET <= HWY_AVX3
/// Whether the processor has AVX512-BF16, which Highway 1.0.3 has no target for. It takes subnormal
/// numbers for zeros.
inline const bool has_bf16_arithmetic = __builtin_cpu_supports("avx512bf16");

HWY_INLINE bool has_subnormal(Pair a) {
  constexpr int kSubnormal = 0x20;
  return _kortestz_mask16_u8(_mm512_fpclass_ps_mask(a.first.raw, kSubnormal),
                             _mm512_fpclass_ps_mask(a.second.raw, kSubnormal)) == 0;
}

/// As packed_to_bf16 by AVX512-BF16, but for subnormal numbers. Faster by 5 to 15 % on Zen 4 where
/// nothing else is done with what it rounds, slower otherwise: its result is to be widened again.
/// [ours]
HWY_INLINE hn::Vec<Halves> converted_to_bf16(Pair a) {
  alignas(64) static constexpr std::uint16_t kEvenWithOdd[] = {
      0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
      8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  __m512i even_before_odd;
  asm("vcvtne2ps2bf16 %2, %1, %0" : "=v"(even_before_odd) : "v"(a.second.raw), "v"(a.first.raw));
  return hn::Vec<Halves>{
      _mm512_permutexvar_epi16(_mm512_load_si512(kEvenWithOdd), even_before_odd)};
}

/// A block of bf16 as it is stored.
HWY_INLINE hn::Vec<Halves> load_stored(const Bf16* p) {
  return hn::LoadU(Halves(), reinterpret_cast<const std::uint16_t*>(p));
}

/// sums + the products of stored numbers by AVX512-BF16, two in each lane.
HWY_INLINE Vec add_products(hn::Vec<Halves> a, hn::Vec<Halves> b, Vec sums) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sums.raw) : "v"(a.raw), "v"(b.raw));
  return sums;
}
#endif

/// packed(rounded_to_bf16(a)).
HWY_INLINE hn::Vec<Halves> packed_to_bf16(Pair a) {
#if HWY_TARGET <= HWY_AVX3
  if (HWY_LIKELY(has_bf16_arithmetic && !has_subnormal(a))) return converted_to_bf16(a);
#endif
  return packed(rounded_by_integers(a));
}

/// store(p, rounded_to<T>(a), where, policy), for what is not used otherwise.
template <class Where, class Policy>
HWY_INLINE void store_rounded(float* p, Pair a, Where where, Policy policy) {
  store(p, a, where, policy);
}
HWY_INLINE void store_rounded(Bf16* p, Pair a, Whole, Cached) {
  hn::StoreU(packed_to_bf16(a), Halves(), reinterpret_cast<std::uint16_t*>(p));
}
HWY_INLINE void store_rounded(Bf16* p, Pair a, Whole, Streaming) {
  hn::Stream(packed_to_bf16(a), Halves(), reinterpret_cast<std::uint16_t*>(p));
}
template <class Policy>
HWY_INLINE void store_rounded(Bf16* p, Pair a, Part part, Policy policy) {
  store(p, rounded_to_bf16(a), part, policy);
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_PAIR
