// The table. A model_type that is not here may add what no key shows, such as parallel branches.
#include "scenarios/import/hf_model_types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/import/hf_parts.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kNormsBehind =
    "Outputs of attention and MLP are normalised before they are added; the residual path is "
    "counted as one with a norm of the stream before each layer.";

constexpr std::string_view kGemma4Norms =
    "Outputs of attention and MLP are normalised before they are added; the residual path is "
    "counted as one with a norm of the stream before each layer. Each decoder layer multiplies the "
    "stream by a number, layers with experts normalise it three times, and embeddings for each "
    "layer, where a model has them, add to it. None of this is counted.";

constexpr std::string_view kPerLayerInputs =
    "What the embeddings for each layer add to the copies of the stream is not counted. MLPs are "
    "counted as dense, whatever activation_sparsity_pattern says.";

constexpr std::string_view kIdleExpert = "The expert that does nothing is not counted.";

constexpr std::string_view kMambaStates =
    "The states of Mamba-2 are counted as float32; an engine that keeps them in the model's dtype "
    "needs half of these bytes.";

constexpr std::string_view kIndexKeys =
    "The cache holds keys of the indexer too, in kv_dtype; an engine that keeps "
    "them in fp8 needs fewer bytes.";

// Published configs of these types leave out what their class in transformers has as a default, or
// what its code fixes: Gemma2Config, Gemma3TextConfig, Llama4TextConfig and Llama4TextMoe,
// FalconConfig, GPT2Config, DeepseekV3Config, Glm4MoeConfig. CohereConfig, Cohere2Config and their
// layers, Dots1Config, Glm4MoeLiteConfig, HYV3Config, Mistral4Config, Ministral3Config,
// SmolLM3Config and those that say whether the head is tied (Apertus, Arcee, Ernie4_5, Exaone4,
// Glm4, Granite, GraniteMoe, Nemotron, Olmo3, Starcoder2), Gemma4TextConfig and
// Gemma4UnifiedTextConfig, which has no embeddings for each layer, are as in transformers
// @008e5743, Ernie4_5_MoeConfig as in @001f85b3, HunYuanMoEV1Moe as in @008cd60e, 2026-11-29.
constexpr std::string_view kTiedHead = R"({"tie_word_embeddings": true})";
constexpr std::string_view kOwnHead = R"({"tie_word_embeddings": false})";
constexpr std::string_view kCohereDefaults =
    R"({"tie_word_embeddings": true, "use_parallel_block": true})";
constexpr std::string_view kDots1Defaults =
    R"({"first_k_dense_replace": 0, "max_window_layers": 62})";
constexpr std::string_view kErnieMoeDefaults =
    R"({"moe_layer_start_index": 1, "moe_num_shared_experts": 2, "tie_word_embeddings": true})";
constexpr std::string_view kHunyuanMoeDefaults = R"({"num_shared_expert": 1})";
constexpr std::string_view kMistral4Defaults =
    R"({"first_k_dense_replace": 0, "n_shared_experts": 1})";
constexpr std::string_view kGemmaDefaults = R"({"head_dim": 256, "tie_word_embeddings": true})";
constexpr std::string_view kGemma2Defaults =
    R"({"head_dim": 256, "sliding_window": 4096, "tie_word_embeddings": true})";
constexpr std::string_view kGemma3Defaults =
    R"({"head_dim": 256, "num_attention_heads": 8, "num_key_value_heads": 4,
        "sliding_window": 4096, "tie_word_embeddings": true, "vocab_size": 262208})";
constexpr std::string_view kGemma3nDefaults = R"({"tie_word_embeddings": true})";
constexpr std::string_view kGemma4Defaults =
    R"({"enable_moe_block": false, "global_head_dim": 512, "head_dim": 256,
        "hidden_size_per_layer_input": 256, "num_key_value_heads": 4, "sliding_window": 512, "tie_word_embeddings": true,
        "vocab_size": 262144, "vocab_size_per_layer_input": 262144})";
constexpr std::string_view kGemma4UnifiedDefaults =
    R"({"enable_moe_block": false, "global_head_dim": 512, "head_dim": 256,
        "hidden_size_per_layer_input": 0,
        "num_key_value_heads": 4, "sliding_window": 1024, "tie_word_embeddings": true, "vocab_size": 262144,
        "vocab_size_per_layer_input": 262144})";
constexpr std::string_view kLlama4Defaults = R"({"head_dim": 128, "n_shared_experts": 1})";
constexpr std::string_view kDeepseekV3Defaults =
    R"({"first_k_dense_replace": 3, "n_shared_experts": 1})";
constexpr std::string_view kGlm4Defaults = R"({"first_k_dense_replace": 1, "n_shared_experts": 1})";
constexpr std::string_view kFalconDefaults =
    R"({"multi_query": true, "new_decoder_architecture": false, "parallel_attn": true,
        "tie_word_embeddings": true})";
constexpr std::string_view kFalcon40Defaults =
    R"({"new_decoder_architecture": true, "parallel_attn": true, "tie_word_embeddings": true})";

constexpr HfModelType falcon(std::string_view name, std::string_view defaults) {
  return {.name = name,
          .head_dim = Absent::derived,
          .kv_heads = Absent::falcon,
          .mlp = MlpForm::plain,
          .plain_width = Absent::derived,
          .parallel_key = "parallel_attn",
          .attention_block = "self_attention",
          .defaults = defaults};
}

/// Head size and heads of keys and values follow from other keys, as in Llama.
constexpr HfModelType llama_like(std::string_view name, std::string_view defaults = "{}") {
  return {
      .name = name, .head_dim = Absent::derived, .kv_heads = Absent::derived, .defaults = defaults};
}

constexpr HfModelType without_gate(std::string_view name, Absent kv_heads, WindowRule window,
                                   std::string_view defaults) {
  return {.name = name,
          .head_dim = Absent::derived,
          .kv_heads = kv_heads,
          .window = window,
          .mlp = MlpForm::plain,
          .defaults = defaults};
}

constexpr HfModelType cohere(std::string_view name, WindowRule window) {
  return {.name = name,
          .head_dim = Absent::derived,
          .kv_heads = Absent::derived,
          .window = window,
          .full_every = 4,
          .parallel_key = "use_parallel_block",
          .defaults = kCohereDefaults};
}

constexpr HfModelType qwen2(std::string_view name) {
  return {.name = name, .head_dim = Absent::derived, .window = WindowRule::upper_layers};
}

constexpr HfModelType qwen3(std::string_view name) {
  return {.name = name, .window = WindowRule::upper_layers};
}

constexpr HfModelType bailing(std::string_view name) {
  return {.name = name,
          .head_dim = Absent::derived,
          .window = WindowRule::listed,
          .attention_block = "attention"};
}

constexpr HfModelType hunyuan(std::string_view name, std::string_view defaults = "{}") {
  return {.name = name,
          .head_dim = Absent::derived,
          .kv_heads = Absent::derived,
          .is_hunyuan = true,
          .defaults = defaults};
}

constexpr HfModelType gemma2(std::string_view name) {
  return {.name = name,
          .window = WindowRule::between,
          .full_every = 2,
          .defaults = kGemma2Defaults,
          .remark = kNormsBehind};
}

constexpr HfModelType gemma3(std::string_view name) {
  return {.name = name,
          .window = WindowRule::between,
          .full_every = 6,
          .defaults = kGemma3Defaults,
          .remark = kNormsBehind};
}

constexpr HfModelType gemma3n(std::string_view name) {
  return {.name = name,
          .window = WindowRule::between,
          .full_every = 5,
          .shares_key_values = true,
          .tables = Tables::per_layer,
          .defaults = kGemma3nDefaults,
          .remark = kPerLayerInputs};
}

constexpr HfModelType gemma4(std::string_view name, std::string_view defaults) {
  return {.name = name,
          .window = WindowRule::between,
          .full_every = 6,
          .shares_key_values = true,
          .tables = Tables::per_layer,
          .is_gemma4 = true,
          .defaults = defaults,
          .remark = kGemma4Norms};
}

constexpr HfModelType llama4(std::string_view name) {
  return {.name = name,
          .window = WindowRule::chunks,
          .full_every = 4,
          .expert_width = ExpertWidth::intermediate_size,
          .defaults = kLlama4Defaults};
}

constexpr HfModelType minimax_m3(std::string_view name) {
  return {.name = name,
          .indexer = Indexing::present,
          .expert_width = ExpertWidth::intermediate_size,
          .dtype = AbsentDtype::bf16,
          .remark = kIndexKeys};
}

constexpr HfModelType with_gated_delta(std::string_view name) {
  return {.name = name, .attention = AttentionForm::gated_delta};
}

constexpr HfModelType with_indexer(std::string_view name) {
  return {.name = name,
          .attention = AttentionForm::latent,
          .indexer = Indexing::present,
          .remark = kIndexKeys};
}

constexpr HfModelType glm5_next(std::string_view name) {
  return {.name = name,
          .attention = AttentionForm::hybrid,
          .indexer = Indexing::present,
          .first_layer = 0,
          .drafter = Drafter::next_token,
          .streams = "mhc_mean_exit",
          .remark = kIndexKeys};
}

constexpr HfModelType qwen4_exp(std::string_view name) {
  return {
      .name = name,
      .attention = AttentionForm::gated_delta,
      .indexer = Indexing::present,
      .tables = Tables::ngram,
      .drafter = Drafter::next_token,
      .has_mtp_map = true,
      .remark =
          "What n-grams add to the streams, once in the model, is not counted, nor the streams of "
          "the layer that drafts."};
}

constexpr HfModelType deepseek_v41(std::string_view name) {
  return {.name = name,
          .attention = AttentionForm::shared_compressed,
          .tables = Tables::engram,
          .drafter = Drafter::dspark,
          .streams = "single_pass_mhc",
          .remark =
              "What n-grams add to the streams, once for each table, is not counted, nor what the "
              "layers that draft take in. The cache is counted in fp8; the model's own is fp4 in "
              "summaries."};
}

// An absent key is derived only where the configuration class in transformers computes it from
// other keys, or is a default of that class above. The name of a whole model stands beside that of
// its decoder: some configs write only the first.
constexpr std::array kModelTypes{
    falcon("RefinedWeb", kFalcon40Defaults),
    falcon("RefinedWebModel", kFalconDefaults),
    without_gate("apertus", Absent::derived, WindowRule::none, kOwnHead),
    without_gate("arcee", Absent::derived, WindowRule::none, kOwnHead),
    bailing("bailing_moe"),
    bailing("bailing_moe_v2"),
    HfModelType{.name = "bamba",
                .attention = AttentionForm::mamba,
                .head_dim = Absent::derived,
                .defaults = kOwnHead,
                .remark = kMambaStates},
    cohere("cohere", WindowRule::none),
    cohere("cohere2", WindowRule::between),
    HfModelType{.name = "deepseek_v2", .attention = AttentionForm::latent},
    HfModelType{
        .name = "deepseek_v3", .attention = AttentionForm::latent, .defaults = kDeepseekV3Defaults},
    with_indexer("deepseek_v32"),
    HfModelType{.name = "deepseek_v4", .attention = AttentionForm::compressed},
    deepseek_v41("deepseek_v41"),
    deepseek_v41("deepseek_v41_text"),
    HfModelType{.name = "dots1",
                .head_dim = Absent::derived,
                .window = WindowRule::upper_always,
                .defaults = kDots1Defaults},
    HfModelType{.name = "ernie4_5", .defaults = kTiedHead},
    HfModelType{.name = "ernie4_5_moe", .head_dim = Absent::derived, .defaults = kErnieMoeDefaults},
    HfModelType{.name = "exaone4",
                .head_dim = Absent::derived,
                .window = WindowRule::between,
                .full_every = 4,
                .defaults = kOwnHead,
                .remark = kNormsBehind},
    falcon("falcon", kFalconDefaults),
    gemma2("gemma2"),
    gemma3("gemma3"),
    gemma3("gemma3_text"),
    gemma3n("gemma3n"),
    gemma3n("gemma3n_text"),
    gemma4("gemma4", kGemma4Defaults),
    gemma4("gemma4_text", kGemma4Defaults),
    gemma4("gemma4_unified", kGemma4UnifiedDefaults),
    gemma4("gemma4_unified_text", kGemma4UnifiedDefaults),
    HfModelType{.name = "glm4", .defaults = kOwnHead, .remark = kNormsBehind},
    HfModelType{.name = "glm4_moe", .defaults = kGlm4Defaults},
    HfModelType{
        .name = "glm4_moe_lite", .attention = AttentionForm::latent, .defaults = kGlm4Defaults},
    glm5_next("glm5_next"),
    glm5_next("glm5_next_text"),
    with_indexer("glm_moe_dsa"),
    HfModelType{.name = "gpt2",
                .head_dim = Absent::derived,
                .kv_heads = Absent::derived,
                .mlp = MlpForm::plain,
                .plain_width = Absent::derived,
                .dtype = AbsentDtype::bf16,
                .defaults = kTiedHead},
    HfModelType{.name = "gpt_oss",
                .window = WindowRule::by_layer_type,
                .expert_width = ExpertWidth::intermediate_size,
                .dtype = AbsentDtype::bf16},
    llama_like("granite", kOwnHead),
    HfModelType{.name = "granitemoe",
                .head_dim = Absent::derived,
                .kv_heads = Absent::derived,
                .expert_width = ExpertWidth::intermediate_size,
                .defaults = kOwnHead},
    HfModelType{.name = "granitemoehybrid",
                .attention = AttentionForm::mamba,
                .head_dim = Absent::derived,
                .expert_width = ExpertWidth::intermediate_size,
                .defaults = kTiedHead,
                .remark = kMambaStates},
    hunyuan("hunyuan_v1_dense"),
    hunyuan("hunyuan_v1_moe", kHunyuanMoeDefaults),
    HfModelType{.name = "hy_v3", .dtype = AbsentDtype::bf16, .defaults = kGlm4Defaults},
    HfModelType{
        .name = "kimi_k2", .attention = AttentionForm::latent, .defaults = kDeepseekV3Defaults},
    HfModelType{.name = "kimi_linear", .attention = AttentionForm::hybrid},
    llama_like("llama"),
    llama4("llama4"),
    llama4("llama4_text"),
    qwen2("mimo"),
    HfModelType{.name = "minimax_m2",
                .expert_width = ExpertWidth::intermediate_size,
                .dtype = AbsentDtype::bf16},
    minimax_m3("minimax_m3"),
    minimax_m3("minimax_m3_vl"),
    minimax_m3("minimax_m3_vl_text"),
    HfModelType{
        .name = "ministral3", .window = WindowRule::all_layers, .defaults = R"({"head_dim": 128})"},
    HfModelType{.name = "mistral", .head_dim = Absent::derived, .window = WindowRule::all_layers},
    HfModelType{
        .name = "mistral4", .attention = AttentionForm::latent, .defaults = kMistral4Defaults},
    HfModelType{.name = "mixtral",
                .head_dim = Absent::derived,
                .window = WindowRule::all_layers,
                .expert_width = ExpertWidth::intermediate_size},
    without_gate("nemotron", Absent::derived, WindowRule::none, kOwnHead),
    HfModelType{.name = "olmo2",
                .head_dim = Absent::derived,
                .kv_heads = Absent::derived,
                .remark = kNormsBehind},
    HfModelType{.name = "olmo3",
                .head_dim = Absent::derived,
                .kv_heads = Absent::derived,
                .window = WindowRule::between,
                .full_every = 4,
                .defaults = kOwnHead,
                .remark = kNormsBehind},
    HfModelType{.name = "phi3",
                .head_dim = Absent::derived,
                .kv_heads = Absent::derived,
                .window = WindowRule::all_layers},
    HfModelType{.name = "phimoe",
                .head_dim = Absent::derived,
                .window = WindowRule::all_layers,
                .expert_width = ExpertWidth::intermediate_size},
    qwen2("qwen2"),
    qwen2("qwen2_5_vl"),
    qwen2("qwen2_5_vl_text"),
    qwen2("qwen2_moe"),
    qwen2("qwen2_vl"),
    qwen2("qwen2_vl_text"),
    qwen3("qwen3"),
    with_gated_delta("qwen3_5"),
    with_gated_delta("qwen3_5_moe"),
    with_gated_delta("qwen3_5_moe_text"),
    with_gated_delta("qwen3_5_text"),
    qwen3("qwen3_moe"),
    with_gated_delta("qwen3_next"),
    qwen3("qwen3_vl"),
    qwen3("qwen3_vl_moe"),
    qwen3("qwen3_vl_moe_text"),
    qwen3("qwen3_vl_text"),
    qwen4_exp("qwen4_exp"),
    qwen4_exp("qwen4_exp_text"),
    HfModelType{.name = "seed_oss"},
    HfModelType{.name = "smollm3",
                .head_dim = Absent::derived,
                .window = WindowRule::listed,
                .defaults = R"({"num_key_value_heads": 4, "tie_word_embeddings": true})"},
    without_gate("starcoder2", Absent::refused, WindowRule::all_layers, kTiedHead),
    HfModelType{
        .name = "zaya", .is_zaya = true, .scheme = "residual_scaling", .remark = kIdleExpert},
};

struct OtherDefaults {
  std::string_view name;
  std::string_view defaults;
};

// Types that have no row above, and are read as one that has: the configuration classes in
// transformers @008e5743, StableLM's @05cd1ec1, 2026-11-29.
constexpr std::array kOtherDefaults{
    OtherDefaults{"gemma", kGemmaDefaults},
    OtherDefaults{"stablelm", kOwnHead},
};

/// DeepSeek's inference configs and Meta's params.json name no model_type; both write `dim`.
HfModelType unnamed_type(HfConfig& config) {
  HfModelType type{.name = "configs with 'dim'",
                   .head_dim = Absent::derived,
                   .kv_heads = Absent::derived,
                   .dtype = AbsentDtype::bf16};
  if (config.find({"kv_lora_rank"})) type.attention = AttentionForm::latent;
  return type;
}

const HfModelType* find_type(std::string_view name) {
  const auto* type = std::find_if(kModelTypes.begin(), kModelTypes.end(),
                                  [&](const HfModelType& known) { return known.name == name; });
  return type == kModelTypes.end() ? nullptr : type;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const HfModelType& known : kModelTypes) names.emplace_back(known.name);
  return names;
}

std::size_t common_letters(std::string_view a, std::string_view b) {
  const auto differing = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(differing.first - a.begin());
}

/// The attention that the keys of a config are of.
AttentionForm attention_in(HfConfig& config) {
  if (config.find({"linear_attn_config"})) return AttentionForm::hybrid;
  if (config.find({"linear_key_head_dim"})) return AttentionForm::gated_delta;
  if (config.find({"mamba_d_state"})) return AttentionForm::mamba;
  if (config.find({"kv_source_layer_ids"})) return AttentionForm::shared_compressed;
  if (config.find({"compress_ratios"})) return AttentionForm::compressed;
  return config.find({"kv_lora_rank"}) ? AttentionForm::latent : AttentionForm::grouped;
}

/// Whether the keys of a config are those by which the type says which layers see a window.
bool has_same_windows(HfConfig& config, WindowRule rule) {
  const bool has_window = config.find({"sliding_window"}).has_value();
  if (config.find({"attention_chunk_size"}) || rule == WindowRule::chunks)
    return config.find({"attention_chunk_size"}) && rule == WindowRule::chunks;
  if (config.find({"layer_types"})) return true;
  if (config.find({"use_sliding_window"}))
    return rule == WindowRule::upper_layers || rule == WindowRule::listed;
  switch (rule) {
    case WindowRule::none:
    case WindowRule::upper_layers:
    case WindowRule::listed:
      return !has_window;
    case WindowRule::all_layers:
      return !config.find({"sliding_window_pattern"});
    case WindowRule::upper_always:
    case WindowRule::by_layer_type:
    case WindowRule::between:
    case WindowRule::chunks:
      break;
  }
  return has_window && config.find({"sliding_window_pattern"});
}

/// Whether the keys of a config give an expert's width, or none, as the type has it. What the type
/// takes from its class may not hold for another.
bool has_same_experts(HfConfig& config, const HfModelType& type) {
  const auto takes = [&](std::string_view key) {
    return type.defaults.find(key) != std::string_view::npos;
  };
  const bool takes_layers = takes("first_k_dense") || takes("start_index");
  const bool takes_shared = takes("shared_expert");
  if (!config.find(kExpertKeys))
    return type.expert_width == ExpertWidth::own_key && !takes_layers && !takes_shared;
  const bool has_own_key = config.find(kExpertWidthKeys).has_value();
  return has_own_key == (type.expert_width == ExpertWidth::own_key) &&
         (!takes_layers || config.find(kLeadingDenseKeys)) &&
         (!takes_shared || config.find(kSharedExpertKeys));
}

/// Whether all that keys can say of attention, windows and MLPs is alike. No key says whether an
/// MLP has a gate: with SiLU each known one has. Streams and tables of their own are no guess.
bool may_be_read_as(HfConfig& config, const HfModelType& type) {
  const auto activation = config.find({"hidden_act"});
  return activation && activation->text() == "silu" && type.mlp == MlpForm::gated &&
         type.attention == attention_in(config) && type.indexer == Indexing::absent &&
         !type.shares_key_values && !type.is_zaya && type.tables == Tables::none &&
         (type.parallel_key.empty() || config.find({type.parallel_key})) &&
         has_same_windows(config, type.window) && has_same_experts(config, type);
}

/// The types that the config may be read as and whose names begin most like the word. Among equals,
/// those that fewest edits lead to. Two letters may be alike by chance.
std::vector<std::string> nearest_names(HfConfig& config, std::string_view word) {
  constexpr std::size_t kNumShown = 3;
  constexpr std::size_t kMinCommon = 3;
  std::vector<std::string> names;
  for (const HfModelType& type : kModelTypes)
    if (common_letters(word, type.name) >= kMinCommon && may_be_read_as(config, type))
      names.emplace_back(type.name);
  const auto rank = [&](const std::string& name) {
    return std::pair(word.size() - common_letters(word, name), edit_distance(word, name));
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  names.resize(std::min(names.size(), kNumShown));
  return names;
}

[[noreturn]] void fail_unknown(HfConfig& config, const ConfigValue& value) {
  const std::vector<std::string> near = nearest_names(config, value.word());
  const std::string start = fmt::format("unknown {} '{}'", value.path(), printable(value.word()));
  if (near.empty())
    throw InputError(
        value.position(),
        fmt::format("{} (if its layers are built like those of a known type, name that: depthcost "
                    "import {} --as TYPE; known are {})",
                    start, config.label(), fmt::join(known_names(), ", ")));
  throw InputError(
      value.position(),
      fmt::format("{} (nearest {} {}; if its layers are built like those of {}, say so: depthcost "
                  "import {} --as {})",
                  start, near.size() == 1 ? "is" : "are", fmt::join(near, ", "),
                  near.size() == 1 ? near.front() : "one of them", config.label(), near.front()));
}

HfModelType asked_type(std::string_view family) {
  const HfModelType* type = find_type(family);
  if (type != nullptr) return *type;
  const std::vector<std::string> names = known_names();
  throw InputError({"--as", 1, 1},
                   fmt::format("unknown family '{}'{} (known are {})", printable(family),
                               did_you_mean(family, names), fmt::join(names, ", ")));
}

}  // namespace

std::optional<std::string_view> defaults_of(std::string_view model_type) {
  if (const HfModelType* type = find_type(model_type)) return type->defaults;
  const auto* other =
      std::find_if(kOtherDefaults.begin(), kOtherDefaults.end(),
                   [&](const OtherDefaults& known) { return known.name == model_type; });
  if (other == kOtherDefaults.end()) return std::nullopt;
  return other->defaults;
}

HfModelType model_type_of(HfConfig& config, std::string_view family) {
  const auto model_type = config.find({"model_type"});
  if (!family.empty()) return asked_type(family);
  if (!model_type && config.find({"dim"})) return unnamed_type(config);
  const ConfigValue value = config.at({"model_type"}, "says how the model's layers are built");
  const HfModelType* type = find_type(value.word());
  if (type == nullptr) fail_unknown(config, value);
  return *type;
}

}  // namespace depthcost
