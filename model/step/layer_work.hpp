// Bytes and operations of attention, MLP and head in a forward pass, on one device of a study.
// REFERENCES.md, "rest of the step".
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/base/interval_end.hpp"
#include "model/step/layer_cost.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// Forward passes of equal size through all layers. A step of chunked prefill has tokens of a
/// prompt beside its sequences.
struct ForwardPass {
  double num_sequences = 1;
  SequencePass sequence;  // of each of them
  Launch launch = Launch::graph;
  double repeats = 1;
  Count key_ranks = 1;  // that share a sequence's keys; in training they share its tokens instead
  double written_states = 1;  // of linear attention: one behind every token that may be refused

  std::optional<SequencePass> prompt;

  double prompt_tokens() const { return prompt ? prompt->tokens : 0; }
  double tokens() const { return num_sequences * sequence.tokens + prompt_tokens(); }
};

/// How the study spreads a layer in a pass.
Sharding sharding_of(const Study& study, const ForwardPass& pass);

/// Bytes and operations of one group of kernels, at every end of what is not known.
struct Work {
  std::array<Bytes, kEnumerators<IntervalEnd>.size()> bytes{};  // as kEnumerators<IntervalEnd>
  std::array<Flops, kEnumerators<IntervalEnd>.size()> flops{};
  Flops core;  // of those, attention's scores and mixes: no weights, whatever type these have
  Flops index_scores;  // of the core, scores of an indexer, which runs in fp8

  Bytes bytes_at(IntervalEnd end) const { return bytes[static_cast<std::size_t>(end)]; }
  Flops flops_at(IntervalEnd end) const { return flops[static_cast<std::size_t>(end)]; }

  /// Adds the same to every end.
  void add(double times, Bytes more_bytes, Flops more_flops) {
    for (const IntervalEnd end : kEnumerators<IntervalEnd>) add(times, end, more_bytes, more_flops);
  }
  void add(double times, IntervalEnd end, Bytes more_bytes, Flops more_flops) {
    const auto i = static_cast<std::size_t>(end);
    bytes[i] += times * more_bytes;
    flops[i] += times * more_flops;
  }
};

/// One decoder layer's attention: weights once, cache and state of every sequence.
Work attention_work(const Study& study, const Attention& attention, const ForwardPass& pass);

/// "latent attention"
std::string attention_name(const Attention& attention);

/// Kernels of one decoder layer's attention that run one after another.
struct AttentionPart {
  std::string name;  // "latent attention"
  Work work;
};

/// The whole of attention_work() as one part, as a step of equal sequences is calibrated; with a
/// prompt beside them as three: projections of all tokens, and the cores of the sequences, which
/// wait for memory, and of the prompt, which wait for arithmetic. Neither hides the other.
std::vector<AttentionPart> attention_parts(const Study& study, const Attention& attention,
                                           const ForwardPass& pass);

/// Whether tensor ranks hold the same tokens where each has the whole of a weight: so in serving.
/// In training they share the sequence out there. [sequence_parallel] Sec. 4.2
enum class RankTokens : std::uint8_t { same, shared };

/// One decoder layer's MLP: the weights that all tokens read. At the low end an engine shares out
/// the router and latent projections too, as one does with the projection back.
/// (lightseekorg/tokenspeed pull request 1358)
Work common_mlp_work(const Study& study, const Mlp& mlp, const ForwardPass& pass,
                     RankTokens rank_tokens);

/// Projections of what all tokens of a pass look up, of all tables together.
Work table_work(const Study& study, const ForwardPass& pass);

/// One decoder layer's routed experts on one rank, from few and balanced to skewed.
Work routed_work(const Study& study, const ExpertMlp& mlp, const ForwardPass& pass);

/// Tokens of a pass that logits are made of: of a prefill each sequence's last, else every token
/// that a sequence checks, and the last of a prompt's chunk.
double tokens_of_head(WorkloadKind workload, const ForwardPass& pass);

/// Logits of `tokens` tokens.
Work head_work(const Study& study, double tokens);

/// Passes of a decode step, or of a whole prefill: chunks of equal size are one pass that repeats.
ForwardPass decode_pass(const Study& study, std::size_t batch);
std::vector<ForwardPass> prefill_passes(const Study& study);

/// Bytes that one layer (sublayer) streams on one device in a pass, as the mean over layers: what
/// comes between two residual operations. Nothing without an architecture.
std::optional<Bytes> modelled_layer_bytes(const Study& study, const ForwardPass& pass);

}  // namespace depthcost
