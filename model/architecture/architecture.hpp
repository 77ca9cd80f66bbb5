// What a model consists of beside its residual path, as far as bytes and operations of a step
// depend on it. A decoder layer has one attention and one MLP; equal ones are counted together.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "model/base/units.hpp"

namespace depthcost {

/// Storage of weights. `mxfp4`: 4 bits and a shared 8-bit scale for 32 of them. `nvfp4`: one
/// for 16. `int4_g128`: whole numbers of 4 bits, and a shared 16-bit scale for 128 of them; kernels
/// widen them and multiply in bf16.
enum class WeightDtype : std::uint8_t {
  mxfp4,
  nvfp4,
  int4_g32,
  int4_g64,
  int4_g128,
  fp8,
  bf16,
  f16,
  f32
};

/// Bytes of one weight, its share of a scale included. Not counted are scales of fp8, one for
/// 128 x 128 weights (0.02 %), and zero points of int4, 4 bits a group (0.8 % of groups of 128).
constexpr double bytes_per_weight(WeightDtype dtype) {
  switch (dtype) {
    case WeightDtype::mxfp4:
      return (4 + 8.0 / 32) / 8;
    case WeightDtype::nvfp4:
      return (4 + 8.0 / 16) / 8;
    case WeightDtype::int4_g32:
      return (4 + 16.0 / 32) / 8;
    case WeightDtype::int4_g64:
      return (4 + 16.0 / 64) / 8;
    case WeightDtype::int4_g128:
      return (4 + 16.0 / 128) / 8;
    case WeightDtype::fp8:
      return 1;
    case WeightDtype::bf16:
    case WeightDtype::f16:
      return 2;
    case WeightDtype::f32:
      return 4;
  }
  return 0;
}

/// Whether attention's output is multiplied by a gate of its own projection.
enum class OutputGate : std::uint8_t { absent, present };

/// Where a layer's keys and values come from: projections of its own; an earlier layer, without
/// projections or cache; or one projection for both, which are still two behind their norms (Gemma
/// 4, transformers @033b1a82, attention_k_eq_v).
enum class KeyValues : std::uint8_t { own, shared, one_projection };

/// Projections of d-vectors to all heads of keys and values.
constexpr double num_projections(KeyValues key_values) {
  if (key_values == KeyValues::shared) return 0;
  return key_values == KeyValues::own ? 2 : 1;
}

/// Chooses the keys that a token sees. It has queries of its own, `num_heads` x `dim`, and one key
/// for each `ratio` tokens. `num_heads` 0: the choice is that of an earlier layer.
struct Indexer {
  Count num_heads = 0;
  Count dim = 0;
  Count ratio = 1;

  double queries() const { return as_double(num_heads) * as_double(dim); }

  /// Elements of its keys for each token of the context.
  double keys_per_token() const { return as_double(dim) / as_double(ratio); }
};

/// Multi-head, grouped-query and multi-query attention; with a window, each token sees at most so
/// many. With `top_k` it sees the keys that an indexer chooses: Qwen3.8-Flash-Next, MiniMax-M3.
struct GroupedAttention {
  Count num_heads = 1;
  Count num_kv_heads = 1;
  Count head_dim = 1;
  std::optional<Count> window;
  OutputGate output_gate = OutputGate::absent;
  KeyValues key_values = KeyValues::own;
  std::optional<Count> top_k;  // absent: all keys
  Indexer indexer;
  std::optional<Count> conv_width;  // of a convolution on queries and keys; absent: none
};

/// Multi-head latent attention: one compressed vector and one rotary key per token for all heads.
/// DeepSeek-V2, arXiv:2405.04434. With `top_k` each token sees the keys that an indexer chooses:
/// DeepSeek-V3.2, arXiv:2512.02556.
struct LatentAttention {
  Count num_heads = 1;
  std::optional<Count> q_rank;  // absent: queries are not compressed
  Count kv_rank = 1;
  Count nope_dim = 1;   // of a head's query and key, without rotation
  Count rope_dim = 1;   // with rotation
  Count value_dim = 1;  // of a head's value
  OutputGate output_gate = OutputGate::absent;
  std::optional<Count> top_k;  // absent: all keys
  Indexer indexer;
};

/// What forgets in a linear attention: one factor for each channel of a key, which a projection of
/// rank head_dim computes, one for each head, or the step size of the head, which is there anyway.
enum class Decay : std::uint8_t { per_channel, per_head, step };

/// Kimi Delta Attention and its kin: a state of key_dim x head_dim per head instead of a cache.
/// Kimi Linear, arXiv:2510.26692. Gated DeltaNet, arXiv:2412.06464, decays per head. Mamba-2,
/// arXiv:2405.21060, decays by its step size; its C, B and x are the queries, keys and values.
struct LinearAttention {
  Count num_heads = 1;             // of values
  std::optional<Count> key_heads;  // of queries and keys; absent: as many
  Count head_dim = 1;              // of values
  std::optional<Count> key_dim;    // of queries and keys; absent: head_dim
  Count conv_width = 1;            // of the short convolutions on q, k and v
  std::optional<Count> gate_rank;  // of the output gate; absent: full rank
  Decay decay = Decay::per_channel;

  Count key_size() const { return key_dim.value_or(head_dim); }
};

/// One shared key-value vector per head_dim, compressed along the sequence: DeepSeek-V4,
/// arXiv:2606.19348. Each token sees a window, and of what lies before it every `ratio`-th summary,
/// or the `top_k` of them that an indexer chooses.
struct CompressedAttention {
  Count num_heads = 1;
  Count head_dim = 1;
  Count q_rank = 1;
  Count output_rank = 1;  // of each group of the output projection
  Count output_groups = 1;
  Count window = 1;
  std::optional<Count> ratio;             // absent: the window alone
  KeyValues key_values = KeyValues::own;  // of summaries; each layer has a window of its own
  std::optional<Count> top_k;             // absent: all summaries
  Indexer indexer;                        // with one key for each summary
  std::optional<Count> candidates;        // summaries that the indexer scores; absent: all
};

using Attention =
    std::variant<GroupedAttention, LatentAttention, LinearAttention, CompressedAttention>;

inline constexpr std::array<std::string_view, std::variant_size_v<Attention>> kAttentionNames{
    "grouped", "latent", "linear", "compressed"};
static_assert(!kAttentionNames.back().empty());

inline std::string_view name(const Attention& attention) {
  return kAttentionNames[attention.index()];
}

/// Gate, up and down projection.
struct DenseMlp {
  Count width = 1;
};

/// A router picks `num_active` of `num_experts` for each token; shared experts see all tokens.
/// Where experts lie in groups, it picks from `groups_of_token` of them. arXiv:2412.19437
/// Sec. 2.1.2
struct ExpertMlp {
  Count num_experts = 1;
  Count num_active = 1;
  Count num_shared = 0;
  Count width = 1;                    // of one expert
  std::optional<Count> latent_width;  // routed experts work on so many elements instead of d
  std::optional<Count> router_width;  // of the router's two hidden layers; absent: it has none
  Count num_groups = 1;
  Count groups_of_token = 1;
};

using Mlp = std::variant<DenseMlp, ExpertMlp>;

inline constexpr std::array<std::string_view, std::variant_size_v<Mlp>> kMlpNames{"dense",
                                                                                  "experts"};
static_assert(!kMlpNames.back().empty());

inline std::string_view name(const Mlp& mlp) { return kMlpNames[mlp.index()]; }

/// Decoder layers that have this attention.
struct AttentionLayers {
  Attention attention;
  Count num_decoder_layers = 0;
};

struct MlpLayers {
  Mlp mlp;
  Count num_decoder_layers = 0;
};

/// Whether the output projection has a table of its own or that of the embedding.
enum class OutputHead : std::uint8_t { own, tied };

/// A table of which a token looks up a few rows, as it does in the embedding: of n-grams, or of
/// vectors for each layer. Its rows weigh on memory. The projections that take in what is looked up
/// are read in each step.
struct LookupTable {
  Count rows = 0;
  Count width = 0;
  Count projections = 0;             // weights of all of them together
  std::optional<WeightDtype> dtype;  // of the rows; absent: that of the other weights
};

/// Layers behind the model that draft tokens, each a decoder layer with weights of its own. Layers
/// of multi-token prediction draft one token a pass, of one layer. Others draft a block of tokens
/// in one pass of all of them.
struct DraftLayers {
  Attention attention;
  Mlp mlp;
  Count num_layers = 1;
  Count projections = 0;       // weights of all of them that take in what they start from
  std::optional<Count> block;  // tokens that all layers draft in one pass
};

/// `attention` and `mlp` each add up to the model's decoder layers.
struct Architecture {
  std::vector<AttentionLayers> attention;
  std::vector<MlpLayers> mlp;
  std::vector<LookupTable> tables;  // beside the embedding
  std::optional<DraftLayers> draft;
  Count vocabulary_size = 0;
  OutputHead output_head = OutputHead::own;
  WeightDtype weight_dtype = WeightDtype::bf16;
  WeightDtype expert_dtype = WeightDtype::bf16;  // of routed experts
  Dtype kv_dtype = Dtype::bf16;                  // of the KV cache
};

inline bool has_experts(const Architecture& architecture) {
  return std::any_of(architecture.mlp.begin(), architecture.mlp.end(), [](const MlpLayers& layers) {
    return std::holds_alternative<ExpertMlp>(layers.mlp);
  });
}

/// Query heads of a layer's attention.
inline Count num_heads(const Attention& attention) {
  return std::visit([](const auto& kind) { return kind.num_heads; }, attention);
}

/// The heads that tensor-parallel ranks share out evenly in every layer: ranks must divide it.
inline Count heads_to_share(const Architecture& architecture) {
  Count heads = 0;
  for (const AttentionLayers& layers : architecture.attention)
    heads = std::gcd(heads, num_heads(layers.attention));
  return heads;
}

}  // namespace depthcost
