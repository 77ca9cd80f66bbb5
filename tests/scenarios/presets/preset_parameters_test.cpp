// The parts of a shipped model add up to the number of parameters that its authors give.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "model/step/layer_cost.hpp"
#include "scenarios/import/architecture.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/presets/reference.hpp"
#include "tests/model/step/mlp_weights.hpp"

namespace depthcost::preset_parameters_test {
namespace {

struct Counted {
  double total = 0;
  double active = 0;
};

/// Whether the authors count the embedding, of which a token reads one row, as active. `absent`:
/// they do not count the output head either.
enum class Embedding { active, looked_up, absent };

/// Weights of matrices and convolutions; norms and biases are left out.
Counted count_weights(const Architecture& architecture, double hidden_size, Embedding embedding) {
  Counted counted;
  for (const AttentionLayers& layers : architecture.attention) {
    const double weights = num_weights(layers.attention, hidden_size);
    counted.total += static_cast<double>(layers.num_decoder_layers) * weights;
    counted.active += static_cast<double>(layers.num_decoder_layers) * weights;
  }
  for (const MlpLayers& layers : architecture.mlp) {
    const auto number = static_cast<double>(layers.num_decoder_layers);
    counted.total += number * test::num_all_weights(layers.mlp, hidden_size);
    counted.active += number * test::num_active_weights(layers.mlp, hidden_size);
  }
  const double projections = num_projections(architecture.tables);
  counted.total += projections + num_looked_up(architecture.tables);
  counted.active += projections;
  const double table = static_cast<double>(architecture.vocabulary_size) * hidden_size;
  const double heads = embedding == Embedding::absent ? 0 : 1;
  return {counted.total + (architecture.output_head == OutputHead::tied ? 1 : 2) * table,
          counted.active + (heads + (embedding == Embedding::active ? 1 : 0)) * table};
}

/// Exact: derived from the same shapes, so that only norms are missing. Else the authors round.
struct Case {
  std::string model;
  double total_tolerance = 0.001;
  double active_tolerance = 0.001;
  Embedding embedding = Embedding::active;
};

std::ostream& operator<<(std::ostream& out, const Case& row) { return out << row.model; }

class ShippedArchitectures : public testing::TestWithParam<Case> {};

TEST_P(ShippedArchitectures, AddUpToTheParametersOfTheModel) {
  const Values values = preset_values(GetParam().model, model_reference());
  std::vector<ResolvedValue> notes;
  const auto architecture = architecture_from(values, 2 * values.count("decoder_layers"), notes);
  ASSERT_TRUE(architecture);
  const Counted counted =
      count_weights(*architecture, values.number("hidden_size"), GetParam().embedding);
  const double total = values.number("total_parameters");
  EXPECT_NEAR(counted.total / total, 1, GetParam().total_tolerance) << counted.total;
  if (!values.has("active_parameters")) return;
  const double active = values.number("active_parameters");
  EXPECT_NEAR(counted.active / active, 1, GetParam().active_tolerance) << counted.active;
}

INSTANTIATE_TEST_SUITE_P(Exact, ShippedArchitectures,
                         testing::Values(Case{"llama_3_1_8b"}, Case{"llama_3_1_70b"},
                                         Case{"llama_3_1_405b"}, Case{"qwen3_32b"},
                                         Case{"qwen3_235b"}, Case{"gpt_oss_120b"},
                                         Case{"mixtral_8x7b"}),
                         [](const auto& row) { return row.param.model; });

INSTANTIATE_TEST_SUITE_P(Rounded, ShippedArchitectures,
                         testing::Values(Case{"deepseek_v3", 0.001, 0.02, Embedding::looked_up},
                                         Case{"kimi_k2", 0.02, 0.02, Embedding::looked_up},
                                         Case{"kimi_k3", 0.001, 0.001, Embedding::looked_up},
                                         // 48B-A3B is its name; the shapes make 49.1B and 3.1B.
                                         Case{"kimi_linear_48b", 0.025, 0.04, Embedding::looked_up},
                                         Case{"deepseek_v4_pro", 0.02, 0.02, Embedding::looked_up},
                                         Case{"deepseek_v4_flash", 0.001, 0.02,
                                              Embedding::looked_up}),
                         [](const auto& row) { return row.param.model; });

// What is not in the parts: of Qwen3.8-Flash-Next 0.25 % for vision, 1.4 % for multi-token
// prediction and 0.36 % for the streams; of GLM-5.3-Flash 2.3 % for multi-token prediction; of
// DeepSeek-V4.1-Flash 1.8 % for what drafts tokens. Gemma 3n names no active parameters.
INSTANTIATE_TEST_SUITE_P(
    WithoutDrafters, ShippedArchitectures,
    testing::Values(Case{"qwen3_8_flash_next", 0.021, 0.01, Embedding::looked_up},
                    Case{"glm_5_3_flash", 0.025, 0.04, Embedding::active},
                    Case{"deepseek_v4_1_flash", 0.02, 0.03, Embedding::looked_up},
                    Case{"gemma_3n_e2b", 0.02}, Case{"gemma_3n_e4b", 0.02},
                    Case{"zaya1_8b", 0.001, 0.02, Embedding::absent}),
    [](const auto& row) { return row.param.model; });

TEST(ShippedArchitectures, AreThoseOfAllModelsWhosePartsAreKnown) {
  std::vector<std::string> without;
  for (const std::string& id : preset_ids("models"))
    if (!preset_values(id, model_reference()).has_records("attention")) without.push_back(id);
  // Only depth and width of the paper's own models are public.
  EXPECT_EQ(without, (std::vector<std::string>{"attnres_194m", "attnres_241m", "attnres_296m",
                                               "attnres_436m", "attnres_528m", "attnres_l128"}));
}

}  // namespace
}  // namespace depthcost::preset_parameters_test
