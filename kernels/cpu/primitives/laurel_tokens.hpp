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

/// l = x + norm(R L x) of tokens one after the other, a block a step.
template <class T>
class StoredBranch {
 public:
  StoredBranch() = default;
  /// Rows of R L x are in order, `stride` apart, and zero behind their ends; `squares` has kLanes
  /// sums of the squares of each.
  StoredBranch(const AltupLaurel<T>& op, TokenRange tokens, const float* branch, std::size_t stride,
               const float* squares)
      : num_left_(tokens.end - tokens.begin),
        size_(op.hidden_size),
        gain_(op.norm.gain),
        eps_(op.norm.eps),
        input_(op.input + tokens.begin * op.hidden_size),
        output_(op.output + tokens.begin * op.hidden_size),
        branch_(branch),
        stride_(stride),
        squares_(squares) {
    begin_token();
  }

  HWY_INLINE void step() {
    if (num_left_ == 0) return;
    if (begin_ + kBlock > size_) return finish_token();
    store_block(begin_, Whole{});
    begin_ += kBlock;
  }

  void finish() {
    while (num_left_ > 0) finish_token();
  }

 private:
  void begin_token() {
    begin_ = 0;
    const float squares = sum({load_vec(squares_), hn::Zero(Lanes())});
    scale_ = static_cast<float>(inverse_rms(squares, size_, eps_));
  }

  template <class Where>
  HWY_INLINE void store_block(std::size_t i, Where where) {
    const Vec scale = broadcast(scale_);
    const Pair y = load_raw(branch_ + i) * Pair{scale, scale};
    const Pair l =
        multiply_add(y, load_in_order(gain_ + i, where), load_in_order(input_ + i, where));
    store_rounded(output_ + i, in_order_of<T>(l), where, Cached{});
  }

  HWY_NOINLINE void finish_token() {
    for_each_block(Columns{begin_, size_},
                   [&](std::size_t i, auto where) HWY_ATTR { store_block(i, where); });
    input_ += size_;
    output_ += size_;
    branch_ += stride_;
    squares_ += kLanes;
    if (--num_left_ > 0) begin_token();
  }

  std::size_t num_left_ = 0;
  std::size_t size_ = 0;
  const Scalar<T>* gain_ = nullptr;
  float eps_ = 0;
  const T* input_ = nullptr;
  T* output_ = nullptr;
  const float* branch_ = nullptr;
  std::size_t stride_ = 0;
  const float* squares_ = nullptr;
  std::size_t begin_ = 0;
  float scale_ = 0;
};

/// The same of token t alone.
template <class T>
void store_branch(const AltupLaurel<T>& op, std::size_t t, const float* branch) {
  Pair squares = zeros();
  for_each_block(op.hidden_size, [&](std::size_t i, auto) HWY_ATTR {
    const Pair y = load_raw(branch + i);
    squares = multiply_add(y, y, squares);
  });
  HWY_ALIGN float sums[kLanes];
  hn::Store(hn::Add(squares.first, squares.second), Lanes(), sums);
  StoredBranch<T>(op, {t, t + 1}, branch, 0, sums).finish();
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_TOKENS
