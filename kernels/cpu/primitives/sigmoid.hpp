// The sigmoid of gates.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_SIGMOID) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_SIGMOID
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_SIGMOID
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_SIGMOID
#endif

#include <hwy/contrib/math/math-inl.h>

#include "kernels/cpu/primitives/pair.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// hn::Exp takes a NaN for a large negative number.
HWY_INLINE Vec exp(Vec x) { return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(Lanes(), x)); }

/// Exponents are kept below this, so that exp stays finite.
inline constexpr float kLargestExponent = 88;

HWY_INLINE Vec sigmoid(Vec x) {
  // x86 takes the second operand if one of them is NaN.
  const Vec exponent = hn::Min(broadcast(kLargestExponent), hn::Neg(x));
  return hn::Div(broadcast(1), hn::Add(broadcast(1), exp(exponent)));
}

/// Where a gate has saturated: 2^(kLargestGate / ln 2) and its inverse are normal numbers.
inline constexpr float kLargestGate = 86;

/// 2^r = sum_k (r ln 2)^k / k! for |r| <= 1/2, up to k = 4 for what is rounded to bf16 (less than
/// 2^-14 of it is lost), else up to k = 6 (2^-22).
template <class T>
HWY_INLINE Vec exp2_of_fraction(Vec r) {
  constexpr float kLn2 = 0x1.62e430p-1F;
  constexpr float kTerms[] = {1,
                              kLn2,
                              kLn2 * kLn2 / 2,
                              kLn2 * kLn2 * kLn2 / 6,
                              kLn2 * kLn2 * kLn2 * kLn2 / 24,
                              kLn2 * kLn2 * kLn2 * kLn2 * kLn2 / 120,
                              kLn2 * kLn2 * kLn2 * kLn2 * kLn2 * kLn2 / 720};
  constexpr std::size_t kDegree = std::is_same_v<T, Bf16> ? 4 : 6;
  Vec sum = broadcast(kTerms[kDegree]);
  for (std::size_t k = kDegree; k-- > 0;) sum = hn::MulAdd(sum, r, broadcast(kTerms[k]));
  return sum;
}

/// e^-x with the digits that T keeps, for a gate's logit; a third of the work of hn::Exp and
/// hn::Div where rows stream through. NaN stays NaN.
template <class T>
HWY_INLINE Vec exp_of_minus(Vec x) {
  // Its last bits are the integer that is added to it, and so 2^integer's exponent.
  constexpr float kExponentBias = 127;
  const Vec integers = broadcast(0x1.8p23F + kExponentBias);
  const Vec minus_log2_e = broadcast(-0x1.715476p0F);
  const Vec limited = hn::Max(broadcast(-kLargestGate), hn::Min(broadcast(kLargestGate), x));
  const Vec shifted = hn::MulAdd(limited, minus_log2_e, integers);
  const Vec fraction = hn::MulSub(limited, minus_log2_e, hn::Sub(shifted, integers));
  const Vec power = hn::BitCast(Lanes(), hn::ShiftLeft<23>(hn::BitCast(Bits(), shifted)));
  return hn::Mul(exp2_of_fraction<T>(fraction), power);
}

/// 1 / x of a normal x, with the digits that T keeps.
template <class T>
HWY_INLINE Vec inverse(Vec x) {
#if HWY_ARCH_X86
  // 14 bits with AVX-512, before that 12 bits, which a step of Newton's doubles.
  const Vec estimate = hn::ApproximateReciprocal(x);
  if constexpr (HWY_TARGET <= HWY_AVX3 && std::is_same_v<T, Bf16>) return estimate;
  return hn::Mul(estimate, hn::NegMulAdd(x, estimate, broadcast(2)));
#else
  return hn::Div(broadcast(1), x);
#endif
}

/// The sigmoid, with the digits that T keeps.
template <class T>
HWY_INLINE Vec gate_of(Vec z) {
  return inverse<T>(hn::Add(broadcast(1), exp_of_minus<T>(z)));
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_SIGMOID
