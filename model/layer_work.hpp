// Bytes and operations of attention, MLP and head in a forward pass, on one device of a study.
// REFERENCES.md, "rest of the step".
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "model/layer_cost.hpp"
#include "model/study.hpp"

namespace depthcost {

/// Forward passes of equal size through all layers.
struct ForwardPass {
  double num_sequences = 1;
  SequencePass sequence;  // of each of them
  Launch launch = Launch::graph;
  double repeats = 1;

  double tokens() const { return num_sequences * sequence.tokens; }
};

/// Bytes and operations of one group of kernels, at the three ends of what is not known: `[1]` is
/// the middle.
struct Work {
  std::array<Bytes, 3> bytes{};
  std::array<Flops, 3> flops{};

  void add(double times, Bytes more_bytes, Flops more_flops) {
    for (std::size_t end = 0; end < 3; ++end) add(times, end, more_bytes, more_flops);
  }
  void add(double times, std::size_t end, Bytes more_bytes, Flops more_flops) {
    bytes[end] = bytes[end] + times * more_bytes;
    flops[end] = flops[end] + times * more_flops;
  }
};

/// Of one decoder layer: weights once, cache and state of every sequence.
Work attention_work(const Study& study, const Attention& attention, const ForwardPass& pass);

/// Of one decoder layer: weights that all tokens read.
Work common_mlp_work(const Study& study, const Mlp& mlp, const ForwardPass& pass);

/// Of one decoder layer: the routed experts of one rank, from few and balanced to skewed.
Work routed_work(const Study& study, const ExpertMlp& mlp, const ForwardPass& pass);

/// Logits of `tokens` tokens.
Work head_work(const Study& study, double tokens);

/// Passes of a decode step, or of a whole prefill: chunks of equal size are taken at the mean of
/// their contexts, to which bytes and operations are proportional.
ForwardPass decode_pass(const Study& study, std::size_t batch);
std::vector<ForwardPass> prefill_passes(const Study& study);

/// Bytes that one layer (sublayer) streams on one device in a pass, as the mean over layers: what
/// comes between two residual operations. Nothing without an architecture.
std::optional<Bytes> modelled_layer_bytes(const Study& study, const ForwardPass& pass);

}  // namespace depthcost
