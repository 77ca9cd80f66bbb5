// One visitor for each question, one function for each kind of layer. REFERENCES.md, "layers".
#include "model/step/layer_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace depthcost {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double limit_of(const std::optional<Count>& limit) { return limit ? as_double(*limit) : kNoLimit; }

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

  double last() const { return pass.first + pass.tokens * pass.num_passes; }

  /// Scores of an indexer with all its keys. It is whole on every rank.
  Flops index_scores(const Indexer& indexer) const {
    const double keys = mean_keys(pass, kNoLimit) / as_double(indexer.ratio);
    return attention_core(indexer.queries(), keys, pass);
  }

  /// Queries, keys, values, output and its gate; a key and a value for every key-value head. An
  /// indexer has one key. Its heads have no weights: their scores are summed, or each head picks
  /// for one head of keys and values. Layers that share keys and values have neither projections
  /// nor cache for them. A convolution mixes the elements of each head of queries and keys; the few
  /// inputs that it keeps are not counted.
  AttentionCost operator()(const GroupedAttention& a) const {
    const double h = as_double(a.head_dim);
    const double heads = dealt_out(a.num_heads, tensor);
    const double kv_heads = dealt_out(a.num_kv_heads, tensor);
    const double held = limit_of(a.window);
    const double limit = std::min(held, limit_of(a.top_k));
    const double per_token = 2 * kv_heads * h;
    const double own = a.key_values == KeyValues::shared ? 0 : 1;
    const double gate = a.output_gate == OutputGate::present ? d * heads * h : 0;
    const double indexer = d * (a.indexer.queries() + as_double(a.indexer.dim));
    const double convolution =
        a.conv_width ? (heads + kv_heads) * h * h * as_double(*a.conv_width) : 0;
    const double weights = d * (2 * heads + num_projections(a.key_values) * kv_heads) * h + gate +
                           indexer + convolution;
    const double index_keys = a.indexer.keys_per_token();
    return {.weights = weights,
            .stored_elements = own * std::min(last(), held) * per_token + last() * index_keys,
            .read_elements =
                mean_past(pass, limit) * per_token + mean_past(pass, kNoLimit) * index_keys,
            .written_elements = pass.tokens * (own * per_token + index_keys),
            .flops = projections(weights, pass),
            .core = attention_core(2 * heads * h, mean_keys(pass, limit), pass) +
                    index_scores(a.indexer),
            .index_scores = index_scores(a.indexer)};
  }

  /// Few tokens work on the compressed vectors themselves (absorbed projections). Where that takes
  /// more operations, those of the past are expanded first; the weights' own operations expand
  /// those of new tokens. Chosen keys differ from token to token, so they are never expanded. An
  /// indexer has queries from the compressed ones, one key and one weight for each of its heads,
  /// and a gate by which the keys of several tokens become one.
  AttentionCost operator()(const LatentAttention& a) const {
    const double heads = dealt_out(a.num_heads, tensor);
    const double n = as_double(a.nope_dim);
    const double r = as_double(a.rope_dim);
    const double v = as_double(a.value_dim);
    const double c = as_double(a.kv_rank);
    const double query =
        a.q_rank ? as_double(*a.q_rank) * (d + heads * (n + r)) : d * heads * (n + r);
    const double gate = a.output_gate == OutputGate::present ? d * heads * v : 0;
    const double index_dim = as_double(a.indexer.dim);
    const double pooling = a.indexer.ratio > 1 ? index_dim : 0;
    const double indexer = (a.q_rank ? as_double(*a.q_rank) : d) * a.indexer.queries() +
                           d * (index_dim + pooling + as_double(a.indexer.num_heads));
    const double weights =
        query + d * (c + r) + c * heads * (n + v) + heads * v * d + gate + indexer;
    const double limit = limit_of(a.top_k);
    const double keys = mean_keys(pass, limit);
    const Flops absorbed = attention_core(heads * (2 * c + r), keys, pass);
    const Flops expanded = attention_core(heads * (n + r + v), keys, pass) +
                           Flops{2 * heads * c * (n + v) * mean_past(pass, kNoLimit)};
    const Flops core = a.top_k ? absorbed : std::min(absorbed, expanded);
    const double index_keys = a.indexer.keys_per_token();
    return {
        .weights = weights,
        .stored_elements = last() * (c + r + index_keys),
        .read_elements = mean_past(pass, limit) * (c + r) + mean_past(pass, kNoLimit) * index_keys,
        .written_elements = pass.tokens * (c + r + index_keys),
        .flops = projections(weights, pass),
        .core = core + index_scores(a.indexer),
        .index_scores = index_scores(a.indexer)};
  }

  /// q, k, v, output, one step size a head, the decay unless that is it, the output gate, and short
  /// convolutions on q, k and v. A state for each head of values.
  AttentionCost operator()(const LinearAttention& a) const {
    const double heads = dealt_out(a.num_heads, tensor);
    const double h = as_double(a.head_dim);
    const double width = heads * h;
    const double key = as_double(a.key_size());
    const double mixed = width + 2 * key * dealt_out(a.key_heads.value_or(a.num_heads), tensor);
    const double decay = a.decay == Decay::per_channel ? d * h + h * heads * key
                         : a.decay == Decay::per_head  ? d * heads
                                                       : 0;
    const double output_gate = a.gate_rank ? as_double(*a.gate_rank) * (d + width) : d * width;
    const double convolutions = mixed * as_double(a.conv_width);
    const double weights = d * (mixed + width) + decay + d * heads + output_gate + convolutions;
    const double state = heads * key * h;
    const double past_inputs = mixed * (as_double(a.conv_width) - 1);
    return {.weights = weights,
            .state_elements = state + past_inputs,
            .flops = projections(weights, pass) + Flops{kStateFlops * state * pass.tokens}};
  }

  /// The fixed part of a compressed attention, and the part that makes and picks summaries.
  double compressed_weights(const CompressedAttention& a) const {
    const double heads = dealt_out(a.num_heads, tensor);
    const double h = as_double(a.head_dim);
    const double rank = as_double(a.q_rank);
    const double output_rank = as_double(a.output_rank);
    const double output =
        heads * h * output_rank + dealt_out(a.output_groups, tensor) * output_rank * d;
    const double index_dim = as_double(a.indexer.dim);
    const bool has_compressor = a.ratio && a.key_values == KeyValues::own;
    // A summary of one token needs no gate.
    const double per_element = has_compressor ? (*a.ratio > 1 ? 2 * d : d) : 0;
    return rank * (d + heads * h) + d * h + output + rank * a.indexer.queries() +
           per_element * (h + index_dim);
  }

  /// Compressed queries, one shared key-value vector, a grouped output projection, and where
  /// summaries are chosen, an indexer of its own. Layers that share summaries have a window only.
  AttentionCost operator()(const CompressedAttention& a) const {
    const double heads = dealt_out(a.num_heads, tensor);
    const double h = as_double(a.head_dim);
    const double weights = compressed_weights(a);
    const double window = as_double(a.window);
    const double ratio = limit_of(a.ratio);
    const double chosen = a.top_k ? as_double(*a.top_k) * ratio : kNoLimit;
    const double scored = a.candidates ? as_double(*a.candidates) * ratio : kNoLimit;
    const double summaries = a.ratio ? mean_keys(pass, chosen) / ratio : 0;
    const double keys = mean_keys(pass, window) + summaries;
    const double index_dim = as_double(a.indexer.dim);
    const double own = a.key_values == KeyValues::own ? h + index_dim : 0;
    const double read = mean_past(pass, window) * h + mean_past(pass, chosen) / ratio * h +
                        mean_past(pass, scored) / ratio * index_dim;
    const Flops scores =
        a.ratio ? attention_core(a.indexer.queries(), mean_keys(pass, scored) / ratio, pass)
                : Flops{};
    return {.weights = weights,
            .stored_elements = std::min(last(), window) * h + last() / ratio * own,
            .read_elements = read,
            .written_elements = pass.tokens * (h + own / ratio),
            .flops = projections(weights, pass),
            .core = attention_core(2 * heads * h, keys, pass) + scores,
            .index_scores = scores};
  }
};

struct MlpWeightsOf {
  double d;
  MlpWeights operator()(const DenseMlp& m) const { return {.common = 3 * d * as_double(m.width)}; }
  MlpWeights operator()(const ExpertMlp& m) const {
    const double latent = m.latent_width ? as_double(*m.latent_width) : d;
    const double projections = m.latent_width ? 2 * d * latent : 0;
    const double rank = m.router_width ? as_double(*m.router_width) : d;
    const double hidden = m.router_width ? rank * (d + 2 * rank) : 0;
    return {.common = as_double(m.num_shared) * 3 * d * as_double(m.width),
            .on_every_rank = hidden + rank * as_double(m.num_experts) + projections,
            .per_expert = 3 * latent * as_double(m.width)};
  }
};

}  // namespace

double mean_keys(const SequencePass& pass, double limit) {
  const double f = pass.first;
  const double n = pass.tokens * pass.num_passes;
  if (f + n <= limit) return f + (n + 1) / 2;
  if (f + 1 >= limit) return limit;
  // The first `rising` new tokens see fewer than the limit.
  const double rising = limit - f - 1;
  return (rising * (f + (rising + 1) / 2) + (n - rising) * limit) / n;
}

double mean_past(const SequencePass& pass, double limit) {
  const double f = pass.first;
  const double m = pass.num_passes;
  // The first `growing` passes find less than the limit.
  const double growing = std::clamp(std::ceil((limit - f) / pass.tokens), 0.0, m);
  const double seen = growing * (f + pass.tokens * (growing - 1) / 2);
  return growing == m ? seen / m : (seen + (m - growing) * limit) / m;
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

double num_projections(const std::vector<LookupTable>& tables) {
  double weights = 0;
  for (const LookupTable& table : tables) weights += as_double(table.projections);
  return weights;
}

double num_looked_up(const std::vector<LookupTable>& tables) {
  double elements = 0;
  for (const LookupTable& table : tables)
    elements += as_double(table.rows) * as_double(table.width);
  return elements;
}

Bytes bytes_of_rows(const Architecture& architecture) {
  Bytes bytes;
  for (const LookupTable& table : architecture.tables)
    bytes += Bytes{as_double(table.rows) * as_double(table.width) *
                   bytes_per_weight(table.dtype.value_or(architecture.weight_dtype))};
  return bytes;
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
