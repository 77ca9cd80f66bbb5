// Tensors of a layer listed one by one, and micro-batches in flight in closed form.
#include "model/training/layer_activations.hpp"

#include <gtest/gtest.h>

#include "model/training/training_work.hpp"
#include "tests/architectures.hpp"
#include "tests/studies.hpp"

namespace depthcost::layer_activations_test {
namespace {

using enum LayerActivations;

double all_kept(const Attention& attention, Count tensor, LayerActivations layers = keep) {
  const KeptElements kept = kept_elements(attention, tensor, layers);
  EXPECT_EQ(kept.in_precision, 0);  // kernels of attention read bf16
  return kept.in_dtype;
}

// [sequence_parallel] Sec. 4.1 counts 8 sbh bytes of queries, keys, values and the input of the
// output projection, beside the layer's input, dropout and scores.
TEST(LayerActivations, OfPlainAttentionAreThoseOfThePaper) {
  const double h = 4096;
  const Attention attention{GroupedAttention{.num_heads = 32, .num_kv_heads = 32, .head_dim = 128}};
  EXPECT_EQ(2 * all_kept(attention, 1), 8 * h);
  EXPECT_EQ(2 * all_kept(attention, 8), 8 * h / 8);
}

TEST(LayerActivations, OfAnMlpAreGateUpAndProduct) {
  const KeptElements dense = kept_elements(Mlp{DenseMlp{14336}}, 4096, 2, keep);
  EXPECT_EQ(dense.in_dtype, 2 * 14336 / 2);
  EXPECT_EQ(dense.in_precision, 14336 / 2);
  const ExpertMlp experts{
      .num_experts = 64, .num_active = 4, .num_shared = 1, .width = 1000, .latent_width = {}};
  const double router = 64;
  const double gates = (1 + 4) * 2 * 1000;
  const double products = (1 + 4) * 1000;
  const double rows = 4 * 4096;
  const KeptElements kept = kept_elements(Mlp{experts}, 4096, 1, keep);
  EXPECT_EQ(kept.in_dtype, router + gates);
  EXPECT_EQ(kept.in_precision, products + rows);
  const KeptElements selected = kept_elements(Mlp{experts}, 4096, 1, selective);
  EXPECT_EQ(selected.in_dtype, router);
  EXPECT_EQ(selected.in_precision, gates + rows);
}

Attention latent_attention(std::optional<Count> q_rank) {
  return LatentAttention{.num_heads = 128,
                         .q_rank = q_rank,
                         .kv_rank = 512,
                         .nope_dim = 128,
                         .rope_dim = 64,
                         .value_dim = 128,
                         .top_k = {}};
}

// DeepSeek-V3: compressed queries and keys on every rank, 128 heads over the ranks.
TEST(LayerActivations, OfLatentAttentionHaveTheCompressedVectorsOnEveryRank) {
  const Attention attention = latent_attention(1536);
  const double compressed = 1536 + 512 + 64;
  const double head = 192 + 192 + 128 + 128;
  EXPECT_EQ(all_kept(attention, 1), compressed + 128 * head);
  EXPECT_EQ(all_kept(attention, 8), compressed + 16 * head);
}

// The heads keep their output alone; without a compressed query, the query too.
TEST(LayerActivations, OfLatentAttentionAreProjectedUpAgainWhereSelective) {
  EXPECT_EQ(all_kept(latent_attention(1536), 8, selective), 1536 + 512 + 64 + 16 * 128);
  EXPECT_EQ(all_kept(latent_attention({}), 8, selective), 512 + 64 + 16 * (192 + 128));
  EXPECT_EQ(weights_projecting_up(latent_attention(1536)), 128 * (1536 * 192 + 512 * 256));
  EXPECT_EQ(weights_projecting_up(latent_attention({})), 128 * 512 * 256);
  EXPECT_EQ(weights_projecting_up(Attention{GroupedAttention{}}), 0);
}

/// Eight sublayers of eight elements of 1,000 tokens and more: round numbers.
Study round_study(Count stages, Count micro_batches) {
  Study study = test::kimi_k3_study();
  study.model = {.name = "round", .num_layers = 16, .hidden_size = 100};
  study.model.architecture = Architecture{
      .attention = {{GroupedAttention{.num_heads = 1, .num_kv_heads = 1, .head_dim = 100}, 8}},
      .mlp = {{DenseMlp{200}, 8}},
      .tables = {},
      .vocabulary_size = 5000};
  study.path = {Scheme{}, 16};
  study.tensor_parallel_size = 1;
  study.training = Training{.sequence_length = 1000, .num_micro_batches = micro_batches};
  study.pipeline.reset();
  if (stages > 1) study.pipeline = even_layout(stages, 1, 8, 2);
  return study;
}

std::vector<Bytes> activations(const Study& study) {
  return layer_activations(study, training_order(study, study.training->num_micro_batches));
}

/// Under 1f1b stage i of P has min(M, P - i) micro-batches in flight. [interleaved] Sec. 2.2
TEST(LayerActivations, AreThoseOfTheMicroBatchesInFlight) {
  const double decoder_layer = 1000 * (4 * 100 + 3 * 200) * 2;
  const double logits = 1000 * 5000 * 4;
  for (const Count M : {2, 8}) {
    const std::vector<Bytes> stages = activations(round_study(4, M));
    ASSERT_EQ(stages.size(), 4U);
    for (Count i = 0; i < 4; ++i)
      EXPECT_DOUBLE_EQ(stages[static_cast<std::size_t>(i)].value,
                       as_double(std::min(M, 4 - i)) * 2 * decoder_layer + (i == 3 ? logits : 0))
          << i;
  }
  EXPECT_DOUBLE_EQ(activations(round_study(1, 8)).front().value, 8 * decoder_layer + logits);
}

TEST(LayerActivations, ThatAreRecomputedAreOneDecoderLayer) {
  Study study = round_study(4, 8);
  study.training->layers = recompute;
  EXPECT_DOUBLE_EQ(activations(study).front().value, 1000 * (4 * 100 + 3 * 200) * 2);
}

/// Under zb_h1 the first stage makes the gradients of weights at once. The last one is three
/// micro-batches late with them, and their recomputed layers wait.
TEST(LayerActivations, ThatAreRecomputedWaitForGradientsOfWeights) {
  Study study = round_study(4, 8);
  study.training->layers = recompute;
  study.training->schedule = PipelineSchedule::zb_h1;
  const PipelineOrder order = training_order(study, 8);
  const std::vector<Bytes> stages = layer_activations(study, order);
  const double decoder_layer = 1000 * (4 * 100 + 3 * 200) * 2;
  for (std::size_t stage = 0; stage < 4; ++stage) {
    Count waiting = 0;
    Count most = 0;
    for (const PipelineTask& task : order.stages[stage]) {
      if (task.kind == TaskKind::backward_input) most = std::max(most, ++waiting);
      if (task.kind == TaskKind::backward_weight) --waiting;
    }
    EXPECT_GT(most, 0);
    EXPECT_DOUBLE_EQ(stages[stage].value,
                     as_double(most) * 2 * decoder_layer + (stage == 3 ? 1000 * 5000 * 4.0 : 0))
        << stage;
  }
  EXPECT_GT(stages[3] - Bytes{1000 * 5000 * 4.0}, stages[0]);
}

/// Gates are kept, in fp8 where the products are fp8, and their product is made again.
TEST(LayerActivations, ThatAreSelectiveKeepGatesAlone) {
  Study study = round_study(4, 8);
  study.training->layers = selective;
  const double attention = 4 * 100;
  const double gates = 2 * 200;
  const double product_of_one = 200;
  const double in_flight = 4 * 2;
  EXPECT_DOUBLE_EQ(activations(study).front().value,
                   1000 * 2 * (in_flight * (attention + gates) + product_of_one));
  study.training->precision = Precision::fp8;
  // One decoder layer beside them is as if all was kept: gates in bf16, their product in fp8.
  EXPECT_DOUBLE_EQ(activations(study).front().value,
                   1000 * (in_flight * (2 * attention + gates) + 2 * gates + 200 - gates));
}

/// Where layers are of several kinds, that which makes most again counts, though another keeps
/// more.
TEST(LayerActivations, MakeAgainWhatTheirKindMakes) {
  Study study = round_study(4, 8);
  study.model.architecture->attention = {
      {latent_attention(512), 4},
      {GroupedAttention{.num_heads = 1000, .num_kv_heads = 1000, .head_dim = 1000}, 4}};
  study.training->layers = selective;
  const double latent = 512 + 512 + 64 + 128 * 128.0;
  const double grouped = 4 * 1000 * 1000.0;
  const double kept = (latent + grouped) / 2 + 2 * 200;
  const double recomputed = 128 * (192 + 192 + 128.0) + 200;
  EXPECT_NEAR(activations(study).front().value, 1000 * 2 * (4 * 2 * kept + recomputed), 1e-3);
}

TEST(LayerActivations, OfFp8ProductsAreInFp8) {
  Study study = round_study(4, 8);
  study.training->precision = Precision::fp8;
  EXPECT_DOUBLE_EQ(activations(study).front().value, 8 * 1000.0 * (2 * 4 * 100 + 2 * 400 + 200));
}

/// Context ranks share the tokens.
TEST(LayerActivations, AreSharedByContextRanks) {
  Study study = round_study(4, 8);
  const double alone = activations(study).front().value;
  study.context_parallel_size = 2;
  EXPECT_DOUBLE_EQ(activations(study).front().value, alone / 2);
}

}  // namespace
}  // namespace depthcost::layer_activations_test
