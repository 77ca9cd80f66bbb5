// The table. A model_type that is not here may add what no key shows, such as parallel branches.
#include "scenarios/import/hf_model_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

// An absent key is derived only where the configuration class in transformers computes it from
// other keys. Constants of that class are not taken. No indexer is modelled over latent attention.
// deepseek_v32 and glm_moe_dsa stand here so that the message names the key of their indexer and
// not their model type.
constexpr std::array kModelTypes{
    HfModelType{.name = "deepseek_v2", .attention = AttentionForm::latent},
    HfModelType{.name = "deepseek_v3", .attention = AttentionForm::latent},
    HfModelType{.name = "deepseek_v32", .attention = AttentionForm::latent},
    HfModelType{.name = "deepseek_v4", .attention = AttentionForm::compressed},
    HfModelType{.name = "glm4_moe"},
    HfModelType{.name = "glm_moe_dsa", .attention = AttentionForm::latent},
    HfModelType{.name = "gpt2",
                .head_dim = Absent::derived,
                .kv_heads = Absent::derived,
                .mlp = MlpForm::plain},
    HfModelType{.name = "gpt_oss",
                .window = WindowRule::by_layer_type,
                .expert_width = ExpertWidth::intermediate_size,
                .dtype = AbsentDtype::bf16},
    HfModelType{.name = "kimi_k2", .attention = AttentionForm::latent},
    HfModelType{.name = "kimi_linear", .attention = AttentionForm::hybrid},
    HfModelType{.name = "llama", .head_dim = Absent::derived, .kv_heads = Absent::derived},
    HfModelType{.name = "mistral", .head_dim = Absent::derived, .window = WindowRule::all_layers},
    HfModelType{.name = "mixtral",
                .head_dim = Absent::derived,
                .window = WindowRule::all_layers,
                .expert_width = ExpertWidth::intermediate_size},
    HfModelType{.name = "qwen2", .head_dim = Absent::derived, .window = WindowRule::upper_layers},
    HfModelType{
        .name = "qwen2_moe", .head_dim = Absent::derived, .window = WindowRule::upper_layers},
    HfModelType{.name = "qwen3", .window = WindowRule::upper_layers},
    HfModelType{.name = "qwen3_moe", .window = WindowRule::upper_layers},
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

}  // namespace

HfModelType model_type_of(HfConfig& config) {
  const auto model_type = config.find({"model_type"});
  if (!model_type && config.find({"dim"})) return unnamed_type(config);
  const ConfigValue value = config.at({"model_type"}, "says how the model's layers are built");
  const std::string& word = value.word();
  const auto* type = std::find_if(kModelTypes.begin(), kModelTypes.end(),
                                  [&](const HfModelType& known) { return known.name == word; });
  if (type != kModelTypes.end()) return *type;
  std::vector<std::string> names;
  for (const HfModelType& known : kModelTypes) names.emplace_back(known.name);
  throw InputError(value.position(), fmt::format("unknown {} '{}' (known are {})", value.path(),
                                                 printable(word), fmt::join(names, ", ")));
}

}  // namespace depthcost
