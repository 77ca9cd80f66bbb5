// Every config.json that cannot be imported, with the whole message. Errors in JSON are in
// json_document_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "scenarios/import/import.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::import_errors_test {
namespace {

std::string text_of(const std::string& config) {
  return test::content_of(
      fmt::format("{}/tests/scenarios/configs/{}.json", DEPTHCOST_SOURCE_DIR, config));
}

std::string error_of(const std::string& text, const std::string& family = "") {
  try {
    import_config(text, "it.json", family);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// A config with one piece of its text replaced; behind "it.json:" what is said of it.
struct Case {
  std::string name;
  std::string config;
  std::string piece;
  std::string replacement;
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const Case& row) { return out << row.name; }

class BadConfig : public testing::TestWithParam<Case> {};

TEST_P(BadConfig, IsRefusedWithTheKeyThatStoppedIt) {
  std::string text = text_of(GetParam().config);
  const std::size_t at = text.find(GetParam().piece);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(error_of(text.replace(at, GetParam().piece.size(), GetParam().replacement)),
            "it.json:" + GetParam().expected);
}

const std::string kLlama = "llama_3_1_8b";
const std::string kLayers = "\"num_hidden_layers\": 32";
const std::string kExtra = "\"pretraining_tp\": 1";
const std::string kRatios = "\"compress_ratios\": [128";
const std::string kKnown =
    "RefinedWeb, RefinedWebModel, apertus, arcee, bailing_moe, bailing_moe_v2, bamba, cohere, cohere2, "
    "deepseek_v2, deepseek_v3, deepseek_v32, deepseek_v4, deepseek_v41, deepseek_v41_text, dots1, "
    "ernie4_5, ernie4_5_moe, exaone4, falcon, gemma2, gemma3, gemma3_text, gemma3n, gemma3n_text, "
    "gemma4, gemma4_text, gemma4_unified, gemma4_unified_text, glm4, glm4_moe, glm4_moe_lite, "
    "glm5_next, glm5_next_text, glm_moe_dsa, gpt2, gpt_oss, granite, granitemoe, granitemoehybrid, "
    "hunyuan_v1_dense, hunyuan_v1_moe, hy_v3, kimi_k2, kimi_linear, llama, llama4, llama4_text, "
    "mimo, minimax_m2, minimax_m3, minimax_m3_vl, minimax_m3_vl_text, ministral3, mistral, "
    "mistral4, mixtral, nemotron, olmo2, olmo3, phi3, phimoe, qwen2, qwen2_5_vl, qwen2_5_vl_text, "
    "qwen2_moe, qwen2_vl, qwen2_vl_text, qwen3, qwen3_5, qwen3_5_moe, qwen3_5_moe_text, "
    "qwen3_5_text, qwen3_moe, qwen3_next, qwen3_vl, qwen3_vl_moe, qwen3_vl_moe_text, "
    "qwen3_vl_text, qwen4_exp, qwen4_exp_text, seed_oss, smollm3, starcoder2, zaya";

INSTANTIATE_TEST_SUITE_P(
    Values, BadConfig,
    testing::ValuesIn(std::vector<Case>{
        {"MissingLayers", kLlama, kLayers, "\"x\": 1",
         "1:1: error: missing key 'num_hidden_layers' or 'n_layer' or 'n_layers' or 'num_layers' "
         "(the number of decoder layers)"},
        {"NullLayers", kLlama, kLayers, "\"num_hidden_layers\": null",
         "1:1: error: missing key 'num_hidden_layers' or 'n_layer' or 'n_layers' or 'num_layers' "
         "(the number of decoder layers)"},
        {"NegativeLayers", kLlama, kLayers, "\"num_hidden_layers\": -32",
         "10:24: error: invalid num_hidden_layers '-32' (must be a positive integer)"},
        {"TextForANumber", kLlama, kLayers, "\"num_hidden_layers\": \"32\"",
         "10:24: error: invalid num_hidden_layers '32' (a quoted text; write the bare number)"},
        {"FractionOfALayer", kLlama, kLayers, "\"num_hidden_layers\": 32.5",
         "10:24: error: invalid num_hidden_layers '32.5' (must be a positive integer in plain "
         "digits)"},
        {"ListOfLayers", kLlama, kLayers, "\"num_hidden_layers\": [32]",
         "10:24: error: invalid num_hidden_layers (must be a single value, not a list)"},
        {"TooManyLayers", kLlama, kLayers, "\"num_hidden_layers\": 8193",
         "10:24: error: invalid num_hidden_layers '8193' (more than 8192)"},
        {"AbsurdLayers", kLlama, kLayers, "\"num_hidden_layers\": 99999999999999",
         "10:24: error: invalid num_hidden_layers '99999999999999' (must be at most 1099511627776)"},
        {"NotANumber", kLlama, kLayers, "\"num_hidden_layers\": NaN",
         "10:24: error: malformed JSON ('NaN' is no number of JSON)"},
        {"TwoNumbersOfLayers", kLlama, kExtra, "\"n_layer\": 33",
         "12:14: error: conflicting key 'n_layer' ('num_hidden_layers' says otherwise)"},
        {"TheSameListTwice", kLlama, kLayers,
         "\"n_layer\": [32, 1], \"num_hidden_layers\": [32, 1]",
         "10:44: error: invalid num_hidden_layers (must be a single value, not a list)"},
        {"TwoLists", kLlama, kLayers, "\"n_layer\": [32], \"num_hidden_layers\": [33]",
         "10:14: error: conflicting key 'n_layer' ('num_hidden_layers' says otherwise)"},
        {"TheSameMapTwice", kLlama, kLayers,
         "\"n_layer\": {\"a\": 1, \"b\": 2}, \"num_hidden_layers\": {\"b\": 2, \"a\": 1}",
         "10:53: error: invalid num_hidden_layers (must be a single value, not a map)"},
        {"MapsOfTwoSizes", kLlama, kLayers,
         "\"n_layer\": {\"a\": 1}, \"num_hidden_layers\": {\"a\": 1, \"b\": 2}",
         "10:14: error: conflicting key 'n_layer' ('num_hidden_layers' says otherwise)"},
        {"MapsWithOtherKeys", kLlama, kLayers,
         "\"n_layer\": {\"a\": 1}, \"num_hidden_layers\": {\"b\": 1}",
         "10:14: error: conflicting key 'n_layer' ('num_hidden_layers' says otherwise)"},
        {"MapsWithOtherValues", kLlama, kLayers,
         "\"n_layer\": {\"a\": 1}, \"num_hidden_layers\": {\"a\": 2}",
         "10:14: error: conflicting key 'n_layer' ('num_hidden_layers' says otherwise)"},
        {"AListAndANumber", kLlama, kExtra, "\"n_layer\": [32]",
         "12:14: error: conflicting key 'n_layer' ('num_hidden_layers' says otherwise)"},
        {"DuplicateKey", kLlama, kExtra, "\"hidden_size\": 4096",
         "12:3: error: duplicate key 'hidden_size' (first at line 5)"},
        {"HugeHeads", kLlama, "\"num_attention_heads\": 32", "\"num_attention_heads\": 33554432",
         "9:26: error: invalid num_attention_heads '33554432' (does not divide the hidden size of "
         "4096; head_dim is not there)"},
        {"HugeHeadDim", "qwen3_32b", "\"head_dim\": 128", "\"head_dim\": 33554432",
         "4:15: error: invalid attention[].head_dim '33554432' (more than 16777216)"},
        {"HugeVocabulary", kLlama, "\"vocab_size\": 128256", "\"vocab_size\": 999999999",
         "19:17: error: invalid vocabulary_size '999999999' (more than 268435456)"},
        {"KvHeadsThatDoNotDivide", kLlama, "\"num_key_value_heads\": 8",
         "\"num_key_value_heads\": 7",
         "11:26: error: invalid attention[].kv_heads '7' (does not divide heads '32')"},
        {"HeadsThatDoNotDivide", kLlama, "\"num_attention_heads\": 32",
         "\"num_attention_heads\": 30",
         "9:26: error: invalid num_attention_heads '30' (does not divide the hidden size of 4096; "
         "head_dim is not there)"},
        {"HeadDimOfQwen3IsNotGuessed", "qwen3_32b", "\"head_dim\": 128", "\"x\": 1",
         "1:1: error: missing key 'head_dim' (qwen3 does not take hidden_size / heads for it)"},
        {"KvHeadsOfMixtralAreNotGuessed", "mixtral_8x7b", "\"num_key_value_heads\": 8", "\"x\": 1",
         "1:1: error: missing key 'num_key_value_heads' (heads of keys and values)"},
        {"NoDtype", kLlama, "\"torch_dtype\"", "\"x\"",
         "1:1: error: missing key 'torch_dtype' or 'dtype' (storage of the residual stream)"},
        {"UnknownDtype", kLlama, "bfloat16", "int8",
         "18:18: error: invalid torch_dtype 'int8' (must be bfloat16, float16 or float32)"},
        {"TwoDtypes", kLlama, kExtra, "\"dtype\": \"float16\"",
         "12:12: error: conflicting key 'dtype' ('torch_dtype' says otherwise)"},
        {"NumberForAText", kLlama, "\"bfloat16\"", "16",
         "18:18: error: invalid torch_dtype '16' (must be a text)"},
        {"TextForAFlag", kLlama, "\"tie_word_embeddings\": false",
         "\"tie_word_embeddings\": \"false\"",
         "17:26: error: invalid tie_word_embeddings 'false' (must be true or false)"},
        {"NoWidthOfAnMlp", kLlama, "\"intermediate_size\"", "\"x\"",
         "1:1: error: missing key 'intermediate_size' (width of a dense MLP)"},
        {"WidthWithoutEnd", "meta_llama_3_1_8b", "\"ffn_dim_multiplier\": 1.3",
         "\"ffn_dim_multiplier\": 1025",
         "3:25: error: invalid ffn_dim_multiplier '1025' (more than 1024)"},
        {"NumberForAFlag", kLlama, "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": 0",
         "17:26: error: invalid tie_word_embeddings '0' (must be true or false)"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Structures, BadConfig,
    testing::ValuesIn(std::vector<Case>{
        {"NoModelType", kLlama, "\"model_type\"", "\"x\"",
         "1:1: error: missing key 'model_type' (says how the model's layers are built)"},
        {"UnknownModelType", kLlama, "\"llama\"", "\"mamba2\"",
         "8:17: error: unknown model_type 'mamba2' (if its layers are built like those of a known "
         "type, name that: depthcost import it.json --as TYPE; known are " +
             kKnown + ")"},
        {"ModelTypeOfTheNextGeneration", kLlama, "\"llama\"", "\"llama5\"",
         "8:17: error: unknown model_type 'llama5' (nearest is llama; if its layers are built like "
         "those of llama, say so: depthcost import it.json --as llama)"},
        {"UnknownStructure", kLlama, kExtra, "\"parallel_attn\": true",
         "12:3: error: unknown key 'parallel_attn' (may change what a layer is, and is not known "
         "of llama)"},
        {"KeyOfAnotherModelType", kLlama, kExtra, "\"kv_lora_rank\": 512",
         "12:3: error: unknown key 'kv_lora_rank' (may change what a layer is, and is not known of "
         "llama)"},
        {"WindowOfLlama", kLlama, kExtra, "\"sliding_window\": 4096",
         "12:3: error: unknown key 'sliding_window' (may change what a layer is, and is not known "
         "of llama)"},
        {"IndexerOverLatentAttention", "deepseek_v3", "\"n_group\": 8", "\"index_topk\": 2048",
         "13:3: error: unknown key 'index_topk' (may change what a layer is, and is not known of "
         "deepseek_v3)"},
        {"UnknownStructureInside", "kimi_k3", "\"length_penalty\": 1.0", "\"ssm_state\": 16",
         "20:5: error: unknown key 'text_config.ssm_state' (may change what a layer is, and is not "
         "known of kimi_linear)"},
        {"UnknownStructureOutside", "kimi_k3", "\"ignore_index\": -100", "\"num_mtp_layers\": 1",
         "4:3: error: unknown key 'num_mtp_layers' (may change what a layer is, and is not known "
         "of kimi_linear)"},
        {"WordsThatBeginLikeStructure", kLlama, kExtra, "\"multiple_ples\": 1, \"ple_width\": 8",
         "12:23: error: unknown key 'ple_width' (may change what a layer is, and is not known of "
         "llama)"},
        {"AlternatingUpdates", kLlama, kExtra, "\"altup_num_inputs\": 4",
         "12:3: error: unknown key 'altup_num_inputs' (may change what a layer is, and is not known "
         "of llama)"},
        {"EmptyMultiTokenPrediction", kLlama, kExtra, "\"mtp\": {}",
         "12:3: error: unknown key 'mtp' (may change what a layer is, and is not known of llama)"},
        {"StateSpaceOfDefaults", kLlama, kExtra, "\"ssm_cfg\": {}",
         "12:3: error: unknown key 'ssm_cfg' (may change what a layer is, and is not known of "
         "llama)"},
        {"UnknownLinearAttention", "kimi_k3", "\"gate_lower_bound\"", "\"gate_upper_bound\"",
         "24:7: error: unknown key 'text_config.linear_attn_config.gate_upper_bound' (may change "
         "what a layer is)"},
        {"TwoDecoders", "kimi_k3", "\"vision_config\"", "\"llm_config\"",
         "59:17: error: conflicting key 'llm_config' ('text_config' is there too)"},
        {"DecoderIsNoObject", "kimi_k3", "\"text_config\": {", "\"text_config\": 1, \"x\": {",
         "6:18: error: invalid text_config '1' (must be a map)"},
        {"Encoder", "kimi_k3", "\"is_encoder_decoder\": false", "\"is_encoder_decoder\": true",
         "18:27: error: invalid text_config.is_encoder_decoder 'true' (only decoders are "
         "understood)"},
        {"TwoSchemes", "deepseek_v4_pro", "\"attention_bias\": false",
         "\"attn_res_block_size\": 12",
         "8:14: error: conflicting key 'hc_mult' (attn_res_block_size is there too)"},
        {"V4WithoutMhc", "deepseek_v4_pro", "\"hc_mult\": 4", "\"x\": 4",
         "1:1: error: missing key 'hc_mult' (deepseek_v4 carries mHC)"},
        {"MhcThatIsOff", kLlama, kExtra, "\"mhc\": false, \"hc_mult\": 4",
         "12:10: error: conflicting key 'mhc' (hc_mult says otherwise)"},
        {"BlockOfMoreLayersThanThereAre", "kimi_k3", "\"attn_res_block_size\": 12",
         "\"attn_res_block_size\": 94",
         "9:28: error: invalid text_config.attn_res_block_size '94' (the model has 93 decoder "
         "layers)"},
        {"EmptyBlock", "kimi_k3", "\"attn_res_block_size\": 12", "\"attn_res_block_size\": 0",
         "9:28: error: invalid text_config.attn_res_block_size '0' (must be a positive integer)"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Layers, BadConfig,
    testing::ValuesIn(std::vector<Case>{
        {"LayersThatCountFromZero", "kimi_linear_48b", "\"kda_layers\": [1,", "\"kda_layers\": [0,",
         "13:19: error: invalid linear_attn_config.kda_layers (holds 0; decoder layers count from "
         "1 to 27)"},
        {"LayerInBothLists", "kimi_linear_48b", "\"kda_layers\": [1,", "\"kda_layers\": [4,",
         "12:25: error: invalid linear_attn_config.full_attn_layers (holds 4, which is in "
         "linear_attn_config.kda_layers already)"},
        {"LayerInNoList", "kimi_linear_48b", "\"kda_layers\": [1,", "\"kda_layers\": [",
         "12:25: error: invalid linear_attn_config.full_attn_layers (decoder layer 1 is in neither "
         "list)"},
        {"TooManyRatios", "deepseek_v4_pro", kRatios, "\"compress_ratios\": [4, 128",
         "4:22: error: invalid compress_ratios (63 entries; 61 decoder layers and 1 of multi-token "
         "prediction)"},
        {"RatiosOfLayersThatPredict", "deepseek_v4_pro", "\"num_nextn_predict_layers\": 1",
         "\"num_nextn_predict_layers\": null",
         "4:22: error: invalid compress_ratios (62 entries; 61 decoder layers and 0 of multi-token "
         "prediction)"},
        {"UnknownRatio", "deepseek_v4_pro", kRatios, "\"compress_ratios\": [16",
         "4:22: error: invalid compress_ratios (holds 16; must be 0, 4 or 128)"},
        {"SeveralKeyValueHeads", "deepseek_v4_pro", "\"num_key_value_heads\": 1",
         "\"num_key_value_heads\": 8",
         "23:26: error: invalid num_key_value_heads '8' (one vector serves all heads)"},
        {"TypesOfTooFewLayers", "gpt_oss_120b", "[\"sliding_attention\", ", "[",
         "8:18: error: invalid layer_types (35 entries; the model has 36 decoder layers)"},
        {"UnknownTypeOfLayer", "gpt_oss_120b", "[\"sliding_attention\"", "[\"linear_attention\"",
         "8:18: error: invalid layer_types (holds 'linear_attention'; must be full_attention or "
         "sliding_attention)"},
        {"NoTypesOfLayers", "gpt_oss_120b", "\"layer_types\"", "\"x\"",
         "1:1: error: missing key 'layer_types' (which layers see a window only)"},
        {"NoWindow", "gpt_oss_120b", "\"sliding_window\": 128", "\"sliding_window\": null",
         "1:1: error: missing key 'sliding_window' or 'sliding_window_size' (layer_types has sliding_attention)"},
        {"HeadOfAnotherSize", "deepseek_v3", "\"n_group\": 8", "\"qk_head_dim\": 256",
         "13:18: error: invalid qk_head_dim '256' (qk_nope_head_dim + qk_rope_head_dim is 192)"},
        {"NoKvRank", "deepseek_v3", "\"kv_lora_rank\": 512", "\"kv_lora_rank\": null",
         "1:1: error: missing key 'kv_lora_rank' (of a latent attention)"},
        {"MoreDenseLayersThanThereAre", "deepseek_v3", "\"first_k_dense_replace\": 3",
         "\"first_k_dense_replace\": 62",
         "5:28: error: invalid first_k_dense_replace '62' (the model has 61 decoder layers)"},
        {"StepWithoutAFirstLayer", "qwen3_235b", "\"attention_bias\": false",
         "\"moe_layer_freq\": 2",
         "3:21: error: invalid moe_layer_freq '2' (without first_k_dense_replace it must be 1 or a list)"},
        {"ListWithoutAFirstLayer", "qwen3_235b", "\"attention_bias\": false",
         "\"moe_layer_freq\": [1]",
         "3:21: error: invalid moe_layer_freq (1 entries; the model has 94 decoder layers)"},
        {"UnknownWordForAnMlp", "glm_5_3_flash", "\"mlp_layer_types\": [\"dense\"",
         "\"mlp_layer_types\": [\"wide\"",
         "44:24: error: invalid text_config.mlp_layer_types (holds 'wide'; must be dense or "
         "sparse)"},
        {"DenseLayerThatIsNotThere", "qwen3_235b", "\"mlp_only_layers\": []",
         "\"mlp_only_layers\": [94]",
         "9:22: error: invalid mlp_only_layers (holds 94; decoder layers count from 0 to 93)"},
        {"AllLayersDense", "deepseek_v3", "\"first_k_dense_replace\": 3",
         "\"first_k_dense_replace\": 61",
         "14:23: error: conflicting key 'n_routed_experts' (first_k_dense_replace leaves no layer "
         "with experts)"},
        {"WordsAgainstTheNumber", "kimi_k2", "\"n_group\": 8",
         "\"mlp_layer_types\": [" +
             [] {
               std::string words = "\"sparse\"";
               for (int i = 1; i < 61; ++i) words += ", \"sparse\"";
               return words;
             }() +
             "]",
         "13:22: error: conflicting key 'mlp_layer_types' (first_k_dense_replace says otherwise)"},
        {"MoreActiveThanThereAre", "mixtral_8x7b", "\"num_experts_per_tok\": 2",
         "\"num_experts_per_tok\": 9",
         "8:26: error: invalid num_experts_per_tok '9' (num_local_experts has only 8)"},
        {"TwoNumbersOfActiveExperts", "gpt_oss_120b", "\"experts_per_token\": 4",
         "\"experts_per_token\": 8",
         "4:24: error: conflicting key 'experts_per_token' ('num_experts_per_tok' says otherwise)"},
        {"NoWidthOfExperts", "qwen3_235b", "\"moe_intermediate_size\"", "\"x\"",
         "1:1: error: missing key 'moe_intermediate_size' or 'moe_inter_dim' or 'expert_hidden_dim' "
         "(width of an expert)"},
        {"SharedExpertsOfAnotherWidth", "qwen3_235b", "\"router_aux_loss_coef\": 0.001",
         "\"shared_expert_intermediate_size\": 2000",
         "17:38: error: invalid shared_expert_intermediate_size '2000' (no multiple of the 1536 of "
         "a routed expert)"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Families, BadConfig,
    testing::ValuesIn(std::vector<Case>{
        {"FalconOfTheNewArchitectureWithoutHeads", "falcon_40b", "\"num_kv_heads\"", "\"x\"",
         "1:1: error: missing key 'num_key_value_heads' or 'n_kv_heads' or 'num_kv_heads' or "
         "'n_head_kv' (new_decoder_architecture is true)"},
        {"FalconThatAddsBehindTheNorm", "falcon_7b",
         "\"apply_residual_connection_post_layernorm\": false",
         "\"apply_residual_connection_post_layernorm\": true",
         "3:47: error: invalid apply_residual_connection_post_layernorm 'true' (only false is "
         "understood)"},
        {"PhiWithFullLayersBetween", "phi_4", "\"attention_bias\": false", "\"full_attn_mod\": 2",
         "4:20: error: invalid full_attn_mod '2' (only 1 is understood)"},
        {"GemmaThatLooksAhead", "gemma_2_9b", "\"head_dim\": 256",
         "\"head_dim\": 256, \"use_bidirectional_attention\": true",
         "5:51: error: invalid use_bidirectional_attention 'true' (only false is understood)"},
        {"ParallelLayersOfGemma", "gemma_2_9b", "\"head_dim\": 256",
         "\"head_dim\": 256, \"parallel_attn\": true",
         "5:20: error: unknown key 'parallel_attn' (may change what a layer is, and is not known "
         "of gemma2)"},
        {"LightningAttention", "minimax_m2_5", "\"head_dim\": 128",
         "\"head_dim\": 128, \"attn_type_list\": [1, 0]",
         "3:38: error: invalid attn_type_list (holds 0; only 1, full attention, is understood)"},
        {"ExpertsInALayerThatIsNotThere", "llama_4_scout", "\"attention_bias\": false",
         "\"moe_layers\": [48]",
         "5:19: error: invalid text_config.moe_layers (holds 48; decoder layers count from 0 to "
         "47)"},
        {"LayersOfALlamaThatAreNotAllListed", "llama_4_scout", "\"attention_bias\": false",
         "\"no_rope_layers\": [1, 1, 1, 0]",
         "5:23: error: invalid text_config.no_rope_layers (4 entries; the model has 48 decoder "
         "layers)"},
        {"SlidingChunks", "llama_4_scout", "\"attention_bias\": false",
         "\"layer_types\": [\"sliding_attention\"" +
             [] {
               std::string words;
               for (int i = 1; i < 48; ++i) words += ", \"full_attention\"";
               return words;
             }() +
             "]",
         "5:20: error: invalid text_config.layer_types (holds 'sliding_attention'; must be "
         "full_attention or chunked_attention)"},
        {"ChunksOfNoSize", "llama_4_scout", "\"attention_chunk_size\": 8192",
         "\"attention_chunk_size\": null",
         "4:18: error: missing key 'text_config.attention_chunk_size' (of the layers that do not "
         "see all tokens)"},
        {"KeysAndValuesOfDifferentSize", "qwen3_next_80b", "\"linear_value_head_dim\": 128",
         "\"linear_value_head_dim\": 256",
         "15:28: error: invalid linear_value_head_dim '256' (linear_key_head_dim is 128; only "
         "equal ones are understood)"},
        {"StatesOfHalfTheSize", "qwen3_5_27b", "\"float32\"", "\"bfloat16\"",
         "22:24: error: invalid text_config.mamba_ssm_dtype 'bfloat16' (states are counted as "
         "float32)"},
        {"WindowOfQwen3Next", "qwen3_next_80b", "\"use_sliding_window\": false",
         "\"use_sliding_window\": true",
         "36:25: error: invalid use_sliding_window 'true' (only false is understood)"},
        {"UpperLayersOfAModelWithoutWindows", "olmo_2_1b", "\"num_hidden_layers\": 16",
         "\"num_hidden_layers\": 2, \"layer_types\": [\"full_attention\", \"full_attention\"], "
         "\"use_sliding_window\": true",
         "10:80: error: unknown key 'use_sliding_window' (may change what a layer is, and is not "
         "known of olmo2)"},
        {"NoWayToTellLinearLayers", "qwen3_next_80b", "\"full_attention_interval\": 4", "\"x\": 4",
         "1:1: error: missing key 'full_attention_interval' (which layers have linear attention)"},
        {"UnknownLayerOfQwen", "qwen3_5_27b", "[\"linear_attention\"", "[\"mamba\"",
         "16:20: error: invalid text_config.layer_types (holds 'mamba'; must be full_attention or "
         "linear_attention)"},
        {"IndexedLayerOfAModelWithoutAnIndexer", "qwen3_5_27b", "[\"linear_attention\"",
         "[\"hybrid_indexed\"",
         "16:20: error: invalid text_config.layer_types (holds 'hybrid_indexed'; must be "
         "full_attention or linear_attention)"},
        {"ChoiceOfKeysThatIsNotThere", "glm_5_2", "[\"full\"", "[\"shared\"",
         "19:20: error: invalid indexer_types (the first layer has no choice to share)"},
        {"UnknownIndexer", "glm_5_2", "[\"full\"", "[\"half\"",
         "19:20: error: invalid indexer_types (holds 'half'; must be full or shared)"},
        {"IndexersThatAreNotListed", "glm_5_2", "\"indexer_types\"", "\"x\"",
         "1:1: error: missing key 'indexer_types' (index_topk_freq: not each layer chooses "
         "keys)"},
        {"IndexerWithoutHeads", "glm_5", "\"index_n_heads\"", "\"x\"",
         "1:1: error: missing key 'index_n_heads' (of the indexer)"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Weights, BadConfig,
    testing::ValuesIn(std::vector<Case>{
        {"UnknownMethod", "gpt_oss_120b", "\"quant_method\": \"mxfp4\"",
         "\"quant_method\": \"bitsandbytes\"",
         "17:21: error: invalid quantization_config.quant_method 'bitsandbytes' (must be fp8, "
         "fbgemm_fp8, mxfp8, mxfp4, awq, gptq, modelopt or compressed-tensors; in a file without "
         "quantization_config the weights have the dtype of the model, which may be four times as "
         "large)"},
        {"NoMethod", "gpt_oss_120b", "\"quant_method\"", "\"x\"",
         "15:26: error: missing key 'quantization_config.quant_method' (how weights are stored)"},
        {"UnknownFormat", "kimi_k3", "mxfp4-pack-quantized", "int-quantized",
         "49:17: error: invalid text_config.quantization_config.format 'int-quantized' (must be "
         "float-quantized, pack-quantized, nvfp4-pack-quantized or mxfp4-pack-quantized; in a file "
         "without quantization_config the weights have the dtype of the model, which may be four "
         "times as large)"},
        {"ADtypeForEachModule", "gpt_oss_120b", "\"quant_method\": \"mxfp4\"",
         "\"quant_method\": \"modelopt\", \"quant_algo\": \"MIXED_PRECISION\"",
         "17:47: error: invalid quantization_config.quant_algo 'MIXED_PRECISION' (quantized_layers "
         "gives each module a dtype of its own, and is not read)"},
        {"UnknownAlgorithm", "gpt_oss_120b", "\"quant_method\": \"mxfp4\"",
         "\"quant_method\": \"modelopt\", \"quant_algo\": \"W4A8_AWQ\"",
         "17:47: error: invalid quantization_config.quant_algo 'W4A8_AWQ' (must be NVFP4, "
         "W4A16_NVFP4 or FP8)"},
        {"GroupsOfThirtyTwo", "gpt_oss_120b", "\"quant_method\": \"mxfp4\"",
         "\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\", \"group_size\": 32",
         "17:70: error: invalid quantization_config.group_size '32' (must be 16)"},
        {"CacheOfFourBits", "gpt_oss_120b", "\"quant_method\": \"mxfp4\"",
         "\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\", "
         "\"kv_cache_quant_algo\": \"NVFP4\"",
         "17:77: error: invalid quantization_config.kv_cache_quant_algo 'NVFP4' (must be FP8)"},
        {"QuantisedAttention", "gpt_oss_120b", "\"model.layers.*.self_attn\", ", "",
         "16:31: error: invalid quantization_config.modules_to_not_convert (self_attn is not on "
         "it; only quantised experts are understood)"},
        {"NgramsBehindTheLastLayer", "qwen3_8_flash_next", "\"ple_layer_ids\": [2]",
         "\"ple_layer_ids\": [49]",
         "52:22: error: invalid text_config.ple_layer_ids (holds 49; decoder layers count from 1 to "
         "48)"},
        {"NgramsOfOneToken", "qwen3_8_flash_next", "\"ngram_size\": 3", "\"ngram_size\": 1",
         "41:19: error: invalid text_config.ngram_size '1' (an n-gram has two tokens at least)"},
        {"NgramsThatDoNotShareTheirWidth", "qwen3_8_flash_next", "\"ple_embed_dim\": 2560",
         "\"ple_embed_dim\": 2561",
         "51:22: error: invalid text_config.ple_embed_dim '2561' (no multiple of the 16 heads)"},
        {"EndlessPrimes", "qwen3_8_flash_next", "20000000", "2000000000",
         "42:30: error: invalid text_config.ngram_vocab_size_base '2000000000' (more than "
         "1073741824)"},
        {"HeadsWithoutEnd", "qwen3_8_flash_next", "\"heads_per_ngram\": 8",
         "\"heads_per_ngram\": 1024",
         "14:24: error: invalid text_config.heads_per_ngram '1024' (2048 heads in all; more than "
         "1024)"},
        {"SeveralIndexKeys", "qwen3_8_flash_next", "\"indexer_kv_heads\": 1",
         "\"indexer_kv_heads\": 2",
         "20:25: error: invalid text_config.indexer_kv_heads '2' (one key serves all heads)"},
        {"GatesWithoutARank", "qwen3_8_flash_next", "\"hc_lowrank\": 320,", "",
         "5:18: error: missing key 'text_config.hc_lowrank' (rank of the gates of the streams)"},
        {"LinearLayersSaidTwice", "glm_5_3_flash", "\"layer_types\": [\"linear_attention\"",
         "\"layer_types\": [\"deepseek_sparse_attention\"",
         "32:20: error: invalid text_config.layer_types (holds 'deepseek_sparse_attention' as entry "
         "1; linear_attn_config says otherwise)"},
        {"LinearLayersOfAnotherKind", "glm_5_3_flash", "\"layer_types\": [\"linear_attention\"",
         "\"layer_types\": [\"sliding_attention\"",
         "32:20: error: invalid text_config.layer_types (holds 'sliding_attention' as entry 1; "
         "linear_attn_config says otherwise)"},
        {"LayersCountFromZero", "glm_5_3_flash", "39, 43]", "39, 45]",
         "34:27: error: invalid text_config.linear_attn_config.full_attn_layers (holds 45; decoder "
         "layers count from 0 to 44)"},
        {"PlainMeanOfIndexKeys", "glm_5_3_flash", "\"index_kpool_compress\": true",
         "\"index_kpool_compress\": false",
         "24:29: error: invalid text_config.index_kpool_compress 'false' (only true is understood)"},
        {"SummariesThatNobodyMakes", "deepseek_v4_1_flash", "\"kv_source_layer_ids\": [2, 8",
         "\"kv_source_layer_ids\": [8, 8",
         "44:28: error: invalid text_config.kv_source_layer_ids (decoder layer 2 has no summaries "
         "to read)"},
        {"SummariesOfAWindow", "deepseek_v4_1_flash", "\"kv_source_layer_ids\": [2, 8",
         "\"kv_source_layer_ids\": [1, 8",
         "44:28: error: invalid text_config.kv_source_layer_ids (holds 1, which has no summaries by "
         "text_config.compress_ratios)"},
        {"SummariesBehindTheLastLayer", "deepseek_v4_1_flash", "14, 20],\n    \"max",
         "14, 40],\n    \"max",
         "44:28: error: invalid text_config.kv_source_layer_ids (holds 40; decoder layers count "
         "from 0 to 39)"},
        {"ChoiceOfAWindow", "deepseek_v4_1_flash", "\"index_source_layer_ids\": [2, 8",
         "\"index_source_layer_ids\": [1, 8",
         "42:31: error: invalid text_config.index_source_layer_ids (holds 1, which has no summaries "
         "by text_config.compress_ratios)"},
        {"CandidatesWithoutEnd", "deepseek_v4_1_flash", "\"candidate_topk_blocks\": 2048",
         "\"candidate_topk_blocks\": 16777217",
         "17:30: error: invalid text_config.candidate_topk_blocks '16777217' (it or "
         "text_config.candidate_block_size is more than 16777216)"},
        {"BlocksOfCandidatesWithoutEnd", "deepseek_v4_1_flash", "\"candidate_block_size\": 8",
         "\"candidate_block_size\": 16777217",
         "17:30: error: invalid text_config.candidate_topk_blocks '2048' (it or "
         "text_config.candidate_block_size is more than 16777216)"},
        {"SummariesThatNobodyChooses", "deepseek_v4_1_flash", "\"index_source_layer_ids\": [2, 8",
         "\"index_source_layer_ids\": [2, 9",
         "42:31: error: invalid text_config.index_source_layer_ids (lacks 8, which is in "
         "text_config.kv_source_layer_ids)"},
        {"TablesThatNobodyNames", "deepseek_v4_1_flash", "\"engram_layer_ids\": [1, 14]",
         "\"engram_layer_ids\": [1]",
         "31:30: error: invalid text_config.engram_num_embeddings (2 entries; "
         "text_config.engram_layer_ids has 1)"},
        {"UnequalWidths", "gemma_3n_e2b", "\"intermediate_size\": [8192",
         "\"intermediate_size\": [4096",
         "17:26: error: invalid text_config.intermediate_size (holds 4096 and 8192; only equal "
         "widths are understood)"},
        {"NothingToShare", "gemma_3n_e2b", "\"num_kv_shared_layers\": 10",
         "\"num_kv_shared_layers\": 30",
         "25:29: error: invalid text_config.num_kv_shared_layers '30' (the model has 30 decoder "
         "layers)"},
        {"CopiesWithoutABranch", "gemma_3n_e2b", "\"laurel_rank\": 64", "\"laurel_rank\": null",
         "4:18: error: missing key 'text_config.laurel_rank' (rank of the path beside attention)"},
        {"LegacyZaya", "zaya1_8b", "\"router_hidden_size\": 256", "\"zaya_mlp_expansion\": 256",
         "1:1: error: missing key 'router_hidden_size' (width of the router's layers)"},
        {"UnknownExpertDtype", "deepseek_v4_pro", "\"fp4\"", "\"int4\"",
         "6:19: error: invalid expert_dtype 'int4' (must be fp4 or fp8)"}}),
    [](const auto& row) { return row.param.name; });

TEST(BadFamilies, AreRefusedWithTheirName) {
  EXPECT_EQ(
      error_of(text_of(kLlama), "lama"),
      "--as:1:1: error: unknown family 'lama'; did you mean 'llama'? (known are " + kKnown + ")");
}

TEST(BadFamilies, DoNotMakeKnownWhatTheConfigHasBesides) {
  EXPECT_EQ(error_of(text_of("glm_5"), "deepseek_v3"),
            "it.json:11:3: error: unknown key 'index_head_dim' (may change what a layer is, and is "
            "not known of deepseek_v3)");
}

TEST(BadConfigs, ThatAreNoObject) {
  EXPECT_EQ(error_of("[1]"), "it.json:1:1: error: invalid config (must be a map, not a list)");
  EXPECT_EQ(error_of("12"), "it.json:1:1: error: invalid config '12' (must be a map)");
  EXPECT_EQ(error_of("{}"),
            "it.json:1:1: error: missing key 'model_type' (says how the model's layers are built)");
}

TEST(BadConfigs, WithNamesThatCouldDisturbATerminal) {
  EXPECT_EQ(error_of("{\"model_type\": \"\\u001b[2J\"}").substr(0, 60),
            "it.json:1:16: error: invalid model_type '\\x1B[2J' (holds a c");
  std::string text = text_of(kLlama);
  text.replace(text.find(kExtra), kExtra.size(), "\"attn\\n\\u202e\": 1");
  EXPECT_EQ(error_of(text),
            "it.json:12:3: error: unknown key 'attn\\x0A\\xE2\\x80\\xAE' (may change what a layer "
            "is, and is not known of llama)");
}

}  // namespace
}  // namespace depthcost::import_errors_test
