// The backward pass of an RMSNorm in front of a layer.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_NORM_BACKWARD) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_NORM_BACKWARD
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_NORM_BACKWARD
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_NORM_BACKWARD
#endif

#include "kernels/cpu/primitives/row.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// dh = gain_scale (g o dx) + row_scale h and dg = gain_scale (dx o h): with r = sqrt(mean(h^2) +
/// eps), gain_scale = 1 / r and row_scale = -((g o dx) . h) / (d r^3). Without a norm dh is dx.
struct NormBackward {
  float gain_scale = 1;
  float row_scale = 0;
};

/// From h . h and (g o dx) . h.
inline NormBackward norm_backward(float squares, float along, std::size_t size, float eps) {
  const double inverse = inverse_rms(squares, size, eps);
  const double row_scale =
      -static_cast<double>(along) * inverse * inverse * inverse / static_cast<double>(size);
  return {static_cast<float>(inverse), static_cast<float>(row_scale)};
}

/// A block of dh.
HWY_INLINE Pair norm_gradient(NormBackward norm, Pair gained, Pair h) {
  return multiply_add(broadcast(norm.row_scale), h,
                      Pair{broadcast(norm.gain_scale), broadcast(norm.gain_scale)} * gained);
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_NORM_BACKWARD
