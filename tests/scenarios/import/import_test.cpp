// From config.json to a model file: the shipped presets come back, and each trap of a model type
// has a test. Configs are small ones with the keys of their model types. Errors are in
// import_errors_test.cpp.
#include "scenarios/import/import.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/presets/reference.hpp"
#include "scenarios/read/scenario.hpp"
#include "tests/scenarios/import/imported_records.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::import_test {
namespace {

using test::records_of;

std::string path_of(const std::string& config) {
  return fmt::format("{}/tests/scenarios/configs/{}.json", DEPTHCOST_SOURCE_DIR, config);
}

ImportedModel imported(const std::string& config) { return load_config(path_of(config)); }

/// The config with one piece of its text replaced.
ImportedModel edited(const std::string& config, const std::string& piece,
                     const std::string& replacement) {
  std::string text = test::content_of(path_of(config));
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return import_config(text.replace(at, piece.size(), replacement), "it.json");
}

using Edits = std::vector<std::pair<std::string, std::string>>;

/// The config with several pieces of its text replaced.
ImportedModel edited(const std::string& config, const Edits& edits) {
  std::string text = test::content_of(path_of(config));
  for (const auto& [piece, replacement] : edits) {
    const std::size_t at = text.find(piece);
    EXPECT_NE(at, std::string::npos) << piece;
    text.replace(at, piece.size(), replacement);
  }
  return import_config(text, "it.json");
}

/// "word, word, ..." for so many layers, as JSON writes it.
std::string repeated(const std::string& word, int num_layers) {
  std::string words = word;
  for (int i = 1; i < num_layers; ++i) words += ", " + word;
  return words;
}

using Texts = std::map<std::string, std::string>;

/// What a model file says, without its names, its sources, and the parameter counts that no config
/// holds.
Texts model_values(const Values& values) {
  Texts texts;
  for (const auto& [path, value] : values.all())
    if (path != "schema" && path != "name" && !path.ends_with("_parameters"))
      texts[path] = value.texts.front();
  return texts;
}

Texts texts_of(const ImportedModel& model) { return model_values(to_values(model)); }

using Lines = std::vector<std::string>;

// --- the shipped presets ---

struct Preset {
  std::string config;
  std::string model;
};

std::ostream& operator<<(std::ostream& out, const Preset& row) { return out << row.config; }

class ImportedConfig : public testing::TestWithParam<Preset> {};

TEST_P(ImportedConfig, GivesTheValuesOfThePresetBack) {
  EXPECT_EQ(texts_of(imported(GetParam().config)),
            model_values(preset_values(GetParam().model, model_reference())));
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, ImportedConfig,
    testing::Values(
        Preset{"deepseek_v3", "deepseek_v3"}, Preset{"deepseek_v4_1_flash", "deepseek_v4_1_flash"},
        Preset{"gemma_3n_e2b", "gemma_3n_e2b"}, Preset{"gemma_3n_e4b", "gemma_3n_e4b"},
        Preset{"glm_5_3_flash", "glm_5_3_flash"},
        Preset{"qwen3_8_flash_next", "qwen3_8_flash_next"}, Preset{"zaya1_8b", "zaya1_8b"},
        Preset{"deepseek_v3_inference", "deepseek_v3"},
        Preset{"deepseek_v4_flash", "deepseek_v4_flash"},
        Preset{"deepseek_v4_pro", "deepseek_v4_pro"}, Preset{"gpt_oss_120b", "gpt_oss_120b"},
        Preset{"kimi_k2", "kimi_k2"}, Preset{"kimi_k3", "kimi_k3"},
        Preset{"kimi_linear_48b_attnres", "kimi_linear_48b"},
        Preset{"llama_3_1_405b", "llama_3_1_405b"}, Preset{"llama_3_1_70b", "llama_3_1_70b"},
        Preset{"llama_3_1_8b", "llama_3_1_8b"}, Preset{"meta_llama_3_1_8b", "llama_3_1_8b"},
        Preset{"mixtral_8x7b", "mixtral_8x7b"}, Preset{"qwen3_235b", "qwen3_235b"},
        Preset{"qwen3_32b", "qwen3_32b"}),
    [](const auto& row) { return row.param.config; });

TEST(ImportedModels, AreReadBackAsTheyWereWritten) {
  const test::TemporaryFolder folder;
  for (const std::string config :
       {"kimi_k3", "gpt2", "glm4_moe", "kimi_linear_48b", "qwen3_8_flash_next"}) {
    const ImportedModel model = imported(config);
    const std::string path = folder.written(config + ".yaml", to_yaml(model));
    EXPECT_EQ(model_values(resolve_argument(path, model_reference(), "--model")), texts_of(model));
  }
}

TEST(ImportedModels, NameTheKeyThatEachValueComesFrom) {
  const std::string yaml = to_yaml(imported("kimi_k3"));
  EXPECT_NE(yaml.find("decoder_layers: {value: 93, source: \"kimi_k3.json: "
                      "text_config.num_hidden_layers\"}\n"),
            std::string::npos)
      << yaml;
  EXPECT_NE(yaml.find("block_size: {value: 24, source: \"derived: 12 decoder layers x 2 layers "
                      "each, from kimi_k3.json: text_config.attn_res_block_size\"}\n"),
            std::string::npos)
      << yaml;
  EXPECT_NE(yaml.find("source: \"kimi_k3.json: text_config.linear_attn_config.kda_layers, "
                      "num_heads, head_dim, short_conv_kernel_size, use_full_rank_gate\"}\n"),
            std::string::npos)
      << yaml;
}

TEST(ImportedModels, StandAtThePlaceOfTheirKeys) {
  const Values values = to_values(imported("qwen3_32b"));
  EXPECT_EQ(values.at("hidden_size").position.line, 5);
  EXPECT_EQ(values.at("hidden_size").position.column, 18);
  EXPECT_EQ(values.at("hidden_size").origin, "qwen3_32b.json: hidden_size");
}

TEST(ImportedModels, AreNamedAfterTheirModelTypeUnlessTheySayOtherwise) {
  EXPECT_EQ(imported("kimi_k3").name, "kimi_k3");
  EXPECT_EQ(imported("meta_llama_3_1_8b").name, "meta_llama_3_1_8b.json");
  EXPECT_EQ(edited("gpt2", "\"n_ctx\": 1024", "\"_name_or_path\": \"my/little_model\"").name,
            "little_model");
}

/// A direction mark could disturb whoever reads the name.
TEST(ImportedModels, EscapeWhatCannotBePrintedInTheirName) {
  EXPECT_EQ(edited("gpt2", "\"n_ctx\": 1024", "\"_name_or_path\": \"my/a\\u202eb\"").name,
            "a\\xE2\\x80\\xAEb");
  EXPECT_EQ(edited("gpt2", "\"n_ctx\": 1024", "\"_name_or_path\": \"my/\"").name, "gpt2");
}

TEST(ImportedModels, KeepQuotesAndBackslashesOfTheirName) {
  const ImportedModel model =
      edited("gpt2", "\"n_ctx\": 1024", "\"_name_or_path\": \"my/a\\\"b\\\\c\"");
  EXPECT_EQ(model.name, "a\"b\\c");
  EXPECT_EQ(to_values(model).text("name"), "a\"b\\c");
}

TEST(ImportedModels, SayThatTheirFamilyWasAskedFor) {
  std::string text = test::content_of(path_of("llama_3_1_8b"));
  EXPECT_TRUE(import_config(text, "it.json", "llama").remarks.empty());
  EXPECT_EQ(import_config(text, "it.json", "olmo2").remarks.front(),
            "Read as olmo2, as was asked for; the config says model_type 'llama'.");
  text.replace(text.find("\"model_type\""), 12, "\"x\"");
  EXPECT_EQ(import_config(text, "it.json", "llama").remarks,
            (Lines{"Read as llama, as was asked for; the config names no model_type."}));
}

// --- traps ---

TEST(ImportedResidual, IsStandardWithoutAKeyThoughSuchModelsHaveAttnRes) {
  const Texts texts = texts_of(imported("kimi_linear_48b"));
  EXPECT_EQ(texts.at("residual.scheme"), "standard");
  EXPECT_FALSE(texts.contains("residual.block_size"));
}

TEST(ImportedResidual, TakesNullForAbsent) {
  EXPECT_EQ(texts_of(edited("kimi_linear_48b_attnres", "\"attn_res_block_size\": 3",
                            "\"attn_res_block_size\": null"))
                .at("residual.scheme"),
            "standard");
}

TEST(ImportedResidual, IsMhcOfAnyNumberOfStreams) {
  EXPECT_EQ(texts_of(edited("deepseek_v4_pro", "\"hc_mult\": 4", "\"hc_mult\": 2"))
                .at("residual.num_streams"),
            "2");
  EXPECT_EQ(
      texts_of(edited("llama_3_1_8b", "\"pretraining_tp\": 1", "\"mhc\": true, \"hc_mult\": 4"))
          .at("residual.scheme"),
      "mhc");
}

TEST(ImportedResidual, OfGemmaIsStandardWithoutCopies) {
  const Texts texts =
      texts_of(edited("gemma_3n_e2b", {{"\"altup_num_inputs\": 4", "\"altup_num_inputs\": null"},
                                       {"\"altup_active_idx\": 0,", ""},
                                       {"\"altup_coef_clip\": 120.0,", ""},
                                       {"\"altup_correct_scale\": true,", ""},
                                       {"\"laurel_rank\": 64,", ""}}));
  EXPECT_EQ(texts.at("residual.scheme"), "standard");
  EXPECT_FALSE(texts.contains("residual.rank"));
}

TEST(ImportedAttention, OfGlmIsGroupedWithAHeadDimOfItsOwn) {
  EXPECT_EQ(records_of(imported("glm4_moe").attention),
            (Lines{"kind=grouped decoder_layers=92 heads=96 kv_heads=8 head_dim=128"}));
}

TEST(ImportedAttention, OfGpt2HasAsManyKeyValueHeads) {
  EXPECT_EQ(records_of(imported("gpt2").attention),
            (Lines{"kind=grouped decoder_layers=12 heads=12 kv_heads=12 head_dim=64"}));
}

TEST(ImportedAttention, SeesAWindowInEachLayerOfMistral) {
  const ImportedModel model =
      edited("mixtral_8x7b", "\"sliding_window\": null", "\"sliding_window\": 4096");
  EXPECT_EQ(records_of(model.attention),
            (Lines{"kind=grouped decoder_layers=32 heads=32 kv_heads=8 head_dim=128 "
                   "window=4096"}));
}

TEST(ImportedAttention, SeesAWindowInTheUpperLayersOfQwen) {
  std::string text = test::content_of(path_of("qwen3_32b"));
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("\"use_sliding_window\": false", "\"use_sliding_window\": true");
  replace("\"sliding_window\": null", "\"sliding_window\": 1024");
  replace("\"max_window_layers\": 64", "\"max_window_layers\": 60");
  EXPECT_EQ(records_of(import_config(text, "it.json").attention),
            (Lines{"kind=grouped decoder_layers=60 heads=64 kv_heads=8 head_dim=128",
                   "kind=grouped decoder_layers=4 heads=64 kv_heads=8 head_dim=128 window=1024"}));
}

/// The list of layers says it, and the keys that would say it otherwise are not read.
TEST(ImportedAttention, SeesAWindowWhereTheListOfQwenSaysSo) {
  const std::string types =
      repeated("\"full_attention\"", 63) + ", \"sliding_attention\"], \"max_window_layers\": 1";
  EXPECT_EQ(
      records_of(edited("qwen3_32b", {{"\"max_window_layers\": 64", "\"layer_types\": [" + types},
                                      {"\"sliding_window\": null", "\"sliding_window\": 1024"}})
                     .attention),
      (Lines{"kind=grouped decoder_layers=63 heads=64 kv_heads=8 head_dim=128",
             "kind=grouped decoder_layers=1 heads=64 kv_heads=8 head_dim=128 window=1024"}));
}

TEST(ImportedAttention, OfLlama4MaySeeAllTokensInEachLayer) {
  const ImportedModel model = edited("llama_4_scout", "\"attention_bias\": false",
                                     "\"no_rope_layers\": [" + repeated("0", 48) + "]");
  EXPECT_EQ(records_of(model.attention),
            (Lines{"kind=grouped decoder_layers=48 heads=40 kv_heads=8 head_dim=128"}));
  for (const std::string& remark : model.remarks)
    EXPECT_EQ(remark.find("a token sees its own chunk only"), std::string::npos) << remark;
}

/// Five layers see a window and the sixth sees all. Of 30 layers the last is one that sees all.
TEST(ImportedAttention, OfGemmaSharesNothingUnlessAKeySaysSo) {
  const Lines unshared{"kind=grouped decoder_layers=24 heads=8 kv_heads=2 head_dim=256 window=512",
                       "kind=grouped decoder_layers=6 heads=8 kv_heads=2 head_dim=256"};
  const auto sharing = [](const std::string& number) {
    return records_of(edited("gemma_3n_e2b", "\"num_kv_shared_layers\": 10",
                             "\"num_kv_shared_layers\": " + number)
                          .attention);
  };
  EXPECT_EQ(sharing("null"), unshared);
  EXPECT_EQ(sharing("0"), unshared);
  EXPECT_EQ(
      sharing("1"),
      (Lines{unshared[0], "kind=grouped decoder_layers=5 heads=8 kv_heads=2 head_dim=256",
             "kind=grouped decoder_layers=1 heads=8 kv_heads=2 head_dim=256 key_values=shared"}));
}

TEST(ImportedAttention, HasGatesOnlyWhereTheConfigSaysSo) {
  const ImportedModel model =
      edited("kimi_k3", {{"\"use_full_rank_gate\": true", "\"use_full_rank_gate\": false"},
                         {"\"mla_use_output_gate\": true", "\"mla_use_output_gate\": false"}});
  const Lines gated = records_of(imported("kimi_k3").attention);
  const Lines plain = records_of(model.attention);
  ASSERT_EQ(plain.size(), 2U);
  EXPECT_EQ(plain[0], gated[0] + " gate_rank=128");
  EXPECT_EQ(plain[1] + " output_gate=present", gated[1]);
}

TEST(ImportedAttention, MayBeLinearInEachLayer) {
  const ImportedModel kimi = edited(
      "kimi_linear_48b",
      {{"\"full_attn_layers\": [4, 8, 12, 16, 20, 24, 27]", "\"full_attn_layers\": []"},
       {"\"kda_layers\": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26]",
        "\"kda_layers\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, "
        "22, 23, 24, 25, 26, 27]"},
       {"\"kv_lora_rank\": 512,", ""},
       {"\"qk_nope_head_dim\": 128,", ""},
       {"\"qk_rope_head_dim\": 64,", ""},
       {"\"v_head_dim\": 128,", ""},
       {"\"mla_use_nope\": true,", ""},
       {"\"head_dim\": 72,", ""},
       {"\"num_attention_heads\": 32,", ""},
       {"\"num_key_value_heads\": 32,", ""}});
  EXPECT_EQ(
      records_of(kimi.attention),
      (Lines{"kind=linear decoder_layers=27 heads=32 head_dim=128 conv_width=4 gate_rank=128"}));
  const ImportedModel qwen = edited(
      "qwen3_next_80b", {{"\"full_attention_interval\": 4", "\"full_attention_interval\": 49"},
                         {"\"head_dim\": 256,", ""},
                         {"\"num_attention_heads\": 16,", ""},
                         {"\"num_key_value_heads\": 2,", ""}});
  EXPECT_EQ(records_of(qwen.attention),
            (Lines{"kind=linear decoder_layers=48 heads=32 head_dim=128 conv_width=4 key_heads=16 "
                   "decay=per_head"}));
}

/// A layer of the list may hold anything that is null.
TEST(ImportedAttention, TakesNullForAbsentInItsSection) {
  EXPECT_EQ(records_of(
                edited("kimi_linear_48b", "\"num_heads\": 32", "\"num_heads\": 32, \"decay\": null")
                    .attention),
            records_of(imported("kimi_linear_48b").attention));
}

TEST(ImportedAttention, ChoosesKeysInEachLayerWhoseListIsAbsent) {
  EXPECT_EQ(records_of(edited("glm_5", "\"index_topk\": 2048",
                              "\"index_topk\": 2048, \"index_topk_freq\": 1")
                           .attention),
            records_of(imported("glm_5").attention));
}

TEST(ImportedAttention, HasNoCandidatesWithoutALayerThatFindsThem) {
  const auto candidates_of = [](const ImportedModel& model) {
    Lines found;
    for (const std::string& line : records_of(model.attention))
      if (line.find("candidates=") != std::string::npos) found.push_back(line);
    return found.size();
  };
  EXPECT_EQ(candidates_of(imported("deepseek_v4_1_flash")), 1U);
  EXPECT_EQ(candidates_of(edited("deepseek_v4_1_flash", "\"candidate_source_layer_id\": 20",
                                 "\"candidate_source_layer_id\": null")),
            0U);
}

TEST(ImportedAttention, CountsNoLayerOfMultiTokenPrediction) {
  // With and without the entry of the layer that predicts.
  const ImportedModel with = imported("deepseek_v4_pro");
  const ImportedModel without = edited("deepseek_v4_pro", ", 4, 0]", ", 4]");
  EXPECT_EQ(records_of(with.attention), records_of(without.attention));
}

TEST(ImportedMlp, OfQwenHasDenseLayersWhereTheListAndTheStepSaySo) {
  EXPECT_EQ(
      records_of(
          edited("qwen3_235b", "\"mlp_only_layers\": []", "\"mlp_only_layers\": [0, 93]").mlp),
      (Lines{"kind=dense decoder_layers=2 width=12288",
             "kind=experts decoder_layers=92 experts=128 active=8 width=1536"}));
  // Layers 1, 3, ... of 0..93, as transformers counts: (i + 1) % 2 == 0.
  EXPECT_EQ(
      records_of(
          edited("qwen3_235b", "\"decoder_sparse_step\": 1", "\"decoder_sparse_step\": 2").mlp)
          .front(),
      "kind=dense decoder_layers=47 width=12288");
}

TEST(ImportedMlp, OfQwenNeedsNoListOfDenseLayers) {
  const ImportedModel model =
      edited("qwen3_235b", {{"\"mlp_only_layers\": []", "\"mlp_only_layers\": null"},
                            {"\"decoder_sparse_step\": 1", "\"decoder_sparse_step\": 2"}});
  EXPECT_EQ(records_of(model.mlp).front(), "kind=dense decoder_layers=47 width=12288");
  EXPECT_TRUE(model.mlp.front().source.ends_with("decoder_sparse_step")) << model.mlp[0].source;
}

TEST(ImportedMlp, MaySayThatExpertsAreInEachLayer) {
  EXPECT_EQ(
      records_of(edited("qwen3_235b", "\"attention_bias\": false", "\"moe_layer_freq\": 1").mlp),
      records_of(imported("qwen3_235b").mlp));
}

/// DeepseekV3Config in transformers has three dense layers and a shared expert as its defaults.
TEST(ImportedMlp, OfDeepSeekHasWhatItsClassHasWhereTheConfigIsSilent) {
  const ImportedModel model = edited("deepseek_v3", {{"  \"first_k_dense_replace\": 3,\n", ""},
                                                     {"  \"n_shared_experts\": 1,\n", ""}});
  EXPECT_EQ(records_of(model.mlp), records_of(imported("deepseek_v3").mlp));
  EXPECT_NE(model.mlp.front().source.find("transformers' deepseek_v3"), std::string::npos)
      << model.mlp.front().source;
  std::string types = "\"dense\"";
  for (int i = 1; i < 61; ++i) types += ", \"sparse\"";
  const ImportedModel listed =
      edited("deepseek_v3", {{"  \"first_k_dense_replace\": 3,\n", ""},
                             {"\"moe_layer_freq\": 1", "\"mlp_layer_types\": [" + types + "]"}});
  EXPECT_EQ(records_of(listed.mlp).front(), "kind=dense decoder_layers=1 width=18432");
}

TEST(ImportedMlp, OfDeepSeekMayHaveNoSharedExperts) {
  EXPECT_EQ(
      records_of(edited("deepseek_v3", "\"n_shared_experts\": 1", "\"n_shared_experts\": 0").mlp)
          .back(),
      "kind=experts decoder_layers=58 experts=256 active=8 width=2048 groups=8 "
      "groups_per_token=4");
}

TEST(ImportedMlp, OfDeepSeekMayHaveExpertsInEachSecondLayer) {
  // Layers 3..60, even ones: 4, 6, ..., 60.
  EXPECT_EQ(records_of(edited("deepseek_v3", "\"moe_layer_freq\": 1", "\"moe_layer_freq\": 2").mlp)
                .front(),
            "kind=dense decoder_layers=32 width=18432");
}

/// One group is none.
TEST(ImportedMlp, OfDeepSeekPicksExpertsFromSomeOfTheirGroups) {
  const std::vector<std::string> records = records_of(imported("deepseek_v3").mlp);
  EXPECT_NE(records.back().find("groups=8 groups_per_token=4"), std::string::npos)
      << records.back();
  for (const char* without :
       {"\"topk_group\": 4, \"topk_method\": \"greedy\"", "\"topk_groups\": 4"})
    EXPECT_EQ(
        records_of(edited("deepseek_v3", "\"topk_group\": 4", without).mlp).back().find("groups"),
        std::string::npos)
        << without;
  for (const char* zero : {"\"n_group\": 0", "\"n_group\": 1"})
    EXPECT_EQ(records_of(edited("deepseek_v3", "\"n_group\": 8", zero).mlp).back().find("groups"),
              std::string::npos)
        << zero;
  for (const char* name : {"glm_5", "kimi_k2"})
    EXPECT_EQ(records_of(imported(name).mlp).back().find("groups"), std::string::npos) << name;
}

TEST(ImportedMlp, TakesAWordForEachLayerThatAgreesWithTheNumber) {
  std::string types = "\"dense\", \"dense\", \"dense\"";
  for (int i = 3; i < 61; ++i) types += ", \"sparse\"";
  const ImportedModel model =
      edited("deepseek_v3", "\"moe_layer_freq\": 1", "\"mlp_layer_types\": [" + types + "]");
  EXPECT_EQ(records_of(model.mlp), records_of(imported("deepseek_v3").mlp));
}

TEST(ImportedMlp, OfQwen2HasSharedExpertsByTheirCommonWidth) {
  const std::string text =
      "{\"model_type\": \"qwen2_moe\", \"num_hidden_layers\": 24, \"hidden_size\": 2048, "
      "\"torch_dtype\": \"bfloat16\", \"vocab_size\": 151936, \"num_attention_heads\": 16, "
      "\"num_key_value_heads\": 16, \"num_experts\": 60, \"num_experts_per_tok\": 4, "
      "\"moe_intermediate_size\": 1408, \"shared_expert_intermediate_size\": 5632, "
      "\"intermediate_size\": 5632, \"decoder_sparse_step\": 1, \"mlp_only_layers\": []}";
  EXPECT_EQ(records_of(import_config(text, "it.json").mlp),
            (Lines{"kind=experts decoder_layers=24 experts=60 active=4 shared=4 width=1408"}));
}

TEST(ImportedMlp, OfGpt2CountsTwoProjectionsAsTwoThirdsOfThree) {
  // 3 x 2048 = 2 x 3072 = 2 x 4 x 768.
  EXPECT_EQ(records_of(imported("gpt2").mlp), (Lines{"kind=dense decoder_layers=12 width=2048"}));
  EXPECT_EQ(records_of(edited("gpt2", "\"n_inner\": null", "\"n_inner\": 100").mlp),
            (Lines{"kind=dense decoder_layers=12 width=67"}));
}

TEST(ImportedMlp, OfMetaHasAWidthThatIsRoundedUp) {
  // Llama 2 7B: 2/3 of 4 x 4096 is 10922, the next multiple of 256 is 11008.
  std::string text = test::content_of(path_of("meta_llama_3_1_8b"));
  const std::string factor = "\"ffn_dim_multiplier\": 1.3,\n  \"multiple_of\": 1024";
  text.replace(text.find(factor), factor.size(), "\"multiple_of\": 256");
  EXPECT_EQ(records_of(import_config(text, "it.json").mlp),
            (Lines{"kind=dense decoder_layers=32 width=11008"}));
}

TEST(ImportedWeights, AreStoredAsTheConfigSays) {
  const auto stored = [](const ImportedModel& model) {
    const Texts texts = texts_of(model);
    const auto expert = texts.find("expert_dtype");
    return fmt::format("{} {} {}", texts.at("dtype"), texts.at("weight_dtype"),
                       expert == texts.end() ? "-" : expert->second);
  };
  EXPECT_EQ(stored(imported("kimi_k3")), "bf16 bf16 mxfp4");
  EXPECT_EQ(stored(imported("gpt_oss_120b")), "bf16 bf16 mxfp4");
  EXPECT_EQ(stored(imported("deepseek_v4_pro")), "bf16 fp8 mxfp4");
  EXPECT_EQ(stored(imported("deepseek_v3")), "bf16 fp8 -");
  // Engines serve checkpoints in f32 with 16 bits.
  EXPECT_EQ(stored(imported("gpt2")), "bf16 bf16 -");
  EXPECT_EQ(stored(edited("qwen3_32b", "bfloat16", "float32")), "bf16 bf16 -");
  EXPECT_EQ(stored(edited("qwen3_32b", "bfloat16", "torch.float16")), "f16 f16 -");
  EXPECT_EQ(stored(edited("deepseek_v4_pro", "\"fp4\"", "\"mxfp4\"")), "bf16 fp8 mxfp4");
  EXPECT_EQ(stored(edited("deepseek_v4_pro", "\"fp4\"", "\"fp8\"")), "bf16 fp8 -");
  EXPECT_EQ(stored(imported("glm_5_3_flash")), "bf16 bf16 fp8");
  EXPECT_EQ(stored(edited("glm_5_3_flash", "layers.*.self_attn", "layers.0.self_attn.o_proj")),
            "bf16 fp8 -");
}

// --- tables and layers that draft ---

/// The sixteen first primes add up to 381, and the next multiple of 128 is 384.
TEST(ImportedTables, HaveAsManyRowsAsTheFirstPrimes) {
  const ImportedModel model = edited("qwen3_8_flash_next", "\"ngram_vocab_size_base\": 20000000",
                                     "\"ngram_vocab_size_base\": 1");
  ASSERT_EQ(model.tables.size(), 1U);
  EXPECT_EQ(model.tables[0].members[0].text, "384");
}

TEST(ImportedTables, AreAbsentWhereNoLayerHasThem) {
  for (const std::string layers : {"null", "[]"})
    EXPECT_TRUE(
        edited("qwen3_8_flash_next", "\"ple_layer_ids\": [2]", "\"ple_layer_ids\": " + layers)
            .tables.empty())
        << layers;
}

TEST(ImportedDrafts, AreAbsentWhereNoLayerPredicts) {
  for (const std::string number : {"null", "0"})
    EXPECT_TRUE(edited("glm_5_3_flash", "\"num_nextn_predict_layers\": 1",
                       "\"num_nextn_predict_layers\": " + number)
                    .draft.empty())
        << number;
}

/// What drafts is built like a layer of the model: one with full attention, or with a window alone.
TEST(ImportedDrafts, AreAbsentWhereNoLayerIsLikeTheirs) {
  EXPECT_EQ(imported("deepseek_v4_1_flash").draft.size(), 1U);
  EXPECT_TRUE(edited("deepseek_v4_1_flash",
                     {{"[0, 0, 2", "[2, 2, 2"},
                      {"\"kv_source_layer_ids\": [2", "\"kv_source_layer_ids\": [0"},
                      {"\"index_source_layer_ids\": [2", "\"index_source_layer_ids\": [0"}})
                  .draft.empty());
  EXPECT_EQ(imported("qwen3_8_flash_next").draft.size(), 1U);
  EXPECT_TRUE(edited("qwen3_8_flash_next",
                     {{"\"layer_types\": [", "\"layer_types\": null, \"x\": ["},
                      {"\"full_attention_interval\": 4", "\"full_attention_interval\": 49"},
                      {"\"head_dim\": 256,", ""},
                      {"\"indexer_budget\": 2048,", ""},
                      {"\"indexer_compress_ratio\": 4,", ""},
                      {"\"indexer_head_dim\": 128,", ""},
                      {"\"indexer_kv_heads\": 1,", ""},
                      {"\"indexer_n_heads\": 4,", ""},
                      {"\"num_attention_heads\": 24,", ""},
                      {"\"num_key_value_heads\": 2,", ""}})
                  .draft.empty());
}

TEST(ImportedConfigs, MayNestTheDecoder) {
  const std::string inner = test::content_of(path_of("llama_3_1_8b"));
  const Texts expected = texts_of(imported("llama_3_1_8b"));
  for (const std::string section : {"text_config", "language_config", "llm_config"}) {
    const std::string text = fmt::format(
        "{{\"model_type\": \"llava\", \"vision_config\": {{\"hidden_size\": 1, "
        "\"num_attention_heads\": 2}}, \"vision_feature_layer\": -2, \"{}\": {}}}",
        section, inner);
    EXPECT_EQ(texts_of(import_config(text, "it.json")), expected) << section;
  }
}

TEST(ImportedConfigs, LookAtTheTopForWhatTheDecoderDoesNotSay) {
  std::string inner = test::content_of(path_of("llama_3_1_8b"));
  const std::string dtype = "\"torch_dtype\": \"bfloat16\",";
  inner.replace(inner.find(dtype), dtype.size(), "");
  const ImportedModel model =
      import_config("{\"torch_dtype\": \"float16\", \"text_config\": " + inner + "}", "it.json");
  EXPECT_EQ(texts_of(model).at("dtype"), "f16");
}

TEST(ImportedConfigs, StandInAScenario) {
  const test::TemporaryFolder folder;
  folder.written("config.json", test::content_of(path_of("kimi_k3")));
  const std::string path = folder.written(
      "it.yaml", "schema: depthcost/1\nmodel: config.json\nworkload: {prefill: {tokens: 4096}}\n");
  const Scenario scenario = read_scenario(path);
  EXPECT_EQ(scenario.study.model.num_layers, 186);
  EXPECT_EQ(name(scenario.study.path.scheme), "block_attnres");
}

}  // namespace
}  // namespace depthcost::import_test
