// Backward of mHC behind a layer, for a token: gradients of the streams, of the layer's output and
// of the coefficients, from gradients dX' that are stored or come from a scratch row. Included once
// per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_POST_GRADIENTS) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_POST_GRADIENTS
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_POST_GRADIENTS
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_POST_GRADIENTS
#endif

#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/store_policy.hpp"
#include "kernels/operations/backward/mhc.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// One token: its rows, coefficients and gradients.
template <class T>
struct PostToken {
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

  PostToken(const MhcPostBackward<T>& op, std::size_t t)
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

/// dX' as the next layer has left them.
template <class T>
struct StoredGradients {
  const PostToken<T>& token;

  template <class Where>
  HWY_INLINE Pair behind(std::size_t j, std::size_t i, Where where) const {
    return load(token.gradients + j * token.size + i, where);
  }
  template <class Where>
  HWY_INLINE static Pair row(const T* p, Where where) {
    return load(p, where);
  }
  HWY_INLINE static Pair for_row(Pair a) { return a; }
};

/// dX' in scratch rows, in order, of a chunk of columns from `first` on.
template <class T>
struct ChunkGradients {
  const float* rows;  // (m, kMhcColumns)
  std::size_t first;

  template <class Where>
  HWY_INLINE Pair behind(std::size_t j, std::size_t i, Where) const {
    return load_raw(rows + j * kMhcColumns + i - first);
  }
  template <class Where>
  HWY_INLINE static Pair row(const T* p, Where where) {
    return load_in_order(p, where);
  }
  HWY_INLINE static Pair for_row(Pair a) { return in_order_of<T>(a); }
};

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

/// Takes half a block into the dot products.
HWY_INLINE void take_in_half(const HalvesOfFour& half, DotsOfFour& dots) {
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kUsualStreams; ++i) {
    Vec* of_row = dots.sums + i * (kUsualStreams + 1);
    HWY_UNROLL(4)
    for (std::size_t j = 0; j < kUsualStreams; ++j)
      of_row[j] = hn::MulAdd(half.behind[i], half.in_front[j], of_row[j]);
    of_row[kUsualStreams] = hn::MulAdd(half.behind[i], half.layer, of_row[kUsualStreams]);
  }
}

/// Takes a block into the dot products.
template <class T, class From, class Where>
HWY_INLINE void take_in_block(const PostToken<T>&, const From&, std::size_t, Where,
                              const HalvesOfFour& first, const HalvesOfFour& second,
                              DotsOfFour& dots) {
  take_in_half(first, dots);
  take_in_half(second, dots);
}

#if HWY_TARGET <= HWY_AVX3
/// The same of stored Bf16, which a CPU with AVX512-BF16 multiplies as they are.
HWY_INLINE void take_in_block(const PostToken<Bf16>& token, const StoredGradients<Bf16>&,
                              std::size_t at, Whole, const HalvesOfFour& first,
                              const HalvesOfFour& second, DotsOfFour& dots) {
  if (!has_bf16_arithmetic) {
    take_in_half(first, dots);
    return take_in_half(second, dots);
  }
  hn::Vec<Halves> in_front[kUsualStreams];
  HWY_UNROLL(4)
  for (std::size_t j = 0; j < kUsualStreams; ++j)
    in_front[j] = load_stored(token.streams + j * token.size + at);
  const hn::Vec<Halves> layer = load_stored(token.layer_output + at);
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kUsualStreams; ++i) {
    Vec* of_row = dots.sums + i * (kUsualStreams + 1);
    const hn::Vec<Halves> behind = load_stored(token.gradients + i * token.size + at);
    HWY_UNROLL(4)
    for (std::size_t j = 0; j < kUsualStreams; ++j)
      of_row[j] = add_products(behind, in_front[j], of_row[j]);
    of_row[kUsualStreams] = add_products(behind, layer, of_row[kUsualStreams]);
  }
}
#endif

/// Makes gradients of the rows of half a block.
HWY_INLINE void map_half(HalvesOfFour& half, const float* post, const float* residual) {
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
template <class T, class From, class Where, class Policy>
HWY_INLINE void map_block_of_four(const PostToken<T>& token, const From& from, std::size_t i,
                                  Where where, Policy policy, DotsOfFour& dots) {
  HalvesOfFour first;
  HalvesOfFour second;
  HWY_UNROLL(4)
  for (std::size_t j = 0; j < kUsualStreams; ++j) {
    const Pair behind = from.behind(j, i, where);
    const Pair in_front = from.row(token.streams + j * token.size + i, where);
    first.behind[j] = behind.first;
    second.behind[j] = behind.second;
    first.in_front[j] = in_front.first;
    second.in_front[j] = in_front.second;
  }
  const Pair f = from.row(token.layer_output + i, where);
  first.layer = f.first;
  second.layer = f.second;
  take_in_block(token, from, i, where, first, second, dots);
  map_half(first, token.post, token.residual);
  map_half(second, token.post, token.residual);
  HWY_UNROLL(4)
  for (std::size_t j = 0; j < kUsualStreams; ++j)
    store_rounded(token.gradients + j * token.size + i,
                  from.for_row(Pair{first.in_front[j], second.in_front[j]}), where, Cached{});
  store_rounded(token.layer_gradient + i, from.for_row(Pair{first.layer, second.layer}), where,
                policy);
}

/// The gradients of the coefficients from `products`, dX'_i . X_j at (m + 1) i + j and dX'_i . f at
/// (m + 1) i + m.
template <class T, class Products>
HWY_INLINE void store_products(const PostToken<T>& token, const Products& products) {
  const std::size_t m = token.num_streams;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j)
      token.residual_gradients[i * m + j] = products(i * (m + 1) + j);
    token.post_gradients[i] = products(i * (m + 1) + m);
  }
}

/// A block of any number of streams, whose dot products lie in `dots` as pairs: dot products, and
/// rows that meet several others, are in L1.
template <class T, class From, class Where>
HWY_INLINE void map_block_of_any(const PostToken<T>& token, const From& from, std::size_t i,
                                 Where where, float* behind, float* dots) {
  const std::size_t m = token.num_streams;
  const Pair f = from.row(token.layer_output + i, where);
  Pair df = zeros();
  for (std::size_t k = 0; k < m; ++k) {
    const Pair row = from.behind(k, i, where);
    store_raw(behind + k * kBlock, row);
    df = multiply_add(broadcast(token.post[k]), row, df);
    add_raw(dots + (k * (m + 1) + m) * kBlock, row * f);
  }
  for (std::size_t j = 0; j < m; ++j) {
    const Pair x = from.row(token.streams + j * token.size + i, where);
    Pair dx = zeros();
    for (std::size_t k = 0; k < m; ++k) {
      const Pair row = load_raw(behind + k * kBlock);
      add_raw(dots + (k * (m + 1) + j) * kBlock, row * x);
      dx = multiply_add(broadcast(token.residual[k * m + j]), row, dx);
    }
    store_rounded(token.gradients + j * token.size + i, from.for_row(dx), where, Cached{});
  }
  store_rounded(token.layer_gradient + i, from.for_row(df), where, Cached{});
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_POST_GRADIENTS
