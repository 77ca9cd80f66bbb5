// Backward of AttnRes in one pass per layer. A token's sources are read from memory once, for their
// scores; the mix, the products with its gradient and the gradients of the sources find them in L2.
// Meanwhile the fetcher brings what is read next, which saves 10 to 15 % of the time on Zen 4.
// [ours] Sources are taken in groups whose sums registers hold. The groups have nearly the same
// size: in a group of one source every addition would wait for the one before. [ours]
#include "kernels/cpu/backward/attnres_gradients.hpp"
#include "kernels/cpu/primitives/fetcher.hpp"
#include "kernels/cpu/primitives/slices.hpp"
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/backward/attnres_single_pass.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/backward/norm_backward.hpp"
#include "kernels/cpu/primitives/dispatch.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_BACKWARD_ATTNRES_SINGLE_PASS
#define DEPTHCOST_KERNELS_CPU_BACKWARD_ATTNRES_SINGLE_PASS
namespace depthcost::cpu {

template <class T>
using SinglePassBackwardKernel = void (*)(const AttnResSinglePassBackward<T>&, TokenRange,
                                          float* sums);

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// Sums over a source's row, with u = g o dx, or dx without a norm.
struct RowDots {
  float query;     // w . v
  float squares;   // v . v
  float gradient;  // u . v
  float mix;       // h . v; of use with a norm alone
};

/// Sources that are scored together, and whose blocks registers hold for the mix and what it meets.
inline constexpr std::size_t kHeldSources = num_held_sources(kLanes);
/// Sources whose gradients are made together.
inline constexpr std::size_t kLeftGroup = num_left_sources(kLanes);

/// Buffers of a thread. Rows of floats are scratch, in the order of T.
template <class T>
struct Workspace {
  Buffer<const T*> sources;
  Buffer<const char*> fetched;
  Buffer<RowDots> dots;
  Buffer<float> lanes;  // of h . v, a vector for each source
  Buffer<float> weights;
  Buffer<SourceGradient> gradients;
  Buffer<float> rows;  // kNumRows of them
};

/// A token's rows.
template <class T>
struct Token {
  const AttnResSinglePassBackward<T>& op;
  std::size_t index = 0;
  std::size_t num_sources = 0;
  std::size_t size = 0;
  const T** sources = nullptr;
  const T* dx = nullptr;
  const float* weights = nullptr;
  const char** fetched = nullptr;  // the rows that the fetcher is aimed at
  Fetcher& fetcher;

  /// The gradient of source `s`.
  T* to(std::size_t s) const {
    return s < op.num_bank_sources ? op.bank_gradients + (s * op.num_tokens + index) * size
                                   : op.partial_gradient + index * size;
  }
};

/// Scratch rows that all sources have in common.
struct SharedRows {
  static constexpr std::size_t kNumRows = 6;

  float* query;           // w
  float* gained;          // u
  float* mix;             // h
  float* mix_gradient;    // dh
  float* query_gradient;  // dw, added to
  float* gain_gradient;   // dg, added to

  SharedRows(float* rows, std::size_t stride)
      : query(rows),
        gained(rows + stride),
        mix(rows + 2 * stride),
        mix_gradient(rows + 3 * stride),
        query_gradient(rows + 4 * stride),
        gain_gradient(rows + 5 * stride) {}
};

template <class T>
void move_to(std::size_t index, Token<T>& token) {
  const AttnResSinglePassBackward<T>& op = token.op;
  token.index = index;
  token.num_sources = op.num_bank_sources;
  for (std::size_t s = 0; s < op.num_bank_sources; ++s)
    token.sources[s] = op.bank + (s * op.num_tokens + index) * token.size;
  token.dx = op.output_gradient + index * token.size;
  if (op.partial_sum != nullptr)
    token.sources[token.num_sources++] = op.partial_sum + index * token.size;
}

/// Passes over the sources: for their scores, and with a norm for the mix and what it meets.
template <class T>
std::size_t num_reading_passes(const Token<T>& token) {
  const std::size_t num_scoring = num_even_groups<kHeldSources>(token.num_sources);
  if (token.op.norm.gain == nullptr) return num_scoring;
  if (token.num_sources <= kHeldSources) return num_scoring + 1;
  return num_scoring + 2 * num_score_groups(token.num_sources);
}

/// Aims the fetcher at `num_rows` of token.fetched: a step for every block of `num_passes`.
template <class T>
void aim(const Token<T>& token, std::size_t num_rows, std::size_t num_passes) {
  token.fetcher.aim(token.fetched, num_rows, token.size * sizeof(T),
                    num_passes * (padded(token.size) / kBlock));
}

/// While sources are read in L2, what their gradients are added to.
template <class T>
void aim_at_gradients(const Token<T>& token) {
  for (std::size_t s = 0; s < token.num_sources; ++s)
    token.fetched[s] = reinterpret_cast<const char*>(token.to(s));
  aim(token, token.num_sources, num_reading_passes(token));
}

/// The rows of the next token; past the last one they are no rows, and nothing is fetched.
template <class T>
void aim_at_next(const Token<T>& token, std::size_t num_passes) {
  std::size_t num_rows = 0;
  for (; num_rows < token.num_sources; ++num_rows)
    token.fetched[num_rows] = reinterpret_cast<const char*>(token.sources[num_rows] + token.size);
  token.fetched[num_rows++] = reinterpret_cast<const char*>(token.dx + token.size);
  aim(token, num_rows, num_passes);
}

/// body(columns) for chunks of a row.
template <class Body>
HWY_INLINE void for_each_chunk(std::size_t size, std::size_t chunk, const Body& body) {
  for (std::size_t i = 0; i < size; i += chunk) body(Columns{i, std::min(i + chunk, size)});
}

template <class T>
HWY_INLINE void make_gained(const Token<T>& token, const float* gain, float* gained) {
  for_each_block(token.size, [&](std::size_t i, auto where) HWY_ATTR {
    const Pair dx = load(token.dx + i, where);
    store_raw(gained + i, gain == nullptr ? dx : load_for<T>(gain + i, where) * dx);
  });
}

/// The dot products of G sources.
template <class T, std::size_t G>
HWY_INLINE void take_in_group(const Token<T>& token, std::size_t first, const SharedRows& shared,
                              RowDots* dots) {
  Vec query[G];
  Vec squares[G];
  Vec gradient[G];
  HWY_UNROLL(16)
  for (std::size_t g = 0; g < G; ++g) query[g] = squares[g] = gradient[g] = hn::Zero(Lanes());
  for_each_block(token.size, [&](std::size_t i, auto where) DEPTHCOST_INLINED {
    const Pair w = load_raw(shared.query + i);
    const Pair u = load_raw(shared.gained + i);
    token.fetcher.step();
    HWY_UNROLL(16)
    for (std::size_t g = 0; g < G; ++g) {
      fetch_from_l2(token.sources[first + g] + i, kSourceFromL2Bytes);
      const Pair v = load(token.sources[first + g] + i, where);
      query[g] = hn::MulAdd(w.second, v.second, hn::MulAdd(w.first, v.first, query[g]));
      squares[g] = hn::MulAdd(v.second, v.second, hn::MulAdd(v.first, v.first, squares[g]));
      gradient[g] = hn::MulAdd(u.second, v.second, hn::MulAdd(u.first, v.first, gradient[g]));
    }
  });
  HWY_UNROLL(16)
  for (std::size_t g = 0; g < G; ++g)
    dots[first + g] = {sum(query[g]), sum(squares[g]), sum(gradient[g]), 0};
}

/// The dot products of all sources: a function of its own, since either way of storing runs it.
template <class T>
HWY_NOINLINE void take_in_sources(const Token<T>& token, const SharedRows& shared, RowDots* dots) {
  for_each_even_group<kHeldSources>(token.num_sources,
                                    [&](std::size_t first, auto size) DEPTHCOST_INLINED {
                                      take_in_group<T, size.value>(token, first, shared, dots);
                                    });
}

/// Adds the weighted rows of G sources to h.
template <class T, std::size_t G>
HWY_INLINE void mix_group(const Token<T>& token, Columns columns, std::size_t first, float* mix) {
  Vec weights[G];
  HWY_UNROLL(8)
  for (std::size_t g = 0; g < G; ++g) weights[g] = broadcast(token.weights[first + g]);
  for_each_block(columns, [&](std::size_t i, auto where) DEPTHCOST_INLINED {
    Pair h = load_raw(mix + i);
    token.fetcher.step();
    HWY_UNROLL(8)
    for (std::size_t g = 0; g < G; ++g)
      h = multiply_add(weights[g], load(token.sources[first + g] + i, where), h);
    store_raw(mix + i, h);
  });
}

/// Adds to h . v of G sources, lane by lane.
template <class T, std::size_t G>
HWY_INLINE void meet_group(const Token<T>& token, Columns columns, std::size_t first,
                           const float* mix, float* lanes) {
  Vec products[G];
  HWY_UNROLL(8)
  for (std::size_t g = 0; g < G; ++g) products[g] = load_vec(lanes + (first + g) * kLanes);
  for_each_block(columns, [&](std::size_t i, auto where) DEPTHCOST_INLINED {
    const Pair h = load_raw(mix + i);
    token.fetcher.step();
    HWY_UNROLL(8)
    for (std::size_t g = 0; g < G; ++g) {
      const Pair v = load(token.sources[first + g] + i, where);
      products[g] = hn::MulAdd(h.second, v.second, hn::MulAdd(h.first, v.first, products[g]));
    }
  });
  HWY_UNROLL(8)
  for (std::size_t g = 0; g < G; ++g)
    hn::StoreU(products[g], Lanes(), lanes + (first + g) * kLanes);
}

/// h, and its dot products with N sources, whose blocks registers hold between the two.
template <class T, std::size_t N>
HWY_INLINE void mix_held(const Token<T>& token, float* mix, RowDots* dots) {
  Vec products[N];
  HWY_UNROLL(16)
  for (std::size_t s = 0; s < N; ++s) products[s] = hn::Zero(Lanes());
  for_each_block(token.size, [&](std::size_t i, auto where) DEPTHCOST_INLINED {
    Pair v[N];
    Pair h = zeros();
    token.fetcher.step();
    HWY_UNROLL(16)
    for (std::size_t s = 0; s < N; ++s) {
      v[s] = load(token.sources[s] + i, where);
      h = multiply_add(broadcast(token.weights[s]), v[s], h);
    }
    store_raw(mix + i, h);
    HWY_UNROLL(16)
    for (std::size_t s = 0; s < N; ++s)
      products[s] = hn::MulAdd(h.second, v[s].second, hn::MulAdd(h.first, v[s].first, products[s]));
  });
  HWY_UNROLL(16)
  for (std::size_t s = 0; s < N; ++s) dots[s].mix = sum(products[s]);
}

/// The same of any number, by chunks of a row.
template <class T>
HWY_INLINE void mix_in_chunks(const Token<T>& token, float* mix, float* lanes, RowDots* dots) {
  clear(mix, token.size);
  std::fill_n(lanes, token.num_sources * kLanes, 0.0F);
  for_each_chunk(token.size, kSinglePassBackwardColumns, [&](Columns columns) DEPTHCOST_INLINED {
    for_each_group<kScoreGroup>(token.num_sources,
                                [&](std::size_t first, auto size) DEPTHCOST_INLINED {
                                  mix_group<T, size.value>(token, columns, first, mix);
                                });
    for_each_group<kScoreGroup>(token.num_sources,
                                [&](std::size_t first, auto size) DEPTHCOST_INLINED {
                                  meet_group<T, size.value>(token, columns, first, mix, lanes);
                                });
  });
  for (std::size_t s = 0; s < token.num_sources; ++s)
    dots[s].mix = sum(load_vec(lanes + s * kLanes));
}

/// h, and its dot product with every source: a function of its own as well.
template <class T>
HWY_NOINLINE void mix_sources(const Token<T>& token, float* mix, Buffer<float>& lanes,
                              RowDots* dots) {
  if (token.num_sources > kHeldSources)
    return mix_in_chunks(token, mix, lanes.at_least(token.num_sources * kLanes), dots);
  with_constant<kHeldSources>(token.num_sources, [&](auto count) DEPTHCOST_INLINED {
    mix_held<T, count.value>(token, mix, dots);
  });
}

/// dh . h and the norm's factors from sums over sources: h = sum_i p_i v_i.
template <class T>
NormBackward norm_of_mix(const AttnResSinglePassBackward<T>& op, const Token<T>& token,
                         const RowDots* dots) {
  double squares = 0;
  double along = 0;
  for (std::size_t s = 0; s < token.num_sources; ++s) {
    squares += static_cast<double>(token.weights[s]) * static_cast<double>(dots[s].mix);
    along += static_cast<double>(token.weights[s]) * static_cast<double>(dots[s].gradient);
  }
  return norm_backward(static_cast<float>(squares), static_cast<float>(along), op.hidden_size,
                       op.norm.eps);
}

/// Leaves dh, and adds to the gain's gradient.
template <class T>
HWY_INLINE void undo_norm(const Token<T>& token, Columns columns, NormBackward norm,
                          const SharedRows& shared) {
  const Pair scale{broadcast(norm.gain_scale), broadcast(norm.gain_scale)};
  for_each_block(columns, [&](std::size_t i, auto where) HWY_ATTR {
    const Pair h = load_raw(shared.mix + i);
    const Pair u = load_raw(shared.gained + i);
    store_raw(shared.mix_gradient + i, norm_gradient(norm, u, h));
    add_raw(shared.gain_gradient + i, scale * load(token.dx + i, where) * h);
  });
}

/// Stores the gradients of G sources from `first` on, whose factors stay in registers.
template <class T, GradientStore kStore, std::size_t G>
HWY_INLINE void leave_group(const Token<T>& token, Columns columns, std::size_t first,
                            const SourceGradient* gradients, const SharedRows& shared,
                            StorePolicy policy) {
  const T* v[G];
  T* to[G];
  Vec of_mix[G];
  Vec of_query[G];
  Vec of_source[G];
  HWY_UNROLL(8)
  for (std::size_t g = 0; g < G; ++g) {
    v[g] = token.sources[first + g];
    to[g] = token.to(first + g);
    of_mix[g] = broadcast(gradients[first + g].of_mix);
    of_query[g] = broadcast(gradients[first + g].of_query);
    of_source[g] = broadcast(gradients[first + g].of_source);
  }
  for_each_block(columns, [&](std::size_t i, auto where) DEPTHCOST_INLINED {
    const Pair dh = load_raw(shared.mix_gradient + i);
    const Pair w = load_raw(shared.query + i);
    Pair dw = load_raw(shared.query_gradient + i);
    token.fetcher.step();
    HWY_UNROLL(8)
    for (std::size_t g = 0; g < G; ++g) {
      const Pair source = load(v[g] + i, where);
      dw = multiply_add(of_query[g], source, dw);
      if constexpr (kStore == GradientStore::add) {
        fetch_from_l2(to[g] + i, kSourceFromL2Bytes);
        const Pair had = load(to[g] + i, where);
        const Pair dv = multiply_add(of_query[g], w, multiply_add(of_mix[g], dh, had));
        store_rounded(to[g] + i, multiply_add(of_source[g], source, dv), where, Cached{});
      } else {
        const Pair dv = multiply_add(of_query[g], w, Pair{of_mix[g], of_mix[g]} * dh);
        store_by(policy, to[g] + i, rounded_to<T>(multiply_add(of_source[g], source, dv)), where);
      }
    }
    store_raw(shared.query_gradient + i, dw);
  });
}

/// p from the scores.
template <class T>
void weigh(const AttnResSinglePassBackward<T>& op, const RowDots* dots, std::size_t num_sources,
           float* weights) {
  for (std::size_t s = 0; s < num_sources; ++s)
    weights[s] = logit({dots[s].query, dots[s].squares}, op.hidden_size, op.key_eps);
  softmax(weights, num_sources);
}

/// What every source gets: dh . v = gain_scale u . v + row_scale h . v.
template <class T>
void gradients_of(const AttnResSinglePassBackward<T>& op, const Token<T>& token,
                  const RowDots* dots, NormBackward norm, SourceGradient* gradients) {
  const auto product = [&](const RowDots& of) {
    return static_cast<double>(norm.gain_scale) * static_cast<double>(of.gradient) +
           static_cast<double>(norm.row_scale) * static_cast<double>(of.mix);
  };
  double mean = 0;  // dh . h
  for (std::size_t s = 0; s < token.num_sources; ++s)
    mean += static_cast<double>(token.weights[s]) * product(dots[s]);
  for (std::size_t s = 0; s < token.num_sources; ++s)
    gradients[s] = source_gradient({dots[s].query, dots[s].squares}, op.hidden_size, op.key_eps,
                                   token.weights[s], product(dots[s]) - mean);
}

template <class T, GradientStore kStore>
HWY_INLINE void single_pass_backward_by(const AttnResSinglePassBackward<T>& op, TokenRange tokens,
                                        float* sums) {
  thread_local Workspace<T> workspace;
  const std::size_t d = op.hidden_size;
  const std::size_t most = op.num_bank_sources + 1;
  const StorePolicy policy = store_policy(most * op.num_tokens * d * sizeof(T));
  SharedRows shared(workspace.rows.at_least(SharedRows::kNumRows * padded(d)), padded(d));
  RowDots* dots = workspace.dots.at_least(most);
  float* weights = workspace.weights.at_least(most);
  SourceGradient* gradients = workspace.gradients.at_least(most);
  Fetcher fetcher(source_fetching<T>());
  Token<T> token{.op = op,
                 .size = d,
                 .sources = workspace.sources.at_least(most),
                 .weights = weights,
                 .fetched = workspace.fetched.at_least(most + 1),
                 .fetcher = fetcher};
  // Where nothing is fetched, memory gives long stretches of a row faster.
  const std::size_t chunk = fetcher.is_off() ? d : kSinglePassBackwardColumns;
  for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
    store_raw(shared.query + i, load_for<T>(op.query + i, where));
  });
  clear(shared.query_gradient, d);
  clear(shared.gain_gradient, d);
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    move_to(t, token);
    if constexpr (kStore == GradientStore::add)
      aim_at_gradients(token);
    else
      aim_at_next(token,
                  num_reading_passes(token) + num_even_groups<kLeftGroup>(token.num_sources));
    make_gained(token, op.norm.gain, shared.gained);
    take_in_sources(token, shared, dots);
    weigh(op, dots, token.num_sources, weights);
    NormBackward norm;
    SharedRows used = shared;
    if (op.norm.gain != nullptr) {
      mix_sources(token, shared.mix, workspace.lanes, dots);
      norm = norm_of_mix(op, token, dots);
    } else {
      used.mix_gradient = shared.gained;
    }
    gradients_of(op, token, dots, norm, gradients);
    if constexpr (kStore == GradientStore::add)
      aim_at_next(token, num_even_groups<kLeftGroup>(token.num_sources));
    for_each_chunk(d, chunk, [&](Columns columns) DEPTHCOST_INLINED {
      if (op.norm.gain != nullptr) undo_norm(token, columns, norm, shared);
      for_each_even_group<kLeftGroup>(
          token.num_sources, [&](std::size_t first, auto size) DEPTHCOST_INLINED {
            leave_group<T, kStore, size.value>(token, columns, first, gradients, used, policy);
          });
    });
  }
  copy_in_order<T>(shared.query_gradient, d, sums);
  if (op.norm.gain != nullptr) copy_in_order<T>(shared.gain_gradient, d, sums + d);
  hwy::FlushStream();
}

template <class T>
void single_pass_backward(const AttnResSinglePassBackward<T>& op, TokenRange tokens, float* sums) {
  if (op.store == GradientStore::add)
    single_pass_backward_by<T, GradientStore::add>(op, tokens, sums);
  else
    single_pass_backward_by<T, GradientStore::overwrite>(op, tokens, sums);
}

}  // namespace

KernelsByType<SinglePassBackwardKernel> single_pass_backward_kernels() {
  return {single_pass_backward<float>, single_pass_backward<Bf16>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(single_pass_backward_kernels);

template <class T>
void run(const AttnResSinglePassBackward<T>& op) {
  check(op);
  const auto kernel = HWY_DYNAMIC_DISPATCH(single_pass_backward_kernels)().of<T>();
  const std::size_t d = op.hidden_size;
  const std::size_t num_parameters = depthcost::num_parameters(op);
  for_each_slice(op.slices, op.num_tokens, num_parameters,
                 (3 * op.num_bank_sources + 4) * d * sizeof(T),
                 [&](TokenRange tokens, float* sums) { kernel(op, tokens, sums); });
  add_slices(op.slices, num_parameters, {op.query_gradient, 0, d});
  if (op.norm.gain != nullptr) add_slices(op.slices, num_parameters, {op.gain_gradient, d, d});
}

template void run(const AttnResSinglePassBackward<float>&);
template void run(const AttnResSinglePassBackward<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
