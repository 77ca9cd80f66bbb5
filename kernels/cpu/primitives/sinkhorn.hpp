// Sinkhorn's iteration on as many matrices at a time as there are lanes.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_SINKHORN) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_SINKHORN
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_SINKHORN
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_SINKHORN
#endif

#include "kernels/cpu/primitives/pair.hpp"
#include "kernels/operations/mhc.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// Rows or columns of m x m matrices of which each lane holds one: line i begins at element
/// i * line_step and goes on by element_step.
struct Lines {
  std::size_t line_step = 0;
  std::size_t element_step = 0;
};

HWY_INLINE Lines matrix_rows(std::size_t m) { return {m, 1}; }
HWY_INLINE Lines matrix_columns(std::size_t m) { return {1, m}; }

/// Makes the sum of every line one.
HWY_INLINE void normalise(float* matrices, std::size_t m, Lines lines) {
  for (std::size_t line = 0; line < m; ++line) {
    float* first = matrices + line * lines.line_step * kLanes;
    const std::size_t step = lines.element_step * kLanes;
    Vec total = load_vec(first);
    for (std::size_t e = 1; e < m; ++e) total = hn::Add(total, load_vec(first + e * step));
    const Vec factor = hn::Div(broadcast(1), total);
    for (std::size_t e = 0; e < m; ++e)
      hn::StoreU(hn::Mul(load_vec(first + e * step), factor), Lanes(), first + e * step);
  }
}

/// Runs the iteration in place. Element e of lane i is at `matrices`[e * kLanes + i].
inline void sinkhorn_lanes(float* matrices, std::size_t m, std::size_t iterations,
                           SinkhornOrder order) {
  const bool columns_first = order == SinkhornOrder::col_row;
  const Lines first = columns_first ? matrix_columns(m) : matrix_rows(m);
  const Lines second = columns_first ? matrix_rows(m) : matrix_columns(m);
  for (std::size_t i = 0; i < iterations; ++i) {
    normalise(matrices, m, first);
    normalise(matrices, m, second);
  }
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_SINKHORN
