// Elements of model/step/layer_cost.hpp in their storage types.
#include "model/step/layer_work.hpp"

#include <fmt/format.h>

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

/// One decoder layer's attention, its weights apart from what each sequence adds.
struct AttentionOfPass {
  AttentionOfPass(const Study& its_study, const Attention& its_attention, const ForwardPass& pass)
      : study(its_study), attention(its_attention), key_ranks(as_double(pass.key_ranks)) {}

  AttentionCost cost(const SequencePass& sequence) const {
    return attention_cost(attention, static_cast<double>(study.model.hidden_size), sequence,
                          study.tensor_parallel_size);
  }

  Bytes weights(const AttentionCost& cost) const {
    return Bytes{cost.weights * bytes_per_weight(study.model.architecture->weight_dtype)};
  }

  void add(double sequences, const AttentionCost& cost, double written_states, Work& work) const {
    const Bytes cache = storage(cost.read_elements / key_ranks + cost.written_elements,
                                study.model.architecture->kv_dtype);
    const Bytes state = storage((1 + written_states) * cost.state_elements, Dtype::f32);
    work.add(sequences, cache + state, cost.flops + (1 / key_ranks) * cost.core);
    work.core += (sequences / key_ranks) * cost.core;
    work.index_scores += (sequences / key_ranks) * cost.index_scores;
  }

  const Study& study;
  const Attention& attention;
  double key_ranks;
};

/// Weights that all tokens read and tensor ranks share out.
Work shared_out(const Study& study, double all_weights, const ForwardPass& pass) {
  const double weights = all_weights / static_cast<double>(study.tensor_parallel_size);
  Work work;
  work.add(1, Bytes{weights * bytes_per_weight(study.model.architecture->weight_dtype)},
           Flops{2 * weights * pass.tokens()});
  return work;
}

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
  const AttentionOfPass of(study, attention, pass);
  const AttentionCost cost = of.cost(pass.sequence);
  Work work;
  work.add(1, of.weights(cost), {});
  of.add(pass.num_sequences, cost, pass.written_states, work);
  if (pass.prompt) of.add(1, of.cost(*pass.prompt), 1, work);
  return work;
}

std::string attention_name(const Attention& attention) {
  return fmt::format("{} attention", name(attention));
}

std::vector<AttentionPart> attention_parts(const Study& study, const Attention& attention,
                                           const ForwardPass& pass) {
  const std::string name = attention_name(attention);
  if (!pass.prompt) return {{name, attention_work(study, attention, pass)}};
  const AttentionOfPass of(study, attention, pass);
  const AttentionCost sequence = of.cost(pass.sequence);
  const AttentionCost prompt = of.cost(*pass.prompt);
  Work projections;
  projections.add(1, of.weights(sequence), pass.num_sequences * sequence.flops + prompt.flops);
  const auto core = [&](double sequences, AttentionCost cost, double written_states) {
    Work work;
    cost.flops = {};
    of.add(sequences, cost, written_states, work);
    return work;
  };
  return {{name + ", projections", projections},
          {name + ", sequences", core(pass.num_sequences, sequence, pass.written_states)},
          {name + ", prompt", core(1, prompt, 1)}};
}

Work common_mlp_work(const Study& study, const Mlp& mlp, const ForwardPass& pass,
                     RankTokens rank_tokens) {
  const MlpWeights weights = num_weights(mlp, as_double(study.model.hidden_size));
  const double ranks =
      rank_tokens == RankTokens::shared ? as_double(study.tensor_parallel_size) : 1;
  Work work = shared_out(study, weights.common, pass);
  for (const IntervalEnd end : kEnumerators<IntervalEnd>) {
    const double shards = end == IntervalEnd::low ? as_double(study.tensor_parallel_size) : 1;
    const double on_this_rank = weights.on_every_rank / shards;
    work.add(1, end, storage(on_this_rank, study.model.dtype),
             Flops{2 * weights.on_every_rank * pass.tokens() / std::max(ranks, shards)});
  }
  return work;
}

Work table_work(const Study& study, const ForwardPass& pass) {
  return shared_out(study, num_projections(study.model.architecture->tables), pass);
}

Work routed_work(const Study& study, const ExpertMlp& mlp, const ForwardPass& pass) {
  const RoutedTokens routed(study, mlp, pass);
  const ExpertLoad load = expert_load(mlp, routed.tokens, routed.sharding.expert, study.routing);
  Work work;
  const auto add = [&](IntervalEnd end, const RankLoad& rank) {
    work.add(1, end, routed.bytes_of(rank), Flops{2 * routed.weights * rank.token_visits});
  };
  add(IntervalEnd::low, load.low);
  add(IntervalEnd::value, load.value);
  add(IntervalEnd::high, load.high);
  return work;
}

double tokens_of_head(WorkloadKind workload, const ForwardPass& pass) {
  if (workload == WorkloadKind::prefill) return pass.num_sequences;
  return pass.tokens() - pass.prompt_tokens() + (pass.prompt ? 1 : 0);
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
  ForwardPass pass{.num_sequences = static_cast<double>(decode.sequences[batch]),
                   .sequence = {.first = as_double(decode.context),
                                .tokens = as_double(decode.speculation.tokens)},
                   .launch = decode.launch,
                   .key_ranks = study.context_parallel_size,
                   .written_states = as_double(decode.speculation.tokens),
                   .prompt = {}};
  if (decode.prompt)
    pass.prompt = SequencePass{.first = as_double(context_of(*decode.prompt, decode)),
                               .tokens = as_double(decode.prompt->tokens)};
  return pass;
}

std::vector<ForwardPass> prefill_passes(const Study& study) {
  const Prefill& prefill = *study.prefill;
  const Count chunk = std::min(prefill.tokens, prefill.chunk.value_or(prefill.tokens));
  const Count whole = prefill.tokens / chunk;
  const auto tokens = static_cast<double>(chunk);
  std::vector<ForwardPass> passes{
      {.sequence = {.tokens = tokens, .num_passes = static_cast<double>(whole)},
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
    bytes +=
        calls *
        common_mlp_work(study, layers.mlp, pass, RankTokens::same).bytes_at(IntervalEnd::value);
    if (const auto* experts = std::get_if<ExpertMlp>(&layers.mlp))
      bytes += calls * balanced_bytes(study, *experts, pass);
  }
  bytes += table_work(study, pass).bytes_at(IntervalEnd::value);
  return (1 / static_cast<double>(study.model.num_layers)) * bytes;
}

}  // namespace depthcost
