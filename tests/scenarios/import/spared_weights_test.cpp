// Lists of modules that a quantised checkpoint leaves as they are: the dtypes that come of them,
// and the bytes that these miss. The numbers are worked out by hand from the shapes of the models.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "scenarios/import/import.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::spared_weights_test {
namespace {

/// A config with these members of its quantization_config in place of its own.
ImportedModel quantised(const std::string& config, const std::string& members) {
  std::string text = test::content_of(
      fmt::format("{}/tests/scenarios/configs/{}.json", DEPTHCOST_SOURCE_DIR, config));
  const std::size_t old = text.find("\"quantization_config\"");
  if (old != std::string::npos) text.erase(old, text.find("},", old) + 2 - old);
  text.insert(text.find("\"torch_dtype\""), "\"quantization_config\": {" + members + "}, ");
  return import_config(text, "it.json");
}

/// weight_dtype, expert_dtype where it is another, and what is remarked on the list.
std::string said_of(const ImportedModel& model) {
  std::string line;
  for (const ImportedKey& key : model.keys)
    if (key.value.key == "weight_dtype" || key.value.key == "expert_dtype")
      line += fmt::format("{}{}", line.empty() ? "" : " ", key.value.text);
  for (const std::string& remark : model.remarks)
    if (remark.find("quantization_config") != std::string::npos) line += " | " + remark;
  return line;
}

const std::string kFp8 = "\"quant_method\": \"fp8\", \"modules_to_not_convert\": ";
const std::string kAwq =
    "\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128, \"modules_to_not_convert\": ";
const std::string kCompressedFp8 =
    "\"quant_method\": \"compressed-tensors\", \"format\": \"float-quantized\", \"ignore\": ";
const std::string kCompressedInt4 =
    "\"quant_method\": \"compressed-tensors\", \"format\": \"pack-quantized\", \"config_groups\": "
    "{\"group_0\": {\"weights\": {\"num_bits\": 4, \"group_size\": 32}}}, \"ignore\": ";
const std::string kNvfp4 =
    "\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\", \"group_size\": 16, ";
const std::string kCompressedNvfp4 =
    "\"quant_method\": \"compressed-tensors\", \"format\": \"nvfp4-pack-quantized\", "
    "\"ignore\": [\"lm_head\"], \"config_groups\": {\"group_0\": {\"targets\": [\"Linear\"], "
    "\"input_activations\": {\"num_bits\": 4, \"type\": \"float\", \"group_size\": 16}, "
    "\"weights\": {\"num_bits\": 4, \"type\": \"float\", \"group_size\": 16}}";

/// What a list leaves in bf16.
std::string too_small(const std::string& size, const std::string& dtype, const std::string& parts,
                      const std::string& key = "modules_to_not_convert") {
  return fmt::format(
      "{} | {} of weights are missing. quantization_config.{} leaves these in bf16, and "
      "they are counted in {}: {}.",
      dtype, size, key, dtype, parts);
}

/// What is quantised, and counted in bf16.
std::string too_large(const std::string& dtypes, const std::string& size, const std::string& dtype,
                      const std::string& parts) {
  return fmt::format(
      "{} | {} of weights are too many. These are {}, and they are counted in bf16 like "
      "those that quantization_config.modules_to_not_convert names: {}.",
      dtypes, size, dtype, parts);
}

struct ListCase {
  std::string name;
  std::string config;
  std::string quantisation;
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const ListCase& row) { return out << row.name; }

class SparedModules : public testing::TestWithParam<ListCase> {};

TEST_P(SparedModules, GiveTheDtypesOfMostWeightsAndTheBytesOfTheOthers) {
  EXPECT_EQ(said_of(quantised(GetParam().config, GetParam().quantisation)), GetParam().expected);
}

// DeepSeek-V3: attention of a layer 187105280 weights, of V3.2 with its indexer of 13959168
// together 201064448; a dense MLP 3 x 7168 x 18432 = 396361728; a shared expert 3 x 7168 x 2048 =
// 44040192; 256 routed ones 11274289152. Of three dense layers all stand in front. Qwen3-235B:
// attention 4096 x (2 x 64 + 2 x 4) x 128 = 71303168, of it 33554432 each for queries and output;
// 128 experts of 3 x 4096 x 1536 together 2415919104. int4 in groups of 128 has 4.125
// bits: 1.484375 bytes less than bf16.
INSTANTIATE_TEST_SUITE_P(
    Layers, SparedModules,
    testing::Values(
        // QuantTrio/DeepSeek-V3.2-Exp-AWQ: 4 x 201064448 + 57 x 13959168 + 3 x 396361728 + 44040192
        // + 11274289152 = 14107344896 weights, at 1.484375 bytes 20.94e9.
        ListCase{"FourOfThem", "deepseek_v3_2",
                 kAwq + "[\"mlp.gate.\", \"indexer\", \"model.layers.0.\", \"model.layers.1.\", "
                        "\"model.layers.2.\", \"model.layers.60.\", \"model.layers.61.\"]",
                 too_small("20.9 GB", "int4_g128",
                           "attention in part; dense MLPs; shared experts of layer 60; routed "
                           "experts of layer 60")},
        // The last layer is 60: 61 predicts further tokens, and is not counted.
        ListCase{"TheOneBehindTheLast", "deepseek_v3",
                 kFp8 + "[\"lm_head\", \"model.layers.61.eh_proj\", "
                        "\"model.layers.61.self_attn.o_proj\"]",
                 "fp8"},
        ListCase{"AMatrixOfOne", "qwen3_235b",
                 kFp8 + "[\"lm_head\", \"model.layers.0.self_attn.o_proj\"]",
                 too_small("0.0336 GB", "fp8", "attention of layer 0 in part")},
        // 33554432 + 2 x 2097152 + 33554432.
        ListCase{"AllMatricesOfOne", "qwen3_235b",
                 kFp8 +
                     "[\"model.layers.7.self_attn.q_proj\", \"model.layers.7.self_attn.k_proj\", "
                     "\"model.layers.7.self_attn.v_proj\", \"model.layers.7.self_attn.o_proj\"]",
                 too_small("0.0713 GB", "fp8", "attention of layer 7")},
        // An engine spares all experts of a layer: 2415919104 / 3 weights.
        ListCase{"AnExpertOfOne", "qwen3_235b",
                 kFp8 + "[\"model.layers.5.mlp.experts.3.gate_proj\"]",
                 too_small("0.805 GB", "fp8", "routed experts of layer 5 in part")},
        // A linear layer has 33718272 weights in its attention, a full one 27262976, the shared
        // expert 3145728 and routed ones 1610612736. Layer 3 is full: 1641021440 x 1.484375.
        ListCase{"AFullOneOfAHybrid", "qwen3_next_80b", kAwq + "[\"model.layers.3.\"]",
                 too_small("2.44 GB", "int4_g128",
                           "attention of layer 3; shared experts of layer 3; routed experts of "
                           "layer 3")},
        // With a linear layer 1647476736 x 1.484375.
        ListCase{"ALinearOneOfAHybrid", "qwen3_next_80b", kAwq + "[\"model.layers.2.\"]",
                 too_small("2.45 GB", "int4_g128",
                           "attention of layer 2; shared experts of layer 2; routed experts of "
                           "layer 2")},
        // 8 experts of 3 x 4096 x 14336 = 1409286144 x 1.484375.
        ListCase{"ExpertsOfMixtral", "mixtral_8x7b",
                 kAwq + "[\"gate\", \"model.layers.0.block_sparse_moe.experts\"]",
                 too_small("2.09 GB", "int4_g128", "routed experts of layer 0")},
        // AWQ looks for parts of names: layers 1 and 10 to 19, 11 x (41943040 + 176160768).
        ListCase{"ANumberThatGoesOn", "llama_3_1_8b", kAwq + "[\"layers.1\"]",
                 too_small("3.56 GB", "int4_g128",
                           "attention of layers 1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19; dense "
                           "MLPs of layers 1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19")}),
    [](const auto& row) { return row.param.name; });

// 12 full layers and 48 shared experts are quantised: 12 x 27262976 + 48 x 3145728 = 478150656
// weights, against 36 x 33718272 = 1213857792 of linear attention.
INSTANTIATE_TEST_SUITE_P(
    Parts, SparedModules,
    testing::Values(
        ListCase{"Attention", "qwen3_235b", kFp8 + "[\"model.layers.*.self_attn\"]", "bf16 fp8"},
        ListCase{"AttentionByAnyPartOfItsName", "qwen3_235b", kAwq + "[\"self_attn\"]",
                 "bf16 int4_g128"},
        ListCase{"Routers", "qwen3_235b",
                 kFp8 + "[\"model.layers.0.mlp.gate\", \"model.layers.0.input_layernorm\"]", "fp8"},
        ListCase{"RoutedExperts", "qwen3_235b", kCompressedFp8 + "[\"re:.*mlp\\\\.experts.*\"]",
                 "fp8 bf16"},
        ListCase{
            "LinearAttention", "qwen3_next_80b", kAwq + "[\"linear_attn\"]",
            too_large("bf16 int4_g128", "0.71 GB", "int4_g128",
                      "attention of layers 3, 7, 11, 15, 19, 23, 27, 31, 35, 39, 43, 47; shared "
                      "experts")},
        // 7168 x (512 + 64) x 61 weights, at 2 - 0.53125 bytes.
        ListCase{"OneMatrixOfEachLayer", "deepseek_v3",
                 "\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 64, "
                 "\"modules_to_not_convert\": [\"self_attn.kv_a_proj_with_mqa\"]",
                 too_small("0.37 GB", "int4_g64", "attention in part")},
        ListCase{"Encoders", "qwen3_235b",
                 kFp8 + "[\"vision_tower.encoder.layers.0.self_attn.q_proj\", "
                        "\"visual.blocks.0.attn\", \"mtp.layers.0.self_attn.o_proj\"]",
                 "fp8"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Expressions, SparedModules,
    testing::Values(
        ListCase{"OfEachPart", "deepseek_v3",
                 kCompressedInt4 + "[\"lm_head\", \"re:.*self_attn.*\", \"re:.*shared_experts.*\", "
                                   "\"re:.*mlp\\\\.(gate|up|gate_up|down)_proj.*\"]",
                 "bf16 int4_g32"},
        // 4 x 187105280 + 3 x 396361728 + 44040192 + 11274289152 = 13255835648.
        ListCase{"OfFourLayers", "deepseek_v3",
                 kCompressedFp8 + "[\"re:.*layers\\\\.[0-2]\\\\..*\", "
                                  "\"re:^model\\\\.layers\\\\.(?:60|61)\\\\.\"]",
                 too_small("13.3 GB", "fp8",
                           "attention of layers 0, 1, 2, 60; dense MLPs; shared experts of layer "
                           "60; routed experts of layer 60",
                           "ignore")},
        // 10 x 187105280 + 3 x 396361728 + 7 x 11318329344 = 82288443392.
        ListCase{"OfOneDigit", "deepseek_v3", kCompressedFp8 + "[\"re:.*layers\\\\.\\\\d\\\\..*\"]",
                 too_small("82.3 GB", "fp8",
                           "attention of layers 0, 1, 2, 3, 4, 5, 6, 7, 8, 9; dense MLPs; shared "
                           "experts of layers 3, 4, 5, 6, 7, 8, 9; routed experts of layers 3, 4, "
                           "5, 6, 7, 8, 9",
                           "ignore")},
        // 20 x (187105280 + 11318329344) = 230108692480.
        // 2 x 58720256.
        ListCase{"OfAnyCharacterInANumber", "llama_3_1_8b",
                 kCompressedFp8 + "[\"re:.*layers\\\\.3.\\\\.mlp\\\\.down_proj\"]",
                 too_small("0.117 GB", "fp8", "dense MLPs of layers 30, 31 in part", "ignore")},
        ListCase{"OfTwoDigits", "deepseek_v3",
                 kCompressedFp8 + "[\"re:.*layers\\\\.[1-2]\\\\d\\\\..*\"]",
                 too_small("230 GB", "fp8",
                           "attention of 20 layers; shared experts of 20 layers; routed experts of "
                           "20 layers",
                           "ignore")},
        // 11 x (41943040 + 176160768).
        ListCase{"OfNumbersThatGoOn", "llama_3_1_8b", kCompressedFp8 + "[\"re:.*layers.1.*\"]",
                 too_small("2.4 GB", "fp8",
                           "attention of layers 1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19; dense "
                           "MLPs of layers 1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19",
                           "ignore")},
        ListCase{"OfAnyNumber", "qwen3_235b",
                 kCompressedFp8 + "[\"re:model\\\\.layers\\\\.\\\\d+\\\\.self_attn\\\\.\"]",
                 "bf16 fp8"},
        ListCase{"OfAnotherPrefix", "qwen3_235b",
                 kCompressedFp8 + "[\"re:language_model.*self_attn\"]", "bf16 fp8"},
        ListCase{"ThatEndBeforeAMatrix", "qwen3_235b", kCompressedFp8 + "[\"re:.*self_attn$\"]",
                 "fp8"},
        ListCase{"ThatEndWithOne", "qwen3_235b",
                 kCompressedFp8 + "[\"re:.*layers.0.self_attn.q_proj$\"]",
                 too_small("0.0336 GB", "fp8", "attention of layer 0 in part", "ignore")},
        ListCase{"ThatLookAhead", "qwen3_235b", kCompressedFp8 + "[\"re:^(?!.*experts).*$\"]",
                 "fp8 | What quantization_config.ignore means by 're:^(?!.*experts).*$' is not "
                 "understood, and is counted as if it named nothing."},
        ListCase{"OfFourUnknownKinds", "qwen3_235b",
                 kCompressedFp8 + "[\"re:a*\", \"re:[^a]\", \"re:(a\", \"re:\\\\w\"]",
                 "fp8 | What quantization_config.ignore means by 're:a*', 're:[^a]', 're:(a' and 1 "
                 "more is not understood, and is counted as if it named nothing."}),
    [](const auto& row) { return row.param.name; });

// Lists of Model Optimizer have stars. Attention of a layer of Qwen3-235B has 71303168 weights: at
// 2 - 0.5625 bytes 0.1025e9.
INSTANTIATE_TEST_SUITE_P(
    FourBitFloats, SparedModules,
    testing::Values(
        ListCase{"NoLayer", "qwen3_32b", kNvfp4 + "\"ignore\": [\"lm_head\"]", "nvfp4"},
        ListCase{"WithoutAList", "qwen3_32b",
                 "\"quant_method\": \"modelopt\", \"quant_algo\": \"W4A16_NVFP4\"",
                 "nvfp4 | quantization_config.quant_algo W4A16_NVFP4 keeps activations in 16 bits. "
                 "Engines widen such weights to bf16; products are counted at the rate of nvfp4, "
                 "which is too fast."},
        ListCase{"EightBits", "qwen3_32b",
                 "\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\", \"exclude_modules\": "
                 "[\"lm_head\"]",
                 "fp8"},
        ListCase{"AStarBehindAName", "qwen3_235b",
                 kNvfp4 + "\"ignore\": [\"lm_head\", \"model.layers.0.self_attn*\", "
                          "\"*mlp.gate\", \"mtp*\"]",
                 too_small("0.102 GB", "nvfp4", "attention of layer 0", "ignore")},
        ListCase{"StarsAround", "qwen3_235b",
                 kNvfp4 + "\"exclude_modules\": [\"lm_head\", \"*self_attn*\"]", "bf16 nvfp4"},
        ListCase{"OfCompressedTensors", "qwen3_32b", kCompressedNvfp4 + "}", "nvfp4"}),
    [](const auto& row) { return row.param.name; });

TEST(FourBitFloats, AreThoseOfOneGroup) {
  try {
    quantised("qwen3_32b", kCompressedNvfp4 + ", \"group_1\": {}}");
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(), "invalid quantization_config.config_groups (must be one group)");
  }
}

TEST(FourBitFloats, MayHaveACacheOfEightBits) {
  const ImportedModel model = quantised("qwen3_32b", kNvfp4 + "\"kv_cache_quant_algo\": \"FP8\"");
  EXPECT_EQ(model.keys.back().value.key, "kv_dtype");
  EXPECT_EQ(model.keys.back().value.text, "fp8");
  EXPECT_EQ(model.keys.back().source, "it.json: quantization_config.kv_cache_quant_algo FP8");
}

/// "model.layers.0.TAIL", ... for so many layers.
std::string in_layers(int num_layers, const std::string& tail) {
  std::string names;
  for (int i = 0; i < num_layers; ++i)
    names += fmt::format("{}\"model.layers.{}.{}\"", i == 0 ? "" : ", ", i, tail);
  return names;
}

// Attention and routed experts of a layer: 2487222272 weights.
TEST(SparedLayers, DecideWhereTheyAreMostOfAll) {
  EXPECT_EQ(said_of(quantised("qwen3_235b", kFp8 + "[" + in_layers(47, "") + "]")),
            too_small("117 GB", "fp8", "attention of 47 layers; routed experts of 47 layers"));
  EXPECT_EQ(
      said_of(quantised("qwen3_235b", kFp8 + "[" + in_layers(48, "") + "]")),
      too_large("bf16", "114 GB", "fp8", "attention of 46 layers; routed experts of 46 layers"));
}

// meta-llama/Llama-3.1-405B-Instruct-FP8: attention of all 126 layers, 570425344 weights each, and
// two MLPs of 3 x 16384 x 53248 = 2617245696.
TEST(SparedLayers, OfADenseModelAreMissing) {
  std::string list = "[\"lm_head\"";
  for (const char* tail :
       {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"})
    list += ", " + in_layers(126, tail);
  for (const char* layer : {"0", "125"})
    for (const char* tail : {"down_proj", "gate_proj", "up_proj"})
      list += fmt::format(", \"model.layers.{}.mlp.{}\"", layer, tail);
  EXPECT_EQ(said_of(quantised(
                "llama_3_1_405b",
                "\"quant_method\": \"fbgemm_fp8\", \"modules_to_not_convert\": " + list + "]")),
            too_small("77.1 GB", "fp8", "attention; dense MLPs of layers 0, 125"));
}

// Gemma 4 26B-A4B: 30 dense MLPs beside experts, of 3 x 2816 x 2112 = 17842176 weights each.
// MiniMax-M3: shared experts of 57 layers, 3 x 6144 x 3072 = 56623104 each.
TEST(SparedModules, HaveNamesOfTheirOwnInSomeFamilies) {
  const std::string fp8 =
      "\"quantization_config\": {\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\", "
      "\"exclude_modules\": [\"lm_head\", \"{}\"]}";
  const auto of = [&](std::string config, const std::string& module) {
    std::string list = fp8;
    list.replace(list.find("{}"), 2, module);
    return said_of(import_config(config.insert(1, list + ", "), "it.json"));
  };
  EXPECT_EQ(of(R"({"model_type": "gemma4_text", "attention_k_eq_v": true, "dtype": "bfloat16",
                "enable_moe_block": true, "hidden_size": 2816, "hidden_size_per_layer_input": 0,
                "intermediate_size": 2112, "moe_intermediate_size": 704,
                "num_attention_heads": 16, "num_experts": 128, "num_global_key_value_heads": 2,
                "num_hidden_layers": 30, "num_key_value_heads": 8, "top_k_experts": 8})",
               "*.mlp.*"),
            too_small("0.535 GB", "fp8", "shared experts", "exclude_modules"));
  std::string minimax = R"({"model_type": "minimax_m3", "dense_intermediate_size": 12288,
                "head_dim": 128, "hidden_size": 6144, "index_block_size": 128,
                "index_head_dim": 128, "index_n_heads": 4, "index_topk_blocks": 16,
                "intermediate_size": 3072, "n_shared_experts": 1, "num_attention_heads": 64,
                "num_experts_per_tok": 4, "num_hidden_layers": 60, "num_key_value_heads": 4,
                "num_local_experts": 128, "vocab_size": 200064, "layer_types": [)";
  for (int layer = 0; layer < 60; ++layer)
    minimax += fmt::format("{}\"{}\"", layer == 0 ? "" : ", ",
                           layer < 3 ? "full_attention" : "minimax_m3_sparse");
  minimax += "], \"mlp_layer_types\": [";
  for (int layer = 0; layer < 60; ++layer)
    minimax += fmt::format("{}\"{}\"", layer == 0 ? "" : ", ", layer < 3 ? "dense" : "sparse");
  minimax += "], \"tie_word_embeddings\": false}";
  EXPECT_EQ(of(minimax, "*block_sparse_moe.shared_experts*"),
            too_small("3.23 GB", "fp8", "shared experts", "exclude_modules"));
}

TEST(SparedLayers, AreTheSourceOfADtypeThatTheyDecide) {
  const ImportedModel model = quantised("qwen3_235b", kFp8 + "[\"self_attn\"]");
  for (const ImportedKey& key : model.keys)
    if (key.value.key == "weight_dtype") {
      EXPECT_EQ(key.source,
                "it.json: torch_dtype bfloat16; it.json: "
                "quantization_config.modules_to_not_convert spares most of these weights");
      return;
    }
  FAIL() << "no weight_dtype";
}

/// What is not read is said, and stands in evaluate, in check and in reports.
TEST(SparedLayers, OfAGroupOfModulesAreNotRead) {
  const std::string quantisation =
      "\"quant_method\": \"compressed-tensors\", \"format\": \"float-quantized\", "
      "\"config_groups\": {\"group_0\": {\"targets\": [\"TARGET\"], \"weights\": {}}}";
  const auto targeting = [&](const std::string& target) {
    std::string text = quantisation;
    return quantised("llama_3_1_8b", text.replace(text.find("TARGET"), 6, target));
  };
  EXPECT_EQ(said_of(targeting("Linear")), "fp8");
  const ImportedModel some = targeting("re:.*mlp.*");
  const std::string warning =
      "quantization_config.config_groups.group_0.targets names only some modules, and is not read: "
      "the others are counted as quantised, too.";
  EXPECT_EQ(said_of(some), "fp8 | " + warning);
  EXPECT_EQ(some.warnings, std::vector<std::string>{warning});
  EXPECT_EQ(said_of(quantised("llama_3_1_8b",
                              "\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128, "
                              "\"dynamic\": {\"-:.*self_attn.*\": {}}")),
            "int4_g128 | quantization_config.dynamic gives modules bits of their own. It is not "
            "read.");
}

/// Every dot of such an expression may be a digit; nobody tries them all.
TEST(SparedLayers, OfTooManyCharactersAreNotUnderstood) {
  EXPECT_EQ(said_of(quantised("llama_3_1_8b",
                              kCompressedFp8 + "[\"re:.*layers" + std::string(40, '.') + "\"]")),
            "fp8 | What quantization_config.ignore means by 're:.*layers" + std::string(40, '.') +
                "' is not understood, and is counted as if it named nothing.");
}

/// vLLM's own name of the list.
TEST(SparedLayers, MayBeIgnored) {
  EXPECT_EQ(said_of(quantised("qwen3_235b",
                              "\"quant_method\": \"fp8\", \"ignored_layers\": [\"self_attn\"]")),
            "bf16 fp8");
}

TEST(SparedLayers, AreRefusedWithoutEnd) {
  std::string list = "[\"a\"";
  for (int i = 0; i < 65536; ++i) list += ",\"a\"";
  try {
    quantised("qwen3_235b", kFp8 + list + "]");
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(),
              "invalid quantization_config.modules_to_not_convert (more than 65536 names)");
  }
}

}  // namespace
}  // namespace depthcost::spared_weights_test
