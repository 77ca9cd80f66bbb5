// What attention and MLP of one decoder layer cost one device: weights, cache and operations.
// Elements are counted, since weights, experts and cache may be stored in different types.
#pragma once

#include "model/architecture/architecture.hpp"
#include "model/architecture/expert_load.hpp"
#include "model/base/units.hpp"

namespace depthcost {

/// Heads on the fullest of `ranks`.
constexpr double dealt_out(Count heads, Count ranks) { return as_double(divided_up(heads, ranks)); }

/// Tokens that a pass adds to one sequence. A prompt in equal chunks takes `num_passes` of them,
/// one behind the other; what is said of one pass is then their mean.
struct SequencePass {
  double first = 0;   // tokens that are in the context before the first pass
  double tokens = 1;  // new ones of one pass; each sees itself and all before it
  double num_passes = 1;
};

/// Keys that a new token sees on average if it may see at most `limit`.
///   mean over the new tokens i = 1 .. n of all passes of min(f + i, limit)
double mean_keys(const SequencePass& pass, double limit);

/// Tokens of the context that a pass finds and may read, at most `limit`.
///   mean over the passes k = 0 .. m - 1 of min(f + k n, limit)
double mean_past(const SequencePass& pass, double limit);

/// One decoder layer's attention on one of `tensor` ranks; all but the weights of one sequence.
struct AttentionCost {
  double weights = 0;           // elements
  double stored_elements = 0;   // of the cache behind the pass
  double read_elements = 0;     // of the cache, in the pass
  double written_elements = 0;  // of the cache, in the pass
  double state_elements = 0;    // of a recurrent state in f32: stored, read and written
  Flops flops;                  // of projections and recurrences
  Flops core;                   // of new tokens with the keys that they see
  Flops index_scores;  // of the core, scores of an indexer: fp8 or less in what ships [dsa]
};

/// Heads are dealt out to the ranks, the fullest rank counts; what all heads share is on every
/// rank.
AttentionCost attention_cost(const Attention& attention, double hidden_size,
                             const SequencePass& pass, Count tensor);

/// Weights of all ranks together: what a checkpoint holds.
double num_weights(const Attention& attention, double hidden_size);

/// One decoder layer's MLP, in elements. Every token reads `common` and `on_every_rank`.
struct MlpWeights {
  double common = 0;         // shared experts, or all of a dense MLP: tensor ranks share it out
  double on_every_rank = 0;  // router and latent projections
  double per_expert = 0;     // of one routed expert

  double of_all_tokens() const { return common + on_every_rank; }
};

MlpWeights num_weights(const Mlp& mlp, double hidden_size);

/// Weights that a step reads beside those of the layers: projections of what tokens look up.
double num_projections(const std::vector<LookupTable>& tables);

/// Elements of the tables themselves.
double num_looked_up(const std::vector<LookupTable>& tables);
Bytes bytes_of_rows(const Architecture& architecture);

/// How a layer is spread: attention over `tensor` ranks, the keys that a token sees over
/// `key_ranks` groups of those, all of which hold the same tokens, and experts over `expert` ranks:
/// some of these, or beyond them ranks with other tokens, which then meet at the experts.
struct Sharding {
  Count tensor = 1;
  Count key_ranks = 1;
  Count expert = 1;
};

/// Ranks that hold the same tokens.
Count ranks_of_tokens(const Sharding& sharding);

/// Tokens that meet at the experts, of `num_tokens` on each rank.
double tokens_at_experts(double num_tokens, const Sharding& sharding);

/// Ranks that share the width of one expert.
double ranks_per_expert(const Sharding& sharding);

}  // namespace depthcost
