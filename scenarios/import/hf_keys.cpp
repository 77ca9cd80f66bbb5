// Patterns of names that speak of structure, and the known ones among them that do not.
#include "scenarios/import/hf_keys.hpp"

#include <algorithm>
#include <array>

namespace depthcost {
namespace {

// Beginnings of words.
constexpr auto kStructural = std::to_array<std::string_view>(
    {"attn",   "attention",    "expert",      "moe",      "mlp",     "ffn",      "layer",
     "window", "rank",         "lora",        "hc_",      "mhc",     "hyper",    "ssm",
     "mamba",  "conv",         "state",       "residual", "stream",  "block",    "sparse",
     "index",  "head",         "kv_",         "kda",      "gdn",     "delta",    "linear",
     "latent", "compress",     "recurren",    "hash",     "engram",  "memory",   "parallel",
     "dense",  "intermediate", "dim",         "cross",    "encoder", "skip",     "loop",
     "repeat", "share",        "hidden_size", "mla",      "quant",   "altup",    "mtp",
     "ngram",  "ple_",         "cca",         "nhead",    "nlayer",  "sublayer", "multihead"});

// Biases, norms, dropout, routing, initial values, generation and training: keys in the configs of
// known model types (ai-dynamo/aiconfigurator @095f58a5 model_configs, GPT-2's, DeepSeek's
// inference configs, the configuration classes of transformers), and the defaults that transformers
// writes with them.
constexpr auto kHarmless = std::to_array<std::string_view>({
    "_attn_implementation",
    "_attn_implementation_autoset",
    "activation_situ_linear_beta",
    "attention_bias",
    "attention_dropout",
    "attention_multiplier",
    "attention_out_bias",
    "attention_softmax_in_fp32",
    "attn_implementation",
    "attn_logit_softcapping",
    "attn_pdrop",
    "attn_scale",
    "attn_temperature_tuning",
    "boi_token_index",
    "compress_rope_theta",
    "dense_list",
    "enable_attention_fp32_softmax",
    "enable_lm_head_fp32",
    "enable_moe_fp32_combine",
    "encoder_no_repeat_ngram_size",
    "eoi_token_index",
    "for_llm_compressor",
    "ignore_index",
    "indexer_rope_interleave",
    "latent_moe_use_norm",
    "lm_head_bias",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "mlp_bias",
    "moe_capacity",
    "moe_drop_tokens",
    "moe_gate",
    "moe_gate_act",
    "moe_norm_min",
    "moe_random_routing_dropped_token",
    "moe_renormalize",
    "moe_router_activation_func",
    "moe_router_dtype",
    "moe_router_enable_expert_bias",
    "moe_router_use_sigmoid",
    "moe_use_aux_free",
    "mtp_loss_scaling_factor",
    "no_repeat_ngram_size",
    "norm_head",
    "num_ln_in_parallel_attn",
    "output_attentions",
    "output_hidden_states",
    "qkv_bias",
    "query_pre_attn_scalar",
    "reorder_and_upcast_attn",
    "residual_dropout",
    "residual_multiplier",
    "rotary_dim",
    "scale_attention_softmax_in_fp32",
    "scale_attn_by_inverse_layer_idx",
    "scale_attn_weights",
    "tie_encoder_decoder",
    "use_parallel_embedding",
});

/// Whether one of the key's words, between underscores, begins with the pattern.
bool has_word(std::string_view key, std::string_view pattern) {
  for (std::size_t at = key.find(pattern); at != std::string_view::npos;
       at = key.find(pattern, at + 1))
    if (at == 0 || key[at - 1] == '_') return true;
  return false;
}

/// Whether the value says that there is none of what the key names. An empty map says so only for
/// pruned heads; elsewhere, as in Mamba's `ssm_cfg`, it stands for defaults. A number or a flag
/// says so only for LoRA, of which InternVL has a rank.
bool is_empty(std::string_view key, const Node& value) {
  if (const auto* scalar = std::get_if<ScalarNode>(&value.content))
    return !scalar->quoted && (scalar->text == "0" || scalar->text == "false") &&
           has_word(key, "lora");
  if (const auto* list = std::get_if<List>(&value.content)) return list->items.empty();
  const auto* map = std::get_if<Map>(&value.content);
  return map != nullptr && map->members.empty() && key == "pruned_heads";
}

// InternVL selects a layer of its vision encoder.
constexpr auto kOtherModalities =
    std::to_array<std::string_view>({"vision", "visual", "image", "img_", "video", "audio", "media",
                                     "mm_", "projector", "select_layer"});

}  // namespace

bool may_change_structure(std::string_view key, const Node& value) {
  if (is_empty(key, value)) return false;
  if (std::find(kHarmless.begin(), kHarmless.end(), key) != kHarmless.end()) return false;
  return std::any_of(kStructural.begin(), kStructural.end(),
                     [&](std::string_view pattern) { return has_word(key, pattern); });
}

bool is_of_another_modality(std::string_view key) {
  return std::any_of(
      kOtherModalities.begin(), kOtherModalities.end(),
      [&](std::string_view pattern) { return key.find(pattern) != std::string_view::npos; });
}

}  // namespace depthcost
