// One visitor for each question, one function for each kind of layer. REFERENCES.md, "layers".
#include "model/step/layer_cost.hpp"

#include <algorithm>
#include <limits>

namespace depthcost {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// On the fullest of `ranks`.
double dealt_out(Count heads, Count ranks) { return as_double((heads + ranks - 1) / ranks); }

/// A multiply-add for each weight and token.
Flops projections(double weights, const SequencePass& pass) { return {2 * weights * pass.tokens}; }

/// Scores and mix of every new token with every key that it sees.
Flops attention_core(double elements_per_key, double keys, const SequencePass& pass) {
  return {2 * elements_per_key * keys * pass.tokens};
}

/// Linear attention touches each element of its state seven times a token: decay 1, prediction 2,
/// update 2, output 2.
constexpr double kStateFlops = 7;

struct AttentionCostOf {
  double d;
  const SequencePass& pass;
  Count tensor;

  double last() const { return pass.first + pass.tokens; }

  /// Queries, keys, values, output and its gate; a key and a value for every key-value head.
  AttentionCost operator()(const GroupedAttention& a) const {
    const double h = as_double(a.head_dim);
    const double heads = dealt_out(a.num_heads, tensor);
    const double kv_heads = dealt_out(a.num_kv_heads, tensor);
    const double limit = a.window ? as_double(*a.window) : kNoLimit;
    const double per_token = 2 * kv_heads * h;
    const double keys = mean_keys(pass, limit);
    const double gate = a.output_gate == OutputGate::present ? d * heads * h : 0;
    const double weights = d * (2 * heads + 2 * kv_heads) * h + gate;
    return {.weights = weights,
            .stored_elements = std::min(last(), limit) * per_token,
            .read_elements = std::min(pass.first, limit) * per_token,
            .written_elements = pass.tokens * per_token,
            .flops = projections(weights, pass),
            .core = attention_core(2 * heads * h, keys, pass)};
  }

  /// Few tokens work on the compressed vectors themselves (absorbed projections); where that takes
  /// more operations, the vectors are expanded first. Chosen keys differ from token to token, so
  /// they are never expanded. An indexer has queries from the compressed ones, one key and one
  /// weight for each of its heads, and is whole on every rank.
  AttentionCost operator()(const LatentAttention& a) const {
    const double heads = dealt_out(a.num_heads, tensor);
    const double n = as_double(a.nope_dim);
    const double r = as_double(a.rope_dim);
    const double v = as_double(a.value_dim);
    const double c = as_double(a.kv_rank);
    const double query =
        a.q_rank ? as_double(*a.q_rank) * (d + heads * (n + r)) : d * heads * (n + r);
    const double gate = a.output_gate == OutputGate::present ? d * heads * v : 0;
    const double index_dim = as_double(a.index_dim);
    const double index = as_double(a.index_heads) * index_dim;
    const double indexer =
        (a.q_rank ? as_double(*a.q_rank) : d) * index + d * (index_dim + as_double(a.index_heads));
    const double weights =
        query + d * (c + r) + c * heads * (n + v) + heads * v * d + gate + indexer;
    const bool is_absorbed =
        a.top_k || pass.tokens * (2 * c + r) < pass.tokens * (n + r + v) + c * (n + v);
    const double per_key = heads * (is_absorbed ? 2 * c + r : n + r + v);
    const double limit = a.top_k ? as_double(*a.top_k) : kNoLimit;
    const Flops scores = attention_core(index, mean_keys(pass, kNoLimit), pass);
    return {.weights = weights,
            .stored_elements = last() * (c + r + index_dim),
            .read_elements = std::min(pass.first, limit) * (c + r) + pass.first * index_dim,
            .written_elements = pass.tokens * (c + r + index_dim),
            .flops = projections(weights, pass),
            .core = attention_core(per_key, mean_keys(pass, limit), pass) + scores};
  }

  /// q, k, v, output, the decay, one step size a head, the output gate, and short convolutions on
  /// q, k and v. A state for each head of values.
  AttentionCost operator()(const LinearAttention& a) const {
    const double heads = dealt_out(a.num_heads, tensor);
    const double h = as_double(a.head_dim);
    const double width = heads * h;
    const double mixed = width + 2 * h * dealt_out(a.key_heads.value_or(a.num_heads), tensor);
    const double decay = a.decay == Decay::per_head ? d * heads : d * h + h * width;
    const double output_gate = a.gate_rank ? as_double(*a.gate_rank) * (d + width) : d * width;
    const double convolutions = mixed * as_double(a.conv_width);
    const double weights = d * (mixed + width) + decay + d * heads + output_gate + convolutions;
    const double state = heads * h * h;
    const double past_inputs = mixed * (as_double(a.conv_width) - 1);
    return {.weights = weights,
            .state_elements = state + past_inputs,
            .flops = projections(weights, pass) + Flops{kStateFlops * state * pass.tokens}};
  }

  /// Compressed queries, one shared key-value vector, a grouped output projection, and where
  /// summaries are chosen, an indexer of its own.
  AttentionCost operator()(const CompressedAttention& a) const {
    const double heads = dealt_out(a.num_heads, tensor);
    const double h = as_double(a.head_dim);
    const double rank = as_double(a.q_rank);
    const double output = heads * h * as_double(a.output_rank) +
                          dealt_out(a.output_groups, tensor) * as_double(a.output_rank) * d;
    const double index = as_double(a.index_heads) * as_double(a.index_dim);
    const double compressor = a.ratio ? 2 * d * (h + (a.top_k ? as_double(a.index_dim) : 0)) : 0;
    const double weights =
        rank * (d + heads * h) + d * h + output + (a.top_k ? rank * index : 0) + compressor;
    const double window = as_double(a.window);
    const double ratio = a.ratio ? as_double(*a.ratio) : kNoLimit;
    const double chosen = a.top_k ? as_double(*a.top_k) * ratio : kNoLimit;
    const double summaries = a.ratio ? mean_keys(pass, chosen) / ratio : 0;
    const double scored = a.top_k ? mean_keys(pass, kNoLimit) / ratio : 0;
    const double keys = mean_keys(pass, window) + summaries;
    const double index_dim = a.top_k ? as_double(a.index_dim) : 0;
    const auto held = [&](double tokens) {
      return std::min(tokens, window) * h + tokens / ratio * (h + index_dim);
    };
    const double read = std::min(pass.first, window) * h +
                        std::min(pass.first, chosen) / ratio * h + pass.first / ratio * index_dim;
    return {
        .weights = weights,
        .stored_elements = held(last()),
        .read_elements = read,
        .written_elements = pass.tokens * (h + (h + index_dim) / ratio),
        .flops = projections(weights, pass),
        .core = attention_core(2 * heads * h, keys, pass) + attention_core(index, scored, pass)};
  }
};

struct MlpWeightsOf {
  double d;
  MlpWeights operator()(const DenseMlp& m) const { return {.common = 3 * d * as_double(m.width)}; }
  MlpWeights operator()(const ExpertMlp& m) const {
    const double latent = m.latent_width ? as_double(*m.latent_width) : d;
    const double projections = m.latent_width ? 2 * d * latent : 0;
    return {.common = d * as_double(m.num_experts) +
                      as_double(m.num_shared) * 3 * d * as_double(m.width) + projections,
            .per_expert = 3 * latent * as_double(m.width)};
  }
};

}  // namespace

double mean_keys(const SequencePass& pass, double limit) {
  const double f = pass.first;
  const double n = pass.tokens;
  if (f + n <= limit) return f + (n + 1) / 2;
  if (f + 1 >= limit) return limit;
  // The first `rising` new tokens see fewer than the limit.
  const double rising = limit - f - 1;
  return (rising * (f + (rising + 1) / 2) + (n - rising) * limit) / n;
}

AttentionCost attention_cost(const Attention& attention, double hidden_size,
                             const SequencePass& pass, Count tensor) {
  return std::visit(AttentionCostOf{hidden_size, pass, tensor}, attention);
}

double num_weights(const Attention& attention, double hidden_size) {
  return attention_cost(attention, hidden_size, {}, 1).weights;
}

MlpWeights num_weights(const Mlp& mlp, double hidden_size) {
  return std::visit(MlpWeightsOf{hidden_size}, mlp);
}

Count ranks_of_tokens(const Sharding& sharding) { return sharding.tensor * sharding.key_ranks; }

double tokens_at_experts(double num_tokens, const Sharding& sharding) {
  const double groups = as_double(sharding.expert) / as_double(ranks_of_tokens(sharding));
  return num_tokens * std::max(1.0, groups);
}

double ranks_per_expert(const Sharding& sharding) {
  return std::max(1.0, as_double(sharding.tensor) / as_double(sharding.expert));
}

}  // namespace depthcost
