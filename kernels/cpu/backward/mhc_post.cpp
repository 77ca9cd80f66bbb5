// Backward of mHC behind a layer: gradients of the streams, of the layer's output and of the
// coefficients.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/backward/mhc_post.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/norm_backward.hpp"
#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_BACKWARD_MHC_POST
#define DEPTHCOST_KERNELS_CPU_BACKWARD_MHC_POST
namespace depthcost::cpu {

template <class T>
using MhcPostBackwardKernel = void (*)(const MhcPostBackward<T>&, TokenRange);

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// One token: its rows, coefficients and gradients.
template <class T>
struct Token {
  std::size_t num_streams;
  std::size_t size;
  const T* streams;
  const T* layer_output;
  const float* post;
  const float* residual;
  T* gradients;
  T* layer_gradient;
  float* post_gradients;
  float* residual_gradients;

  Token(const MhcPostBackward<T>& op, std::size_t t)
      : num_streams(op.num_streams),
        size(op.hidden_size),
        streams(op.streams + t * num_streams * size),
        layer_output(op.layer_output + t * size),
        post(op.post + t * num_streams),
        residual(op.residual + t * num_streams * num_streams),
        gradients(op.gradients + t * num_streams * size),
        layer_gradient(op.layer_gradient + t * size),
        post_gradients(op.post_gradients + t * num_streams),
        residual_gradients(op.residual_gradients + t * num_streams * num_streams) {}
};

/// Asks for what the token's rows hold kAheadBytes later, or the next token's.
template <class T>
HWY_INLINE void fetch_ahead(const Token<T>& token, std::size_t i) {
  const std::size_t m = token.num_streams;
  const std::size_t of_streams = ahead<T>(i, token.size, m * token.size);
  for (std::size_t j = 0; j < m; ++j) {
    prefetch(token.streams + j * token.size + i + of_streams);
    prefetch(token.gradients + j * token.size + i + of_streams);
  }
  prefetch(token.layer_output + i + ahead<T>(i, token.size, token.size));
}

inline constexpr std::size_t kUsualStreams = 4;

/// The dot products of four streams: dX'_i . X_j at 5 i + j, dX'_i . f at 5 i + 4.
struct DotsOfFour {
  Vec sums[kUsualStreams * (kUsualStreams + 1)];
};

/// One half of a block of the rows of four streams.
struct HalvesOfFour {
  Vec behind[kUsualStreams];    // dX'
  Vec in_front[kUsualStreams];  // X, then dX
  Vec layer;                    // f, then df
};

/// Takes the rows into the dot products, and makes gradients of them.
HWY_INLINE void map_half(HalvesOfFour& half, const float* post, const float* residual,
                         DotsOfFour& dots) {
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kUsualStreams; ++i) {
    Vec* of_row = dots.sums + i * (kUsualStreams + 1);
    HWY_UNROLL(4)
    for (std::size_t j = 0; j < kUsualStreams; ++j)
      of_row[j] = hn::MulAdd(half.behind[i], half.in_front[j], of_row[j]);
    of_row[kUsualStreams] = hn::MulAdd(half.behind[i], half.layer, of_row[kUsualStreams]);
  }
  HWY_UNROLL(4)
  for (std::size_t j = 0; j < kUsualStreams; ++j) {
    Vec sum = hn::Mul(broadcast(residual[j]), half.behind[0]);
    HWY_UNROLL(4)
    for (std::size_t i = 1; i < kUsualStreams; ++i)
      sum = hn::MulAdd(broadcast(residual[i * kUsualStreams + j]), half.behind[i], sum);
    half.in_front[j] = sum;
  }
  half.layer = hn::Mul(broadcast(post[0]), half.behind[0]);
  HWY_UNROLL(4)
  for (std::size_t i = 1; i < kUsualStreams; ++i)
    half.layer = hn::MulAdd(broadcast(post[i]), half.behind[i], half.layer);
}

/// A block of four streams, whose dot products stay in registers.
template <class T, class Where, class Policy>
HWY_INLINE void map_block_of_four(const Token<T>& token, std::size_t i, Where where, Policy policy,
                                  DotsOfFour& dots) {
  HalvesOfFour first;
  HalvesOfFour second;
  HWY_UNROLL(4)
  for (std::size_t j = 0; j < kUsualStreams; ++j) {
    const Pair behind = load(token.gradients + j * token.size + i, where);
    const Pair in_front = load(token.streams + j * token.size + i, where);
    first.behind[j] = behind.first;
    second.behind[j] = behind.second;
    first.in_front[j] = in_front.first;
    second.in_front[j] = in_front.second;
  }
  const Pair f = load(token.layer_output + i, where);
  first.layer = f.first;
  second.layer = f.second;
  map_half(first, token.post, token.residual, dots);
  map_half(second, token.post, token.residual, dots);
  HWY_UNROLL(4)
  for (std::size_t j = 0; j < kUsualStreams; ++j)
    store_rounded(token.gradients + j * token.size + i, Pair{first.in_front[j], second.in_front[j]},
                  where, Cached{});
  store_rounded(token.layer_gradient + i, Pair{first.layer, second.layer}, where, policy);
}

template <class T>
HWY_INLINE void four_streams(const Token<T>& token, StorePolicy policy) {
  DotsOfFour dots;
  for (Vec& each : dots.sums) each = hn::Zero(Lanes());
  with_policy(policy, token.layer_gradient, [&](auto chosen) HWY_ATTR {
    for_each_block(token.size, [&](std::size_t i, auto where) HWY_ATTR {
      fetch_ahead(token, i);
      map_block_of_four(token, i, where, chosen, dots);
    });
  });
  for (std::size_t i = 0; i < kUsualStreams; ++i) {
    const Vec* of_row = dots.sums + i * (kUsualStreams + 1);
    for (std::size_t j = 0; j < kUsualStreams; ++j)
      token.residual_gradients[i * kUsualStreams + j] = sum(of_row[j]);
    token.post_gradients[i] = sum(of_row[kUsualStreams]);
  }
}

/// Scratch of any number of streams.
struct StreamScratch {
  Buffer<float> blocks;  // dX' of a block
  Buffer<float> dots;    // as in DotsOfFour
};

/// A block of any number of streams: dot products, and rows that meet several others, are in L1.
template <class T, class Where>
HWY_INLINE void map_block_of_any(const Token<T>& token, std::size_t i, Where where, float* behind,
                                 float* dots) {
  const std::size_t m = token.num_streams;
  const Pair f = load(token.layer_output + i, where);
  Pair df = zeros();
  for (std::size_t k = 0; k < m; ++k) {
    const Pair row = load(token.gradients + k * token.size + i, where);
    store_raw(behind + k * kBlock, row);
    df = multiply_add(broadcast(token.post[k]), row, df);
    add_raw(dots + (k * (m + 1) + m) * kBlock, row * f);
  }
  for (std::size_t j = 0; j < m; ++j) {
    const Pair x = load(token.streams + j * token.size + i, where);
    Pair dx = zeros();
    for (std::size_t k = 0; k < m; ++k) {
      const Pair row = load_raw(behind + k * kBlock);
      add_raw(dots + (k * (m + 1) + j) * kBlock, row * x);
      dx = multiply_add(broadcast(token.residual[k * m + j]), row, dx);
    }
    store_rounded(token.gradients + j * token.size + i, dx, where, Cached{});
  }
  store_rounded(token.layer_gradient + i, df, where, Cached{});
}

template <class T>
HWY_INLINE void any_streams(const Token<T>& token, StreamScratch& scratch) {
  const std::size_t m = token.num_streams;
  float* behind = scratch.blocks.at_least(m * kBlock);
  float* dots = scratch.dots.at_least(m * (m + 1) * kBlock);
  clear(dots, m * (m + 1) * kBlock);
  for_each_block(token.size, [&](std::size_t i, auto where) HWY_ATTR {
    fetch_ahead(token, i);
    map_block_of_any(token, i, where, behind, dots);
  });
  for (std::size_t k = 0; k < m; ++k) {
    const float* of_row = dots + k * (m + 1) * kBlock;
    for (std::size_t j = 0; j < m; ++j)
      token.residual_gradients[k * m + j] = sum(load_raw(of_row + j * kBlock));
    token.post_gradients[k] = sum(load_raw(of_row + m * kBlock));
  }
}

template <class T>
void post_backward(const MhcPostBackward<T>& op, TokenRange tokens) {
  thread_local StreamScratch scratch;
  const StorePolicy policy = store_policy(op.num_tokens * op.hidden_size * sizeof(T));
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    const Token<T> token(op, t);
    if (op.num_streams == kUsualStreams)
      four_streams(token, policy);
    else
      any_streams(token, scratch);
  }
  hwy::FlushStream();
}

}  // namespace

KernelsByType<MhcPostBackwardKernel> mhc_post_backward_kernels() {
  return {post_backward<float>, post_backward<Bf16>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(mhc_post_backward_kernels);

template <class T>
void run(const MhcPostBackward<T>& op) {
  check(op);
  const auto kernel = HWY_DYNAMIC_DISPATCH(mhc_post_backward_kernels)().of<T>();
  for_each_range(op.num_tokens, (3 * op.num_streams + 2) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { kernel(op, tokens); });
}

template void run(const MhcPostBackward<float>&);
template void run(const MhcPostBackward<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
