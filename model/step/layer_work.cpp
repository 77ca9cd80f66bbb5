// Elements of model/step/layer_cost.hpp in their storage types.
#include "model/step/layer_work.hpp"

#include <algorithm>

namespace depthcost {
namespace {

/// What a pass sends through the experts of a layer.
struct RoutedTokens {
  RoutedTokens(const Study& study, const ExpertMlp& mlp, const ForwardPass& pass)
      : sharding(sharding_of(study, pass)),
        tokens(tokens_at_experts(pass.tokens(), sharding)),
        weights(num_weights(Mlp{mlp}, static_cast<double>(study.model.hidden_size)).per_expert /
                ranks_per_expert(sharding)),
        weight_bytes(weights * bytes_per_weight(study.model.architecture->expert_dtype)) {}

  Bytes bytes_of(const RankLoad& rank) const { return Bytes{weight_bytes * rank.distinct_experts}; }

  Sharding sharding;
  double tokens;        // of all ranks that share the experts
  double weights;       // of one expert on one rank
  double weight_bytes;  // the same
};

Bytes balanced_bytes(const Study& study, const ExpertMlp& mlp, const ForwardPass& pass) {
  const RoutedTokens routed(study, mlp, pass);
  return routed.bytes_of(balanced_load(mlp, routed.tokens, routed.sharding.expert));
}

}  // namespace

Sharding sharding_of(const Study& study, const ForwardPass& pass) {
  return {.tensor = study.tensor_parallel_size,
          .key_ranks = pass.key_ranks,
          .expert = study.expert_parallel_size};
}

Work attention_work(const Study& study, const Attention& attention, const ForwardPass& pass) {
  const Architecture& a = *study.model.architecture;
  const AttentionCost cost = attention_cost(attention, static_cast<double>(study.model.hidden_size),
                                            pass.sequence, study.tensor_parallel_size);
  const auto key_ranks = static_cast<double>(pass.key_ranks);
  Work work;
  work.add(1, Bytes{cost.weights * bytes_per_weight(a.weight_dtype)}, {});
  const Bytes cache = storage(cost.read_elements / key_ranks + cost.written_elements, a.kv_dtype);
  const Bytes state = storage(2 * cost.state_elements, Dtype::f32);
  work.add(pass.num_sequences, cache + state, cost.flops + (1 / key_ranks) * cost.core);
  work.core = (pass.num_sequences / key_ranks) * cost.core;
  return work;
}

Work common_mlp_work(const Study& study, const Mlp& mlp, const ForwardPass& pass) {
  const double weights = num_weights(mlp, static_cast<double>(study.model.hidden_size)).common /
                         static_cast<double>(study.tensor_parallel_size);
  Work work;
  work.add(1, Bytes{weights * bytes_per_weight(study.model.architecture->weight_dtype)},
           Flops{2 * weights * pass.tokens()});
  return work;
}

Work routed_work(const Study& study, const ExpertMlp& mlp, const ForwardPass& pass) {
  const RoutedTokens routed(study, mlp, pass);
  const ExpertLoad load = expert_load(mlp, routed.tokens, routed.sharding.expert);
  Work work;
  const auto add = [&](IntervalEnd end, const RankLoad& rank) {
    work.add(1, end, routed.bytes_of(rank), Flops{2 * routed.weights * rank.token_visits});
  };
  add(IntervalEnd::low, load.fewest);
  add(IntervalEnd::value, load.mean);
  add(IntervalEnd::high, load.slowest);
  return work;
}

Work head_work(const Study& study, double tokens) {
  const Architecture& a = *study.model.architecture;
  const double weights = static_cast<double>(a.vocabulary_size) *
                         static_cast<double>(study.model.hidden_size) /
                         static_cast<double>(study.tensor_parallel_size);
  Work work;
  work.add(1, storage(weights, study.model.dtype), Flops{2 * weights * tokens});
  return work;
}

ForwardPass decode_pass(const Study& study, std::size_t batch) {
  const Decode& decode = *study.decode;
  return {.num_sequences = static_cast<double>(decode.sequences[batch]),
          .sequence = {.first = as_double(decode.context),
                       .tokens = as_double(decode.speculation.tokens)},
          .launch = decode.launch,
          .key_ranks = study.context_parallel_size};
}

std::vector<ForwardPass> prefill_passes(const Study& study) {
  const Prefill& prefill = *study.prefill;
  const Count chunk = std::min(prefill.tokens, prefill.chunk.value_or(prefill.tokens));
  const Count whole = prefill.tokens / chunk;
  const auto tokens = static_cast<double>(chunk);
  std::vector<ForwardPass> passes{
      {.sequence = {.first = tokens * static_cast<double>(whole - 1) / 2, .tokens = tokens},
       .launch = prefill.launch,
       .repeats = static_cast<double>(whole),
       .key_ranks = study.context_parallel_size}};
  if (const Count rest = prefill.tokens % chunk; rest > 0)
    passes.push_back({.sequence = {.first = tokens * static_cast<double>(whole),
                                   .tokens = static_cast<double>(rest)},
                      .launch = prefill.launch,
                      .key_ranks = study.context_parallel_size});
  return passes;
}

std::optional<Bytes> modelled_layer_bytes(const Study& study, const ForwardPass& pass) {
  if (!study.model.architecture) return std::nullopt;
  Bytes bytes;
  for (const AttentionLayers& layers : study.model.architecture->attention)
    bytes += static_cast<double>(layers.num_decoder_layers) *
             attention_work(study, layers.attention, pass).bytes_at(IntervalEnd::value);
  for (const MlpLayers& layers : study.model.architecture->mlp) {
    const auto calls = static_cast<double>(layers.num_decoder_layers);
    bytes += calls * common_mlp_work(study, layers.mlp, pass).bytes_at(IntervalEnd::value);
    if (const auto* experts = std::get_if<ExpertMlp>(&layers.mlp))
      bytes += calls * balanced_bytes(study, *experts, pass);
  }
  return (1 / static_cast<double>(study.model.num_layers)) * bytes;
}

}  // namespace depthcost
