// Attention and MLP in model files: what they become, their defaults, and every contradiction with
// the whole message.
#include "scenarios/import/architecture.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "scenarios/read/scenario.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/scenarios/read/parsed.hpp"
#include "tests/scenarios/read/refused_case.hpp"

namespace depthcost::architecture_test {
namespace {

const std::string kGrouped =
    "{kind: grouped, decoder_layers: 2, heads: 8, kv_heads: 2, head_dim: 16}";
const std::string kDense = "{kind: dense, decoder_layers: 2, width: 64}";

/// A model of two decoder layers; `keys` starts at line 5, column 3.
std::string model(const std::string& keys) {
  return "schema: depthcost/1\nresidual: {scheme: standard}\nmodel:\n  {decoder_layers: 2, "
         "hidden_size: 32, dtype: f16,\n  " +
         keys + "}\n";
}

std::string lists(const std::string& attention, const std::string& mlp) {
  return model(
      fmt::format("vocabulary_size: 100,\n  attention: [{}],\n  mlp: [{}]", attention, mlp));
}

/// Attention at line 6, column 15; its members may follow.
std::string attention(const std::string& members) { return lists("{" + members + "}", kDense); }

/// An MLP at line 7, column 9.
std::string mlp(const std::string& members) { return lists(kGrouped, "{" + members + "}"); }

/// A model of four experts, two of them active, that drafts tokens; `members` starts at line 6,
/// column 45.
std::string drafting(const std::string& members) {
  return model("vocabulary_size: 9, attention: [" + kGrouped +
               "], mlp: [{kind: experts, decoder_layers: 2, experts: 4, active: 2, width: 8}],\n  "
               "draft: [{layers: 1, attention: 1, mlp: 1, " +
               members + "}]");
}

Scenario parsed(const std::string& text) { return test::parse_scenario(text, "it.yaml"); }

Architecture read(const std::string& text) { return parsed(text).study.model.architecture.value(); }

std::string listed(const Scenario& scenario, const std::string& key) {
  for (const ResolvedValue& value : scenario.values)
    if (value.key == key) return fmt::format("{} <- {}", value.value, value.origin);
  return "";
}

TEST(Architectures, AreAbsentWhereNothingIsSaid) {
  EXPECT_FALSE(parsed(model("name: x")).study.model.architecture);
}

TEST(Architectures, DraftWithTheExpertsOfTheirMlpUnlessTheySayOtherwise) {
  const auto draft_of = [](const std::string& text) { return read(text).draft.value(); };
  const DraftLayers fewer = draft_of(drafting("experts: 3, active: 1, block: 5"));
  EXPECT_EQ(std::get<ExpertMlp>(fewer.mlp).num_experts, 3);
  EXPECT_EQ(std::get<ExpertMlp>(fewer.mlp).num_active, 1);
  EXPECT_EQ(fewer.block, 5);
  const DraftLayers equal = draft_of(drafting("projections: 7"));
  EXPECT_EQ(std::get<ExpertMlp>(equal.mlp).num_experts, 4);
  EXPECT_EQ(std::get<ExpertMlp>(equal.mlp).num_active, 2);
  EXPECT_EQ(equal.projections, 7);
  const DraftLayers dense =
      draft_of(model("vocabulary_size: 9, attention: [" + kGrouped + "], mlp: [" + kDense +
                     "], draft: [{layers: 2, attention: 1, mlp: 1}]"));
  EXPECT_EQ(std::get<DenseMlp>(dense.mlp).width, 64);
  EXPECT_EQ(dense.num_layers, 2);
}

TEST(Architectures, HoldGroupedAttentionAndDenseMlps) {
  const Architecture got = read(lists(kGrouped, kDense));
  ASSERT_EQ(got.attention.size(), 1u);
  const auto& attention = std::get<GroupedAttention>(got.attention[0].attention);
  EXPECT_EQ(attention.num_heads, 8);
  EXPECT_EQ(attention.num_kv_heads, 2);
  EXPECT_EQ(attention.head_dim, 16);
  EXPECT_FALSE(attention.window);
  EXPECT_EQ(got.attention[0].num_decoder_layers, 2);
  ASSERT_EQ(got.mlp.size(), 1u);
  EXPECT_EQ(std::get<DenseMlp>(got.mlp[0].mlp).width, 64);
  EXPECT_EQ(got.mlp[0].num_decoder_layers, 2);
  EXPECT_EQ(got.vocabulary_size, 100);
}

TEST(Architectures, HoldAWindow) {
  const Architecture got = read(attention(
      "kind: grouped, decoder_layers: 2, heads: 8, kv_heads: 8, head_dim: 16, window: 128"));
  EXPECT_EQ(std::get<GroupedAttention>(got.attention[0].attention).window, 128);
}

TEST(Architectures, HoldLatentAttention) {
  const Architecture got = read(attention(
      "kind: latent, decoder_layers: 2, heads: 8, q_rank: 24, kv_rank: 12, nope_dim: 6, rope_dim: "
      "4, value_dim: 5, output_gate: present"));
  const auto& latent = std::get<LatentAttention>(got.attention[0].attention);
  EXPECT_EQ(latent.num_heads, 8);
  EXPECT_EQ(latent.q_rank, 24);
  EXPECT_EQ(latent.kv_rank, 12);
  EXPECT_EQ(latent.nope_dim, 6);
  EXPECT_EQ(latent.rope_dim, 4);
  EXPECT_EQ(latent.value_dim, 5);
  EXPECT_EQ(latent.output_gate, OutputGate::present);
}

TEST(Architectures, HoldLatentAttentionWithAnIndexer) {
  const std::string latent =
      "kind: latent, decoder_layers: 2, heads: 8, kv_rank: 12, nope_dim: 6, rope_dim: 4, "
      "value_dim: 5, top_k: 13";
  const Architecture got = read(attention(latent + ", index_heads: 14, index_dim: 15"));
  const auto& with = std::get<LatentAttention>(got.attention[0].attention);
  EXPECT_EQ(with.top_k, 13);
  EXPECT_EQ(with.indexer.num_heads, 14);
  EXPECT_EQ(with.indexer.dim, 15);
  const Architecture shared = read(attention(latent));
  const auto& without = std::get<LatentAttention>(shared.attention[0].attention);
  EXPECT_EQ(without.top_k, 13);
  EXPECT_EQ(without.indexer.num_heads, 0);
  EXPECT_EQ(without.indexer.dim, 0);
}

TEST(Architectures, HoldGroupedAttentionWithAnIndexer) {
  const Architecture got = read(
      attention("kind: grouped, decoder_layers: 2, heads: 8, kv_heads: 8, head_dim: 4, top_k: 13, "
                "index_heads: 14, index_dim: 15, index_ratio: 16"));
  const auto& grouped = std::get<GroupedAttention>(got.attention[0].attention);
  EXPECT_EQ(grouped.top_k, 13);
  EXPECT_EQ(grouped.indexer.num_heads, 14);
  EXPECT_EQ(grouped.indexer.dim, 15);
  EXPECT_EQ(grouped.indexer.ratio, 16);
  EXPECT_EQ(grouped.key_values, KeyValues::own);
  EXPECT_FALSE(grouped.conv_width);
}

TEST(Architectures, HoldLayersThatShareKeysAndValues) {
  const Architecture got = read(lists(
      "{kind: grouped, decoder_layers: 1, heads: 8, kv_heads: 2, head_dim: 16, conv_width: 3},\n"
      "    {kind: grouped, decoder_layers: 1, heads: 8, kv_heads: 2, head_dim: 16, key_values: "
      "shared}",
      kDense));
  EXPECT_EQ(std::get<GroupedAttention>(got.attention[0].attention).conv_width, 3);
  EXPECT_EQ(std::get<GroupedAttention>(got.attention[1].attention).key_values, KeyValues::shared);
}

TEST(Architectures, HoldCompressedAttentionThatReadsAnEarlierLayer) {
  const Architecture got = read(attention(
      "kind: compressed, decoder_layers: 2, heads: 8, head_dim: 16, q_rank: 9, output_rank: 10, "
      "output_groups: 4, window: 11, ratio: 1, key_values: shared, top_k: 13"));
  const auto& compressed = std::get<CompressedAttention>(got.attention[0].attention);
  EXPECT_EQ(compressed.key_values, KeyValues::shared);
  EXPECT_EQ(compressed.indexer.num_heads, 0);
  EXPECT_FALSE(compressed.candidates);
  const Architecture with = read(attention(
      "kind: compressed, decoder_layers: 2, heads: 8, head_dim: 16, q_rank: 9, output_rank: 10, "
      "output_groups: 4, window: 11, ratio: 1, top_k: 13, index_heads: 1, index_dim: 2, "
      "candidates: 17"));
  EXPECT_EQ(std::get<CompressedAttention>(with.attention[0].attention).candidates, 17);
}

TEST(Architectures, MayHaveNoRotation) {
  const Architecture got = read(
      attention("kind: latent, decoder_layers: 2, heads: 8, kv_rank: 12, nope_dim: 6, rope_dim: 0, "
                "value_dim: 5"));
  EXPECT_EQ(std::get<LatentAttention>(got.attention[0].attention).rope_dim, 0);
}

TEST(Architectures, HoldARouterOfSeveralLayers) {
  const Architecture got = read(
      mlp("kind: experts, decoder_layers: 2, width: 4, experts: 8, active: 1, router_width: 6"));
  EXPECT_EQ(std::get<ExpertMlp>(got.mlp[0].mlp).router_width, 6);
}

TEST(Architectures, HoldTables) {
  const Architecture got = read(model(fmt::format(
      "vocabulary_size: 9, attention: [{}], mlp: [{}],\n  tables: [{{rows: 4294967296, width: 3, "
      "projections: 5}}, {{rows: 6, width: 7}}]",
      kGrouped, kDense)));
  ASSERT_EQ(got.tables.size(), 2u);
  EXPECT_EQ(got.tables[0].rows, 4294967296);
  EXPECT_EQ(got.tables[0].width, 3);
  EXPECT_EQ(got.tables[0].projections, 5);
  EXPECT_EQ(got.tables[1].projections, 0);
}

TEST(Architectures, HoldAGateOfGroupedAttention) {
  const std::string grouped =
      "kind: grouped, decoder_layers: 2, heads: 8, kv_heads: 8, head_dim: 4";
  const Architecture with = read(attention(grouped + ", output_gate: present"));
  EXPECT_EQ(std::get<GroupedAttention>(with.attention[0].attention).output_gate,
            OutputGate::present);
  const Architecture without = read(attention(grouped));
  EXPECT_EQ(std::get<GroupedAttention>(without.attention[0].attention).output_gate,
            OutputGate::absent);
}

TEST(Architectures, HoldLinearAttentionWithFewerKeys) {
  const std::string linear =
      "kind: linear, decoder_layers: 2, heads: 8, head_dim: 4, conv_width: 3";
  const Architecture got = read(attention(linear + ", key_heads: 2, decay: per_head"));
  EXPECT_EQ(std::get<LinearAttention>(got.attention[0].attention).key_heads, 2);
  EXPECT_EQ(std::get<LinearAttention>(got.attention[0].attention).decay, Decay::per_head);
  const Architecture plain = read(attention(linear));
  EXPECT_FALSE(std::get<LinearAttention>(plain.attention[0].attention).key_heads);
  EXPECT_EQ(std::get<LinearAttention>(plain.attention[0].attention).decay, Decay::per_channel);
}

TEST(Architectures, TieTheirHeadIfTold) {
  const auto head = [](const std::string& keys) {
    return read(model(fmt::format("{}vocabulary_size: 9, attention: [{}], mlp: [{}]", keys,
                                  kGrouped, kDense)))
        .output_head;
  };
  EXPECT_EQ(head("output_head: tied, "), OutputHead::tied);
  EXPECT_EQ(head("output_head: own, "), OutputHead::own);
  EXPECT_EQ(head(""), OutputHead::own);
}

TEST(Architectures, CompressNoQueriesAndGateNothingUnlessTold) {
  const Architecture got = read(
      attention("kind: latent, decoder_layers: 2, heads: 8, kv_rank: 12, nope_dim: 6, rope_dim: 4, "
                "value_dim: 5"));
  const auto& latent = std::get<LatentAttention>(got.attention[0].attention);
  EXPECT_FALSE(latent.q_rank);
  EXPECT_EQ(latent.output_gate, OutputGate::absent);
}

TEST(Architectures, HoldLinearAttentionBesideAnother) {
  const Architecture got = read(lists(
      "{kind: linear, decoder_layers: 1, heads: 3, head_dim: 7, conv_width: 4, gate_rank: 2},\n"
      "    {kind: grouped, decoder_layers: 1, heads: 8, kv_heads: 2, head_dim: 16}",
      kDense));
  ASSERT_EQ(got.attention.size(), 2u);
  const auto& linear = std::get<LinearAttention>(got.attention[0].attention);
  EXPECT_EQ(linear.num_heads, 3);
  EXPECT_EQ(linear.head_dim, 7);
  EXPECT_EQ(linear.conv_width, 4);
  EXPECT_EQ(linear.gate_rank, 2);
  EXPECT_EQ(name(got.attention[1].attention), "grouped");
}

TEST(Architectures, HoldCompressedAttention) {
  const Architecture got = read(attention(
      "kind: compressed, decoder_layers: 2, heads: 8, head_dim: 16, q_rank: 9, output_rank: 10, "
      "output_groups: 4, window: 11, ratio: 12, top_k: 13, index_heads: 14, index_dim: 15"));
  const auto& compressed = std::get<CompressedAttention>(got.attention[0].attention);
  EXPECT_EQ(compressed.num_heads, 8);
  EXPECT_EQ(compressed.head_dim, 16);
  EXPECT_EQ(compressed.q_rank, 9);
  EXPECT_EQ(compressed.output_rank, 10);
  EXPECT_EQ(compressed.output_groups, 4);
  EXPECT_EQ(compressed.window, 11);
  EXPECT_EQ(compressed.ratio, 12);
  EXPECT_EQ(compressed.top_k, 13);
  EXPECT_EQ(compressed.indexer.num_heads, 14);
  EXPECT_EQ(compressed.indexer.dim, 15);
}

TEST(Architectures, HoldExperts) {
  const Architecture got =
      read(mlp("kind: experts, decoder_layers: 2, experts: 16, active: 4, shared: 1, width: 24, "
               "latent_width: 8, groups: 8, groups_per_token: 3"));
  const auto& experts = std::get<ExpertMlp>(got.mlp[0].mlp);
  EXPECT_EQ(experts.num_experts, 16);
  EXPECT_EQ(experts.num_active, 4);
  EXPECT_EQ(experts.num_shared, 1);
  EXPECT_EQ(experts.width, 24);
  EXPECT_EQ(experts.latent_width, 8);
  EXPECT_EQ(experts.num_groups, 8);
  EXPECT_EQ(experts.groups_of_token, 3);
}

TEST(Architectures, ShareNoExpertsUnlessTold) {
  for (const std::string shared : {"", ", shared: 0"}) {
    const Architecture got =
        read(mlp("kind: experts, decoder_layers: 2, experts: 16, active: 16, width: 24" + shared));
    EXPECT_EQ(std::get<ExpertMlp>(got.mlp[0].mlp).num_shared, 0);
    EXPECT_FALSE(std::get<ExpertMlp>(got.mlp[0].mlp).latent_width);
  }
}

TEST(Architectures, StoreWeightsAsTheModelItsStream) {
  const Scenario scenario = parsed(lists(kGrouped, kDense));
  const Architecture& got = *scenario.study.model.architecture;
  EXPECT_EQ(got.weight_dtype, WeightDtype::f16);
  EXPECT_EQ(got.expert_dtype, WeightDtype::f16);
  EXPECT_EQ(got.kv_dtype, Dtype::bf16);
  EXPECT_EQ(listed(scenario, "model.weight_dtype"), "f16 <- default: the model's dtype");
  EXPECT_EQ(listed(scenario, "model.expert_dtype"), "f16 <- default: as weight_dtype");
  EXPECT_EQ(listed(scenario, "model.kv_dtype"),
            "bf16 <- default: [ours] what serving engines keep unless told otherwise");
  EXPECT_EQ(listed(scenario, "model.attention[0].kv_heads"), "2 <- it.yaml:6");
}

TEST(Architectures, StoreExpertsAsOtherWeights) {
  const auto with = [](const std::string& dtypes) {
    return read(model(fmt::format("{}, vocabulary_size: 9, attention: [{}], mlp: [{}]", dtypes,
                                  kGrouped, kDense)));
  };
  EXPECT_EQ(with("weight_dtype: fp8").expert_dtype, WeightDtype::fp8);
  const Architecture got = with("weight_dtype: fp8, expert_dtype: mxfp4, kv_dtype: fp8");
  EXPECT_EQ(got.weight_dtype, WeightDtype::fp8);
  EXPECT_EQ(got.expert_dtype, WeightDtype::mxfp4);
  EXPECT_EQ(got.kv_dtype, Dtype::fp8);
}

TEST(Architectures, StandInModelsThatCountLayersToo) {
  const std::string text =
      "schema: depthcost/1\nresidual: {scheme: standard}\nmodel: {num_layers: 4, hidden_size: 32, "
      "dtype: bf16, vocabulary_size: 9, attention: [" +
      kGrouped + "], mlp: [" + kDense + "]}\n";
  EXPECT_TRUE(parsed(text).study.model.architecture);
}

TEST(Architectures, DoNotOutliveAnotherNumberOfLayers) {
  const auto architecture = [](const std::string& keys) {
    return parsed("schema: depthcost/1\nresidual: {scheme: standard}\nmodel: {base: kimi_k3" +
                  keys + "}\n")
        .study.model.architecture;
  };
  EXPECT_FALSE(architecture(", decoder_layers: 12"));
  EXPECT_FALSE(architecture(", num_layers: 25"));
  const auto other = architecture(", decoder_layers: 2, vocabulary_size: 7, attention: [" +
                                  kGrouped + "], mlp: [" + kDense + "]");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->vocabulary_size, 7);
}

/// Layers that are all alike may be more or fewer.
TEST(Architectures, GrowWithEqualLayers) {
  const auto architecture = [](const std::string& keys) {
    return parsed("schema: depthcost/1\nresidual: {scheme: standard}\nmodel: {base: qwen3_32b" +
                  keys + "}\n")
        .study.model.architecture;
  };
  const auto layers_of = [&](const std::string& keys) {
    return architecture(keys).value().attention.front().num_decoder_layers;
  };
  EXPECT_EQ(layers_of(""), 64);
  EXPECT_EQ(layers_of(", decoder_layers: 64"), 64);
  EXPECT_EQ(layers_of(", decoder_layers: 12"), 12);
  EXPECT_EQ(layers_of(", num_layers: 24"), 12);
  EXPECT_EQ(architecture(", decoder_layers: 12")->mlp.front().num_decoder_layers, 12);
  EXPECT_FALSE(architecture(", num_layers: 25"));
}

TEST(Architectures, OutliveTheirOwnNumberOfLayers) {
  EXPECT_TRUE(parsed("schema: depthcost/1\nresidual: {scheme: standard}\nmodel: {base: kimi_k3, "
                     "decoder_layers: 93}\n")
                  .study.model.architecture);
}

using test::RefusedCase;

class BadArchitecture : public testing::TestWithParam<RefusedCase> {};

TEST_P(BadArchitecture, NamesTheLineAndTheCause) { test::expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Records, BadArchitecture,
    testing::ValuesIn(std::vector<RefusedCase>{
        {"UnknownKind", attention("kind: groupd, decoder_layers: 2, heads: 8"),
         "it.yaml:6:22: error: invalid attention[].kind 'groupd' (must be grouped | latent | linear | compressed); did you mean 'grouped'?"},
        {"UnknownMember", attention("kind: grouped, decoder_layers: 2, heads: 8, kv_head: 2"),
         "it.yaml:6:60: error: unknown key 'kv_head'; did you mean 'kv_heads'?"},
        {"NoKind", attention("decoder_layers: 2, heads: 8"),
         "it.yaml:6:15: error: missing key 'kind' (attention needs it)"},
        {"NoHeads", attention("kind: grouped, decoder_layers: 2, kv_heads: 8, head_dim: 4"),
         "it.yaml:6:15: error: missing key 'heads' (attention needs it)"},
        {"NoHeadDim", attention("kind: grouped, decoder_layers: 2, heads: 8, kv_heads: 8"),
         "it.yaml:6:22: error: missing key 'head_dim' (attention of kind grouped needs it)"},
        {"NoValueDim",
         attention(
             "kind: latent, decoder_layers: 2, heads: 8, kv_rank: 1, nope_dim: 1, rope_dim: 1"),
         "it.yaml:6:22: error: missing key 'value_dim' (attention of kind latent needs it)"},
        {"NoConvolution", attention("kind: linear, decoder_layers: 2, heads: 8, head_dim: 1"),
         "it.yaml:6:22: error: missing key 'conv_width' (attention of kind linear needs it)"},
        {"NoOutputRank",
         attention(
             "kind: compressed, decoder_layers: 2, heads: 8, head_dim: 1, q_rank: 1, output_groups: 1, window: 1"),
         "it.yaml:6:22: error: missing key 'output_rank' (attention of kind compressed needs it)"},
        {"OfAnotherKind",
         attention(
             "kind: grouped, decoder_layers: 2, heads: 8, kv_heads: 8, head_dim: 4, kv_rank: 512"),
         "it.yaml:6:95: error: conflicting key 'kv_rank' (attention of kind grouped has none)"},
        {"WindowOfAState",
         attention(
             "kind: linear, decoder_layers: 2, heads: 8, head_dim: 1, conv_width: 4, window: 5"),
         "it.yaml:6:95: error: conflicting key 'window' (attention of kind linear has none)"},
        {"HeadsThatDoNotDivide",
         attention("kind: grouped, decoder_layers: 2, heads: 8, kv_heads: 3, head_dim: 4"),
         "it.yaml:6:70: error: invalid attention[].kv_heads '3' (does not divide heads '8')"},
        {"GroupsThatDoNotDivide",
         attention(
             "kind: compressed, decoder_layers: 2, heads: 8, head_dim: 1, q_rank: 1, output_rank: 1, output_groups: 16, window: 1"),
         "it.yaml:6:118: error: invalid attention[].output_groups '16' (does not divide heads '8')"},
        {"PicksOfNothing",
         attention(
             "kind: compressed, decoder_layers: 2, heads: 8, head_dim: 1, q_rank: 1, output_rank: 1, output_groups: 1, window: 1, top_k: 4, index_heads: 1, index_dim: 1"),
         "it.yaml:6:139: error: conflicting key 'top_k' (needs ratio)"},
        {"PicksWithoutAnIndexer",
         attention(
             "kind: compressed, decoder_layers: 2, heads: 8, head_dim: 1, q_rank: 1, output_rank: 1, output_groups: 1, window: 1, ratio: 4, top_k: 4"),
         "it.yaml:6:149: error: conflicting key 'top_k' (needs index_heads)"},
        {"IndexerThatPicksNothing",
         attention(
             "kind: compressed, decoder_layers: 2, heads: 8, head_dim: 1, q_rank: 1, output_rank: 1, output_groups: 1, window: 1, ratio: 4, index_heads: 4, index_dim: 1"),
         "it.yaml:6:169: error: conflicting key 'index_dim' (needs top_k)"},
        {"IndexerWithoutElements",
         attention(
             "kind: compressed, decoder_layers: 2, heads: 8, head_dim: 1, q_rank: 1, output_rank: 1, output_groups: 1, window: 1, ratio: 4, top_k: 1, index_heads: 4"),
         "it.yaml:6:165: error: conflicting key 'index_heads' (needs index_dim)"},
        {"KeyHeadsThatDoNotDivide",
         attention(
             "kind: linear, decoder_layers: 2, heads: 8, head_dim: 1, conv_width: 4, key_heads: 3"),
         "it.yaml:6:98: error: invalid attention[].key_heads '3' (does not divide heads '8')"},
        {"LatentIndexerThatPicksNothing",
         attention(
             "kind: latent, decoder_layers: 2, heads: 8, kv_rank: 1, nope_dim: 1, rope_dim: 1, value_dim: 1, index_heads: 4, index_dim: 1"),
         "it.yaml:6:124: error: conflicting key 'index_heads' (needs top_k)"},
        {"LatentIndexerWithoutElements",
         attention(
             "kind: latent, decoder_layers: 2, heads: 8, kv_rank: 1, nope_dim: 1, rope_dim: 1, value_dim: 1, top_k: 2, index_heads: 4"),
         "it.yaml:6:134: error: conflicting key 'index_heads' (needs index_dim)"},
        {"GroupedIndexerThatPicksNothing",
         attention(
             "kind: grouped, decoder_layers: 2, heads: 8, kv_heads: 8, head_dim: 1, index_heads: 4, index_dim: 1"),
         "it.yaml:6:99: error: conflicting key 'index_heads' (needs top_k)"},
        {"RatioOfNoIndexer",
         attention(
             "kind: grouped, decoder_layers: 2, heads: 8, kv_heads: 8, head_dim: 1, top_k: 2, index_ratio: 4"),
         "it.yaml:6:109: error: conflicting key 'index_ratio' (needs index_heads)"},
        {"SharedSummariesOfAWindow",
         attention(
             "kind: compressed, decoder_layers: 2, heads: 8, head_dim: 1, q_rank: 1, output_rank: 1, output_groups: 1, window: 1, key_values: shared"),
         "it.yaml:6:144: error: conflicting key 'key_values' (needs ratio)"},
        {"OneProjectionOfSummaries",
         attention(
             "kind: compressed, decoder_layers: 2, heads: 8, head_dim: 1, q_rank: 1, output_rank: 1, output_groups: 1, window: 1, ratio: 4, key_values: one_projection"),
         "it.yaml:6:154: error: invalid attention[].key_values 'one_projection' (attention of kind compressed has one projection in any case)"},
        {"CandidatesOfNoIndexer",
         attention(
             "kind: compressed, decoder_layers: 2, heads: 8, head_dim: 1, q_rank: 1, output_rank: 1, output_groups: 1, window: 1, ratio: 4, key_values: shared, top_k: 4, candidates: 5"),
         "it.yaml:6:184: error: conflicting key 'candidates' (needs index_heads)"},
        {"KeysOfALatentAttention",
         attention(
             "kind: latent, decoder_layers: 2, heads: 8, kv_rank: 1, nope_dim: 1, rope_dim: 1, value_dim: 1, key_values: shared"),
         "it.yaml:6:123: error: conflicting key 'key_values' (attention of kind latent has none)"},
        {"RouterOfADenseMlp", mlp("kind: dense, decoder_layers: 2, width: 4, router_width: 8"),
         "it.yaml:7:66: error: conflicting key 'router_width' (mlp of kind dense has none)"},
        {"UnknownDecay",
         attention(
             "kind: linear, decoder_layers: 2, heads: 8, head_dim: 1, conv_width: 4, decay: fast"),
         "it.yaml:6:94: error: invalid attention[].decay 'fast' (must be per_channel | per_head | step)"},
        {"TooWide",
         attention("kind: grouped, decoder_layers: 2, heads: 8, kv_heads: 8, head_dim: 16777217"),
         "it.yaml:6:83: error: invalid attention[].head_dim '16777217' (more than 16777216)"},
        {"NoWidth", mlp("kind: dense, decoder_layers: 2"),
         "it.yaml:7:9: error: missing key 'width' (mlp needs it)"},
        {"ExpertsOfADenseMlp", mlp("kind: dense, decoder_layers: 2, width: 4, experts: 8"),
         "it.yaml:7:61: error: conflicting key 'experts' (mlp of kind dense has none)"},
        {"NoActiveExperts", mlp("kind: experts, decoder_layers: 2, width: 4, experts: 8"),
         "it.yaml:7:16: error: missing key 'active' (mlp of kind experts needs it)"},
        {"MoreActiveThanThereAre",
         mlp("kind: experts, decoder_layers: 2, width: 4, experts: 8, active: 9"),
         "it.yaml:7:74: error: invalid mlp[].active '9' (9 active of 8 experts)"},
        {"GroupsWithoutAChoice",
         mlp("kind: experts, decoder_layers: 2, width: 4, experts: 8, active: 2, groups: 4"),
         "it.yaml:7:85: error: conflicting key 'groups' (needs groups_per_token)"},
        {"UnequalGroups",
         mlp("kind: experts, decoder_layers: 2, width: 4, experts: 8, active: 2, groups: 3, "
             "groups_per_token: 2"),
         "it.yaml:7:85: error: invalid mlp[].groups '3' (does not divide experts '8')"},
        {"MoreGroupsThanThereAre",
         mlp("kind: experts, decoder_layers: 2, width: 4, experts: 8, active: 2, groups: 4, "
             "groups_per_token: 5"),
         "it.yaml:7:106: error: invalid mlp[].groups_per_token '5' (more than the 4 groups)"},
        {"MoreActiveThanGroupsHave",
         mlp("kind: experts, decoder_layers: 2, width: 4, experts: 8, active: 5, groups: 4, "
             "groups_per_token: 2"),
         "it.yaml:7:74: error: invalid mlp[].active '5' (more than the 4 experts of a token's "
         "groups)"},
        {"Source",
         attention("kind: grouped, decoder_layers: 2, heads: 8, kv_heads: 8, head_dim: {value: 4}"),
         "it.yaml:6:83: error: invalid attention[].head_dim (must be a single value, not a map)"},
    }),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Lists, BadArchitecture,
    testing::ValuesIn(std::vector<RefusedCase>{
        {"NoMlp", model("vocabulary_size: 9, attention: [" + kGrouped + "]"),
         "it.yaml:4:3: error: missing key 'mlp' (attention needs it)"},
        {"NoAttention", model("vocabulary_size: 9, mlp: [" + kDense + "]"),
         "it.yaml:4:3: error: missing key 'attention' (mlp needs it)"},
        {"NoVocabulary", model("attention: [" + kGrouped + "], mlp: [" + kDense + "]"),
         "it.yaml:4:3: error: missing key 'vocabulary_size' (attention and mlp need it)"},
        {"VocabularyAlone", model("vocabulary_size: 9"),
         "it.yaml:5:20: error: conflicting key 'vocabulary_size' (needs attention and mlp)"},
        {"HeadAlone", model("output_head: tied"),
         "it.yaml:5:16: error: conflicting key 'output_head' (needs attention and mlp)"},
        {"DtypeAlone", model("expert_dtype: fp8"),
         "it.yaml:5:17: error: conflicting key 'expert_dtype' (needs attention and mlp)"},
        {"LargeVocabulary",
         model("vocabulary_size: 268435457, attention: [" + kGrouped + "], mlp: [" + kDense + "]"),
         "it.yaml:5:20: error: invalid vocabulary_size '268435457' (more than 268435456)"},
        {"TablesAlone", model("tables: [{rows: 1, width: 2}]"),
         "it.yaml:5:19: error: conflicting key 'tables' (needs attention and mlp)"},
        {"TableWithoutWidth",
         model("vocabulary_size: 9, attention: [" + kGrouped + "], mlp: [" + kDense +
               "],\n  tables: [{rows: 1}]"),
         "it.yaml:6:12: error: missing key 'width' (tables needs it)"},
        {"LargeTable",
         model("vocabulary_size: 9, attention: [" + kGrouped + "], mlp: [" + kDense +
               "],\n  tables: [{rows: 4294967297, width: 1}]"),
         "it.yaml:6:19: error: invalid tables[].rows '4294967297' (more than 4294967296)"},
        {"DraftAlone", model("draft: [{layers: 1, attention: 1, mlp: 1}]"),
         "it.yaml:5:20: error: conflicting key 'draft' (needs attention and mlp)"},
        {"TwoDrafts",
         model(
             "vocabulary_size: 9, attention: [" + kGrouped + "], mlp: [" + kDense +
             "],\n  draft: [{layers: 1, attention: 1, mlp: 1}, {layers: 1, attention: 1, mlp: 1}]"),
         "it.yaml:6:55: error: conflicting key 'draft' (one record at most)"},
        {"DraftOfNoAttention",
         model("vocabulary_size: 9, attention: [" + kGrouped + "], mlp: [" + kDense +
               "],\n  draft: [{layers: 1, attention: 2, mlp: 1}]"),
         "it.yaml:6:34: error: invalid draft[].attention '2' (attention has 1)"},
        {"DraftWithMoreActiveThanThereAre", drafting("active: 5"),
         "it.yaml:6:53: error: invalid draft[].active '5' (5 active of 4 experts)"},
        {"DraftWithMoreExpertsThanAMatrixMayHave", drafting("experts: 70000"),
         "it.yaml:6:54: error: invalid draft[].experts '70000' (more than 65536)"},
        {"DraftWithFewerThanAreActive", drafting("experts: 1"),
         "it.yaml:6:54: error: invalid draft[].experts '1' (2 active of 1 experts)"},
        {"DraftWithoutExperts",
         model("vocabulary_size: 9, attention: [" + kGrouped + "], mlp: [" + kDense +
               "],\n  draft: [{layers: 1, attention: 1, mlp: 1, active: 3}]"),
         "it.yaml:6:53: error: invalid draft[].active '3' (its mlp has no experts)"},
        {"UnknownDtype", model("weight_dtype: int4"),
         "it.yaml:5:17: error: invalid weight_dtype 'int4'; did you mean 'int4_g32'?"},
        {"EmptyList", model("attention: []"),
         "it.yaml:5:14: error: invalid attention (an empty list)"},
        {"FewLayers",
         attention("kind: grouped, decoder_layers: 1, heads: 8, kv_heads: 8, head_dim: 4"),
         "it.yaml:6:47: error: invalid attention (1 decoder layers; the model has 2)"},
        {"ManyLayers", mlp("kind: dense, decoder_layers: 3, width: 4"),
         "it.yaml:7:39: error: invalid mlp (3 decoder layers; the model has 2)"},
        {"NoLayers", mlp("kind: dense, decoder_layers: 0, width: 4"),
         "it.yaml:7:39: error: invalid mlp[].decoder_layers '0' (must be a positive integer)"},
        {"OddLayers",
         "schema: depthcost/1\nresidual: {scheme: standard}\nmodel: {num_layers: 5, hidden_size: 8, "
         "dtype: bf16, vocabulary_size: 9, attention: [" +
             kGrouped + "], mlp: [" + kDense + "]}\n",
         "it.yaml:3:21: error: invalid num_layers '5' (odd; with attention and mlp a decoder layer has two)"},
    }),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace depthcost::architecture_test
