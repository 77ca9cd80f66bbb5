// The published config of a model of each family, and what becomes of it: its layers, its head, and
// as many weights as its makers count. Keys and values are those of the named model; the files are
// written anew. The test is long because it holds a whole config for each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "scenarios/import/import.hpp"
#include "tests/scenarios/import/imported_records.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::families_test {
namespace {

using test::num_weights_of;
using test::records_of;

std::string path_of(const std::string& config) {
  return fmt::format("{}/tests/scenarios/configs/{}.json", DEPTHCOST_SOURCE_DIR, config);
}

std::string keys_of(const ImportedModel& model) {
  std::string line;
  for (const ImportedKey& key : model.keys)
    line += fmt::format("{}{}={}", line.empty() ? "" : " ", key.value.key, key.value.text);
  return line;
}

using Lines = std::vector<std::string>;

struct Family {
  std::string config;
  double published_weights;
  std::string keys;
  Lines attention;
  Lines mlp;
  Lines remarks;
};

std::ostream& operator<<(std::ostream& out, const Family& row) { return out << row.config; }

class PublishedConfig : public testing::TestWithParam<Family> {};

TEST_P(PublishedConfig, GivesItsModel) {
  const ImportedModel model = load_config(path_of(GetParam().config));
  EXPECT_EQ(keys_of(model), GetParam().keys);
  EXPECT_EQ(records_of(model.attention), GetParam().attention);
  EXPECT_EQ(records_of(model.mlp), GetParam().mlp);
  EXPECT_EQ(model.remarks, GetParam().remarks);
}

TEST_P(PublishedConfig, HasAsManyWeightsAsItsMakersCount) {
  const double weights = num_weights_of(load_config(path_of(GetParam().config)));
  EXPECT_NEAR(weights / GetParam().published_weights, 1, 0.02) << weights;
}

const std::string kNormsBehind =
    "Outputs of attention and MLP are normalised before they are added; the residual path is "
    "counted as one with a norm of the stream before each layer.";
const std::string kDefaults =
    "What the config leaves out is as in its class in transformers, named \"transformers' ...\".";
const std::string kParallel =
    "parallel_attn true: attention and MLP are added to the stream in one step; the residual path "
    "is counted as in a model that adds them one after the other.";
const std::string kIndexKeys =
    "The cache holds keys of the indexer too, in kv_dtype; an engine that keeps them in fp8 needs "
    "fewer bytes.";
const std::string kChunks =
    "text_config.attention_chunk_size 8192: a token sees its own chunk only, half of it on "
    "average; counted as the last 8192 tokens.";

const std::string kNgrams =
    "What n-grams add to the streams, once in the model, is not counted, nor the streams of the "
    "layer that drafts.";
const std::string kEngrams =
    "What n-grams add to the streams, once for each table, is not counted, nor what the layers "
    "that draft take in. The cache is counted in fp8; the model's own is "
    "fp4 in summaries.";
// 3 x 3 x 4096 x 12288 + 42 x 3 x 4096 x 2048 = 1509949440.
const std::string kQuantisedBesideAttention =
    "1.51 GB of weights are too many. These are fp8, and they are counted in bf16 like those "
    "that quantization_config.modules_to_not_convert names: dense MLPs; shared experts.";
const std::string kPerLayerInputs =
    "What the embeddings for each layer add to the copies of the stream is not counted. MLPs are "
    "counted as dense, whatever activation_sparsity_pattern says.";
const std::string kIdleExpert = "The expert that does nothing is not counted.";
const std::string kCompressed = "kind=compressed decoder_layers";
const std::string kSizes =
    "=64 head_dim=512 q_rank=1280 output_rank=1024 output_groups=8 window=128";
const std::string kGemma3n = "kind=grouped decoder_layers";
const std::string kGemmaHeads = " heads=8 kv_heads=2 head_dim=256";

// Looked up 2026-11-23. Configs: allenai/OLMo-2-0425-1B, microsoft/phi-4, tiiuae/falcon-7b and
// ByteDance-Seed/Seed-OSS-36B-Instruct as public code quotes them; google/gemma-2-9b and
// google/gemma-3-27b as in AI-Hypercomputer/maxtext @02b47fd8 hf_model_configs.py, the vocabulary
// of the former as in Gemma2Config of transformers. Where the source has no dtype, bfloat16 is set.
// Weights: OLMo 2 by its checkpoint; phi-4 by its listing; Seed-OSS and Falcon by their names;
// Gemma 2, arXiv:2408.00118, Table 2; Gemma 3, arXiv:2503.19786, Table 1, without its vision
// encoder.
INSTANTIATE_TEST_SUITE_P(
    Dense, PublishedConfig,
    testing::Values(
        Family{"olmo_2_1b",
               1484916736,
               "decoder_layers=16 hidden_size=2048 dtype=bf16 vocabulary_size=100352 "
               "weight_dtype=bf16",
               {"kind=grouped decoder_layers=16 heads=16 kv_heads=16 head_dim=128"},
               {"kind=dense decoder_layers=16 width=8192"},
               {kNormsBehind}},
        Family{"phi_4",
               14.66e9,
               "decoder_layers=40 hidden_size=5120 dtype=bf16 vocabulary_size=100352 "
               "weight_dtype=bf16",
               {"kind=grouped decoder_layers=40 heads=40 kv_heads=10 head_dim=128"},
               {"kind=dense decoder_layers=40 width=17920"},
               {}},
        Family{"seed_oss_36b",
               36e9,
               "decoder_layers=64 hidden_size=5120 dtype=bf16 vocabulary_size=155136 "
               "weight_dtype=bf16",
               {"kind=grouped decoder_layers=64 heads=80 kv_heads=8 head_dim=128"},
               {"kind=dense decoder_layers=64 width=27648"},
               {}},
        Family{"gemma_2_9b",
               917962752.0 + 8324201984.0,
               "decoder_layers=42 hidden_size=3584 dtype=bf16 vocabulary_size=256000 "
               "output_head=tied weight_dtype=bf16",
               {"kind=grouped decoder_layers=21 heads=16 kv_heads=8 head_dim=256 window=4096",
                "kind=grouped decoder_layers=21 heads=16 kv_heads=8 head_dim=256"},
               {"kind=dense decoder_layers=42 width=14336"},
               {kNormsBehind, kDefaults}},
        Family{"gemma_3_27b",
               1416e6 + 25600e6,
               "decoder_layers=62 hidden_size=5376 dtype=bf16 vocabulary_size=262144 "
               "output_head=tied weight_dtype=bf16",
               {"kind=grouped decoder_layers=52 heads=32 kv_heads=16 head_dim=128 window=1024",
                "kind=grouped decoder_layers=10 heads=32 kv_heads=16 head_dim=128"},
               {"kind=dense decoder_layers=62 width=21504"},
               {kNormsBehind, kDefaults}},
        Family{"falcon_7b",
               7e9,
               "decoder_layers=32 hidden_size=4544 dtype=bf16 vocabulary_size=65024 "
               "output_head=tied weight_dtype=bf16",
               {"kind=grouped decoder_layers=32 heads=71 kv_heads=1 head_dim=64"},
               {"kind=dense decoder_layers=32 width=12118"},
               {kParallel, kDefaults}}),
    [](const auto& row) { return row.param.config; });

// Configs: ai-dynamo/aiconfigurator @095f58a5 model_configs, of the same models, 2026-08-21; for
// Qwen3-Next, @1b7cfb10. Weights: MiniMax M2, 229.9e9 in its report of May 2026; Llama 4, its model
// card, text and images; 744e9 of GLM-5, arXiv:2602.15763; 671e9 of DeepSeek-V3, which V3.2 is but
// for its indexer; those of Qwen by the names of the models.
INSTANTIATE_TEST_SUITE_P(
    Experts, PublishedConfig,
    testing::Values(
        Family{"minimax_m2_5",
               229.9e9,
               "decoder_layers=62 hidden_size=3072 dtype=bf16 vocabulary_size=200064 "
               "weight_dtype=fp8",
               {"kind=grouped decoder_layers=62 heads=48 kv_heads=8 head_dim=128"},
               {"kind=experts decoder_layers=62 experts=256 active=8 width=1536"},
               {}},
        Family{"llama_4_maverick",
               400e9,
               "decoder_layers=48 hidden_size=5120 dtype=bf16 vocabulary_size=202048 "
               "weight_dtype=bf16",
               {"kind=grouped decoder_layers=36 heads=40 kv_heads=8 head_dim=128 window=8192",
                "kind=grouped decoder_layers=12 heads=40 kv_heads=8 head_dim=128"},
               {"kind=dense decoder_layers=24 width=16384",
                "kind=experts decoder_layers=24 experts=128 active=1 shared=1 width=8192"},
               {kChunks, kDefaults}},
        Family{"llama_4_scout",
               109e9,
               "decoder_layers=48 hidden_size=5120 dtype=bf16 vocabulary_size=202048 "
               "weight_dtype=bf16",
               {"kind=grouped decoder_layers=36 heads=40 kv_heads=8 head_dim=128 window=8192",
                "kind=grouped decoder_layers=12 heads=40 kv_heads=8 head_dim=128"},
               {"kind=experts decoder_layers=48 experts=16 active=1 shared=1 width=8192"},
               {kChunks, kDefaults}},
        Family{"qwen3_next_80b",
               80e9,
               "decoder_layers=48 hidden_size=2048 dtype=bf16 vocabulary_size=151936 "
               "weight_dtype=bf16",
               {"kind=linear decoder_layers=36 heads=32 head_dim=128 conv_width=4 key_heads=16 "
                "decay=per_head",
                "kind=grouped decoder_layers=12 heads=16 kv_heads=2 head_dim=256 "
                "output_gate=present"},
               {"kind=experts decoder_layers=48 experts=512 active=10 shared=1 width=512"},
               {}},
        Family{"qwen3_5_397b",
               397e9,
               "decoder_layers=60 hidden_size=4096 dtype=bf16 vocabulary_size=248320 "
               "weight_dtype=bf16",
               {"kind=linear decoder_layers=45 heads=64 head_dim=128 conv_width=4 key_heads=16 "
                "decay=per_head",
                "kind=grouped decoder_layers=15 heads=32 kv_heads=2 head_dim=256 "
                "output_gate=present"},
               {"kind=experts decoder_layers=60 experts=512 active=10 shared=1 width=1024"},
               {}},
        Family{"qwen3_5_27b",
               27e9,
               "decoder_layers=64 hidden_size=5120 dtype=bf16 vocabulary_size=248320 "
               "weight_dtype=bf16",
               {"kind=linear decoder_layers=48 heads=48 head_dim=128 conv_width=4 key_heads=16 "
                "decay=per_head",
                "kind=grouped decoder_layers=16 heads=24 kv_heads=4 head_dim=256 "
                "output_gate=present"},
               {"kind=dense decoder_layers=64 width=17408"},
               {}},
        Family{"deepseek_v3_2",
               671e9,
               "decoder_layers=61 hidden_size=7168 dtype=bf16 vocabulary_size=129280 "
               "weight_dtype=fp8",
               {"kind=latent decoder_layers=61 heads=128 q_rank=1536 kv_rank=512 nope_dim=128 "
                "rope_dim=64 value_dim=128 top_k=2048 index_heads=64 index_dim=128"},
               {"kind=dense decoder_layers=3 width=18432",
                "kind=experts decoder_layers=58 experts=256 active=8 shared=1 width=2048 groups=8 "
                "groups_per_token=4"},
               {kIndexKeys}},
        Family{"glm_5",
               744e9,
               "decoder_layers=78 hidden_size=6144 dtype=bf16 vocabulary_size=154880 "
               "weight_dtype=bf16",
               {"kind=latent decoder_layers=78 heads=64 q_rank=2048 kv_rank=512 nope_dim=192 "
                "rope_dim=64 value_dim=256 top_k=2048 index_heads=32 index_dim=128"},
               {"kind=dense decoder_layers=3 width=12288",
                "kind=experts decoder_layers=75 experts=256 active=8 shared=1 width=2048"},
               {kIndexKeys}}),
    [](const auto& row) { return row.param.config; });

/// The config with one piece of its text replaced.
ImportedModel edited(const std::string& config, const std::string& piece,
                     const std::string& replacement) {
  std::string text = test::content_of(path_of(config));
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return import_config(text.replace(at, piece.size(), replacement), "it.json");
}

// Looked up 2026-11-23, the configs as public code quotes them: Qwen/Qwen3.8-Flash-Next,
// zai-org/GLM-5.3-Flash (its list of modules that are not quantised is a pattern here),
// deepseek-ai/DeepSeek-V4.1-Flash @dba1be0a, google/gemma-3n-E2B and -E4B, Zyphra/ZAYA1-8B
// @67d34da5. Where the source has no dtype, bfloat16 is set. Weights: Qwen, the headers of its
// checkpoint, trunk and n-grams, without vision and multi-token prediction; GLM, 320e9 by its card,
// less one layer of multi-token prediction, which has 7.4e9 by the same shapes; DeepSeek, 552e9 by
// its card and the rows of its tables; Gemma 3n, its decoder as llama-bench counts it, with AltUp,
// LAuReL and projections that shared layers do not use; ZAYA1, 8.84e9 in its checkpoint.
INSTANTIATE_TEST_SUITE_P(
    Autumn2026, PublishedConfig,
    testing::Values(
        Family{"qwen3_8_flash_next",
               125743653760.0 + 51200245760.0,
               "decoder_layers=48 hidden_size=2560 dtype=bf16 vocabulary_size=248320 "
               "weight_dtype=bf16",
               {"kind=linear decoder_layers=36 heads=48 head_dim=128 conv_width=4 key_heads=16 "
                "decay=per_head",
                "kind=grouped decoder_layers=12 heads=24 kv_heads=2 head_dim=256 "
                "output_gate=present top_k=2048 index_heads=4 index_dim=128 index_ratio=4"},
               {"kind=experts decoder_layers=48 experts=512 active=10 shared=1 width=640"},
               {kNgrams}},
        Family{"glm_5_3_flash",
               320e9 - 7.4e9,
               "decoder_layers=45 hidden_size=4096 dtype=bf16 vocabulary_size=154880 "
               "weight_dtype=bf16 expert_dtype=fp8",
               {"kind=linear decoder_layers=34 heads=64 head_dim=128 conv_width=4 gate_rank=128",
                "kind=latent decoder_layers=11 heads=64 q_rank=1536 kv_rank=512 nope_dim=256 "
                "rope_dim=0 value_dim=256 top_k=2048 index_heads=32 index_dim=128 index_ratio=4"},
               {"kind=dense decoder_layers=3 width=12288",
                "kind=experts decoder_layers=42 experts=288 active=8 shared=1 width=2048"},
               {kIndexKeys, kQuantisedBesideAttention}},
        Family{
            "deepseek_v4_1_flash",
            552e9 + (384006168.0 + 384016682) * 256,
            "decoder_layers=40 hidden_size=5120 dtype=bf16 vocabulary_size=129280 "
            "weight_dtype=fp8 expert_dtype=mxfp4",
            {kCompressed + "=2 heads" + kSizes,
             kCompressed + "=3 heads" + kSizes + " ratio=2 top_k=512 index_heads=32 index_dim=128",
             kCompressed + "=15 heads" + kSizes + " ratio=2 key_values=shared top_k=512",
             kCompressed + "=1 heads" + kSizes + " ratio=1 top_k=512 index_heads=32 index_dim=128",
             kCompressed + "=15 heads" + kSizes + " ratio=1 key_values=shared top_k=512",
             kCompressed + "=4 heads" + kSizes +
                 " ratio=1 key_values=shared top_k=512 index_heads=32 index_dim=128 "
                 "candidates=16384"},
            {"kind=experts decoder_layers=40 experts=384 active=6 shared=1 width=2304"},
            {kEngrams}},
        Family{"gemma_3n_e2b",
               4.46e9,
               "decoder_layers=30 hidden_size=2048 dtype=bf16 vocabulary_size=262400 "
               "output_head=tied weight_dtype=bf16",
               {kGemma3n + "=16" + kGemmaHeads + " window=512", kGemma3n + "=4" + kGemmaHeads,
                kGemma3n + "=8" + kGemmaHeads + " window=512 key_values=shared",
                kGemma3n + "=2" + kGemmaHeads + " key_values=shared"},
               {"kind=dense decoder_layers=30 width=8192"},
               {kPerLayerInputs, kDefaults}},
        Family{"gemma_3n_e4b",
               6.87e9,
               "decoder_layers=35 hidden_size=2048 dtype=bf16 vocabulary_size=262400 "
               "output_head=tied weight_dtype=bf16",
               {kGemma3n + "=16" + kGemmaHeads + " window=512", kGemma3n + "=4" + kGemmaHeads,
                kGemma3n + "=12" + kGemmaHeads + " window=512 key_values=shared",
                kGemma3n + "=3" + kGemmaHeads + " key_values=shared"},
               {"kind=dense decoder_layers=35 width=16384"},
               {kPerLayerInputs, kDefaults}},
        Family{"zaya1_8b",
               8.84e9,
               "decoder_layers=40 hidden_size=2048 dtype=bf16 vocabulary_size=262272 "
               "output_head=tied weight_dtype=bf16",
               {"kind=grouped decoder_layers=40 heads=8 kv_heads=2 head_dim=128 conv_width=2"},
               {"kind=experts decoder_layers=40 experts=16 active=1 width=2048 router_width=256"},
               {kIdleExpert}}),
    [](const auto& row) { return row.param.config; });

/// What a config says of its tables and of its residual path.
std::string extras_of(const ImportedModel& model) {
  std::string line = fmt::format("{}", fmt::join(records_of(model.tables), "; "));
  for (const ImportedKey& key : model.residual)
    line += fmt::format("{}{}={}", line.empty() ? "" : " | ", key.value.key, key.value.text);
  return line;
}

TEST(ImportedQwen4, LooksUpNgramsAndCarriesFourGatedStreams) {
  EXPECT_EQ(extras_of(load_config(path_of("qwen3_8_flash_next"))),
            "rows=320001536 width=160 projections=32808960 | scheme=gated_residual | num_streams=4 "
            "| gate_rank=320");
}

// The published sums, to the unit. Beside matrices and convolutions there are in the trunk: gated
// streams, 96 sites and an exit; in a linear layer two numbers for each of 48 heads and a norm of
// 128; in a full one two norms of 256 and two of the indexer; in each MoE a gate of its shared
// expert; three norms of four streams where n-grams come in.
TEST(ImportedQwen4, HasThePublishedParameters) {
  const double streams = 96 * 6604800.0 + 6563840;
  const double vectors =
      36 * (2 * 48.0 + 128) + 12 * (2 * 256.0 + 2 * 128) + 48 * 2560.0 + 3 * 4 * 2560.0;
  EXPECT_EQ(num_weights_of(load_config(path_of("qwen3_8_flash_next"))) + streams + vectors,
            125743653760.0 + 51200245760.0);
}

double num_weights_of_draft(const ImportedModel& model) {
  const Values values = to_values(model);
  std::vector<ResolvedValue> notes;
  const double d = as_double(values.count("hidden_size"));
  const DraftLayers draft =
      architecture_from(values, 2 * values.count("decoder_layers"), notes).value().draft.value();
  return as_double(draft.num_layers) *
             (num_weights(draft.attention, d) + test::num_all_weights(draft.mlp, d)) +
         as_double(draft.projections);
}

// The published sum, to the unit. Beside matrices: two sites and an exit of gated streams, norms of
// a full layer and the gate of its shared expert as above; norms of the streams and of the
// embedding.
TEST(ImportedQwen4, HasThePublishedParametersOfItsDraftLayer) {
  const double streams = 2 * 6604800.0 + 6563840;
  const double vectors = 2 * 256.0 + 2 * 128 + 2560 + (4 + 1) * 2560;
  EXPECT_EQ(num_weights_of_draft(load_config(path_of("qwen3_8_flash_next"))) + streams + vectors,
            2607150848.0);
}

TEST(ImportedDraft, IsThatOfTheModel) {
  const auto draft_of = [](const std::string& config) {
    return records_of(load_config(path_of(config)).draft);
  };
  EXPECT_EQ(draft_of("qwen3_8_flash_next"),
            (Lines{"layers=1 attention=2 mlp=1 projections=13107200"}));
  EXPECT_EQ(draft_of("glm_5_3_flash"), (Lines{"layers=1 attention=2 mlp=2 projections=33554432"}));
  EXPECT_EQ(draft_of("deepseek_v4_1_flash"),
            (Lines{"layers=3 attention=1 mlp=1 experts=128 active=3 block=5"}));
  EXPECT_EQ(draft_of("glm_5_2"), Lines{});
}

TEST(ImportedQwen4, MayHaveNoNgrams) {
  const ImportedModel model =
      edited("qwen3_8_flash_next", "\"ple_layer_ids\": [2]", "\"ple_layer_ids\": []");
  EXPECT_TRUE(model.tables.empty());
  EXPECT_EQ(to_yaml(model).find("tables"), std::string::npos);
}

// The heads of the second table go on with the next primes.
TEST(ImportedQwen4, HasATableForEachLayerThatTakesNgrams) {
  const ImportedModel model =
      edited("qwen3_8_flash_next", "\"ple_layer_ids\": [2]", "\"ple_layer_ids\": [2, 6]");
  ASSERT_EQ(model.tables.size(), 2u);
  EXPECT_EQ(records_of(model.tables)[0], "rows=320001536 width=160 projections=32808960");
  EXPECT_EQ(records_of(model.tables)[1], "rows=320005120 width=160 projections=32808960");
}

// As transformers writes the list when it saves the model anew.
TEST(ImportedQwen4, KnowsTheOtherNameOfItsFullLayers) {
  EXPECT_EQ(
      records_of(edited("qwen3_8_flash_next", "\"full_attention\"", "\"deepseek_sparse_attention\"")
                     .attention),
      records_of(load_config(path_of("qwen3_8_flash_next")).attention));
}

// No key of the config names it.
TEST(ImportedZaya, ScalesItsStream) {
  const ImportedModel model = load_config(path_of("zaya1_8b"));
  EXPECT_EQ(extras_of(model), "scheme=residual_scaling");
  EXPECT_EQ(model.residual.front().source, "zaya1_8b.json: as in transformers' zaya");
}

TEST(ImportedZaya, MayHaveLayersThatSeeAWindow) {
  std::string text = test::content_of(path_of("zaya1_8b"));
  text.replace(text.find("[\"hybrid\""), 9, "[\"hybrid_sliding\"");
  text.replace(text.find("\"sliding_window\": null"), 22, "\"sliding_window\": 4096");
  EXPECT_EQ(records_of(import_config(text, "it.json").attention),
            (Lines{"kind=grouped decoder_layers=1 heads=8 kv_heads=2 head_dim=128 window=4096 "
                   "conv_width=2",
                   "kind=grouped decoder_layers=39 heads=8 kv_heads=2 head_dim=128 conv_width=2"}));
}

TEST(ImportedGlm, CarriesFourStreams) {
  EXPECT_EQ(extras_of(load_config(path_of("glm_5_3_flash"))),
            "scheme=mhc_mean_exit | num_streams=4");
}

TEST(ImportedDeepSeek, LooksUpNgramsAndCarriesFourStreams) {
  EXPECT_EQ(extras_of(load_config(path_of("deepseek_v4_1_flash"))),
            "rows=384006168 width=256 projections=157286400; rows=384016682 width=256 "
            "projections=157286400 | scheme=single_pass_mhc | num_streams=4");
}

TEST(ImportedGemma, LooksUpAVectorForEachLayer) {
  EXPECT_EQ(extras_of(load_config(path_of("gemma_3n_e4b"))),
            "rows=262144 width=8960 projections=55050240 | scheme=altup | num_streams=4 | rank=64");
}

// --- traps ---

TEST(ImportedFalcon, OfTheNewArchitectureHasAsManyKeyValueHeadsAsItSays) {
  EXPECT_EQ(records_of(load_config(path_of("falcon_40b")).attention),
            (Lines{"kind=grouped decoder_layers=60 heads=128 kv_heads=8 head_dim=64"}));
}

TEST(ImportedFalcon, WithoutMultiQueryHasAKeyAndAValueForEachHead) {
  EXPECT_EQ(
      records_of(edited("falcon_7b", "\"multi_query\": true", "\"multi_query\": false").attention),
      (Lines{"kind=grouped decoder_layers=32 heads=71 kv_heads=71 head_dim=64"}));
}

// tiiuae/Falcon3-10B-Base, config.json @34bb99a8.
TEST(ImportedFalcon, OfTheThirdGenerationIsALlama) {
  const ImportedModel model = import_config(
      "{\"model_type\": \"llama\", \"torch_dtype\": \"bfloat16\", \"num_hidden_layers\": 40, "
      "\"hidden_size\": 3072, \"num_attention_heads\": 12, \"num_key_value_heads\": 4, "
      "\"head_dim\": 256, \"intermediate_size\": 23040, \"vocab_size\": 131072}",
      "it.json");
  EXPECT_EQ(records_of(model.attention),
            (Lines{"kind=grouped decoder_layers=40 heads=12 kv_heads=4 head_dim=256"}));
  EXPECT_EQ(records_of(model.mlp), (Lines{"kind=dense decoder_layers=40 width=23040"}));
}

TEST(ImportedFalcon, AddsItsLayersOneByOneWhereTheConfigSaysSo) {
  EXPECT_EQ(edited("falcon_7b", "\"parallel_attn\": true", "\"parallel_attn\": false").remarks,
            (Lines{kDefaults}));
}

TEST(ImportedPhi, OfTheThirdGenerationSeesAWindow) {
  EXPECT_EQ(
      records_of(edited("phi_4", "\"sliding_window\": null", "\"sliding_window\": 2047").attention),
      (Lines{"kind=grouped decoder_layers=40 heads=40 kv_heads=10 head_dim=128 "
             "window=2047"}));
}

TEST(ImportedPhi, MayBeMini) {
  EXPECT_EQ(records_of(edited("phi_4", "\"attention_bias\": false",
                              "\"full_attn_mod\": 1, \"lm_head_bias\": false")
                           .attention),
            (Lines{"kind=grouped decoder_layers=40 heads=40 kv_heads=10 head_dim=128"}));
}

TEST(ImportedGemma, TakesFromItsClassWhatTheConfigLeavesOut) {
  // The published configs of the smaller Gemma 3 models have no heads and no vocabulary.
  const ImportedModel model = import_config(
      "{\"model_type\": \"gemma3\", \"torch_dtype\": \"bfloat16\", \"text_config\": "
      "{\"hidden_size\": 2560, \"intermediate_size\": 10240, \"num_hidden_layers\": 34, "
      "\"model_type\": \"gemma3_text\", \"sliding_window\": 1024}}",
      "it.json");
  EXPECT_EQ(records_of(model.attention),
            (Lines{"kind=grouped decoder_layers=29 heads=8 kv_heads=4 head_dim=256 window=1024",
                   "kind=grouped decoder_layers=5 heads=8 kv_heads=4 head_dim=256"}));
  EXPECT_EQ(model.keys.at(3).value.text, "262208");
  EXPECT_EQ(model.keys.at(3).source, "it.json: transformers' gemma3_text.vocab_size");
}

/// A Gemma 2 with further members.
ImportedModel gemma2(const std::string& more) {
  return import_config(
      "{\"model_type\": \"gemma2\", \"torch_dtype\": \"bfloat16\", \"hidden_size\": 3584, "
      "\"intermediate_size\": 14336, \"num_hidden_layers\": 42, \"num_attention_heads\": 16, "
      "\"num_key_value_heads\": 8, \"head_dim\": 256, \"vocab_size\": 256000, "
      "\"sliding_window\": 4096" +
          more + "}",
      "it.json");
}

TEST(ImportedGemma, KnowsBothNamesOfItsWindow) {
  EXPECT_EQ(records_of(gemma2(", \"sliding_window_size\": 4096").attention),
            records_of(gemma2("").attention));
  EXPECT_THROW(gemma2(", \"sliding_window_size\": 2048"), InputError);
}

std::string dtypes_of(const std::string& quantisation) {
  std::string line;
  for (const ImportedKey& key : gemma2(", \"quantization_config\": " + quantisation).keys)
    if (key.value.key.ends_with("dtype"))
      line += fmt::format("{}={} ", key.value.key, key.value.text);
  return line;
}

/// Files of compressed-tensors, as most checkpoints in fp8 are, and of FBGEMM.
TEST(ImportedQuantisation, ReadsEightBitFloats) {
  const std::string float8 =
      "\"quant_method\": \"compressed-tensors\", \"format\": \"float-quantized\"";
  EXPECT_EQ(dtypes_of("{" + float8 + ", \"ignore\": [\"lm_head\"], \"kv_cache_scheme\": null}"),
            "dtype=bf16 weight_dtype=fp8 ");
  EXPECT_EQ(dtypes_of("{" + float8 + ", \"ignore\": [\"re:.*self_attn.*\"]}"),
            "dtype=bf16 weight_dtype=fp8 ")
      << "MLPs are most of the weights";
  EXPECT_EQ(dtypes_of("{\"quant_method\": \"fbgemm_fp8\"}"), "dtype=bf16 weight_dtype=fp8 ");
}

/// AWQ, GPTQ, and files of compressed-tensors such as those of Kimi K2 Thinking.
TEST(ImportedQuantisation, ReadsFourBitNumbers) {
  EXPECT_EQ(dtypes_of("{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128}"),
            "dtype=bf16 weight_dtype=int4_g128 ");
  EXPECT_EQ(dtypes_of("{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": -1}"),
            dtypes_of("{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128}"))
      << "a scale for each channel";
  EXPECT_EQ(dtypes_of("{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 64}"),
            "dtype=bf16 weight_dtype=int4_g64 ");
  const auto packed = [](const std::string& weights) {
    return "{\"quant_method\": \"compressed-tensors\", \"format\": \"pack-quantized\", "
           "\"config_groups\": {" +
           weights + "}}";
  };
  const std::string group = "{\"weights\": {\"num_bits\": 4, \"group_size\": 32}}";
  EXPECT_EQ(dtypes_of(packed("\"group_0\": " + group)), "dtype=bf16 weight_dtype=int4_g32 ");
  EXPECT_THROW(dtypes_of(packed("\"group_0\": " + group + ", \"group_1\": " + group)), InputError);
}

TEST(ImportedQuantisation, RefusesOtherBitsAndGroups) {
  const auto error = [](const std::string& numbers) -> std::string {
    try {
      return dtypes_of("{\"quant_method\": \"awq\", " + numbers + "}");
    } catch (const InputError& refused) {
      return refused.message();
    }
  };
  EXPECT_EQ(error("\"bits\": 3, \"group_size\": 128"),
            "invalid quantization_config.bits '3' (must be 4)");
  EXPECT_EQ(error("\"bits\": 4, \"group_size\": 16"),
            "invalid quantization_config.group_size '16' (must be 32, 64, 128 or -1)");
}

TEST(ImportedGpt2, HasNoDtypeInItsFile) {
  const ImportedModel model = import_config(
      "{\"model_type\": \"gpt2\", \"n_embd\": 1600, \"n_layer\": 48, \"n_head\": 25, \"vocab_size\": "
      "50257}",
      "it.json");
  for (const ImportedKey& key : model.keys)
    if (key.value.key == "dtype") {
      EXPECT_EQ(key.value.text, "bf16");
      return;
    }
  FAIL() << "no dtype";
}

/// Qwen3-235B in fp8: whether attention is, too.
std::string weight_dtype_with(const std::string& ignored) {
  const ImportedModel model =
      edited("qwen3_235b", "\"torch_dtype\"",
             "\"quantization_config\": {\"quant_method\": \"compressed-tensors\", \"format\": "
             "\"float-quantized\", \"ignore\": [\"lm_head\", \"" +
                 ignored + "\"]}, \"torch_dtype\"");
  for (const ImportedKey& key : model.keys)
    if (key.value.key == "weight_dtype") return key.value.text;
  return "";
}

TEST(ImportedQuantisation, SparesAttentionOfTheDecoderAlone) {
  for (const char* of_decoder :
       {"re:.*self_attn.*", "re:.*self_attn", "model.layers.*.self_attn", "self_attn"})
    EXPECT_EQ(weight_dtype_with(of_decoder), "bf16") << of_decoder;
  for (const char* other :
       {"vision_tower.encoder.layers.0.self_attn.q_proj", "model.layers.0.self_attn.q_proj"})
    EXPECT_EQ(weight_dtype_with(other), "fp8") << other;
}

TEST(ImportedQuantisation, ReadsTheCachesOwnDtype) {
  const std::string start = "{\"quant_method\": \"fp8\", \"kv_cache_scheme\": {\"num_bits\": ";
  EXPECT_EQ(dtypes_of(start + "8, \"type\": \"float\"}}"),
            "dtype=bf16 weight_dtype=fp8 kv_dtype=fp8 ");
  EXPECT_THROW(dtypes_of(start + "4, \"type\": \"float\"}}"), InputError);
  EXPECT_THROW(dtypes_of(start + "8, \"type\": \"int\"}}"), InputError);
}

TEST(ImportedLlama4, TakesAnEmptyListForNone) {
  EXPECT_EQ(
      records_of(
          edited("llama_4_scout", "\"attention_bias\": false", "\"no_rope_layers\": []").attention),
      records_of(load_config(path_of("llama_4_scout")).attention));
}

TEST(ImportedLlama4, MayListItsLayers) {
  std::string rope = "0";
  for (int i = 1; i < 48; ++i) rope += i < 12 ? ", 0" : ", 1";
  const ImportedModel model = edited("llama_4_scout", "\"attention_bias\": false",
                                     "\"moe_layers\": [0, 47], \"no_rope_layers\": [" + rope + "]");
  EXPECT_EQ(records_of(model.attention).front(),
            "kind=grouped decoder_layers=12 heads=40 kv_heads=8 head_dim=128");
  EXPECT_EQ(records_of(model.attention).back(),
            "kind=grouped decoder_layers=36 heads=40 kv_heads=8 head_dim=128 window=8192");
}

// GLM-5.2, ai-dynamo/aiconfigurator @095f58a5: 21 of 78 layers choose keys, the others follow.
TEST(ImportedGlm, MayShareTheChoiceOfKeys) {
  const ImportedModel model = load_config(path_of("glm_5_2"));
  EXPECT_EQ(records_of(model.attention),
            (Lines{"kind=latent decoder_layers=21 heads=64 q_rank=2048 kv_rank=512 nope_dim=192 "
                   "rope_dim=64 value_dim=256 top_k=2048 index_heads=32 index_dim=128",
                   "kind=latent decoder_layers=57 heads=64 q_rank=2048 kv_rank=512 nope_dim=192 "
                   "rope_dim=64 value_dim=256 top_k=2048"}));
}

TEST(ImportedQwen, CountsItsFullLayersWithAndWithoutAList) {
  // Layers 4, 8, ... of 47: 11 of them.
  EXPECT_EQ(
      records_of(edited("qwen3_next_80b", "\"num_hidden_layers\": 48", "\"num_hidden_layers\": 47")
                     .attention)
          .back(),
      "kind=grouped decoder_layers=11 heads=16 kv_heads=2 head_dim=256 "
      "output_gate=present");
}

TEST(ImportedQwen, HasNoGateWhereTheConfigSaysSo) {
  EXPECT_EQ(
      records_of(edited("qwen3_5_27b", "\"attn_output_gate\": true", "\"attn_output_gate\": false")
                     .attention)
          .back(),
      "kind=grouped decoder_layers=16 heads=24 kv_heads=4 head_dim=256");
}

TEST(ImportedFamilies, AreReadAsWhatTheUserNames) {
  std::string text = test::content_of(path_of("phi_4"));
  text.replace(text.find("\"phi3\""), 6, "\"phi9\"");
  const ImportedModel model = import_config(text, "it.json", "phi3");
  EXPECT_EQ(records_of(model.attention), records_of(load_config(path_of("phi_4")).attention));
  EXPECT_EQ(model.remarks,
            (Lines{"Read as phi3, as was asked for; the config says model_type 'phi9'."}));
  EXPECT_EQ(to_values(model).at("residual.scheme").origin,
            "no hc_mult and no attn_res_block_size key in it.json; Read as phi3, as was asked for; "
            "the config says model_type 'phi9'.");
  EXPECT_NE(to_yaml(model).find("\n# Read as phi3, as was asked for; "), std::string::npos);
}

/// A decoder of the shape of Command R, with further members.
ImportedModel read_as_llama(const std::string& model_type, const std::string& more = "") {
  return import_config(
      "{\"model_type\": \"" + model_type +
          "\", \"torch_dtype\": \"float16\", \"num_hidden_layers\": 40, \"hidden_size\": 8192, "
          "\"num_attention_heads\": 64, \"num_key_value_heads\": 64, \"intermediate_size\": "
          "22528, \"vocab_size\": 256000" +
          more + "}",
      "it.json", "llama");
}

std::string head_of(const ImportedModel& model) {
  for (const ImportedKey& key : model.keys)
    if (key.value.key == "output_head") return key.value.text + " by " + key.source;
  return "own";
}

Lines remarks_on(const std::string& model_type, const std::string& last) {
  return {"Read as llama, as was asked for; the config says model_type '" + model_type + "'.",
          last};
}

/// CohereAI's Command R and Google's Gemma leave out that their embedding is tied.
TEST(ImportedFamilies, HaveTheHeadOfTheTypeThatTheConfigNames) {
  for (const char* type :
       {"cohere", "cohere2", "ernie4_5", "gemma", "smollm3", "starcoder2", "gemma2"}) {
    const ImportedModel model = read_as_llama(type);
    EXPECT_EQ(head_of(model),
              fmt::format("tied by it.json: transformers' {}.tie_word_embeddings true", type));
    EXPECT_EQ(model.remarks, remarks_on(type, kDefaults)) << type;
  }
  for (const char* type : {"glm4", "granite", "olmo3", "stablelm"}) {
    EXPECT_EQ(head_of(read_as_llama(type)), "own") << type;
    EXPECT_EQ(read_as_llama(type).remarks, remarks_on(type, kDefaults)) << type;
  }
}

TEST(ImportedFamilies, SayWhereTheHeadOfTheNamedTypeIsNotKnown) {
  EXPECT_EQ(head_of(read_as_llama("phi9")), "own");
  EXPECT_EQ(
      read_as_llama("phi9").remarks,
      remarks_on("phi9",
                 "The config leaves out tie_word_embeddings, and what 'phi9' has as its "
                 "default is not known: the output projection is counted as one of its own."));
  const ImportedModel tied = read_as_llama("phi9", ", \"tie_word_embeddings\": true");
  EXPECT_EQ(head_of(tied), "tied by it.json: tie_word_embeddings true");
  EXPECT_EQ(tied.remarks.size(), 1U);
}

/// Factors of scores and streams are no layers.
TEST(ImportedFamilies, MayScaleLikeGranite) {
  const ImportedModel model = read_as_llama(
      "granite",
      ", \"attention_multiplier\": 0.0078125, \"embedding_multiplier\": 12.0, "
      "\"logits_scaling\": 16.0, \"residual_multiplier\": 0.22, \"tie_word_embeddings\": true");
  EXPECT_EQ(records_of(model.attention),
            (Lines{"kind=grouped decoder_layers=40 heads=64 kv_heads=64 head_dim=128"}));
}

/// OpenGVLab's InternVL says how images are read beside its decoder.
TEST(ImportedConfigs, OfInternVlReadTheDecoder) {
  const auto decoder = [](const std::string& adapters) {
    const std::string inner = test::content_of(path_of("phi_4"));
    return import_config(
        "{\"model_type\": \"internvl_chat\", \"downsample_ratio\": 0.5, \"select_layer\": -1, "
        "\"use_backbone_lora\": " +
            adapters + ", \"use_llm_lora\": 0, \"vision_config\": {\"hidden_size\": 1024}, " +
            "\"llm_config\": " + inner + "}",
        "it.json");
  };
  for (const char* none : {"0", "false"})
    EXPECT_EQ(records_of(decoder(none).attention),
              records_of(load_config(path_of("phi_4")).attention))
        << none;
  try {
    decoder("16");
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(),
              "unknown key 'use_backbone_lora' (may change what a layer is, and is not known of "
              "phi3)");
  }
}

TEST(ImportedFamilies, SayNothingWhereTheUserNamesWhatTheConfigSays) {
  EXPECT_TRUE(load_config(path_of("phi_4"), "phi3").remarks.empty());
}

}  // namespace
}  // namespace depthcost::families_test
