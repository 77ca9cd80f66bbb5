// The table. A model_type that is not here may add what no key shows, such as parallel branches.
#include "scenarios/import/hf_model_types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kNormsBehind =
    "Outputs of attention and MLP are normalised before they are added; the residual path is "
    "counted as one with a norm of the stream before each layer.";

constexpr std::string_view kPerLayerInputs =
    "What the embeddings for each layer add to the copies of the stream is not counted. MLPs are "
    "counted as dense, whatever activation_sparsity_pattern says.";

constexpr std::string_view kIdleExpert = "The expert that does nothing is not counted.";

constexpr std::string_view kIndexKeys =
    "The cache holds keys of the indexer too, in kv_dtype; an engine that keeps "
    "them in fp8 needs fewer bytes.";

// Published configs of these types leave out what their class in transformers has as a default, or
// what its code fixes: Gemma2Config, Gemma3TextConfig, Llama4TextConfig and Llama4TextMoe,
// FalconConfig, GPT2Config, DeepseekV3Config, Glm4MoeConfig.
constexpr std::string_view kGemmaDefaults = R"({"head_dim": 256, "tie_word_embeddings": true})";
constexpr std::string_view kGemma2Defaults =
    R"({"head_dim": 256, "sliding_window": 4096, "tie_word_embeddings": true})";
constexpr std::string_view kGemma3Defaults =
    R"({"head_dim": 256, "num_attention_heads": 8, "num_key_value_heads": 4,
        "sliding_window": 4096, "tie_word_embeddings": true, "vocab_size": 262208})";
constexpr std::string_view kGemma3nDefaults = R"({"tie_word_embeddings": true})";
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

constexpr HfModelType llama4(std::string_view name) {
  return {.name = name,
          .window = WindowRule::chunks,
          .full_every = 4,
          .expert_width = ExpertWidth::intermediate_size,
          .defaults = kLlama4Defaults};
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
    HfModelType{.name = "deepseek_v2", .attention = AttentionForm::latent},
    HfModelType{
        .name = "deepseek_v3", .attention = AttentionForm::latent, .defaults = kDeepseekV3Defaults},
    with_indexer("deepseek_v32"),
    HfModelType{.name = "deepseek_v4", .attention = AttentionForm::compressed},
    deepseek_v41("deepseek_v41"),
    deepseek_v41("deepseek_v41_text"),
    falcon("falcon", kFalconDefaults),
    gemma2("gemma2"),
    gemma3("gemma3"),
    gemma3("gemma3_text"),
    gemma3n("gemma3n"),
    gemma3n("gemma3n_text"),
    HfModelType{.name = "glm4_moe", .defaults = kGlm4Defaults},
    glm5_next("glm5_next"),
    glm5_next("glm5_next_text"),
    with_indexer("glm_moe_dsa"),
    HfModelType{.name = "gpt2",
                .head_dim = Absent::derived,
                .kv_heads = Absent::derived,
                .mlp = MlpForm::plain,
                .dtype = AbsentDtype::bf16,
                .defaults = R"({"tie_word_embeddings": true})"},
    HfModelType{.name = "gpt_oss",
                .window = WindowRule::by_layer_type,
                .expert_width = ExpertWidth::intermediate_size,
                .dtype = AbsentDtype::bf16},
    HfModelType{
        .name = "kimi_k2", .attention = AttentionForm::latent, .defaults = kDeepseekV3Defaults},
    HfModelType{.name = "kimi_linear", .attention = AttentionForm::hybrid},
    HfModelType{.name = "llama", .head_dim = Absent::derived, .kv_heads = Absent::derived},
    llama4("llama4"),
    llama4("llama4_text"),
    HfModelType{.name = "minimax_m2",
                .expert_width = ExpertWidth::intermediate_size,
                .dtype = AbsentDtype::bf16},
    HfModelType{.name = "mistral", .head_dim = Absent::derived, .window = WindowRule::all_layers},
    HfModelType{.name = "mixtral",
                .head_dim = Absent::derived,
                .window = WindowRule::all_layers,
                .expert_width = ExpertWidth::intermediate_size},
    HfModelType{.name = "olmo2",
                .head_dim = Absent::derived,
                .kv_heads = Absent::derived,
                .remark = kNormsBehind},
    HfModelType{.name = "phi3",
                .head_dim = Absent::derived,
                .kv_heads = Absent::derived,
                .window = WindowRule::all_layers},
    HfModelType{.name = "qwen2", .head_dim = Absent::derived, .window = WindowRule::upper_layers},
    HfModelType{
        .name = "qwen2_moe", .head_dim = Absent::derived, .window = WindowRule::upper_layers},
    HfModelType{.name = "qwen3", .window = WindowRule::upper_layers},
    with_gated_delta("qwen3_5"),
    with_gated_delta("qwen3_5_moe"),
    with_gated_delta("qwen3_5_moe_text"),
    with_gated_delta("qwen3_5_text"),
    HfModelType{.name = "qwen3_moe", .window = WindowRule::upper_layers},
    with_gated_delta("qwen3_next"),
    qwen4_exp("qwen4_exp"),
    qwen4_exp("qwen4_exp_text"),
    HfModelType{.name = "seed_oss"},
    HfModelType{
        .name = "zaya", .is_zaya = true, .scheme = "residual_scaling", .remark = kIdleExpert},
};

struct OtherDefaults {
  std::string_view name;
  std::string_view defaults;
};

constexpr std::string_view kTiedHead = R"({"tie_word_embeddings": true})";
constexpr std::string_view kOwnHead = R"({"tie_word_embeddings": false})";

// Types that have no row above, and are read as one that has: the configuration classes in
// transformers @008e5743, StableLM's @05cd1ec1, 2026-11-29.
constexpr std::array kOtherDefaults{
    OtherDefaults{"cohere", kTiedHead},   OtherDefaults{"cohere2", kTiedHead},
    OtherDefaults{"ernie4_5", kTiedHead}, OtherDefaults{"gemma", kGemmaDefaults},
    OtherDefaults{"glm4", kOwnHead},      OtherDefaults{"granite", kOwnHead},
    OtherDefaults{"olmo3", kOwnHead},     OtherDefaults{"smollm3", kTiedHead},
    OtherDefaults{"stablelm", kOwnHead},  OtherDefaults{"starcoder2", kTiedHead},
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

/// The names that begin most like the word; of equals those that fewest edits lead to.
std::vector<std::string> nearest_names(std::string_view word) {
  constexpr std::size_t kNumShown = 3;
  std::vector<std::string> names = known_names();
  const auto rank = [&](const std::string& name) {
    return std::pair(word.size() - common_letters(word, name), edit_distance(word, name));
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  names.resize(kNumShown);
  return names;
}

[[noreturn]] void fail_unknown(const HfConfig& config, const ConfigValue& value) {
  const std::vector<std::string> near = nearest_names(value.word());
  throw InputError(
      value.position(),
      fmt::format("unknown {} '{}' (nearest are {}; if its layers are built like those of one of "
                  "them, say so: depthcost import {} --as {})",
                  value.path(), printable(value.word()), fmt::join(near, ", "), config.label(),
                  near.front()));
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
