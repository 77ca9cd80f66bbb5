// Sinkhorn's iteration on as many matrices at a time as there are lanes.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_SINKHORN) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_SINKHORN
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_SINKHORN
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_SINKHORN
#endif

#include <hwy/contrib/math/math-inl.h>

#include "kernels/cpu/primitives/pair.hpp"
#include "kernels/cpu/primitives/sigmoid.hpp"
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

/// The largest element of a line.
HWY_INLINE Vec largest_of(const float* first, std::size_t step, std::size_t m) {
  Vec largest = load_vec(first);
  for (std::size_t e = 1; e < m; ++e) largest = hn::Max(largest, load_vec(first + e * step));
  return largest;
}

/// The logarithm of what normalising the exponentials of every line gives. No line of the other
/// kind can vanish, however far its logits lie below those of its neighbours.
HWY_INLINE void normalise_logits(float* logits, std::size_t m, Lines lines) {
  for (std::size_t line = 0; line < m; ++line) {
    float* first = logits + line * lines.line_step * kLanes;
    const std::size_t step = lines.element_step * kLanes;
    const Vec largest = largest_of(first, step, m);
    Vec total = hn::Zero(Lanes());
    for (std::size_t e = 0; e < m; ++e)
      total = hn::Add(total, exp(hn::Sub(load_vec(first + e * step), largest)));
    const Vec log_total = hn::Add(largest, hn::Log(Lanes(), total));
    for (std::size_t e = 0; e < m; ++e)
      hn::StoreU(hn::Sub(load_vec(first + e * step), log_total), Lanes(), first + e * step);
  }
}

/// exp(logits), every line relative to its largest logit: its sum divides that factor out again.
HWY_INLINE void exponentiate(float* logits, std::size_t m, Lines lines) {
  for (std::size_t line = 0; line < m; ++line) {
    float* first = logits + line * lines.line_step * kLanes;
    const std::size_t step = lines.element_step * kLanes;
    const Vec largest = largest_of(first, step, m);
    for (std::size_t e = 0; e < m; ++e)
      hn::StoreU(exp(hn::Sub(load_vec(first + e * step), largest)), Lanes(), first + e * step);
  }
}

HWY_INLINE Lines first_lines(std::size_t m, SinkhornOrder order) {
  return order == SinkhornOrder::col_row ? matrix_columns(m) : matrix_rows(m);
}

HWY_INLINE Lines second_lines(std::size_t m, SinkhornOrder order) {
  return order == SinkhornOrder::col_row ? matrix_rows(m) : matrix_columns(m);
}

/// Runs the iteration in place. Element e of lane i is at `matrices`[e * kLanes + i].
inline void sinkhorn_lanes(float* matrices, std::size_t m, std::size_t iterations,
                           SinkhornOrder order) {
  for (std::size_t i = 0; i < iterations; ++i) {
    normalise(matrices, m, first_lines(m, order));
    normalise(matrices, m, second_lines(m, order));
  }
}

/// Sinkhorn(exp(logits)), iterations >= 1. Half of the first iteration is done on logits.
inline void sinkhorn_of_logits(float* logits, std::size_t m, std::size_t iterations,
                               SinkhornOrder order) {
  normalise_logits(logits, m, first_lines(m, order));
  exponentiate(logits, m, second_lines(m, order));
  normalise(logits, m, second_lines(m, order));
  sinkhorn_lanes(logits, m, iterations - 1, order);
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_SINKHORN
