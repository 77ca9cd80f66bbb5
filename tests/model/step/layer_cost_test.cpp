// Weights against published totals, keys and cache against loops over tokens.
#include "model/step/layer_cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/architectures.hpp"
#include "tests/model/step/mlp_weights.hpp"

namespace depthcost::layer_cost_test {
namespace {

struct Weights {
  double total = 0;
  double active = 0;
};

/// Embedding and head count as two matrices; a token is multiplied with the head alone.
Weights weights_of(const Architecture& architecture, double hidden_size) {
  const double matrix = static_cast<double>(architecture.vocabulary_size) * hidden_size;
  Weights weights{2 * matrix, matrix};
  for (const AttentionLayers& layers : architecture.attention) {
    const auto count = static_cast<double>(layers.num_decoder_layers);
    weights.total += count * num_weights(layers.attention, hidden_size);
    weights.active += count * num_weights(layers.attention, hidden_size);
  }
  for (const MlpLayers& layers : architecture.mlp) {
    const auto count = static_cast<double>(layers.num_decoder_layers);
    weights.total += count * test::num_all_weights(layers.mlp, hidden_size);
    weights.active += count * test::num_active_weights(layers.mlp, hidden_size);
  }
  return weights;
}

// 2.78T and 104.2B: arXiv:2607.24653.
TEST(Weights, OfKimiK3AddUpToThePublishedTotals) {
  const Weights weights = weights_of(test::kimi_k3(), 7168);
  EXPECT_NEAR(weights.total / 2.78e12, 1, 0.005);
  EXPECT_NEAR(weights.active / 104.2e9, 1, 0.02);
}

// 671B and 37B: github.com/deepseek-ai/DeepSeek-V3.
TEST(Weights, OfDeepSeekV3AddUpToThePublishedTotals) {
  const Weights weights = weights_of(test::deepseek_v3(), 7168);
  EXPECT_NEAR(weights.total / 671e9, 1, 0.005);
  EXPECT_NEAR(weights.active / 37e9, 1, 0.02);
}

// 8.03B, exactly but for the gains of the norms (65 x 4096).
TEST(Weights, OfLlamaAreThoseOfItsMatrices) {
  EXPECT_EQ(weights_of(test::llama_8b(), 4096).total + 65 * 4096, 8030261248.0);
}

double mean_keys_one_by_one(double first, int tokens, double limit) {
  double sum = 0;
  for (int i = 1; i <= tokens; ++i) sum += std::min(first + i, limit);
  return sum / tokens;
}

TEST(MeanKeys, AreThoseOfALoopOverTokens) {
  for (const double first : {0, 1, 5, 100})
    for (const int tokens : {1, 2, 7, 64})
      for (const double limit : {1.0, 3.0, 6.0, 8.0, 101.0, 1e9})
        EXPECT_NEAR(mean_keys({first, static_cast<double>(tokens)}, limit),
                    mean_keys_one_by_one(first, tokens, limit), 1e-9)
            << first << " " << tokens << " " << limit;
}

/// Every chunk of a prompt by itself, against all of them as one pass that repeats.
TEST(EqualPasses, CostTheMeanOfEach) {
  const Attention latent = test::deepseek_v3().attention[0].attention;
  auto latent_of_chosen = std::get<LatentAttention>(latent);
  latent_of_chosen.top_k = 2048;
  latent_of_chosen.indexer = {.num_heads = 64, .dim = 128};
  const std::vector<Attention> attentions{
      GroupedAttention{.num_heads = 32, .num_kv_heads = 8, .head_dim = 128},
      GroupedAttention{.num_heads = 32, .num_kv_heads = 8, .head_dim = 128, .window = 4096},
      GroupedAttention{.num_heads = 32, .num_kv_heads = 8, .head_dim = 128, .window = 100},
      GroupedAttention{.num_heads = 32,
                       .num_kv_heads = 8,
                       .head_dim = 128,
                       .top_k = 2048,
                       .indexer = {.num_heads = 4, .dim = 64, .ratio = 16}},
      latent,
      latent_of_chosen,
      CompressedAttention{.num_heads = 64,
                          .head_dim = 512,
                          .q_rank = 1024,
                          .window = 128,
                          .ratio = 4,
                          .top_k = 512,
                          .indexer = {.num_heads = 64, .dim = 128},
                          .candidates = 1500}};
  for (const Attention& attention : attentions)
    for (const int chunks : {1, 2, 3, 16})
      for (const double first : {0.0, 777.0}) {
        const double tokens = 1024;
        AttentionCost sum;
        for (int k = 0; k < chunks; ++k) {
          const AttentionCost chunk =
              attention_cost(attention, 4096, {first + k * tokens, tokens}, 1);
          sum.read_elements += chunk.read_elements / chunks;
          sum.core += (1.0 / chunks) * chunk.core;
        }
        const AttentionCost all =
            attention_cost(attention, 4096, {first, tokens, static_cast<double>(chunks)}, 1);
        EXPECT_NEAR(all.read_elements, sum.read_elements, 1e-9 * sum.read_elements) << chunks;
        EXPECT_NEAR(all.core.value, sum.core.value, 1e-9 * sum.core.value) << chunks;
      }
}

/// 8,192 tokens behind a window of 4,096 see 1.5 x 4,096^2 keys, whatever the chunk.
TEST(EqualPasses, SeeAsManyKeysInAnyChunk) {
  for (const double tokens : {8192.0, 4096.0, 2048.0, 512.0})
    EXPECT_NEAR(8192 * mean_keys({0, tokens, 8192 / tokens}, 4096), 1.5 * 4096 * 4096 + 2048, 1e-3);
}

// Eight key-value heads on four ranks: two each, beside eight query heads; d = 4096.
TEST(GroupedAttentionCost, IsThatOfTheFullestRank) {
  const GroupedAttention grouped{.num_heads = 32, .num_kv_heads = 8, .head_dim = 128};
  const AttentionCost cost = attention_cost(grouped, 4096, {1000, 1}, 4);
  EXPECT_EQ(cost.weights, 4096.0 * (8 + 2 + 2 + 8) * 128);
  EXPECT_EQ(cost.stored_elements, 1001.0 * 2 * 2 * 128);
  EXPECT_EQ(cost.read_elements, 1000.0 * 2 * 2 * 128);
  EXPECT_EQ(cost.written_elements, 2.0 * 2 * 128);
  EXPECT_EQ(cost.flops.value, 2 * cost.weights);
  EXPECT_EQ(cost.core.value, 1001.0 * 4 * 8 * 128);
}

TEST(GroupedAttentionCost, KeepsOneHeadOnEveryRankWhereRanksAreMore) {
  const GroupedAttention grouped{.num_heads = 32, .num_kv_heads = 2, .head_dim = 128};
  EXPECT_EQ(attention_cost(grouped, 4096, {1000, 1}, 8).written_elements, 2.0 * 128);
}

TEST(GroupedAttentionCost, StopsGrowingBehindItsWindow) {
  const GroupedAttention grouped{.num_heads = 4, .num_kv_heads = 4, .head_dim = 64, .window = 128};
  const AttentionCost near_end = attention_cost(grouped, 256, {1000, 1}, 1);
  const AttentionCost far_end = attention_cost(grouped, 256, {100000, 1}, 1);
  EXPECT_EQ(near_end.read_elements, 128.0 * 2 * 4 * 64);
  EXPECT_EQ(near_end.read_elements, far_end.read_elements);
  EXPECT_EQ(near_end.core, far_end.core);
}

// 576 elements a token on every rank, whatever their number: DeepSeek-V2, arXiv:2405.04434.
TEST(LatentAttentionCost, SharesNoCache) {
  const Attention latent = test::deepseek_v3().attention[0].attention;
  EXPECT_EQ(attention_cost(latent, 7168, {99, 1}, 1).stored_elements, 57600);
  EXPECT_EQ(attention_cost(latent, 7168, {99, 1}, 8).stored_elements, 57600);
}

// Absorbed: 512 + 64 for the score and 512 for the mix. Expanded: 128 + 64 and 128, and a key of
// the past costs 512 x 256 to expand. Behind 1,000 tokens 159 new ones make up for that.
TEST(LatentAttentionCost, WorksOnCompressedVectorsForFewTokens) {
  const Attention latent = test::deepseek_v3().attention[0].attention;
  const auto core = [&](const SequencePass& pass) {
    return attention_cost(latent, 7168, pass, 1).core.value;
  };
  const double expansion = 1000.0 * 2 * 128 * 512 * 256;
  EXPECT_EQ(core({999, 1}), 1000.0 * 2 * 128 * (576 + 512));
  EXPECT_EQ(core({1000, 158}), (1000 * 158 + 158 * 159 / 2) * 2.0 * 128 * (576 + 512));
  EXPECT_EQ(core({1000, 159}), (1000 * 159 + 159 * 160 / 2) * 2.0 * 128 * (192 + 128) + expansion);
}

// The projections of new tokens, which are among the weights, expand them.
TEST(LatentAttentionCost, ExpandsNothingWithoutAPast) {
  const Attention latent = test::deepseek_v3().attention[0].attention;
  EXPECT_EQ(attention_cost(latent, 7168, {0, 3}, 1).core.value,
            (1 + 2 + 3) * 2.0 * 128 * (192 + 128));
}

TEST(LatentAttentionCost, IsThatOfALoopOverTokensAndKeys) {
  const Attention latent = test::deepseek_v3().attention[0].attention;
  for (const int first : {0, 100, 5000})
    for (const int tokens : {1, 150, 600}) {
      double absorbed = 0;
      double expanded = 0;
      for (int key = 0; key < first; ++key) expanded += 2.0 * 128 * 512 * 256;
      for (int token = first; token < first + tokens; ++token)
        for (int key = 0; key <= token; ++key) {
          absorbed += 2.0 * 128 * (576 + 512);
          expanded += 2.0 * 128 * (192 + 128);
        }
      const AttentionCost cost = attention_cost(
          latent, 7168, {static_cast<double>(first), static_cast<double>(tokens)}, 1);
      EXPECT_NEAR(cost.core.value / std::min(absorbed, expanded), 1, 1e-12)
          << first << " " << tokens;
    }
}

TEST(GroupedAttentionCost, HasAGateAsWideAsItsQueries) {
  GroupedAttention grouped{.num_heads = 16, .num_kv_heads = 2, .head_dim = 256};
  const double without = num_weights(grouped, 2048);
  grouped.output_gate = OutputGate::present;
  EXPECT_EQ(num_weights(grouped, 2048) - without, 2048.0 * 16 * 256);
}

/// GLM-5, as its config says.
LatentAttention glm_5() {
  return {.num_heads = 64,
          .q_rank = 2048,
          .kv_rank = 512,
          .nope_dim = 192,
          .rope_dim = 64,
          .value_dim = 256,
          .top_k = 2048,
          .indexer = {.num_heads = 32, .dim = 128}};
}

TEST(LatentAttentionCost, ReadsTheKeysThatItsIndexerChooses) {
  const AttentionCost cost = attention_cost(glm_5(), 6144, {99999, 1}, 8);
  EXPECT_EQ(cost.stored_elements, 100000.0 * (576 + 128));
  EXPECT_EQ(cost.read_elements, 2048.0 * 576 + 99999.0 * 128);
  EXPECT_EQ(cost.written_elements, 576 + 128);
  // Eight of 64 heads, and the whole indexer.
  EXPECT_EQ(cost.core.value, 2048.0 * 2 * 8 * (576 + 512) + 100000.0 * 2 * 32 * 128);
  EXPECT_EQ(num_weights(glm_5(), 6144), 2048.0 * (6144 + 64 * 256) + 6144.0 * 576 +
                                            512.0 * 64 * 448 + 64.0 * 256 * 6144 +
                                            2048.0 * 32 * 128 + 6144.0 * (128 + 32));
}

TEST(LatentAttentionCost, WithAnIndexerIsThatOfALoopOverTokensAndKeys) {
  const LatentAttention glm = glm_5();
  for (const int first : {0, 2000, 5000})
    for (const int tokens : {1, 100, 600}) {
      double core = 0;
      for (int token = first; token < first + tokens; ++token)
        for (int key = 0; key <= token; ++key) {
          if (key < 2048) core += 2.0 * 64 * (576 + 512);
          core += 2.0 * 32 * 128;
        }
      const AttentionCost cost =
          attention_cost(glm, 6144, {static_cast<double>(first), static_cast<double>(tokens)}, 1);
      EXPECT_NEAR(cost.core.value / core, 1, 1e-12) << first << " " << tokens;
    }
}

// The last layer with an indexer has chosen the keys.
TEST(LatentAttentionCost, MayFollowTheChoiceOfAnotherLayer) {
  LatentAttention glm = glm_5();
  glm.indexer = {};
  const AttentionCost cost = attention_cost(glm, 6144, {99999, 1}, 1);
  EXPECT_EQ(cost.stored_elements, 100000.0 * 576);
  EXPECT_EQ(cost.read_elements, 2048.0 * 576);
  EXPECT_EQ(cost.core.value, 2048.0 * 2 * 64 * (576 + 512));
  EXPECT_EQ(num_weights(glm_5(), 6144) - num_weights(glm, 6144),
            2048.0 * 32 * 128 + 6144.0 * (128 + 32));
}

// Qwen3-Next: queries, keys, values and gate in one projection of 12288 rows, two numbers for each
// of 32 heads, the output, and convolutions of 8192 channels. Its state has 32 heads.
TEST(LinearAttentionCost, SharesKeysBetweenHeadsAndDecaysThemWhole) {
  const LinearAttention linear{
      .num_heads = 32, .key_heads = 16, .head_dim = 128, .conv_width = 4, .decay = Decay::per_head};
  const AttentionCost cost = attention_cost(linear, 2048, {1000, 1}, 1);
  EXPECT_EQ(cost.weights, 2048.0 * (12288 + 64 + 4096) + 8192.0 * 4);
  EXPECT_EQ(cost.state_elements, 32.0 * 128 * 128 + 8192 * 3);
  EXPECT_EQ(attention_cost(linear, 2048, {1000, 1}, 16).state_elements,
            2.0 * 128 * 128 + (2 + 2) * 128 * 3);
}

// Granite 4 H Tiny: gate, x, B, C and a step size of each head in one projection, the output, and
// convolutions of x, B and C.
TEST(LinearAttentionCost, CountsMamba2) {
  const LinearAttention mamba{.num_heads = 48,
                              .key_heads = 1,
                              .head_dim = 64,
                              .key_dim = 128,
                              .conv_width = 4,
                              .decay = Decay::step};
  const AttentionCost cost = attention_cost(mamba, 1536, {1000, 1}, 1);
  EXPECT_EQ(cost.weights, 1536.0 * (2 * 3072 + 2 * 128 + 48 + 3072) + (3072 + 2 * 128) * 4.0);
  EXPECT_EQ(cost.state_elements, 48.0 * 64 * 128 + (3072 + 2 * 128) * 3.0);
  EXPECT_EQ(attention_cost(mamba, 1536, {1000, 1}, 8).state_elements,
            6.0 * 64 * 128 + (6 * 64 + 2 * 128) * 3.0);
}

TEST(LinearAttentionCost, IsThatOfALoopOverItsHeads) {
  LinearAttention linear{
      .num_heads = 6, .key_heads = 3, .head_dim = 5, .key_dim = 3, .conv_width = 4};
  for (const Decay decay : {Decay::per_channel, Decay::per_head, Decay::step})
    for (const std::optional<Count> gate_rank : {std::optional<Count>{}, std::optional<Count>{7}}) {
      linear.decay = decay;
      linear.gate_rank = gate_rank;
      const double d = 11;
      double weights = decay == Decay::per_channel ? d * 5 : 0;  // shared by all heads
      if (gate_rank) weights += d * 7;
      for (int head = 0; head < 6; ++head) {
        weights += 2 * d * 5 + 4 * 5 + d;  // v, output, convolution, step
        if (decay == Decay::per_channel) weights += 5 * 3;
        if (decay == Decay::per_head) weights += d;
        weights += gate_rank ? 7 * 5 : d * 5;               // output gate
        if (head % 2 == 0) weights += 2 * (d * 3 + 4 * 3);  // q and k of two heads
      }
      EXPECT_EQ(num_weights(linear, d), weights);
    }
}

TEST(LinearAttentionCost, KeepsAStateThatDoesNotGrow) {
  const LinearAttention linear{.num_heads = 96, .head_dim = 128, .conv_width = 4};
  const AttentionCost cost = attention_cost(linear, 7168, {1e6, 1}, 8);
  EXPECT_EQ(cost.state_elements, 12.0 * 128 * 128 + 3 * 3 * 12 * 128);
  EXPECT_EQ(cost.read_elements, 0);
  EXPECT_EQ(cost.flops, attention_cost(linear, 7168, {0, 1}, 8).flops);
}

/// Qwen3.8-Flash-Next, as its config says.
GroupedAttention qwen_next() {
  return {.num_heads = 24,
          .num_kv_heads = 2,
          .head_dim = 256,
          .window = {},
          .output_gate = OutputGate::present,
          .top_k = 2048,
          .indexer = {.num_heads = 4, .dim = 128, .ratio = 4},
          .conv_width = {}};
}

// Queries and a gate of 24 heads, keys and values of 2, the output, and the indexer's four queries
// and one key.
TEST(GroupedAttentionCost, ReadsTheKeysThatItsIndexerChooses) {
  EXPECT_EQ(num_weights(qwen_next(), 2560), 51445760);
  const AttentionCost cost = attention_cost(qwen_next(), 2560, {99999, 1}, 2);
  EXPECT_EQ(cost.stored_elements, 100000.0 * (512 + 32));
  EXPECT_EQ(cost.read_elements, 2048.0 * 512 + 99999.0 * 32);
  EXPECT_EQ(cost.written_elements, 512 + 32);
  EXPECT_EQ(cost.core.value, 2048.0 * 2 * 2 * 12 * 256 + 25000.0 * 2 * 4 * 128);
}

TEST(GroupedAttentionCost, MayReadWhatAnEarlierLayerKeeps) {
  GroupedAttention gemma{.num_heads = 8, .num_kv_heads = 2, .head_dim = 256, .window = 512};
  const AttentionCost own = attention_cost(gemma, 2048, {999, 1}, 1);
  gemma.key_values = KeyValues::shared;
  const AttentionCost shared = attention_cost(gemma, 2048, {999, 1}, 1);
  EXPECT_EQ(own.weights - shared.weights, 2048.0 * 2 * 2 * 256);
  EXPECT_EQ(own.stored_elements, 512.0 * 2 * 2 * 256);
  EXPECT_EQ(shared.stored_elements, 0);
  EXPECT_EQ(shared.written_elements, 0);
  EXPECT_EQ(shared.read_elements, own.read_elements);
  EXPECT_EQ(shared.core.value, own.core.value);
}

// A layer of Gemma 4 31B that sees all tokens: behind its norms a key is no value.
TEST(GroupedAttentionCost, MayMakeKeysAndValuesByOneProjection) {
  GroupedAttention gemma{.num_heads = 32, .num_kv_heads = 4, .head_dim = 512, .window = {}};
  const AttentionCost own = attention_cost(gemma, 5376, {999, 1}, 1);
  gemma.key_values = KeyValues::one_projection;
  const AttentionCost one = attention_cost(gemma, 5376, {999, 1}, 1);
  EXPECT_EQ(one.weights, 5376.0 * 68 * 512);
  EXPECT_EQ(own.weights - one.weights, 5376.0 * 4 * 512);
  EXPECT_EQ(one.stored_elements, 1000.0 * 2 * 4 * 512);
  EXPECT_EQ(one.read_elements, own.read_elements);
  EXPECT_EQ(one.written_elements, own.written_elements);
  EXPECT_EQ(one.core.value, own.core.value);
}

// ZAYA1-8B: ten groups of 128 x 128 elements, for two tokens.
TEST(GroupedAttentionCost, MayMixQueriesAndKeysOverTokens) {
  GroupedAttention zaya{.num_heads = 8, .num_kv_heads = 2, .head_dim = 128, .window = {}};
  const double without = num_weights(zaya, 2048);
  zaya.conv_width = 2;
  EXPECT_EQ(num_weights(zaya, 2048) - without, 327680);
}

// GLM-5.3-Flash: a gate of 128 numbers a token says how four keys become one.
TEST(LatentAttentionCost, MayScoreSeveralTokensAtOnce) {
  LatentAttention glm = glm_5();
  const AttentionCost single = attention_cost(glm, 6144, {99999, 1}, 1);
  glm.indexer.ratio = 4;
  const AttentionCost pooled = attention_cost(glm, 6144, {99999, 1}, 1);
  EXPECT_EQ(pooled.weights - single.weights, 6144.0 * 128);
  EXPECT_EQ(pooled.stored_elements, 100000.0 * (576 + 32));
  EXPECT_EQ(pooled.read_elements, 2048.0 * 576 + 99999.0 * 32);
  EXPECT_EQ(single.core.value - pooled.core.value, 75000.0 * 2 * 32 * 128);
}

/// A layer of DeepSeek-V4.1-Flash behind the one that makes its summaries, one for each token.
CompressedAttention behind_a_source() {
  return {.num_heads = 64,
          .head_dim = 512,
          .q_rank = 1280,
          .output_rank = 1024,
          .output_groups = 8,
          .window = 128,
          .ratio = 1,
          .key_values = KeyValues::shared,
          .top_k = 512,
          .indexer = {},
          .candidates = {}};
}

// Queries 1280 x (5120 + 32768), a vector of the window, and the two halves of the output.
TEST(CompressedAttentionCost, MayReadSummariesOfAnEarlierLayer) {
  const AttentionCost cost = attention_cost(behind_a_source(), 5120, {99999, 1}, 1);
  EXPECT_EQ(cost.weights, 1280.0 * (5120 + 32768) + 5120.0 * 512 + 32768.0 * 1024 + 8192.0 * 5120);
  EXPECT_EQ(cost.stored_elements, 128.0 * 512);
  EXPECT_EQ(cost.written_elements, 512);
  EXPECT_EQ(cost.read_elements, (128.0 + 512) * 512);
  EXPECT_EQ(cost.core.value, (128.0 + 512) * 2 * 2 * 64 * 512);
}

TEST(CompressedAttentionCost, MayScoreCandidatesOnly) {
  CompressedAttention chooser = behind_a_source();
  chooser.indexer = {.num_heads = 32, .dim = 128};
  const AttentionCost all = attention_cost(chooser, 5120, {99999, 1}, 1);
  EXPECT_EQ(all.read_elements, (128.0 + 512) * 512 + 99999.0 * 128);
  chooser.candidates = 16384;
  const AttentionCost few = attention_cost(chooser, 5120, {99999, 1}, 1);
  EXPECT_EQ(few.read_elements, (128.0 + 512) * 512 + 16384.0 * 128);
  EXPECT_EQ(all.core.value - few.core.value, (100000.0 - 16384) * 2 * 32 * 128);
  EXPECT_EQ(few.weights - attention_cost(behind_a_source(), 5120, {}, 1).weights,
            1280.0 * 32 * 128);
}

// The source itself: one vector a token, without a gate, and a key of its indexer.
TEST(CompressedAttentionCost, NeedsNoGateForSummariesOfOneToken) {
  CompressedAttention source = behind_a_source();
  const double shared = num_weights(source, 5120);
  source.key_values = KeyValues::own;
  EXPECT_EQ(num_weights(source, 5120) - shared, 5120.0 * 512);
  source.ratio = 2;
  EXPECT_EQ(num_weights(source, 5120) - shared, 2 * 5120.0 * 512);
}

// ZAYA1-8B: 2048 to 256, twice 256 to 256, and 256 to the experts.
TEST(MlpWeights, MayHaveARouterOfThreeLayers) {
  const ExpertMlp zaya{.num_experts = 16, .width = 2048, .latent_width = {}, .router_width = 256};
  EXPECT_EQ(num_weights(Mlp{zaya}, 2048).on_every_rank, 2048.0 * 256 + 2 * 256 * 256 + 256 * 16);
}

// 4-fold summaries of which 512 are chosen, a window of 128, an indexer of 64 x 128.
TEST(CompressedAttentionCost, SeesItsWindowAndChosenSummaries) {
  const CompressedAttention compressed{.num_heads = 64,
                                       .head_dim = 512,
                                       .q_rank = 1024,
                                       .output_rank = 1024,
                                       .output_groups = 8,
                                       .window = 128,
                                       .ratio = 4,
                                       .top_k = 512,
                                       .indexer = {.num_heads = 64, .dim = 128}};
  const AttentionCost cost = attention_cost(compressed, 4096, {9999, 1}, 1);
  EXPECT_EQ(cost.stored_elements, 128.0 * 512 + 10000 / 4.0 * (512 + 128));
  EXPECT_EQ(cost.read_elements, 128.0 * 512 + 512 * 512 + 9999 / 4.0 * 128);
  EXPECT_EQ(cost.flops.value, 2 * cost.weights);
  EXPECT_EQ(cost.core.value, 2.0 * (128 + 512) * 2 * 64 * 512 + 2.0 * 10000 / 4 * 64 * 128);
}

TEST(Sharding, GathersTheTokensOfReplicasAtTheExperts) {
  EXPECT_EQ(tokens_at_experts(64, {.tensor = 8, .expert = 8}), 64);
  EXPECT_EQ(tokens_at_experts(64, {.tensor = 1, .expert = 32}), 64 * 32);
  EXPECT_EQ(tokens_at_experts(64, {.tensor = 2, .key_ranks = 8, .expert = 16}), 64);
  EXPECT_EQ(tokens_at_experts(64, {.tensor = 2, .key_ranks = 8, .expert = 64}), 64 * 4);
  EXPECT_EQ(ranks_per_expert({.tensor = 8, .expert = 2}), 4);
  EXPECT_EQ(ranks_per_expert({.tensor = 1, .expert = 32}), 1);
}

}  // namespace
}  // namespace depthcost::layer_cost_test
