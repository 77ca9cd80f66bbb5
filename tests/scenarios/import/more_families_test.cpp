// Families of which no model is shipped: the layers that a config of each gives, and as many
// weights as its shapes have by hand and its makers count. The test is long because it holds a
// whole config for each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "scenarios/import/import.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/scenarios/import/imported_records.hpp"

namespace depthcost::more_families_test {
namespace {

using test::num_weights_of;
using test::records_of;

using Lines = std::vector<std::string>;

constexpr double kDigits = 0.02;  // makers give two digits or more
constexpr double kName = 0.1;     // a name has one digit

struct Row {
  std::string name;
  std::string config;
  double counted;
  double published;
  double within;
  Lines attention;
  Lines mlp;
  Lines remarks;
};

std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }

class ImportedFamily : public testing::TestWithParam<Row> {};

TEST_P(ImportedFamily, HasItsLayers) {
  const ImportedModel model = import_config(GetParam().config, "it.json");
  EXPECT_EQ(records_of(model.attention), GetParam().attention);
  EXPECT_EQ(records_of(model.mlp), GetParam().mlp);
  EXPECT_EQ(model.remarks, GetParam().remarks);
}

TEST_P(ImportedFamily, HasItsWeights) {
  const double weights = num_weights_of(import_config(GetParam().config, "it.json"));
  EXPECT_EQ(weights, GetParam().counted) << fmt::format("{:.0f}", weights);
  EXPECT_NEAR(GetParam().counted / GetParam().published, 1, GetParam().within);
}

/// A list's entries so many times over.
std::string repeated(int times, const std::string& entries) {
  std::string list = entries;
  for (int i = 1; i < times; ++i) list += ", " + entries;
  return list;
}

const std::string kNormsBehind =
    "Outputs of attention and MLP are normalised before they are added; the residual path is "
    "counted as one with a norm of the stream before each layer.";
const std::string kDefaults =
    "What the config leaves out is as in its class in transformers, named \"transformers' ...\".";
const std::string kParallel =
    "use_parallel_block true: attention and MLP are added to the stream in one step; the residual "
    "path is counted as in a model that adds them one after the other.";

// Looked up 2026-11-29. Qwen3-VL-235B: ai-dynamo/aiconfigurator @51ecbbbc; 94 x (71303168 + 128 x 3
// x 4096 x 1536 + 128 x 4096) + 2 x 151936 x 4096. Qwen3-VL-8B and Qwen2.5-VL-7B: as public code
// quotes their config.json; 36 x (4096 x 80 x 128 + 3 x 4096 x 12288) + 2 x 151936 x 4096 and
// 28 x (3584 x 64 x 128 + 3 x 3584 x 18944) + 2 x 152064 x 3584. Their decoders are those of
// Qwen3-235B, Qwen3-8B and Qwen2.5-7B, of 235e9, 8.2e9 and 7.61e9 weights by their cards.
INSTANTIATE_TEST_SUITE_P(
    Qwen, ImportedFamily,
    testing::Values(Row{"qwen3_vl_moe",
                        R"({"model_type": "qwen3_vl_moe", "text_config": {"attention_bias": false,
                "attention_dropout": 0.0, "decoder_sparse_step": 1, "dtype": "bfloat16",
                "head_dim": 128, "hidden_act": "silu", "hidden_size": 4096,
                "intermediate_size": 12288, "mlp_only_layers": [],
                "model_type": "qwen3_vl_moe_text", "moe_intermediate_size": 1536,
                "norm_topk_prob": true, "num_attention_heads": 64, "num_experts": 128,
                "num_experts_per_tok": 8, "num_hidden_layers": 94, "num_key_value_heads": 4,
                "vocab_size": 151936}, "tie_word_embeddings": false,
                "vision_config": {"depth": 27, "hidden_size": 1152, "num_heads": 16}})",
                        235092836352.0,
                        235e9,
                        kDigits,
                        {"kind=grouped decoder_layers=94 heads=64 kv_heads=4 head_dim=128"},
                        {"kind=experts decoder_layers=94 experts=128 active=8 width=1536"},
                        {}},
                    Row{"qwen3_vl",
                        R"({"image_token_id": 151655, "model_type": "qwen3_vl", "text_config": {
                "attention_bias": false, "attention_dropout": 0.0, "dtype": "bfloat16",
                "head_dim": 128, "hidden_act": "silu", "hidden_size": 4096,
                "intermediate_size": 12288, "model_type": "qwen3_vl_text",
                "num_attention_heads": 32, "num_hidden_layers": 36, "num_key_value_heads": 8,
                "rope_scaling": {"mrope_interleaved": true, "mrope_section": [24, 20, 20]},
                "vocab_size": 151936}, "tie_word_embeddings": false, "vision_config": {
                "deepstack_visual_indexes": [8, 16, 24], "depth": 27, "hidden_size": 1152}})",
                        8190427136.0,
                        8.2e9,
                        kDigits,
                        {"kind=grouped decoder_layers=36 heads=32 kv_heads=8 head_dim=128"},
                        {"kind=dense decoder_layers=36 width=12288"},
                        {}},
                    Row{"qwen2_5_vl",
                        R"({"attention_dropout": 0.0, "hidden_act": "silu", "hidden_size": 3584,
                "image_token_id": 151655, "intermediate_size": 18944, "max_window_layers": 28,
                "model_type": "qwen2_5_vl", "num_attention_heads": 28, "num_hidden_layers": 28,
                "num_key_value_heads": 4, "rope_scaling": {"mrope_section": [16, 24, 24]},
                "sliding_window": 32768, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
                "use_sliding_window": false, "vision_config": {"hidden_size": 1280,
                "in_chans": 3}, "vocab_size": 152064})",
                        7615283200.0,
                        7.61e9,
                        kDigits,
                        {"kind=grouped decoder_layers=28 heads=28 kv_heads=4 head_dim=128"},
                        {"kind=dense decoder_layers=28 width=18944"},
                        {}}),
    [](const auto& row) { return row.param.name; });

// Looked up 2026-11-29. MiniMax-M3: MiniMaxM3VLTextConfig of transformers @01a05aad; its
// config.json as public code quotes it; 60 x 6144 x 136 x 128 + 57 x (6144 x 5 x 128 + 129 x 3 x
// 6144 x 3072 + 128 x 6144) + 3 x 3 x 6144 x 12288 + 2 x 200064 x 6144; 428e9 with vision by its
// card.
INSTANTIATE_TEST_SUITE_P(
    MiniMax, ImportedFamily,
    testing::Values(
        Row{"minimax_m3",
            R"({"model_type": "minimax_m3_vl", "text_config": {"attention_output_gate": false,
                "dense_intermediate_size": 12288, "dtype": "bfloat16", "head_dim": 128,
                "hidden_act": "swigluoai", "hidden_size": 6144, "intermediate_size": 3072,
                "moe_layer_freq": [)" +
                repeated(3, "0") + ", " + repeated(57, "1") + R"(], "n_shared_experts": 1,
                "num_attention_heads": 64, "num_experts_per_tok": 4, "num_hidden_layers": 60,
                "num_key_value_heads": 4, "num_local_experts": 128, "num_reward_heads": 0, "qk_norm_type": "per_head",
                "rotary_dim": 64, "scoring_func": "sigmoid", "shared_intermediate_size": 3072,
                "sparse_attention_config": {"sparse_attention_freq": [)" +
                repeated(3, "0") + ", " + repeated(57, "1") + R"(], "sparse_block_size": 128,
                "sparse_disable_index_value": [)" +
                repeated(3, "0") + ", " + repeated(57, "1") + R"(], "sparse_index_dim": 128,
                "sparse_init_block": 0, "sparse_local_block": 1, "sparse_num_index_heads": 4,
                "sparse_score_type": "max", "sparse_topk_blocks": 16,
                "use_sparse_attention": true}, "tie_word_embeddings": false,
                "use_gemma_norm": true, "use_qk_norm": true, "use_routing_bias": true,
                "vocab_size": 200064}, "img_token_compression_config": {
                "image_token_compression_method": "patch_merge", "spatial_merge_size": 2},
                "vision_config": {"hidden_size": 1280,
                "num_hidden_layers": 32}})",
            426173792256.0,
            428e9,
            kDigits,
            {"kind=grouped decoder_layers=3 heads=64 kv_heads=4 head_dim=128",
             "kind=grouped decoder_layers=57 heads=64 kv_heads=4 head_dim=128 top_k=2048 "
             "index_heads=4 index_dim=128"},
            {"kind=dense decoder_layers=3 width=12288",
             "kind=experts decoder_layers=57 experts=128 active=4 shared=1 width=3072"},
            {"The cache holds keys of the indexer too, in kv_dtype; an engine that keeps them in fp8 "
             "needs fewer bytes."}},
        Row{"minimax_m3_saved",
            R"({"model_type": "minimax_m3_vl", "dtype": "bfloat16", "text_config": {
                "dense_intermediate_size": 12288, "head_dim": 128, "hidden_size": 6144,
                "index_block_size": 128, "index_head_dim": 128, "index_local_blocks": 1,
                "index_n_heads": 4, "index_topk_blocks": 16, "intermediate_size": 3072,
                "layer_types": [)" +
                repeated(3, "\"full_attention\"") + ", " + repeated(57, "\"minimax_m3_sparse\"") +
                R"(], "mlp_layer_types": [)" + repeated(3, "\"dense\"") + ", " +
                repeated(57, "\"sparse\"") +
                R"(], "model_type": "minimax_m3_vl_text", "n_shared_experts": 1,
                "num_attention_heads": 64, "num_experts_per_tok": 4, "num_hidden_layers": 60,
                "num_key_value_heads": 4, "num_local_experts": 128,
                "shared_intermediate_size": 3072, "tie_word_embeddings": false,
                "vocab_size": 200064}})",
            426173792256.0,
            428e9,
            kDigits,
            {"kind=grouped decoder_layers=3 heads=64 kv_heads=4 head_dim=128",
             "kind=grouped decoder_layers=57 heads=64 kv_heads=4 head_dim=128 "
             "top_k=2048 index_heads=4 index_dim=128"},
            {"kind=dense decoder_layers=3 width=12288",
             "kind=experts decoder_layers=57 experts=128 active=4 shared=1 width=3072"},
            {"The cache holds keys of the indexer too, in kv_dtype; an engine that keeps "
             "them in fp8 needs fewer bytes."}}),
    [](const auto& row) { return row.param.name; });

// Looked up 2026-11-30, configs as their copies on Hugging Face quote them. Tiny: 36 layers of
// Mamba-2, each 1536 x (2 x 3072 + 256 + 48 + 3072) + 3328 x 4, and 4 of attention, 1536 x 128 x
// 32; 40 x (66 x 3 x 1536 x 512 + 64 x 1536), its shared MLP as wide as two experts; 100352 x 1536.
// 1B has one MLP of 4096 in place of experts. Bamba's 9.78e9 weights are in its page of
// transformers' documentation. The others are named 7B and 1.5B.
const std::string kMambaStates =
    "The states of Mamba-2 are counted as float32; an engine that keeps them in the model's dtype "
    "needs half of these bytes.";
const std::string kGraniteLayers =
    repeated(5, "\"mamba\"") + ", \"attention\", " + repeated(9, "\"mamba\"") +
    ", \"attention\", " + repeated(9, "\"mamba\"") + ", \"attention\", " +
    repeated(9, "\"mamba\"") + ", \"attention\", " + repeated(4, "\"mamba\"");
const std::string kGraniteMamba =
    "kind=linear decoder_layers=36 heads=48 head_dim=64 key_dim=128 conv_width=4 key_heads=1 "
    "decay=step";
INSTANTIATE_TEST_SUITE_P(
    Mamba, ImportedFamily,
    testing::Values(
        Row{"granite_4_h_tiny",
            R"({"model_type": "granitemoehybrid", "attention_bias": false,
                "attention_multiplier": 0.0078125, "embedding_multiplier": 12, "hidden_act": "silu",
                "hidden_size": 1536, "init_method": "mup", "intermediate_size": 512,
                "layer_types": [)" +
                kGraniteLayers + R"(], "logits_scaling": 6, "mamba_chunk_size": 256,
                "mamba_conv_bias": true, "mamba_d_conv": 4, "mamba_d_head": 64,
                "mamba_d_state": 128, "mamba_expand": 2, "mamba_n_groups": 1, "mamba_n_heads": 48,
                "mamba_proj_bias": false, "normalization_function": "rmsnorm",
                "num_attention_heads": 12, "num_experts_per_tok": 6, "num_hidden_layers": 40,
                "num_key_value_heads": 4, "num_local_experts": 64, "position_embedding_type": "nope",
                "residual_multiplier": 0.22, "shared_intermediate_size": 1024,
                "tie_word_embeddings": true, "torch_dtype": "bfloat16", "vocab_size": 100352})",
            6938677248.0,
            7e9,
            kName,
            {kGraniteMamba, "kind=grouped decoder_layers=4 heads=12 kv_heads=4 head_dim=128"},
            {"kind=experts decoder_layers=40 experts=64 active=6 shared=2 width=512"},
            {kMambaStates}},
        Row{"granite_4_h_1b",
            R"({"model_type": "granitemoehybrid", "hidden_size": 1536, "intermediate_size": 4096,
                "layer_types": [)" +
                kGraniteLayers + R"(], "mamba_chunk_size": 256, "mamba_conv_bias": true,
                "mamba_d_conv": 4, "mamba_d_head": 64, "mamba_d_state": 128, "mamba_expand": 2,
                "mamba_n_groups": 1, "mamba_n_heads": 48, "mamba_proj_bias": false,
                "num_attention_heads": 12, "num_experts_per_tok": 0, "num_hidden_layers": 40,
                "num_key_value_heads": 4, "num_local_experts": 0, "shared_intermediate_size": 4096,
                "dtype": "bfloat16", "tie_word_embeddings": true, "vocab_size": 100352})",
            1461178368.0,
            1.5e9,
            kName,
            {kGraniteMamba, "kind=grouped decoder_layers=4 heads=12 kv_heads=4 head_dim=128"},
            {"kind=dense decoder_layers=40 width=4096"},
            {kMambaStates}},
        Row{"bamba_9b",
            R"({"model_type": "bamba", "attention_dropout": 0.0, "attn_layer_indices": [9, 18, 27],
                "attn_rotary_emb": 64, "hidden_act": "silu", "hidden_size": 4096,
                "intermediate_size": 14336, "mamba_chunk_size": 256, "mamba_conv_bias": true,
                "mamba_d_conv": 4, "mamba_d_head": 64, "mamba_d_state": 128, "mamba_dt_rank": 256,
                "mamba_expand": 2, "mamba_n_groups": 1, "mamba_n_heads": 128,
                "mamba_proj_bias": false, "num_attention_heads": 32, "num_hidden_layers": 32,
                "num_key_value_heads": 8, "num_logits_to_keep": 1, "tie_word_embeddings": false,
                "torch_dtype": "bfloat16", "use_mamba_kernels": true, "vocab_size": 128256})",
            9779475456.0,
            9.78e9,
            kDigits,
            {"kind=linear decoder_layers=29 heads=128 head_dim=64 key_dim=128 conv_width=4 "
             "key_heads=1 decay=step",
             "kind=grouped decoder_layers=3 heads=32 kv_heads=8 head_dim=128"},
            {"kind=dense decoder_layers=32 width=14336"},
            {kMambaStates}}),
    [](const auto& row) { return row.param.name; });

// Looked up 2026-11-29, Gemma4TextConfig and Gemma4UnifiedTextConfig of transformers @008e5743; the
// numbers as public code quotes the configs. 31B: 50 x 5376 x 96 x 256 + 10 x 5376 x 68 x 512 + 60
// x 3 x 5376 x 21504 + 262144 x 5376; 12B alike. 26B-A4B: 25 x 2816 x 48 x 256 + 5 x 2816 x 34 x
// 512 + 30 x (131 x 3 x 2816 x 704 + 128 x 2816) + 262144 x 2816; its dense MLP is as wide as three
// experts. E2B: 12 x 1536 x 18 x 256 + 3 x 1536 x 18 x 512 + 16 x 1536 x 16 x 256 + 4 x 1536 x 16 x
// 512 + 55 x 3 x 1536 x 6144 + 262144 x (1536 + 35 x 256) + 3 x 1536 x 35 x 256; 2.3e9 weights
// beside the embeddings for each layer by its card. The others' are 30.7e9, 12e9 and 25.2e9.
const std::string kGemma4 =
    "Outputs of attention and MLP are normalised before they are added; the residual path is "
    "counted as one with a norm of the stream before each layer. Each decoder layer multiplies the "
    "stream by a number, layers with experts normalise it three times, and embeddings for each "
    "layer, where a model has them, add to it. None of this is counted.";
INSTANTIATE_TEST_SUITE_P(
    Gemma4, ImportedFamily,
    testing::Values(Row{"gemma4_31b",
                        R"({"model_type": "gemma4", "text_config": {"attention_bias": false,
                "attention_k_eq_v": true, "dtype": "bfloat16", "enable_moe_block": false,
                "final_logit_softcapping": 30.0, "global_head_dim": 512, "head_dim": 256,
                "hidden_size": 5376, "hidden_size_per_layer_input": 0, "intermediate_size": 21504,
                "model_type": "gemma4_text", "moe_intermediate_size": null,
                "num_attention_heads": 32, "num_experts": null, "num_global_key_value_heads": 4,
                "num_hidden_layers": 60, "num_key_value_heads": 16, "num_kv_shared_layers": 0,
                "sliding_window": 1024, "tie_word_embeddings": true, "top_k_experts": null,
                "use_bidirectional_attention": "vision", "use_double_wide_mlp": false,
                "vocab_size": 262144, "vocab_size_per_layer_input": 262144},
                "tie_word_embeddings": true, "vision_config": {"hidden_size": 1152}})",
                        30696013824.0,
                        30.7e9,
                        kDigits,
                        {"kind=grouped decoder_layers=50 heads=32 kv_heads=16 head_dim=256 "
                         "window=1024",
                         "kind=grouped decoder_layers=10 heads=32 kv_heads=4 head_dim=512 "
                         "key_values=one_projection"},
                        {"kind=dense decoder_layers=60 width=21504"},
                        {kGemma4}},
                    Row{"gemma4_12b",
                        R"({"model_type": "gemma4_unified", "text_config": {
                "attention_k_eq_v": true, "dtype": "bfloat16", "global_head_dim": 512,
                "head_dim": 256, "hidden_size": 3840, "intermediate_size": 15360,
                "model_type": "gemma4_unified_text", "num_attention_heads": 16,
                "num_global_key_value_heads": 1, "num_hidden_layers": 48,
                "num_key_value_heads": 8, "num_kv_shared_layers": 0, "sliding_window": 1024,
                "tie_word_embeddings": true, "use_bidirectional_attention": "vision",
                "vocab_size": 262144}, "audio_config": {"audio_embed_dim": 640}})",
                        11906580480.0,
                        12e9,
                        kDigits,
                        {"kind=grouped decoder_layers=40 heads=16 kv_heads=8 head_dim=256 "
                         "window=1024",
                         "kind=grouped decoder_layers=8 heads=16 kv_heads=1 head_dim=512 "
                         "key_values=one_projection"},
                        {"kind=dense decoder_layers=48 width=15360"},
                        {kGemma4, kDefaults}},
                    Row{"gemma4_26b",
                        R"({"model_type": "gemma4", "text_config": {"attention_k_eq_v": true,
                "dtype": "bfloat16", "enable_moe_block": true, "global_head_dim": 512,
                "head_dim": 256, "hidden_size": 2816, "hidden_size_per_layer_input": 0,
                "intermediate_size": 2112, "model_type": "gemma4_text",
                "moe_intermediate_size": 704, "num_attention_heads": 16, "num_experts": 128,
                "num_global_key_value_heads": 2, "num_hidden_layers": 30,
                "num_key_value_heads": 8, "num_kv_shared_layers": 0, "sliding_window": 1024,
                "tie_word_embeddings": true, "top_k_experts": 8, "use_double_wide_mlp": false,
                "vocab_size": 262144, "vocab_size_per_layer_input": 262144}})",
                        25232441344.0,
                        25.2e9,
                        kDigits,
                        {"kind=grouped decoder_layers=25 heads=16 kv_heads=8 head_dim=256 "
                         "window=1024",
                         "kind=grouped decoder_layers=5 heads=16 kv_heads=2 head_dim=512 "
                         "key_values=one_projection"},
                        {"kind=experts decoder_layers=30 experts=128 active=8 shared=3 width=704"},
                        {kGemma4}},
                    Row{"gemma4_e2b",
                        R"({"model_type": "gemma4", "text_config": {"attention_k_eq_v": false,
                "dtype": "bfloat16", "enable_moe_block": false, "global_head_dim": 512,
                "head_dim": 256, "hidden_size": 1536, "hidden_size_per_layer_input": 256,
                "intermediate_size": 6144, "layer_types": [)" +
                            repeated(7,
                                     R"("sliding_attention", "sliding_attention",
                "sliding_attention", "sliding_attention", "full_attention")") +
                            R"(], "model_type": "gemma4_text", "num_attention_heads": 8,
                "num_global_key_value_heads": null, "num_hidden_layers": 35,
                "num_key_value_heads": 1, "num_kv_shared_layers": 20, "sliding_window": 512,
                "tie_word_embeddings": true, "use_double_wide_mlp": true, "vocab_size": 262144,
                "vocab_size_per_layer_input": 262144}})",
                        4628283392.0,
                        2.3e9 + 262144.0 * 35 * 256,
                        kDigits,
                        {"kind=grouped decoder_layers=12 heads=8 kv_heads=1 head_dim=256 "
                         "window=512",
                         "kind=grouped decoder_layers=3 heads=8 kv_heads=1 head_dim=512",
                         "kind=grouped decoder_layers=16 heads=8 kv_heads=1 head_dim=256 "
                         "window=512 key_values=shared",
                         "kind=grouped decoder_layers=4 heads=8 kv_heads=1 head_dim=512 "
                         "key_values=shared"},
                        {"kind=dense decoder_layers=15 width=6144",
                         "kind=dense decoder_layers=20 width=12288"},
                        {kGemma4}}),
    [](const auto& row) { return row.param.name; });

// Looked up 2026-11-29, in transformers @008e5743 where no other source is named. Ministral-3-8B,
// Ministral3Config: 34 x (4096 x 80 x 128 + 3 x 4096 x 14336) + 2 x 131072 x 4096; 8.4e9 without
// vision by its card. SmolLM3-3B, SmolLM3Config: 36 x (2048 x 40 x 128 + 3 x 2048 x 11008) +
// 128256 x 2048; its bf16 weights are 6.16 GB. Olmo-3-7B, Olmo3Config, the vocabulary as public
// code quotes it: 32 x (4 x 4096 x 4096 + 3 x 4096 x 11008) + 2 x 100278 x 4096. EXAONE-4.0-32B, as
// TensorRT-LLM's tests quote it: 64 x (5120 x 96 x 128 + 3 x 5120 x 27392) + 2 x 102400 x 5120.
// Granite: IBM's table of an 8B with the vocabulary of 3.1, which has 8.1e9: 40 x (4096 x 80 x 128
// + 3 x 4096 x 12800) + 49155 x 4096. ERNIE-4.5-0.3B, Ernie4_5Config: 18 x (1024 x 36 x 128 +
// 3 x 1024 x 3072) + 103424 x 1024; 0.36e9 by its card. MiMo-7B, as Megatron-Bridge's tests quote
// it: 36 x (4096 x 80 x 128 + 3 x 4096 x 11008) + 2 x 151680 x 4096. GLM-4-9B-0414, Glm4Config:
// 40 x (4096 x 68 x 128 + 3 x 4096 x 13696) + 2 x 151552 x 4096.
INSTANTIATE_TEST_SUITE_P(
    Dense, ImportedFamily,
    testing::Values(
        Row{"ministral3",
            R"({"model_type": "mistral3", "dtype": "bfloat16", "text_config": {
                "attention_dropout": 0.0, "head_dim": 128, "hidden_act": "silu",
                "hidden_size": 4096, "intermediate_size": 14336, "model_type": "ministral3",
                "num_attention_heads": 32, "num_hidden_layers": 34, "num_key_value_heads": 8,
                "rope_parameters": {"factor": 16.0}, "sliding_window": null,
                "tie_word_embeddings": false, "vocab_size": 131072}, "vision_config": {}})",
            8489271296.0,
            8.4e9,
            kDigits,
            {"kind=grouped decoder_layers=34 heads=32 kv_heads=8 head_dim=128"},
            {"kind=dense decoder_layers=34 width=14336"},
            {}},
        Row{"smollm3",
            R"({"attention_bias": false, "hidden_act": "silu", "hidden_size": 2048,
                "intermediate_size": 11008, "max_window_layers": 28, "mlp_bias": false,
                "model_type": "smollm3", "no_rope_layer_interval": 4,
                "no_rope_layers": [1, 1, 1, 0], "num_attention_heads": 16,
                "num_hidden_layers": 36, "num_key_value_heads": 4, "sliding_window": null,
                "torch_dtype": "bfloat16", "use_sliding_window": false, "vocab_size": 128256})",
            3074949120.0,
            3.08e9,
            kDigits,
            {"kind=grouped decoder_layers=36 heads=16 kv_heads=4 head_dim=128"},
            {"kind=dense decoder_layers=36 width=11008"},
            {kDefaults}},
        Row{"olmo3",
            R"({"attention_bias": false, "hidden_act": "silu", "hidden_size": 4096,
                "intermediate_size": 11008, "model_type": "olmo3", "num_attention_heads": 32,
                "num_hidden_layers": 32, "num_key_value_heads": 32, "sliding_window": 4096,
                "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 100278})",
            7297482752.0,
            7e9,
            kName,
            {"kind=grouped decoder_layers=24 heads=32 kv_heads=32 head_dim=128 window=4096",
             "kind=grouped decoder_layers=8 heads=32 kv_heads=32 head_dim=128"},
            {"kind=dense decoder_layers=32 width=11008"},
            {kNormsBehind}},
        Row{"exaone4",
            R"({"attention_dropout": 0.0, "head_dim": 128, "hidden_act": "silu",
                "hidden_size": 5120, "intermediate_size": 27392, "model_type": "exaone4",
                "num_attention_heads": 40, "num_hidden_layers": 64, "num_key_value_heads": 8,
                "sliding_window": 4096, "sliding_window_pattern": "LLLG",
                "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 102400})",
            32002539520.0,
            32e9,
            kDigits,
            {"kind=grouped decoder_layers=48 heads=40 kv_heads=8 head_dim=128 window=4096",
             "kind=grouped decoder_layers=16 heads=40 kv_heads=8 head_dim=128"},
            {"kind=dense decoder_layers=64 width=27392"},
            {kNormsBehind}},
        Row{"granite",
            R"({"attention_bias": false, "attention_multiplier": 0.0078125,
                "embedding_multiplier": 12.0, "hidden_act": "silu", "hidden_size": 4096,
                "intermediate_size": 12800, "logits_scaling": 16.0, "mlp_bias": false,
                "model_type": "granite", "num_attention_heads": 32, "num_hidden_layers": 40,
                "num_key_value_heads": 8, "residual_multiplier": 0.22,
                "tie_word_embeddings": true, "torch_dtype": "bfloat16", "vocab_size": 49155})",
            8170516480.0,
            8.1e9,
            kDigits,
            {"kind=grouped decoder_layers=40 heads=32 kv_heads=8 head_dim=128"},
            {"kind=dense decoder_layers=40 width=12800"},
            {}},
        Row{"ernie4_5",
            R"({"head_dim": 128, "hidden_act": "silu", "hidden_size": 1024,
                "intermediate_size": 3072, "model_type": "ernie4_5", "num_attention_heads": 16,
                "num_hidden_layers": 18, "num_key_value_heads": 2, "tie_word_embeddings": true,
                "torch_dtype": "bfloat16", "use_bias": false, "vocab_size": 103424})",
            360710144.0,
            0.36e9,
            kDigits,
            {"kind=grouped decoder_layers=18 heads=16 kv_heads=2 head_dim=128"},
            {"kind=dense decoder_layers=18 width=3072"},
            {}},
        Row{"mimo",
            R"({"attention_bias": true, "attention_dropout": 0.0, "hidden_size": 4096,
                "intermediate_size": 11008, "model_type": "mimo", "num_attention_heads": 32,
                "num_hidden_layers": 36, "num_key_value_heads": 8,
                "num_nextn_predict_layers": 1, "tie_word_embeddings": false,
                "torch_dtype": "bfloat16", "vocab_size": 151680})",
            7622098944.0,
            7e9,
            kName,
            {"kind=grouped decoder_layers=36 heads=32 kv_heads=8 head_dim=128"},
            {"kind=dense decoder_layers=36 width=11008"},
            {}},
        Row{"glm4",
            R"({"attention_bias": true, "attention_dropout": 0.0, "head_dim": 128,
                "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 13696,
                "model_type": "glm4", "num_attention_heads": 32, "num_hidden_layers": 40,
                "num_key_value_heads": 2, "partial_rotary_factor": 0.5,
                "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 151552})",
            9399435264.0,
            9e9,
            kName,
            {"kind=grouped decoder_layers=40 heads=32 kv_heads=2 head_dim=128"},
            {"kind=dense decoder_layers=40 width=13696"},
            {kNormsBehind}}),
    [](const auto& row) { return row.param.name; });

// Looked up 2026-11-29. Two projections each: these classes in transformers name up_proj and
// down_proj, or c_fc and c_proj, alone. Nemotron-Mini-4B, as TensorRT-LLM's tests quote it: 32 x
// (3072 x 64 x 128 + 2 x 3072 x 9216) + 2 x 256000 x 3072. Apertus-8B, ApertusConfig of @008e5743,
// width as public code quotes it: 32 x (4096 x 80 x 128 + 2 x 4096 x 21504) + 2 x 131072 x 4096.
// StarCoder2-3B, Starcoder2Config of @008e5743: 30 x (3072 x 52 x 128 + 2 x 3072 x 12288) +
// 49152 x 3072. Widths are 2/3 of those, since a record counts three projections.
INSTANTIATE_TEST_SUITE_P(
    WithoutAGate, ImportedFamily,
    testing::Values(Row{"nemotron",
                        R"({"hidden_act": "relu2", "hidden_size": 3072, "intermediate_size": 9216,
                "kv_channels": 128, "model_type": "nemotron", "norm_eps": 1e-05,
                "num_attention_heads": 24, "num_hidden_layers": 32, "num_key_value_heads": 8,
                "partial_rotary_factor": 0.5, "tie_word_embeddings": false,
                "torch_dtype": "bfloat16", "vocab_size": 256000})",
                        4190109696.0,
                        4e9,
                        kName,
                        {"kind=grouped decoder_layers=32 heads=24 kv_heads=8 head_dim=128"},
                        {"kind=dense decoder_layers=32 width=6144"},
                        {}},
                    Row{"apertus",
                        R"({"attention_bias": false, "hidden_act": "xielu", "hidden_size": 4096,
                "intermediate_size": 21504, "mlp_bias": false, "model_type": "apertus",
                "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
                "post_norm": false, "qk_norm": true, "tie_word_embeddings": false,
                "torch_dtype": "bfloat16", "vocab_size": 131072})",
                        8053063680.0,
                        8e9,
                        kDigits,
                        {"kind=grouped decoder_layers=32 heads=32 kv_heads=8 head_dim=128"},
                        {"kind=dense decoder_layers=32 width=14336"},
                        {}},
                    Row{"starcoder2",
                        R"({"attention_dropout": 0.1, "attention_softmax_in_fp32": true,
                "hidden_act": "gelu_pytorch_tanh", "hidden_size": 3072,
                "intermediate_size": 12288, "mlp_type": "default", "model_type": "starcoder2",
                "norm_epsilon": 1e-05, "num_attention_heads": 24, "num_hidden_layers": 30,
                "num_key_value_heads": 2, "residual_dropout": 0.1,
                "scale_attention_softmax_in_fp32": true, "torch_dtype": "bfloat16",
                "use_bias": true, "vocab_size": 49152})",
                        3029336064.0,
                        3e9,
                        kDigits,
                        {"kind=grouped decoder_layers=30 heads=24 kv_heads=2 head_dim=128"},
                        {"kind=dense decoder_layers=30 width=8192"},
                        {kDefaults}}),
    [](const auto& row) { return row.param.name; });

// Looked up 2026-11-29. Command R, CohereConfig of transformers @008e5743: 40 x (4 x 8192 x 8192 +
// 3 x 8192 x 22528) + 256000 x 8192. Command A, as public code quotes it, the vocabulary as in
// Cohere2Config: 64 x (12288 x 208 x 128 + 3 x 12288 x 36864) + 256000 x 12288. 35e9 and 111e9 by
// their names and cards.
INSTANTIATE_TEST_SUITE_P(
    Cohere, ImportedFamily,
    testing::Values(
        Row{"cohere",
            R"({"attention_bias": false, "attention_dropout": 0.0, "hidden_act": "silu",
                "hidden_size": 8192, "intermediate_size": 22528, "layer_norm_eps": 1e-05,
                "logit_scale": 0.0625, "model_type": "cohere", "num_attention_heads": 64,
                "num_hidden_layers": 40, "num_key_value_heads": 64, "torch_dtype": "float16",
                "use_qk_norm": false, "vocab_size": 256000})",
            34980495360.0,
            35e9,
            kDigits,
            {"kind=grouped decoder_layers=40 heads=64 kv_heads=64 head_dim=128"},
            {"kind=dense decoder_layers=40 width=22528"},
            {"transformers' cohere." + kParallel, kDefaults}},
        Row{"cohere2",
            R"({"attention_bias": false, "head_dim": 128, "hidden_act": "silu",
                "hidden_size": 12288, "intermediate_size": 36864, "layer_switch": 4,
                "logit_scale": 0.25, "model_type": "cohere2", "num_attention_heads": 96,
                "num_hidden_layers": 64, "num_key_value_heads": 8,
                "order_of_interleaved_layers": "local_attn_first", "rotary_pct": 1.0,
                "sliding_window": 4096, "sliding_window_pattern": 4, "torch_dtype": "bfloat16",
                "use_embedding_sharing": true, "use_gated_activation": true,
                "use_parallel_block": true, "use_parallel_embedding": true,
                "vocab_size": 256000})",
            111056781312.0,
            111e9,
            kDigits,
            {"kind=grouped decoder_layers=48 heads=96 kv_heads=8 head_dim=128 window=4096",
             "kind=grouped decoder_layers=16 heads=96 kv_heads=8 head_dim=128"},
            {"kind=dense decoder_layers=64 width=36864"},
            {kParallel, kDefaults}}),
    [](const auto& row) { return row.param.name; });

// Looked up 2026-11-29. Mistral-Small-4-119B, Mistral4Config of transformers @008e5743: attention
// 4096 x 1024 + 1024 x 32 x 128 + 4096 x 320 + 256 x 32 x 192 + 32 x 128 x 4096 = 28049408; 36 x
// (28049408 + 129 x 3 x 4096 x 2048 + 128 x 4096) + 2 x 131072 x 4096. GLM-4.7-Flash,
// ai-dynamo/aiconfigurator @19d098ad: attention 2048 x 768 + 768 x 20 x 256 + 2048 x 576 + 512 x 20
// x 448 + 20 x 256 x 2048 = 21757952; 47 x 21757952 + 3 x 2048 x 10240 + 46 x (65 x 3 x 2048 x 1536
// + 64 x 2048) + 2 x 154880 x 2048; 30e9 by its card.
INSTANTIATE_TEST_SUITE_P(
    Latent, ImportedFamily,
    testing::Values(
        Row{"mistral4",
            R"({"model_type": "mistral3", "text_config": {"attention_bias": false,
                "dtype": "bfloat16", "first_k_dense_replace": 0, "head_dim": 128,
                "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 12288,
                "kv_lora_rank": 256, "model_type": "mistral4", "moe_intermediate_size": 2048,
                "n_group": 1, "n_routed_experts": 128, "n_shared_experts": 1,
                "norm_topk_prob": true, "num_attention_heads": 32, "num_experts_per_tok": 4,
                "num_hidden_layers": 36, "num_key_value_heads": 32, "q_lora_rank": 1024,
                "qk_head_dim": 128, "qk_nope_head_dim": 64, "qk_rope_head_dim": 64,
                "rope_interleave": true, "tie_word_embeddings": false, "topk_group": 1,
                "v_head_dim": 128, "vocab_size": 131072}, "vision_config": {}})",
            118972481536.0,
            119e9,
            kDigits,
            {"kind=latent decoder_layers=36 heads=32 q_rank=1024 kv_rank=256 nope_dim=64 "
             "rope_dim=64 value_dim=128"},
            {"kind=experts decoder_layers=36 experts=128 active=4 shared=1 width=2048"},
            {}},
        Row{"glm4_moe_lite",
            R"({"first_k_dense_replace": 1, "head_dim": 64, "hidden_size": 2048,
                "intermediate_size": 10240, "kv_lora_rank": 512, "model_type": "glm4_moe_lite",
                "moe_intermediate_size": 1536, "n_routed_experts": 64, "n_shared_experts": 1,
                "num_attention_heads": 20, "num_experts_per_tok": 4, "num_hidden_layers": 47,
                "num_key_value_heads": 20, "q_lora_rank": 768, "qk_nope_head_dim": 192,
                "qk_rope_head_dim": 64, "routed_scaling_factor": 1.8,
                "tie_word_embeddings": false, "torch_dtype": "bfloat16", "v_head_dim": 256,
                "vocab_size": 154880})",
            29943136256.0,
            30e9,
            kDigits,
            {"kind=latent decoder_layers=47 heads=20 q_rank=768 kv_rank=512 nope_dim=192 "
             "rope_dim=64 value_dim=256"},
            {"kind=dense decoder_layers=1 width=10240",
             "kind=experts decoder_layers=46 experts=64 active=4 shared=1 width=1536"},
            {}}),
    [](const auto& row) { return row.param.name; });

// Looked up 2026-11-29, as public code quotes the config.json, or in transformers. Phi-3.5-MoE,
// PhimoeConfig @040e1a7e: 32 x (4096 x 80 x 128 + 16 x 3 x 4096 x 6400 + 16 x 4096) + 2 x 32064 x
// 4096; 42e9 by its card. Granite-3.1-3B-A800M: 32 x (1536 x 64 x 64 + 40 x 3 x 1536 x 512 + 40 x
// 1536) + 49155 x 1536. dots.llm1: 62 x 4 x 4096 x 4096 + 3 x 4096 x 10944 + 61 x (130 x 3 x 4096 x
// 1408 + 128 x 4096) + 2 x 152064 x 4096; 142e9 by its card. Ling-lite-1.5: 28 x (2048 x 40 x 128 +
// 66 x 3 x 2048 x 1408 + 64 x 2048) + 2 x 126464 x 2048; 16.8e9 by its card. Ling-mini-2.0, the
// class in inclusionAI/Ring-V2.5: 20 x 2048 x 40 x 128 + 3 x 2048 x 5120 + 19 x (257 x 3 x 2048 x
// 512 + 256 x 2048) + 2 x 157184 x 2048; 16e9 by ant-yy/Ling-V2. Hy3: 80 x 4096 x 144 x 128 + 3 x
// 4096 x 13312 + 79 x (193 x 3 x 4096 x 1536 + 192 x 4096) + 2 x 120832 x 4096; 295e9 by its card.
// ERNIE-4.5-21B-A3B: 28 x 2560 x 48 x 128 + 3 x 2560 x 12288 + 27 x (66 x 3 x 2560 x 1536 + 64 x
// 2560) + 103424 x 2560; 21.8e9. Hunyuan-A13B: 32 x (4096 x 80 x 128 + 65 x 3 x 4096 x 3072 + 64 x
// 4096) + 128167 x 4096; 80e9 by its card.
INSTANTIATE_TEST_SUITE_P(
    Experts, ImportedFamily,
    testing::Values(
        Row{"phimoe",
            R"({"attention_bias": true, "attention_dropout": 0.0, "hidden_act": "silu",
                "hidden_size": 4096, "input_jitter_noise": 0.01, "intermediate_size": 6400,
                "lm_head_bias": true, "model_type": "phimoe", "num_attention_heads": 32,
                "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8,
                "num_local_experts": 16, "sliding_window": null, "tie_word_embeddings": false,
                "torch_dtype": "bfloat16", "vocab_size": 32064})",
            41872261120.0,
            42e9,
            kDigits,
            {"kind=grouped decoder_layers=32 heads=32 kv_heads=8 head_dim=128"},
            {"kind=experts decoder_layers=32 experts=16 active=2 width=6400"},
            {}},
        Row{"granitemoe",
            R"({"attention_multiplier": 0.015625, "hidden_act": "silu", "hidden_size": 1536,
                "intermediate_size": 512, "model_type": "granitemoe",
                "num_attention_heads": 24, "num_experts_per_tok": 8, "num_hidden_layers": 32,
                "num_key_value_heads": 8, "num_local_experts": 40, "residual_multiplier": 0.22,
                "tie_word_embeddings": true, "torch_dtype": "bfloat16", "vocab_size": 49155})",
            3298693632.0,
            3e9,
            kName,
            {"kind=grouped decoder_layers=32 heads=24 kv_heads=8 head_dim=64"},
            {"kind=experts decoder_layers=32 experts=40 active=8 width=512"},
            {}},
        Row{"dots1",
            R"({"attention_bias": false, "first_k_dense_replace": 1, "hidden_size": 4096,
                "intermediate_size": 10944, "max_window_layers": 62, "model_type": "dots1",
                "moe_intermediate_size": 1408, "n_group": null, "n_routed_experts": 128,
                "n_shared_experts": 2, "norm_topk_prob": true, "num_attention_heads": 32,
                "num_experts_per_tok": 6, "num_hidden_layers": 62, "num_key_value_heads": 32,
                "routed_scaling_factor": 2.5, "scoring_func": "sigmoid", "sliding_window": 4096,
                "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 152064})",
            142773846016.0,
            142e9,
            kDigits,
            {"kind=grouped decoder_layers=62 heads=32 kv_heads=32 head_dim=128"},
            {"kind=dense decoder_layers=1 width=10944",
             "kind=experts decoder_layers=61 experts=128 active=6 shared=2 width=1408"},
            {}},
        Row{"bailing_moe",
            R"({"attention_dropout": 0.0, "embedding_dropout": 0.0, "first_k_dense_replace": 0,
                "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 1408,
                "model_type": "bailing_moe", "moe_intermediate_size": 1408,
                "norm_head": false, "norm_softmax": false, "norm_topk_prob": true,
                "num_attention_heads": 16, "num_experts": 64, "num_experts_per_tok": 6,
                "num_hidden_layers": 28, "num_key_value_heads": 4, "num_shared_experts": 2,
                "output_dropout": 0.0, "output_router_logits": false,
                "tie_word_embeddings": false, "torch_dtype": "bfloat16", "use_bias": false,
                "use_qkv_bias": false, "vocab_size": 126464})",
            16801857536.0,
            16.8e9,
            kDigits,
            {"kind=grouped decoder_layers=28 heads=16 kv_heads=4 head_dim=128"},
            {"kind=experts decoder_layers=28 experts=64 active=6 shared=2 width=1408"},
            {}},
        Row{"bailing_moe_v2",
            R"({"first_k_dense_replace": 1, "head_dim": 128, "hidden_act": "silu",
                "hidden_size": 2048, "intermediate_size": 5120, "max_window_layers": 20,
                "model_type": "bailing_moe_v2", "moe_intermediate_size": 512,
                "moe_router_enable_expert_bias": true,
                "moe_shared_expert_intermediate_size": 512, "mtp_loss_scaling_factor": 0,
                "n_group": 8, "num_attention_heads": 16, "num_experts": 256,
                "num_experts_per_tok": 8, "num_hidden_layers": 20, "num_key_value_heads": 4,
                "num_nextn_predict_layers": 0, "num_shared_experts": 1,
                "routed_scaling_factor": 2.5, "score_function": "sigmoid",
                "sliding_window": 4096, "tie_word_embeddings": false, "topk_group": 4,
                "torch_dtype": "bfloat16", "use_qk_norm": true, "use_sliding_window": false,
                "vocab_size": 157184})",
            16255549440.0,
            16e9,
            kDigits,
            {"kind=grouped decoder_layers=20 heads=16 kv_heads=4 head_dim=128"},
            {"kind=dense decoder_layers=1 width=5120",
             "kind=experts decoder_layers=19 experts=256 active=8 shared=1 width=512 groups=8 "
             "groups_per_token=4"},
            {}},
        Row{"hy_v3",
            R"({"dtype": "bfloat16", "enable_attention_fp32_softmax": false,
                "enable_lm_head_fp32": true, "enable_moe_fp32_combine": false,
                "expert_hidden_dim": 1536, "first_k_dense_replace": 1, "head_dim": 128,
                "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 13312,
                "model_type": "hy_v3", "moe_intermediate_size": 1536,
                "moe_router_enable_expert_bias": true, "moe_router_use_sigmoid": true,
                "num_attention_heads": 64, "num_experts": 192, "num_experts_per_tok": 8,
                "num_hidden_layers": 80, "num_key_value_heads": 8,
                "num_nextn_predict_layers": 1, "num_shared_experts": 1, "qk_norm": true,
                "route_norm": true, "router_scaling_factor": 2.826,
                "tie_word_embeddings": false, "use_grouped_mm": true, "vocab_size": 120832})",
            295032848384.0,
            295e9,
            kDigits,
            {"kind=grouped decoder_layers=80 heads=64 kv_heads=8 head_dim=128"},
            {"kind=dense decoder_layers=1 width=13312",
             "kind=experts decoder_layers=79 experts=192 active=8 shared=1 width=1536"},
            {}},
        Row{"ernie4_5_moe",
            R"({"head_dim": 128, "hidden_act": "silu", "hidden_size": 2560,
                "intermediate_size": 12288, "model_type": "ernie4_5_moe",
                "moe_capacity": [64, 64, 64], "moe_gate": "topk",
                "moe_intermediate_size": 1536, "moe_k": 6, "moe_layer_end_index": 27,
                "moe_layer_interval": 1, "moe_layer_start_index": 1, "moe_num_experts": 64,
                "moe_num_shared_experts": 2, "moe_use_aux_free": true,
                "num_attention_heads": 20, "num_hidden_layers": 28, "num_key_value_heads": 4,
                "tie_word_embeddings": true, "torch_dtype": "bfloat16", "use_bias": false,
                "vocab_size": 103424})",
            21825290240.0,
            21.8e9,
            kDigits,
            {"kind=grouped decoder_layers=28 heads=20 kv_heads=4 head_dim=128"},
            {"kind=dense decoder_layers=1 width=12288",
             "kind=experts decoder_layers=27 experts=64 active=6 shared=2 width=1536"},
            {}}),
    [](const auto& row) { return row.param.name; });

std::string repeated(int number, int times) {
  std::string list = fmt::format("[{}", number);
  for (int i = 1; i < times; ++i) list += fmt::format(", {}", number);
  return list + "]";
}

/// Hunyuan-A13B, with further members.
std::string hunyuan_moe(const std::string& more = "") {
  return R"({"hidden_size": 4096, "intermediate_size": 3072, "head_dim": 128,
             "model_type": "hunyuan_v1_moe", "num_attention_heads": 32, "num_experts": 64,
             "num_hidden_layers": 32, "num_key_value_heads": 8, "torch_dtype": "bfloat16",
             "tie_word_embeddings": true, "vocab_size": 128167, "moe_intermediate_size": )" +
         repeated(3072, 32) + ", \"moe_topk\": " + repeated(8, 32) +
         ", \"num_shared_expert\": " + repeated(1, 32) + more + "}";
}

// The config of the rewriter beside tencent/HunyuanImage-2.1, a 7B, as public code quotes it: 32 x
// (4096 x 80 x 128 + 3 x 4096 x 14336) + 128167 x 4096.
INSTANTIATE_TEST_SUITE_P(
    Hunyuan, ImportedFamily,
    testing::Values(Row{"hunyuan_v1_dense",
                        R"({"add_classification_head": false, "attention_bias": false,
                "attention_head_dim": 128, "cla_share_factor": 2, "class_num": 0,
                "dense_list": [4096, 0], "head_dim": 128, "hidden_act": "silu",
                "hidden_size": 4096, "im_start_id": 4, "intermediate_size": 14336,
                "mask_init_id": 12, "mlp_bias": false, "model_type": "hunyuan_v1_dense",
                "norm_type": "rms", "num_attention_heads": 32, "num_hidden_layers": 32,
                "num_key_value_heads": 8, "org_vocab_size": 128167, "pool_type": "last",
                "text_start_id": 6, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
                "use_cla": false, "use_qk_norm": true, "use_rotary_pos_emb": true,
                "vocab_size": 128167})",
                        7504293888.0,
                        7e9,
                        kName,
                        {"kind=grouped decoder_layers=32 heads=32 kv_heads=8 head_dim=128"},
                        {"kind=dense decoder_layers=32 width=14336"},
                        {}},
                    Row{"hunyuan_v1_moe",
                        hunyuan_moe(),
                        80392908800.0,
                        80e9,
                        kDigits,
                        {"kind=grouped decoder_layers=32 heads=32 kv_heads=8 head_dim=128"},
                        {"kind=experts decoder_layers=32 experts=64 active=8 shared=1 width=3072"},
                        {}}),
    [](const auto& row) { return row.param.name; });

// --- traps ---

std::string error_of(const std::string& text, const std::string& family = "") {
  try {
    import_config(text, "it.json", family);
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

TEST(ImportedHunyuan, IsRefusedWhereLayersDiffer) {
  EXPECT_EQ(error_of(hunyuan_moe(", \"use_cla\": true")),
            "invalid use_cla 'true' (only false is understood)");
  EXPECT_EQ(error_of(hunyuan_moe(", \"moe_layer_num_skipped\": 1")),
            "invalid moe_layer_num_skipped '1' (only 0 is understood)");
  EXPECT_EQ(error_of(hunyuan_moe(", \"use_mixed_mlp_moe\": false")),
            "invalid use_mixed_mlp_moe 'false' (only true is understood)");
  EXPECT_EQ(error_of(hunyuan_moe(", \"kv_lora_rank\": 512")),
            "unknown key 'kv_lora_rank' (may change what a layer is, and is not known of "
            "hunyuan_v1_moe)");
  EXPECT_EQ(error_of(hunyuan_moe(", \"use_mla\": false, \"kv_lora_rank\": 512")), "");
  std::string unequal = hunyuan_moe();
  unequal.replace(unequal.find("[8,"), 3, "[4,");
  EXPECT_EQ(error_of(unequal),
            "invalid moe_topk (holds 4 and 8; only equal numbers are understood)");
}

/// A small model of a type, with further members.
std::string small(const std::string& type, const std::string& more) {
  return "{\"model_type\": \"" + type +
         "\", \"torch_dtype\": \"bfloat16\", \"num_hidden_layers\": 8, \"hidden_size\": 1024, "
         "\"num_attention_heads\": 8, \"num_key_value_heads\": 2, \"intermediate_size\": 4096, "
         "\"vocab_size\": 32000" +
         more + "}";
}

// No published config was found: the class of Arcee's AFM-4.5B in transformers @008e5743.
TEST(ImportedArcee, HasNoGate) {
  const ImportedModel model =
      import_config(small("arcee", ", \"hidden_act\": \"relu2\", \"mlp_bias\": false"), "it.json");
  // 8 x (1024 x 20 x 128 + 2 x 1024 x 4096) + 2 x 32000 x 1024, and a weight rounded up.
  EXPECT_NEAR(num_weights_of(model), 153616384.0, 8.0 * 3 * 1024);
  EXPECT_EQ(records_of(model.mlp), (Lines{"kind=dense decoder_layers=8 width=2731"}));
}

TEST(ImportedNemotron, MustSayItsWidth) {
  std::string text = small("nemotron", "");
  text.replace(text.find("\"intermediate_size\""), 19, "\"x\"");
  EXPECT_EQ(error_of(text), "missing key 'intermediate_size' (width of an MLP)");
  EXPECT_EQ(error_of(small("nemotron", ", \"head_dim\": 128, \"kv_channels\": 64")),
            "conflicting key 'kv_channels' ('head_dim' says otherwise)");
}

TEST(ImportedStarCoder, HasMlpsOfOneKind) {
  EXPECT_EQ(error_of(small("starcoder2", ", \"mlp_type\": \"gated\"")),
            "invalid mlp_type 'gated' (only default is understood)");
}

TEST(ImportedSmolLm, SaysWhichLayersHaveAWindowByAListAlone) {
  EXPECT_EQ(error_of(small("smollm3", ", \"use_sliding_window\": true, \"sliding_window\": 4096")),
            "invalid use_sliding_window 'true' (without layer_types only false is understood)");
}

TEST(ImportedDots, HasAWindowFromALayerOn) {
  const std::string experts =
      ", \"n_routed_experts\": 16, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 512, "
      "\"tie_word_embeddings\": false, \"sliding_window\": 4096, \"max_window_layers\": 6";
  EXPECT_EQ(records_of(import_config(small("dots1", experts), "it.json").attention),
            (Lines{"kind=grouped decoder_layers=6 heads=8 kv_heads=2 head_dim=128",
                   "kind=grouped decoder_layers=2 heads=8 kv_heads=2 head_dim=128 window=4096"}));
}

TEST(ImportedExaone, HasAPatternOfLetters) {
  const auto error = [](const std::string& pattern) {
    return error_of(small(
        "exaone4", ", \"sliding_window\": 512, \"sliding_window_pattern\": \"" + pattern + "\""));
  };
  EXPECT_EQ(error("LG"), "");
  EXPECT_EQ(error("LLGL"),
            "invalid sliding_window_pattern 'LLGL' (must be local layers (L) and then one "
            "global layer (G))");
  EXPECT_EQ(error("GLL"),
            "invalid sliding_window_pattern 'GLL' (a quoted text; write the bare number)");
}

/// 8 layers of LLLLG: the fifth is full by the pattern, the eighth since it is the last.
TEST(ImportedExaone, HasAFullLayerAtTheEnd) {
  EXPECT_EQ(records_of(import_config(small("exaone4",
                                           ", \"sliding_window\": 512, "
                                           "\"sliding_window_pattern\": \"LLLLG\""),
                                     "it.json")
                           .attention),
            (Lines{"kind=grouped decoder_layers=6 heads=8 kv_heads=2 head_dim=128 window=512",
                   "kind=grouped decoder_layers=2 heads=8 kv_heads=2 head_dim=128"}));
}

TEST(ImportedLing, HasSharedExpertsOfTheWidthOfTheOthers) {
  const std::string experts =
      ", \"num_experts\": 16, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 512, "
      "\"num_shared_experts\": 1, \"moe_shared_expert_intermediate_size\": ";
  EXPECT_EQ(error_of(small("bailing_moe", experts + "512")), "");
  EXPECT_EQ(
      error_of(small("bailing_moe", experts + "1024")),
      "invalid moe_shared_expert_intermediate_size '1024' (only the width of a routed expert, "
      "512, is understood)");
}

TEST(ImportedCohere, HasItsFullLayersLast) {
  const std::string window = ", \"sliding_window\": 512, \"order_of_interleaved_layers\": ";
  EXPECT_EQ(error_of(small("cohere2", window + "\"local_attn_first\"")), "");
  EXPECT_EQ(error_of(small("cohere2", window + "\"global_attn_first\"")),
            "invalid order_of_interleaved_layers 'global_attn_first' (only local_attn_first is "
            "understood)");
  EXPECT_EQ(error_of(small("cohere2",
                           ", \"sliding_window\": 512, \"layer_switch\": 2, "
                           "\"sliding_window_pattern\": 4")),
            "conflicting key 'layer_switch' ('sliding_window_pattern' says otherwise)");
}

TEST(ImportedErnie, HasExpertsInEachLayerBehindTheFirst) {
  const auto error = [](const std::string& more) {
    return error_of(small("ernie4_5_moe",
                          ", \"moe_num_experts\": 16, \"moe_k\": 2, "
                          "\"moe_intermediate_size\": 512" +
                              more));
  };
  EXPECT_EQ(error(", \"moe_layer_end_index\": -1"), "");
  EXPECT_EQ(error(", \"moe_layer_end_index\": 5"),
            "invalid moe_layer_end_index '5' (only -1 and 7, the last layer, are understood)");
  EXPECT_EQ(error(", \"moe_layer_interval\": 2"),
            "invalid moe_layer_interval '2' (only 1 is understood)");
}

TEST(ImportedBailing, HasNamesOfItsOwnForItsAttention) {
  const ImportedModel model = import_config(
      small("bailing_moe",
            ", \"num_experts\": 16, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 512, "
            "\"num_shared_experts\": 0, \"quantization_config\": {\"quant_method\": \"fp8\", "
            "\"modules_to_not_convert\": [\"query_key_value\", \"attention.dense\"]}"),
      "it.json");
  std::string dtypes;
  for (const ImportedKey& key : model.keys)
    if (key.value.key.ends_with("_dtype"))
      dtypes += fmt::format("{}={} ", key.value.key, key.value.text);
  EXPECT_EQ(dtypes, "weight_dtype=bf16 expert_dtype=fp8 ");
}

TEST(ImportedBailing, HasTheSharedExpertsThatItCounts) {
  const std::string experts =
      ", \"num_experts\": 16, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 512, ";
  EXPECT_EQ(records_of(import_config(small("bailing_moe",
                                           experts + "\"num_shared_experts\": 2, "
                                                     "\"moe_shared_expert_intermediate_size\": "
                                                     "512"),
                                     "it.json")
                           .mlp),
            (Lines{"kind=experts decoder_layers=8 experts=16 active=2 shared=2 width=512"}));
  EXPECT_EQ(error_of(small("bailing_moe", experts + "\"moe_router_enable_shared_expert\": false")),
            "invalid moe_router_enable_shared_expert 'false' (only true is understood)");
}

// --- suggestions ---

/// What is said of a model type that is not known, up to the list of those that are.
std::string said_of(const std::string& type, const std::string& more) {
  const std::string error = error_of(small(type, more));
  return error.substr(0, error.find(" RefinedWeb"));
}

const std::string kNothing =
    " (if its layers are built like those of a known type, name that: depthcost import it.json "
    "--as TYPE; known are";

TEST(UnknownTypes, AreLikenedToThoseThatCountTheSame) {
  const std::string silu = ", \"hidden_act\": \"silu\"";
  EXPECT_EQ(said_of("llama5", silu),
            "unknown model_type 'llama5' (nearest is llama; if its layers are built like those of "
            "llama, say so: depthcost import it.json --as llama)");
  // Of another MLP: each known one without a gate has another activation.
  EXPECT_EQ(said_of("llama5", ", \"hidden_act\": \"relu2\""),
            "unknown model_type 'llama5'" + kNothing);
  EXPECT_EQ(said_of("llama5", ""), "unknown model_type 'llama5'" + kNothing);
  EXPECT_EQ(said_of("nemotron5", silu), "unknown model_type 'nemotron5'" + kNothing);
  // Of another attention: the grouped one of glm4_moe is none for latent keys.
  const std::string experts =
      ", \"n_routed_experts\": 16, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 512, "
      "\"n_shared_experts\": 1, \"first_k_dense_replace\": 1";
  EXPECT_EQ(said_of("glm4_moe_mini", silu + experts + ", \"kv_lora_rank\": 512"),
            "unknown model_type 'glm4_moe_mini' (nearest is glm4_moe_lite; if its layers are built "
            "like those of glm4_moe_lite, say so: depthcost import it.json --as glm4_moe_lite)");
  EXPECT_EQ(said_of("gemma5", ", \"hidden_act\": \"gelu_pytorch_tanh\""),
            "unknown model_type 'gemma5'" + kNothing);
  EXPECT_EQ(said_of("llama5", silu + ", \"sliding_window\": 512"),
            "unknown model_type 'llama5'" + kNothing);
  EXPECT_EQ(said_of("mix", silu), "unknown model_type 'mix'" + kNothing);
}

/// A config of Gemma 4 with six decoder layers, of which the last sees all tokens.
std::string small_gemma4(const std::string& members) {
  return R"({"model_type": "gemma4_text", "dtype": "bfloat16", "hidden_size": 64,
"hidden_size_per_layer_input": 8, "intermediate_size": 128, "num_attention_heads": 4,
"num_hidden_layers": 6, "num_key_value_heads": 2, )" +
         members + "}";
}

TEST(ImportedGemma4, RefusesWhatItsKeysContradict) {
  EXPECT_EQ(error_of(small_gemma4("\"enable_moe_block\": false")), "");
  EXPECT_EQ(error_of(small_gemma4("\"num_kv_shared_layers\": 2")),
            "invalid num_kv_shared_layers '2' (no earlier layer without a "
            "window has keys and values to share)");
  EXPECT_EQ(error_of(small_gemma4("\"enable_moe_block\": true, \"num_experts\": null")),
            "missing key 'n_routed_experts' or 'num_experts' or "
            "'num_local_experts' or 'moe_num_experts' (enable_moe_block is true)");
  EXPECT_EQ(error_of(small_gemma4("\"use_bidirectional_attention\": \"all\"")),
            "invalid use_bidirectional_attention 'all' (only vision is "
            "understood)");
  EXPECT_EQ(
      error_of(small_gemma4("\"layer_types\": [" + repeated(6, "\"sliding_attention\"") + "]")),
      "invalid layer_types (the last layer must see all tokens)");
}

/// What is quantised are linear layers. A table of embeddings stays in the model's dtype.
TEST(ImportedGemma4, KeepsTheDtypeOfItsTables) {
  const ImportedModel plain =
      import_config(small_gemma4("\"tie_word_embeddings\": true"), "it.json");
  EXPECT_EQ(records_of(plain.tables), Lines{"rows=262144 width=48 projections=9216"});
  const ImportedModel quantised = import_config(
      small_gemma4("\"quantization_config\": {\"quant_method\": \"modelopt\", \"quant_algo\": "
                   "\"NVFP4\", \"exclude_modules\": [\"lm_head\"]}"),
      "it.json");
  EXPECT_EQ(records_of(quantised.tables),
            Lines{"rows=262144 width=48 projections=9216 dtype=bf16"});
}

TEST(ImportedMiniMaxM3, RefusesListsThatDiffer) {
  const std::string start =
      R"({"model_type": "minimax_m3", "dense_intermediate_size": 128, "dtype": "bfloat16",
"head_dim": 16, "hidden_size": 64, "intermediate_size": 32, "moe_layer_freq": [0, 1],
"num_attention_heads": 4, "num_experts_per_tok": 1, "num_hidden_layers": 2, "vocab_size": 64,
"num_local_experts": 4, "tie_word_embeddings": false, "num_key_value_heads": 2, )";
  const auto with = [&](const std::string& flags, const std::string& disabled, int heads,
                        const std::string& more) {
    return start + more + "\"sparse_attention_config\": {\"sparse_attention_freq\": " + flags +
           ", \"sparse_disable_index_value\": " + disabled +
           fmt::format(
               ", \"sparse_block_size\": 4, \"sparse_index_dim\": 8, "
               "\"sparse_num_index_heads\": {}, \"sparse_topk_blocks\": 2}}}}",
               heads);
  };
  EXPECT_EQ(error_of(with("[0, 1]", "[0, 1]", 2, "")), "");
  EXPECT_EQ(error_of(with("[0, 1]", "[1, 0]", 2, "")),
            "invalid sparse_attention_config.sparse_disable_index_value (an "
            "indexer that has values is not understood)");
  EXPECT_EQ(error_of(with("[0, 1]", "[0, 1]", 1, "")),
            "invalid sparse_attention_config.sparse_num_index_heads '1' "
            "(num_key_value_heads is 2, and only equal ones are understood)");
  EXPECT_EQ(error_of(with("[0, 1]", "[0, 1]", 2,
                          "\"layer_types\": [\"minimax_m3_sparse\", \"full_attention\"], ")),
            "invalid layer_types (sparse_attention_config.sparse_attention_freq "
            "says otherwise)");
  EXPECT_EQ(error_of(start + "\"use_qk_norm\": true}"),
            "missing key 'sparse_attention_config' (which layers have an "
            "indexer)");
}

TEST(ImportedMamba, RefusesLayersThatContradict) {
  const auto with = [](const std::string& layers, int expand) {
    return fmt::format(
        R"({{"model_type": "bamba", "dtype": "bfloat16", "hidden_size": 64, "intermediate_size": 128,
"mamba_d_conv": 4, "mamba_d_head": 16, "mamba_d_state": 8, "mamba_expand": {}, "mamba_n_groups": 1,
"mamba_n_heads": 8, "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 2, {},
"vocab_size": 64}})",
        expand, layers);
  };
  EXPECT_EQ(error_of(with("\"attn_layer_indices\": [1]", 2)), "");
  EXPECT_EQ(error_of(with("\"attn_layer_indices\": [2]", 2)),
            "invalid attn_layer_indices (holds 2; the model has 2 decoder layers, from 0 on)");
  EXPECT_EQ(error_of(with("\"layer_types\": [\"mamba\", \"full_attention\"]", 2)),
            "invalid layer_types (holds 'full_attention'; must be mamba or attention)");
  EXPECT_EQ(error_of(with("\"layer_types\": [\"mamba\"]", 2)),
            "invalid layer_types (1 entries; the model has 2 decoder layers)");
  EXPECT_EQ(error_of(with("\"attn_layer_indices\": [1]", 4)),
            "invalid mamba_expand '4' (mamba_n_heads x mamba_d_head are 128, not 4 times the "
            "hidden size of 64)");
  EXPECT_EQ(error_of(with("\"mlp_bias\": false", 2)),
            "missing key 'attn_layer_indices' (which layers have attention)");
}

}  // namespace
}  // namespace depthcost::more_families_test
