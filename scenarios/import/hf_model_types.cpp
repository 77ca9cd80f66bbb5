// The table. A model_type that is not here may add what no key shows, such as parallel branches.
#include "scenarios/import/hf_families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

// What stands in for absent keys is what the family's configuration class in transformers computes
// from the others; a constant of that class is not taken.
// deepseek_v32 and glm_moe_dsa stand here so that the key of their indexer is what stops them: none
// is modelled over latent attention.
constexpr std::array kFamilies{
    HfFamily{.model_type = "deepseek_v2", .attention = AttentionForm::latent},
    HfFamily{.model_type = "deepseek_v3", .attention = AttentionForm::latent},
    HfFamily{.model_type = "deepseek_v32", .attention = AttentionForm::latent},
    HfFamily{.model_type = "deepseek_v4", .attention = AttentionForm::compressed},
    HfFamily{.model_type = "glm4_moe"},
    HfFamily{.model_type = "glm_moe_dsa", .attention = AttentionForm::latent},
    HfFamily{.model_type = "gpt2",
             .head_dim = Absent::derived,
             .kv_heads = Absent::derived,
             .mlp = MlpForm::plain},
    HfFamily{.model_type = "gpt_oss",
             .window = WindowRule::by_layer_type,
             .expert_width = ExpertWidth::intermediate_size,
             .dtype = AbsentDtype::bf16},
    HfFamily{.model_type = "kimi_k2", .attention = AttentionForm::latent},
    HfFamily{.model_type = "kimi_linear", .attention = AttentionForm::hybrid},
    HfFamily{.model_type = "llama", .head_dim = Absent::derived, .kv_heads = Absent::derived},
    HfFamily{
        .model_type = "mistral", .head_dim = Absent::derived, .window = WindowRule::all_layers},
    HfFamily{.model_type = "mixtral",
             .head_dim = Absent::derived,
             .window = WindowRule::all_layers,
             .expert_width = ExpertWidth::intermediate_size},
    HfFamily{
        .model_type = "qwen2", .head_dim = Absent::derived, .window = WindowRule::upper_layers},
    HfFamily{
        .model_type = "qwen2_moe", .head_dim = Absent::derived, .window = WindowRule::upper_layers},
    HfFamily{.model_type = "qwen3", .window = WindowRule::upper_layers},
    HfFamily{.model_type = "qwen3_moe", .window = WindowRule::upper_layers},
};

/// DeepSeek's inference configs and Meta's params.json name no model_type; both write `dim`.
HfFamily unnamed_family(HfConfig& config) {
  HfFamily family{.model_type = "configs with 'dim'",
                  .head_dim = Absent::derived,
                  .kv_heads = Absent::derived,
                  .dtype = AbsentDtype::bf16};
  if (config.find({"kv_lora_rank"})) family.attention = AttentionForm::latent;
  return family;
}

}  // namespace

HfFamily family_of(HfConfig& config) {
  const auto model_type = config.find({"model_type"});
  if (!model_type && config.find({"dim"})) return unnamed_family(config);
  const ConfigValue value = config.at({"model_type"}, "the family of the model");
  const std::string& word = value.word();
  const auto* family = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const HfFamily& known) {
    return known.model_type == word;
  });
  if (family != kFamilies.end()) return *family;
  std::vector<std::string> names;
  for (const HfFamily& known : kFamilies) names.emplace_back(known.model_type);
  throw InputError(value.position(), fmt::format("unknown {} '{}' (known are {})", value.path(),
                                                 printable(word), fmt::join(names, ", ")));
}

}  // namespace depthcost
