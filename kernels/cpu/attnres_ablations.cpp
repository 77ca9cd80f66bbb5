// The ablations of AttnRes in one pass per layer: head by head, with keys, weights and queries as
// the variant says.
#include "kernels/cpu/attnres_ablations.hpp"
#include "kernels/cpu/primitives/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attnres_ablations.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/attnres_sources.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

template <class T>
struct VariantWorkspace {
  SinglePassWorkspace<T> pass;
  Buffer<const T*> head_rows;
  Buffer<float> query;  // of the token
};

/// The sources of a token: rows of T and, where b + f is not stored, b + f as floats in order.
template <class T>
struct TokenSources {
  const T** rows = nullptr;
  std::size_t num_rows = 0;
  const float* exact = nullptr;

  std::size_t count() const { return num_rows + (exact == nullptr ? 0 : 1); }
};

/// The channels of one head in all sources.
template <class T>
struct HeadSources {
  const T** rows = nullptr;
  std::size_t num_rows = 0;
  const float* exact = nullptr;
  std::size_t first = 0;  // its first channel
  std::size_t size = 0;
};

template <class T>
HeadSources<T> sources_of_head(const AttnResSinglePass<T>& op, const TokenSources<T>& sources,
                               std::size_t head, const T** head_rows) {
  const std::size_t size = op.hidden_size / op.variant.num_heads;
  const std::size_t first = head * size;
  for (std::size_t i = 0; i < sources.num_rows; ++i) head_rows[i] = sources.rows[i] + first;
  const float* exact = sources.exact == nullptr ? nullptr : sources.exact + first;
  return {head_rows, sources.num_rows, exact, first, size};
}

/// Returns w of token `t` as floats.
template <class T>
HWY_INLINE const float* query_of(const AttnResSinglePass<T>& op, std::size_t t,
                                 Buffer<float>& buffer) {
  if (op.variant.token_queries == nullptr) return op.query;
  const std::size_t d = op.hidden_size;
  const T* row = op.variant.token_queries + t * d;
  float* query = buffer.at_least(padded(d));
  for_each_block(d, [&](std::size_t i, auto where)
                        HWY_ATTR { store_in_order<T>(query + i, load(row + i, where)); });
  return query;
}

template <class T>
HWY_INLINE TokenSources<T> sources_of(const AttnResSinglePass<T>& op, std::size_t t,
                                      const float* query, VariantWorkspace<T>& workspace,
                                      Fetcher& fetcher) {
  SinglePassWorkspace<T>& pass = workspace.pass;
  TokenSources<T> sources{pass.sources.at_least(op.num_bank_sources + 1)};
  sources.num_rows = stored_sources(op, t, sources.rows);
  aim_at_next(op, t, sources.rows, sources.num_rows,
              pass.next_rows.at_least(op.num_bank_sources + 3), fetcher);
  if (op.layer_output == nullptr) return sources;
  const PartialSum<T> sum = add_partial_sum(op, t, query, pass, fetcher);
  if (sum.rounded != nullptr) {
    sources.rows[sources.num_rows++] = sum.rounded;
    return sources;
  }
  float* exact = pass.exact.at_least(padded(op.hidden_size));
  for_each_block(op.hidden_size, [&](std::size_t i, auto) HWY_ATTR {
    store_in_order<T>(exact + i, load_raw(exact + i));
  });
  sources.exact = exact;
  return sources;
}

/// Computes `scores` (heads, sources).
template <class T>
HWY_INLINE void score_heads(const AttnResSinglePass<T>& op, const TokenSources<T>& sources,
                            const float* query, const T** head_rows, Score* scores,
                            Fetcher& fetcher) {
  for (std::size_t head = 0; head < op.variant.num_heads; ++head) {
    const HeadSources<T> part = sources_of_head(op, sources, head, head_rows);
    Score* of_head = scores + head * sources.count();
    score_rows(part.rows, part.num_rows, query + part.first, part.size, of_head, fetcher);
    if (part.exact != nullptr)
      score_rows(&part.exact, 1, query + part.first, part.size, of_head + part.num_rows, fetcher);
  }
}

float sigmoid_of(float logit) { return 1 / (1 + std::exp(-logit)); }

/// Computes `weights` (heads, sources) from the scores.
template <class T>
void weigh(const AttnResSinglePass<T>& op, const Score* scores, std::size_t num_sources,
           float* weights) {
  const AttentionVariant<T>& variant = op.variant;
  const std::size_t head_size = op.hidden_size / variant.num_heads;
  const auto squares_of_row = [&](std::size_t source) {
    double squares = 0;
    for (std::size_t head = 0; head < variant.num_heads; ++head)
      squares += static_cast<double>(scores[head * num_sources + source].squares);
    return static_cast<float>(squares);
  };
  for (std::size_t head = 0; head < variant.num_heads; ++head) {
    float* of_head = weights + head * num_sources;
    for (std::size_t i = 0; i < num_sources; ++i) {
      const Score score = scores[head * num_sources + i];
      if (variant.key_norm == KeyNorm::none)
        of_head[i] = score.dot;
      else if (variant.key_norm == KeyNorm::head || variant.num_heads == 1)
        of_head[i] = logit(score, head_size, op.key_eps);
      else
        of_head[i] = logit({score.dot, squares_of_row(i)}, op.hidden_size, op.key_eps);
    }
    if (variant.weighting == DepthWeighting::softmax)
      softmax(of_head, num_sources);
    else
      std::transform(of_head, of_head + num_sources, of_head, sigmoid_of);
  }
}

/// Writes h to `mixed`, in order, as floats, and returns its sum of squares.
template <class T>
HWY_INLINE float mix_heads(const AttnResSinglePass<T>& op, const TokenSources<T>& sources,
                           const float* weights, const T** head_rows, float* mixed,
                           Fetcher& fetcher) {
  Pair squares = zeros();
  const std::size_t num_steps = num_score_groups(sources.num_rows) + 1;
  const auto fetch = [&](std::size_t) HWY_ATTR {
    for (std::size_t i = 0; i < num_steps; ++i) fetcher.step();
  };
  for (std::size_t head = 0; head < op.variant.num_heads; ++head) {
    const HeadSources<T> part = sources_of_head(op, sources, head, head_rows);
    const float* of_head = weights + head * sources.count();
    const Vec exact_weight = broadcast(of_head[sources.count() - 1]);
    const auto start = [&](std::size_t i, auto where) HWY_ATTR {
      if (part.exact == nullptr) return zeros();
      return Pair{exact_weight, exact_weight} * load_for<T>(part.exact + i, where);
    };
    // A block that ends beyond its head is overwritten by the next head.
    mix_rows(part.rows, of_head, part.num_rows, part.size, fetch, start,
             [&](std::size_t i, Pair h, auto) HWY_ATTR {
               store_in_order<T>(mixed + part.first + i, h);
               squares = multiply_add(h, h, squares);
             });
  }
  return sum(squares);
}

template <class T>
HWY_INLINE void store_input(const AttnResSinglePass<T>& op, const float* mixed, float squares,
                            T* output, StorePolicy policy) {
  const std::size_t d = op.hidden_size;
  const auto load_h = [&](std::size_t i, auto where)
                          HWY_ATTR { return load_for<T>(mixed + i, where); };
  if (op.norm.gain != nullptr)
    return norm_row<T>(load_h, inverse_rms(squares, d, op.norm.eps), op.norm.gain, d, output,
                       policy);
  store_mix<T>(
      [&](const auto& finish) HWY_ATTR {
        for_each_block(
            d, [&](std::size_t i, auto where) HWY_ATTR { finish(i, load_h(i, where), where); });
      },
      output, policy);
}

template <class T>
void ablated_pass(const AttnResSinglePass<T>& op, TokenRange tokens) {
  thread_local VariantWorkspace<T> workspace;
  const std::size_t d = op.hidden_size;
  const std::size_t most_weights = op.variant.num_heads * (op.num_bank_sources + 1);
  const StorePolicy policy = store_policy(op.num_tokens * d * sizeof(T));
  const T** head_rows = workspace.head_rows.at_least(op.num_bank_sources + 1);
  Score* scores = workspace.pass.scores.at_least(most_weights);
  float* weights = workspace.pass.weights.at_least(most_weights);
  float* mixed = workspace.pass.mixed.at_least(d + kBlock);
  Fetcher fetcher(source_fetching<T>());
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    const float* query = query_of(op, t, workspace.query);
    const TokenSources<T> sources = sources_of(op, t, query, workspace, fetcher);
    score_heads(op, sources, query, head_rows, scores, fetcher);
    weigh(op, scores, sources.count(), weights);
    const float squares = mix_heads(op, sources, weights, head_rows, mixed, fetcher);
    store_input(op, mixed, squares, op.output + t * d, policy);
  }
  hwy::FlushStream();
}

}  // namespace

KernelsByType<SinglePassKernel> ablation_kernels() {
  return {ablated_pass<float>, ablated_pass<Bf16>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(ablation_kernels);

KernelsByType<SinglePassKernel> single_pass_ablations() {
  return HWY_DYNAMIC_DISPATCH(ablation_kernels)();
}

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
