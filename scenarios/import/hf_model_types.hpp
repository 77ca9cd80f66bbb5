// The values of `model_type` whose decoder layers are known, and what their configs leave unsaid.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "scenarios/import/hf_config.hpp"

namespace depthcost {

/// The attention of the model's layers.
enum class AttentionForm : std::uint8_t {
  grouped,
  latent,
  hybrid,
  compressed,
  shared_compressed,
  gated_delta,
  mamba
};

/// What an absent `head_dim` or `num_key_value_heads` means. A default that stands in the code of
/// the model and not in its config is not guessed. Falcon has keys of its own for it.
enum class Absent : std::uint8_t { derived, refused, falcon };

/// Which layers see a window only. `between`: all but each n-th. `chunks`: these see their chunk.
/// `upper_layers`: those from max_window_layers on, if use_sliding_window is true. `upper_always`:
/// the same whatever use_sliding_window says. `listed`: only layer_types can say that there are
/// such layers.
enum class WindowRule : std::uint8_t {
  none,
  all_layers,
  upper_layers,
  upper_always,
  listed,
  by_layer_type,
  between,
  chunks
};

/// Whether an indexer chooses the keys of an attention that would see all of them.
enum class Indexing : std::uint8_t { absent, present };

/// Projections of an MLP: gate, up and down, or up and down.
enum class MlpForm : std::uint8_t { gated, plain };

/// The dtype where no key names one.
enum class AbsentDtype : std::uint8_t { refused, bf16 };

/// Which tables a token looks rows up in, beside the embedding: of n-grams as Qwen or as DeepSeek
/// has them, or vectors for each layer.
enum class Tables : std::uint8_t { none, ngram, engram, per_layer };

/// Which layers draft tokens: of multi-token prediction, like the last full attention and the last
/// MLP, with a projection of 2 d to d each; or DSpark's, with a window and experts of their own.
enum class Drafter : std::uint8_t { uncounted, next_token, dspark };

/// Whether an expert's width stands in `intermediate_size`.
enum class ExpertWidth : std::uint8_t { own_key, intermediate_size };

struct HfModelType {
  std::string_view name;
  AttentionForm attention = AttentionForm::grouped;
  Absent head_dim = Absent::refused;
  Absent kv_heads = Absent::refused;
  WindowRule window = WindowRule::none;
  Count full_every = 1;  // the n of `between` and `chunks` where no key says it
  Indexing indexer = Indexing::absent;
  bool shares_key_values = false;  // the last layers may read those of earlier ones
  Count first_layer = 1;           // where the lists of `linear_attn_config` begin to count
  MlpForm mlp = MlpForm::gated;
  Absent plain_width = Absent::refused;  // derived: four times the hidden size, without a gate
  ExpertWidth expert_width = ExpertWidth::own_key;
  AbsentDtype dtype = AbsentDtype::refused;
  Tables tables = Tables::none;
  Drafter drafter = Drafter::uncounted;
  bool has_mtp_map = false;          // `mtp` describes layers of multi-token prediction
  bool is_zaya = false;              // convolutions on queries and keys, a router of three layers
  bool is_gemma4 = false;            // longer heads in full attention, a dense MLP beside experts
  bool is_hunyuan = false;           // has keys of attention that the model does not use
  std::string_view parallel_key;     // says whether attention and MLP are added in one step
  std::string_view attention_block;  // its name among modules; empty: self_attn or attn
  std::string_view streams = "mhc";  // the scheme of a config with `hc_mult`
  std::string_view scheme = "standard";  // of one with no such key
  std::string_view defaults = "{}";  // of its class in transformers, which a config may leave out
  std::string_view remark;           // what a model file cannot say of it
};

/// The defaults of a `model_type` in transformers, as JSON, also of some that are read with --as
/// alone. Nothing for others.
std::optional<std::string_view> defaults_of(std::string_view model_type);

/// The model type of the config, or the one named `family`, whatever the config says. Throws
/// InputError for one that is not known.
HfModelType model_type_of(HfConfig& config, std::string_view family);

}  // namespace depthcost
