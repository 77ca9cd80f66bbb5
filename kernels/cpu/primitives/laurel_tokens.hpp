// What the ways of LAuReL share: how tokens meet its matrices, and what becomes of R L x.
// Included once per Highway target, hence the toggle in place of #pragma once.
#include "kernels/cpu/run.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_FORM
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_FORM
#include <cstddef>

#include "kernels/cpu/primitives/threads.hpp"
namespace depthcost::cpu {

/// A way for many tokens to meet the matrices. These are packed once a call, block by block, and
/// all threads read them.
template <class T>
struct LaurelForm {
  std::size_t (*num_blocks)(const AltupLaurel<T>&) = nullptr;
  std::size_t (*packed_bytes)(const AltupLaurel<T>&) = nullptr;
  void (*pack)(const AltupLaurel<T>&, std::byte* packed, TokenRange blocks) = nullptr;
  void (*run)(const AltupLaurel<T>&, std::byte* packed, TokenRange tokens) = nullptr;
};

inline std::size_t multiple_of(std::size_t step, std::size_t count) {
  return (count + step - 1) / step * step;
}

/// From one row of so many elements of T to the next: a line more than they need, so that rows
/// begin in different sets of L1.
template <class T>
std::size_t apart(std::size_t size) {
  return size + kLineBytes / sizeof(T);
}

}  // namespace depthcost::cpu
#endif

#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_TOKENS) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_TOKENS
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_TOKENS
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_TOKENS
#endif

#include "kernels/cpu/primitives/row.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// l = x + norm(branch) of token t; the branch is in order, and zero behind its end.
template <class T>
HWY_INLINE void store_branch(const AltupLaurel<T>& op, std::size_t t, const float* branch) {
  const std::size_t d = op.hidden_size;
  const T* x = op.input + t * d;
  T* output = op.output + t * d;
  Pair squares = zeros();
  for_each_block(d, [&](std::size_t i, auto) HWY_ATTR {
    const Pair y = load_raw(branch + i);
    squares = multiply_add(y, y, squares);
  });
  const Vec scale = broadcast(static_cast<float>(inverse_rms(sum(squares), d, op.norm.eps)));
  for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
    const Pair y = load_raw(branch + i) * Pair{scale, scale};
    const Pair l =
        multiply_add(y, load_in_order(op.norm.gain + i, where), load_in_order(x + i, where));
    store_rounded(output + i, in_order_of<T>(l), where, Cached{});
  });
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_TOKENS
