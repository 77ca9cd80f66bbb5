// Terms by hand on a device with round numbers: 5 TB/s reading, 1 PFLOP/s, 2 us a kernel. It is
// long because each kind of layer has its terms written out.
#include "model/step/rest_of_step.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/schemes/list.hpp"
#include "model/step/step.hpp"
#include "tests/architectures.hpp"
#include "tests/constants.hpp"
#include "tests/studies.hpp"

namespace depthcost::rest_of_step_test {
namespace {

/// Llama 3.1 8B, one sequence with 1,000 tokens behind it.
Study llama_study() {
  Study study = test::as_llama_8b(test::kimi_k3_study());
  study.decode = Decode{.sequences = {1}, .context = 1000};
  study.budgets.clear();
  return study;
}

Workload only_workload(const Study& study) {
  return workloads_of(study, study.path, study.schedule).front();
}

RestOfStep rest_of(const Study& study) { return rest_of_step(study, only_workload(study)); }

const RestRow& row_of(const RestOfStep& rest, RestTerm term) {
  return rest.rows.at(static_cast<std::size_t>(term));
}

TEST(RestOfStep, HasEveryTermInOrder) {
  const RestOfStep rest = rest_of(llama_study());
  ASSERT_EQ(rest.rows.size(), kEnumerators<RestTerm>.size());
  for (std::size_t i = 0; i < kEnumerators<RestTerm>.size(); ++i) {
    EXPECT_EQ(rest.rows[i].term, kEnumerators<RestTerm>[i]);
    EXPECT_EQ(rest.rows[i].workload, WorkloadId::decode(1));
    EXPECT_EQ(rest.rows[i].origin, RestOrigin::modelled);
  }
  EXPECT_EQ(rest.missing, "");
}

// 32 layers of 2 x 41,943,040 bytes of weights, 1,000 tokens of 2,048 elements read and one
// written.
TEST(RestOfStep, ReadsWeightsAndCacheOfTheAttention) {
  const RestRow row = row_of(rest_of(llama_study()), RestTerm::attention);
  const double bytes = 32 * 2 * (41943040.0 + 1001 * 2048);
  EXPECT_EQ(row.bytes.value, bytes);
  const EngineConstants engine = test::constants().engine;
  const Estimate<double> share = engine.efficiency_of(engine.attention, StepKind::dense);
  EXPECT_NEAR(row.time.value.value, bytes / (share.value * 5e12), 1e-12);
  EXPECT_NEAR(row.time.low.value, bytes / (share.high * 5.5e12), 1e-12);
  EXPECT_NEAR(row.time.high.value, bytes / (share.low * 4.5e12), 1e-12);
}

/// Ranks share out a shared expert. Router and latent projections are whole on each, but for the
/// low end; in training the ranks share out their tokens.
TEST(RestOfStep, ReadsRoutersWholeOnEveryRank) {
  Study study = llama_study();
  study.tensor_parallel_size = 8;
  const Mlp mlp = ExpertMlp{
      .num_experts = 8, .num_active = 2, .num_shared = 1, .width = 1000, .latent_width = 512};
  const double shared = 3 * 4096.0 * 1000;
  const double whole = 4096.0 * 8 + 2 * 4096.0 * 512;
  const ForwardPass pass{.num_sequences = 3};
  const Work served = common_mlp_work(study, mlp, pass, RankTokens::same);
  EXPECT_DOUBLE_EQ(served.bytes_at(IntervalEnd::low).value, 2 * (shared + whole) / 8);
  EXPECT_DOUBLE_EQ(served.bytes_at(IntervalEnd::value).value, 2 * (shared / 8 + whole));
  EXPECT_DOUBLE_EQ(served.bytes_at(IntervalEnd::high).value, 2 * (shared / 8 + whole));
  EXPECT_DOUBLE_EQ(served.flops_at(IntervalEnd::low).value, 3 * 2 * (shared + whole) / 8);
  EXPECT_DOUBLE_EQ(served.flops_at(IntervalEnd::value).value, 3 * 2 * (shared / 8 + whole));
  const Work trained = common_mlp_work(study, mlp, pass, RankTokens::shared);
  EXPECT_DOUBLE_EQ(trained.bytes_at(IntervalEnd::value).value, 2 * (shared / 8 + whole));
  EXPECT_DOUBLE_EQ(trained.flops_at(IntervalEnd::value).value, 3 * 2 * (shared + whole) / 8);
}

TEST(RestOfStep, ReadsTheHeadOnce) {
  const RestRow row = row_of(rest_of(llama_study()), RestTerm::head);
  EXPECT_EQ(row.bytes.value, 2.0 * 128256 * 4096);
}

// Its rows are not read; its projections are, with two operations a token.
TEST(RestOfStep, ReadsTheProjectionsOfATableOnce) {
  Study study = llama_study();
  const RestRow without = row_of(rest_of(study), RestTerm::mlp);
  study.model.architecture->tables = {{.rows = 1000, .width = 8, .projections = 5000},
                                      {.rows = 1, .width = 1, .projections = 1000}};
  const RestRow with = row_of(rest_of(study), RestTerm::mlp);
  EXPECT_EQ(with.bytes.value - without.bytes.value, 2 * 6000);
  EXPECT_EQ(with.flops.value - without.flops.value, 2 * 6000);
  EXPECT_EQ(with.parts.back().name, "other projections");
  EXPECT_EQ(with.parts.size(), without.parts.size() + 1);
}

/// A layer of multi-token prediction like the model's, with 5,000 weights in front of it.
Study drafting_study(Count tokens) {
  Study study = llama_study();
  Architecture& llama = *study.model.architecture;
  llama.draft = DraftLayers{.attention = llama.attention.front().attention,
                            .mlp = llama.mlp.front().mlp,
                            .num_layers = 1,
                            .projections = 5000};
  study.decode->speculation = {.tokens = tokens, .accepted = 1};
  return study;
}

// Three tokens are drafted one after the other. Each pass reads one layer of 32, the projections
// and the head. One token a pass sees a cache of 1,000.
TEST(RestOfStep, DraftsATokenAPassOfOneLayer) {
  Study without = drafting_study(4);
  without.model.architecture->draft.reset();
  const RestOfStep checks = rest_of(without);
  const RestOfStep drafts = rest_of(drafting_study(4));
  const auto added = [&](RestTerm term) {
    return row_of(drafts, term).bytes.value - row_of(checks, term).bytes.value;
  };
  EXPECT_EQ(added(RestTerm::attention), 3 * 2 * (41943040.0 + 1001 * 2048));
  EXPECT_EQ(added(RestTerm::mlp), 3 * 2 * (3.0 * 4096 * 14336 + 5000));
  EXPECT_EQ(added(RestTerm::head), 3 * 2.0 * 128256 * 4096);
  EXPECT_EQ(row_of(drafts, RestTerm::launches).launches,
            row_of(checks, RestTerm::launches).launches + 3 * (4 + 3 + 1));
  EXPECT_EQ(row_of(drafts, RestTerm::head).parts.back().name, "draft: head");
}

// Six of eleven tokens in the second pass of two, which draft five each; all layers run in each.
TEST(RestOfStep, DraftsABlockAPassOfAllLayers) {
  Study study = drafting_study(11);
  study.model.architecture->draft->num_layers = 3;
  study.model.architecture->draft->block = 5;
  Study without = study;
  without.model.architecture->draft.reset();
  EXPECT_EQ(row_of(rest_of(study), RestTerm::launches).launches -
                row_of(rest_of(without), RestTerm::launches).launches,
            2 * (3 * (4 + 3) + 1));
  const auto head = [](const Study& s) { return row_of(rest_of(s), RestTerm::head).flops.value; };
  EXPECT_EQ(head(study) - head(without), 2 * 5 * 2.0 * 128256 * 4096);
}

TEST(RestOfStep, DraftsNothingWhereAStepChecksOneToken) {
  Study without = drafting_study(1);
  without.model.architecture->draft.reset();
  EXPECT_EQ(rest_of(drafting_study(1)).total().value, rest_of(without).total().value);
}

// 32 x 3 kernels of the indexer.
TEST(RestOfStep, CountsTheKernelsOfAnIndexer) {
  Study study = llama_study();
  auto& grouped = std::get<GroupedAttention>(study.model.architecture->attention.front().attention);
  grouped.top_k = 512;
  EXPECT_EQ(row_of(rest_of(study), RestTerm::launches).launches, 225);
  grouped.indexer = {.num_heads = 4, .dim = 128};
  EXPECT_EQ(row_of(rest_of(study), RestTerm::launches).launches, 225 + 96);
}

double seconds_of_launches(const Study& study) {
  return row_of(rest_of(study), RestTerm::launches).time.value.value;
}

// 32 x (4 + 3) kernels and the head.
TEST(RestOfStep, CountsKernelsAtTheirFloor) {
  const double attention = test::constants().engine.attention.floor.value;
  const double mlp = test::constants().engine.mlp.floor.value;
  EXPECT_EQ(row_of(rest_of(llama_study()), RestTerm::launches).launches, 225);
  EXPECT_NEAR(seconds_of_launches(llama_study()), 32 * 4 * attention + (32 * 3 + 1) * mlp, 1e-12);
}

TEST(RestOfStep, TakesLessForKernelsThatAreLaunchedAhead) {
  Study study = llama_study();
  const double alone = seconds_of_launches(study);
  const double ahead = test::constants().engine.floor_of_launched_ahead * alone;
  study.machine->few_tokens = test::few_tokens(132, {.prefetch = Prefetch::before_start});
  EXPECT_NEAR(seconds_of_launches(study), ahead, 1e-12);
  study.machine->few_tokens = test::few_tokens(132, {});
  EXPECT_NEAR(seconds_of_launches(study), alone, 1e-12);
  study.decode->launch = Launch::graph_pdl;
  EXPECT_NEAR(seconds_of_launches(study), ahead, 1e-12);
}

/// The floors were fitted on graphs. Without one, a kernel takes as much longer as a plain one
/// does.
TEST(RestOfStep, TakesLongerWithoutAGraph) {
  Study study = llama_study();
  const double more = 1e-6;
  for (LaunchFloor& entry : study.machine->floors)
    if (entry.launch == Launch::stream)
      entry.floor = entry.floor + Estimate<Seconds>{{more}, {more}, {more}, Evidence::measured};
  const double in_a_graph = seconds_of_launches(study);
  study.decode->launch = Launch::stream;
  EXPECT_NEAR(seconds_of_launches(study) - in_a_graph, 225 * more, 1e-12);
}

/// 63 sequences more, each at 0 to 20 us. A draft launches kernels and serves nobody.
TEST(RestOfStep, TakesTimeForEverySequenceOfADecodeStep) {
  for (Study study : {llama_study(), drafting_study(3)}) {
    study.decode->sequences = {1};
    const Estimate<Seconds> one = row_of(rest_of(study), RestTerm::launches).time;
    study.decode->sequences = {64};
    const Estimate<Seconds> many = row_of(rest_of(study), RestTerm::launches).time;
    EXPECT_NEAR((many.low - one.low).value, 0, 1e-12);
    EXPECT_NEAR((many.value - one.value).value, 0, 1e-12);
    EXPECT_NEAR((many.high - one.high).value, 63 * 20e-6, 1e-12);
  }
}

TEST(RestOfStep, TakesNoTimeForSequencesOfAPrefillOrOnACpu) {
  Study prefill = llama_study();
  prefill.decode.reset();
  prefill.prefill = Prefill{.tokens = 1000, .launch = Launch::graph};
  EXPECT_NEAR(row_of(rest_of(prefill), RestTerm::launches).time.value.value,
              seconds_of_launches(llama_study()), 1e-12);
  Study on_cpu = llama_study();
  on_cpu.machine->core = Core{};
  const Seconds one = row_of(rest_of(on_cpu), RestTerm::launches).time.high;
  on_cpu.decode->sequences = {64};
  EXPECT_EQ(row_of(rest_of(on_cpu), RestTerm::launches).time.high, one);
}

/// A launch that takes longer than an engine's kernel is what counts.
TEST(RestOfStep, TakesNoLessThanALaunch) {
  Study study = llama_study();
  for (LaunchFloor& entry : study.machine->floors) entry.floor = {{3e-5}, {3e-5}, {3e-5}};
  EXPECT_NEAR(seconds_of_launches(study), 225 * 3e-5, 1e-12);
}

/// 2 x 10,000 tokens of weights at the rate of their type; scores and mixes at that of bf16.
TEST(RestOfStep, MultipliesAttentionScoresInBf16WhateverTheWeightsAre) {
  Study study = llama_study();
  study.decode.reset();
  study.prefill = Prefill{.tokens = 100'000};
  const RestRow in_bf16 = row_of(rest_of(study), RestTerm::attention);
  study.model.architecture->weight_dtype = WeightDtype::fp8;
  study.machine->fp8_rate = FlopsPerSecond{2 * study.machine->tensor_rate->value};
  const RestRow in_fp8 = row_of(rest_of(study), RestTerm::attention);
  const double weights = 2.0 * 100'000 * 32 * 41943040;
  const double core = in_bf16.flops.value - weights;
  const double rate =
      test::constants().engine.sustained_rate.value * study.machine->tensor_rate->value;
  EXPECT_NEAR(in_bf16.time.value.value, (weights + core) / rate, 1e-6);
  EXPECT_NEAR(in_fp8.time.value.value, (weights / 2 + core) / rate, 1e-6);
}

/// Scores of an indexer run in fp8 where there is a rate for it, all other scores in bf16.
TEST(RestOfStep, ScoresTheKeysOfAnIndexerInFp8) {
  Study study = llama_study();
  auto& attention = std::get<GroupedAttention>(study.model.architecture->attention[0].attention);
  attention.top_k = 16;
  attention.indexer = {.num_heads = 64, .dim = 128};
  study.decode.reset();
  study.prefill = Prefill{.tokens = 100'000};
  const double in_bf16 = row_of(rest_of(study), RestTerm::attention).time.value.value;
  study.machine->fp8_rate = FlopsPerSecond{2 * study.machine->tensor_rate->value};
  const double in_fp8 = row_of(rest_of(study), RestTerm::attention).time.value.value;
  const double mean_keys = (100'000 + 1) / 2.0;
  const double scores = 32 * 2.0 * 64 * 128 * mean_keys * 100'000;
  const double rate =
      test::constants().engine.sustained_rate.value * study.machine->tensor_rate->value;
  EXPECT_NEAR(in_bf16 - in_fp8, scores / 2 / rate, 1e-6 * in_bf16);
}

/// TF32 has half the rate of bf16; a part without matrix units has one rate.
TEST(RestOfStep, MultipliesF32AtHalfTheRateOfBf16) {
  Study study = llama_study();
  study.decode.reset();
  study.prefill = Prefill{.tokens = 8192};
  const auto seconds = [&](WeightDtype weights) {
    study.model.architecture->weight_dtype = weights;
    return row_of(rest_of(study), RestTerm::mlp).time.value.value;
  };
  EXPECT_NEAR(seconds(WeightDtype::f32) / seconds(WeightDtype::bf16), 2, 1e-9);
  study.machine->vector_rate = study.machine->tensor_rate;
  study.machine->tensor_rate.reset();
  EXPECT_NEAR(seconds(WeightDtype::f32) / seconds(WeightDtype::bf16), 1, 1e-9);
}

/// Where 4 bits have no rate of their own they are widened to bf16.
TEST(RestOfStep, WidensFourBitsWhereTheyHaveNoRate) {
  Study study = llama_study();
  study.decode.reset();
  study.prefill = Prefill{.tokens = 8192};
  const double in_bf16 = row_of(rest_of(study), RestTerm::mlp).time.value.value;
  study.model.architecture->weight_dtype = WeightDtype::mxfp4;
  study.machine->fp8_rate = FlopsPerSecond{2 * study.machine->tensor_rate->value};
  EXPECT_NEAR(row_of(rest_of(study), RestTerm::mlp).time.value.value / in_bf16, 1, 1e-9);
  study.machine->mxfp4_rate = study.machine->fp8_rate;
  EXPECT_NEAR(row_of(rest_of(study), RestTerm::mlp).time.value.value / in_bf16, 0.5, 1e-9);
  study.model.architecture->weight_dtype = WeightDtype::nvfp4;
  EXPECT_NEAR(row_of(rest_of(study), RestTerm::mlp).time.value.value / in_bf16, 1, 1e-9);
  study.machine->nvfp4_rate = study.machine->fp8_rate;
  EXPECT_NEAR(row_of(rest_of(study), RestTerm::mlp).time.value.value / in_bf16, 0.5, 1e-9);
}

/// Weights are read once whatever a step checks; logits are made of every token that it checks.
TEST(RestOfStep, ChecksSeveralTokensOfASequence) {
  Study study = llama_study();
  study.decode = Decode{.sequences = {2}, .context = 1000};
  const auto rows = [&] {
    return rest_of_step(study, workloads_of(study, study.path, study.schedule).front()).rows;
  };
  const auto one = rows();
  study.decode->speculation = {.tokens = 4, .accepted = 2.5};
  const auto four = rows();
  ASSERT_EQ(one.size(), four.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    SCOPED_TRACE(name(one[i].term));
    if (one[i].term == RestTerm::head || one[i].term == RestTerm::mlp) {
      EXPECT_DOUBLE_EQ(four[i].flops.value, 4 * one[i].flops.value);
      EXPECT_DOUBLE_EQ(four[i].bytes.value, one[i].bytes.value);
    }
    if (one[i].term == RestTerm::attention) {
      // Each sequence's keys are read once, and three keys and values more are written.
      const double more = 32 * 2.0 * 3 * 2 * 8 * 128 * 2;
      EXPECT_NEAR(four[i].bytes.value - one[i].bytes.value, more, 1);
    }
  }
  const Workload workload = workloads_of(study, study.path, study.schedule).front();
  EXPECT_EQ(workload.passes.front().execution.tokens, 8);
}

/// Any of the tokens may be refused, so that linear attention writes a state behind each.
TEST(RestOfStep, WritesAStateBehindEveryTokenThatIsChecked) {
  Study study = llama_study();
  study.model.architecture->attention = {
      {LinearAttention{.num_heads = 32, .head_dim = 128, .conv_width = 1}, 32}};
  study.decode = Decode{.sequences = {2}, .context = 1000};
  const auto bytes = [&] { return row_of(rest_of(study), RestTerm::attention).bytes.value; };
  const double one = bytes();
  const double cached = decode_cache(study, 2).value;
  study.decode->speculation = {.tokens = 4, .accepted = 2.5};
  const double state = 2 * 32.0 * 32 * 128 * 128 * 4;
  EXPECT_NEAR(bytes() - one, 3 * state, 1);
  EXPECT_NEAR(decode_cache(study, 2).value - cached, 3 * state, 1);
  study.decode->speculation = {};
  study.decode->prompt = PromptChunk{.tokens = 40, .context = {}};
  EXPECT_NEAR(bytes() - one, state, 1) << "a chunk reads a state and writes one";
}

/// What a layer's attention of Llama 3.1 8B moves and computes, token by token and key by key.
struct CountedAttention {
  double bytes = 2 * 41943040.0;
  double projections = 0;
  double core = 0;

  void add_sequence(int first, int tokens) {
    for (int key = 0; key < first; ++key) bytes += 2 * 2048;
    for (int token = 0; token < tokens; ++token) {
      bytes += 2 * 2048;
      projections += 2 * 41943040.0;
      for (int key = 0; key <= first + token; ++key) core += 4 * 32 * 128;
    }
  }
};

/// Three sequences and 40 tokens of a prompt behind 500.
Study chunk_study() {
  Study study = llama_study();
  study.decode = Decode{.sequences = {3}, .context = 1000};
  study.decode->prompt = PromptChunk{.tokens = 40, .context = {}};
  return study;
}

TEST(PromptChunk, CostsAttentionWhatALoopOverItsTokensCounts) {
  CountedAttention counted;
  for (int sequence = 0; sequence < 3; ++sequence) counted.add_sequence(1000, 1);
  counted.add_sequence(500, 40);
  const RestRow row = row_of(rest_of(chunk_study()), RestTerm::attention);
  EXPECT_NEAR(row.bytes.value, 32 * counted.bytes, 1);
  EXPECT_NEAR(row.flops.value / (32 * (counted.projections + counted.core)), 1, 1e-12);
  ASSERT_EQ(row.parts.size(), 3U);
  EXPECT_EQ(row.parts[0].name, "grouped attention, projections");
  EXPECT_EQ(row.parts[0].work.flops_at(IntervalEnd::value).value, counted.projections);
  EXPECT_EQ(row.parts[1].name, "grouped attention, sequences");
  EXPECT_EQ(row.parts[1].work.core.value, 3 * 1001 * 4 * 32 * 128.0);
  EXPECT_EQ(row.parts[2].name, "grouped attention, prompt");
  EXPECT_EQ(row.parts[2].work.core.value, counted.core - 3 * 1001 * 4 * 32 * 128.0);
  // The whole, as what lies between two residual kernels counts it.
  const Study study = chunk_study();
  const Work whole = attention_work(study, study.model.architecture->attention.front().attention,
                                    decode_pass(study, 0));
  EXPECT_NEAR(whole.bytes_at(IntervalEnd::value).value, counted.bytes, 1e-3);
  EXPECT_NEAR(whole.core.value, counted.core, 1e-3);
}

/// 43 tokens instead of 3 read the same weights; logits are made of 4.
TEST(PromptChunk, GoesThroughTheLayersWithTheSequences) {
  Study study = chunk_study();
  study.tensor_parallel_size = 2;
  study.layout = Layout::sequence_sharded;
  EXPECT_EQ(only_workload(study).passes.front().execution.tokens, 22);
  study.layout = Layout::replicated;
  study.machine->transfers = {{.kind = TransferKind::all_reduce,
                               .num_ranks = 2,
                               .size = {1e3},
                               .time = {{1e-6}, {1e-6}, {1e-6}}}};
  const RestOfStep with = rest_of(study);
  EXPECT_EQ(only_workload(study).passes.front().execution.tokens, 43);
  study.decode->prompt.reset();
  const RestOfStep without = rest_of(study);
  EXPECT_EQ(only_workload(study).passes.front().execution.tokens, 3);
  const auto ratio = [&](RestTerm term) {
    return row_of(with, term).flops / row_of(without, term).flops;
  };
  EXPECT_NEAR(ratio(RestTerm::mlp), 43.0 / 3, 1e-12);
  EXPECT_NEAR(ratio(RestTerm::head), 4.0 / 3, 1e-12);
  EXPECT_EQ(row_of(with, RestTerm::mlp).bytes, row_of(without, RestTerm::mlp).bytes);
  EXPECT_EQ(row_of(with, RestTerm::collectives).bytes.value, 64 * 43 * 4096 * 2.0);
  EXPECT_EQ(row_of(with, RestTerm::launches).time.value,
            row_of(without, RestTerm::launches).time.value);
}

/// Experts see all tokens. Their arithmetic slows down as far as these are a prompt's, and as long
/// as they wait for weights nothing does.
TEST(PromptChunk, MeetsTheSequencesAtTheExperts) {
  Study study = chunk_study();
  const ExpertMlp experts{.num_experts = 8, .num_active = 2, .width = 14336};
  study.model.architecture->mlp = {{experts, 32}};
  study.decode->prompt->tokens = 9997;
  const RestPart routed = row_of(rest_of(study), RestTerm::mlp).parts.at(1);
  const double weights = 3.0 * 4096 * 14336;
  EXPECT_NEAR(routed.work.flops_at(IntervalEnd::value).value / (2 * weights * 2 * 10000), 1, 1e-12);
  const double rate =
      test::constants().engine.sustained_rate.value * study.machine->tensor_rate->value;
  const double slower = test::constants().engine.prefill_of_experts.value;
  EXPECT_NEAR(routed.time.value.value,
              (0.0003 + 0.9997 * slower) * routed.work.flops_at(IntervalEnd::value).value / rate,
              1e-9);
  study.decode->prompt->tokens = 40;
  const RestPart waiting = row_of(rest_of(study), RestTerm::mlp).parts.at(1);
  EXPECT_NEAR(waiting.time.value.value, waiting.work.bytes_at(IntervalEnd::value).value / 5e12,
              1e-6);
}

/// A step with a chunk is between a step without one, and that step and a prefill of the chunk one
/// after the other: they share the weights.
TEST(PromptChunk, CostsLessThanAPrefillOfItsOwn) {
  for (const Count tokens : {1, 64, 512, 4096}) {
    SCOPED_TRACE(tokens);
    Study study = chunk_study();
    study.decode->prompt = PromptChunk{.tokens = tokens, .context = 0};
    const Seconds mixed = rest_of(study).total().value;
    study.decode->prompt.reset();
    const Seconds decode = rest_of(study).total().value;
    study.decode.reset();
    study.prefill = Prefill{.tokens = tokens, .launch = Launch::graph};
    const Seconds prefill = rest_of(study).total().value;
    EXPECT_GT(mixed, decode);
    EXPECT_LT(mixed, decode + prefill);
  }
}

TEST(PromptChunk, LiesBehindHalfOfTheContextUnlessItIsSaid) {
  Study study = chunk_study();
  EXPECT_EQ(decode_pass(study, 0).prompt->first, 500);
  study.decode->prompt->context = 0;
  EXPECT_EQ(decode_pass(study, 0).prompt->first, 0);
}

TEST(RestOfStep, TakesLongerForTheExpertsOfAPrefill) {
  Study study = llama_study();
  study.model.architecture->mlp = {
      {ExpertMlp{.num_experts = 8, .num_active = 2, .width = 14336}, 32}};
  study.decode.reset();
  study.prefill = Prefill{.tokens = 8192};
  const RestRow row = row_of(rest_of(study), RestTerm::mlp);
  ASSERT_EQ(row.parts.size(), 2U);
  const RestPart& routed = row.parts[1];
  const double rate =
      test::constants().engine.sustained_rate.value * study.machine->tensor_rate->value;
  EXPECT_NEAR(routed.time.value.value,
              test::constants().engine.prefill_of_experts.value *
                  routed.work.flops_at(IntervalEnd::value).value / rate,
              1e-9);
}

/// A few tokens wait for the weights, in a prefill as in a decode step.
TEST(RestOfStep, ReadsTheWeightsOfExpertsAsFastInAPrefill) {
  Study study = llama_study();
  study.model.architecture->mlp = {
      {ExpertMlp{.num_experts = 8, .num_active = 2, .width = 14336}, 32}};
  study.decode->sequences = {16};
  const double decoded = row_of(rest_of(study), RestTerm::mlp).parts.at(1).time.value.value;
  study.decode.reset();
  study.prefill = Prefill{.tokens = 16};
  EXPECT_NEAR(row_of(rest_of(study), RestTerm::mlp).parts.at(1).time.value.value, decoded, 1e-12);
}

// 0.65 of 1 PFLOP/s: 2 x 8192 operations for each weight of the MLPs.
TEST(RestOfStep, IsBoundByArithmeticWithManyTokens) {
  Study study = llama_study();
  study.decode.reset();
  study.prefill = Prefill{.tokens = 8192};
  const RestRow row = row_of(rest_of(study), RestTerm::mlp);
  const double flops = 2.0 * 8192 * 32 * 3 * 4096 * 14336;
  EXPECT_NEAR(row.flops.value / flops, 1, 1e-12);
  EXPECT_NEAR(row.time.value.value, flops / 0.65e15, 1e-9);
}

// The sum of keys over all chunks is that of one chunk, and so are the operations.
TEST(RestOfStep, TakesAsManyOperationsInChunksAsInOne) {
  Study study = llama_study();
  study.decode.reset();
  study.prefill = Prefill{.tokens = 10000};
  const double whole = row_of(rest_of(study), RestTerm::attention).flops.value;
  study.prefill->chunk = 3000;
  EXPECT_NEAR(row_of(rest_of(study), RestTerm::attention).flops.value / whole, 1, 1e-12);
}

TEST(RestOfStep, NeedsNoCollectivesOnOneRank) {
  const RestRow row = row_of(rest_of(llama_study()), RestTerm::collectives);
  EXPECT_EQ(row.launches, 0);
  EXPECT_EQ(row.time.value.value, 0);
}

// Behind every attention and every MLP, 8,192 bytes in 10 us.
TEST(RestOfStep, JoinsTensorParallelRanksTwiceInADecoderLayer) {
  Study study = llama_study();
  study.tensor_parallel_size = 8;
  study.expert_parallel_size = 8;
  study.machine->transfers = {{TransferKind::all_reduce, TransferScope::node, 8, Bytes{8192},
                               test::plus_minus<Seconds>(10e-6, 0.1, Evidence::published)}};
  const RestRow row = row_of(rest_of(study), RestTerm::collectives);
  EXPECT_EQ(row.launches, 64);
  EXPECT_EQ(row.bytes.value, 64 * 8192.0);
  EXPECT_NEAR(row.time.value.value, 640e-6, 1e-12);
  study.layout = Layout::sequence_sharded;
  EXPECT_EQ(rest_of(study).missing,
            "the hardware has no measured transfers, which tensor and expert ranks need");
}

// A decode step and a prefill whose last chunk is shorter, with experts and collectives.
TEST(RestOfStep, AddsUpItsParts) {
  Study study = llama_study();
  study.model.architecture = test::kimi_k3();
  study.tensor_parallel_size = 8;
  study.expert_parallel_size = 8;
  study.decode->sequences = {64};
  study.prefill = Prefill{.tokens = 10000, .chunk = 3000};
  study.machine->transfers = {{TransferKind::all_reduce, TransferScope::node, 8, Bytes{8192},
                               test::plus_minus<Seconds>(10e-6, 0.1, Evidence::published)}};
  for (const Workload& workload : workloads_of(study, study.path, study.schedule))
    for (const RestRow& row : rest_of_step(study, workload).rows) {
      RestRow sum;
      for (const RestPart& part : row.parts) {
        sum.bytes += part.calls * part.work.bytes_at(IntervalEnd::value);
        sum.flops += part.calls * part.work.flops_at(IntervalEnd::value);
        sum.time.low += part.calls * part.time.low;
        sum.time.value += part.calls * part.time.value;
        sum.time.high += part.calls * part.time.high;
      }
      ASSERT_FALSE(row.parts.empty()) << name(row.term);
      EXPECT_EQ(sum.bytes, row.bytes) << name(row.term);
      EXPECT_EQ(sum.flops, row.flops) << name(row.term);
      EXPECT_DOUBLE_EQ(sum.time.low.value, row.time.low.value) << name(row.term);
      EXPECT_DOUBLE_EQ(sum.time.value.value, row.time.value.value) << name(row.term);
      EXPECT_DOUBLE_EQ(sum.time.high.value, row.time.high.value) << name(row.term);
    }
}

// Every sequence-sharded norm gathers what it has scattered.
TEST(RestOfStep, ScattersAndGathersInAShardedPrefill) {
  Study study = llama_study();
  study.decode.reset();
  study.prefill = Prefill{.tokens = 8192};
  study.tensor_parallel_size = 8;
  study.expert_parallel_size = 8;
  for (const TransferKind kind :
       {TransferKind::all_reduce, TransferKind::all_gather, TransferKind::reduce_scatter})
    study.machine->transfers.push_back(
        {kind, TransferScope::node, 8, Bytes{8192},
         test::plus_minus<Seconds>(10e-6, 0.1, Evidence::published)});
  EXPECT_EQ(row_of(rest_of(study), RestTerm::collectives).launches, 64);
  study.prefill->sequence_shards = 8;
  EXPECT_EQ(row_of(rest_of(study), RestTerm::collectives).launches, 128);
}

// 1,001 keys, 32 heads of 128; a rank of eight scores an eighth of them, and projects everything.
TEST(RestOfStep, SharesKeysAmongContextRanks) {
  Study study = llama_study();
  study.context_parallel_size = 8;
  const double projections = 2 * 41943040.0;
  const double core = 1001.0 * 4 * 32 * 128;
  EXPECT_NEAR(row_of(rest_of(study), RestTerm::attention).flops.value,
              32 * (projections + core / 8), 1e-3);
}

/// DeepSeek-V3 on round transfers of every kind that its layers need.
Study deepseek_study() {
  Study study = llama_study();
  study.model = {.name = "DeepSeek", .num_layers = 122, .hidden_size = 7168};
  study.model.architecture = test::deepseek_v3();
  study.path = {Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(122, 12)}}, 122};
  study.decode = Decode{.sequences = {64}, .context = 1000};
  for (const TransferKind kind : {TransferKind::all_reduce, TransferKind::all_to_all})
    for (const Count ranks : {2, 8})
      study.machine->transfers.push_back(
          {kind, TransferScope::node, ranks, Bytes{8192},
           test::plus_minus<Seconds>(10e-6, 0.1, Evidence::published)});
  return study;
}

// Eight context ranks hold the same 64 tokens: as experts' ranks they share them out.
TEST(RestOfStep, SendsTokensOfContextRanksToTheExpertsOnce) {
  Study study = deepseek_study();
  const double alone = row_of(rest_of(study), RestTerm::mlp).flops.value;
  const double common =
      2 * 64 * 58 * (7168.0 * 256 + 3 * 7168 * 2048) + 2 * 64 * 3 * 3 * 7168.0 * 18432;
  study.context_parallel_size = 8;
  study.expert_parallel_size = 8;
  const RestOfStep spread = rest_of(study);
  EXPECT_NEAR(row_of(spread, RestTerm::mlp).flops.value / (common + (alone - common) / 8), 1,
              1e-12);
  // 64 tokens over 8 ranks, 8 experts each, there in fp8 with scales and back in bf16 in 58 layers.
  EXPECT_EQ(row_of(spread, RestTerm::collectives).bytes.value,
            58 * 8 * 8 * (7168 + 56 * 4.0 + 7168 * 2));
}

// 61 attentions, 3 dense MLPs and 58 with experts are joined; the last exchange tokens twice.
TEST(RestOfStep, JoinsTensorRanksBehindExpertsThatAreSpreadFurther) {
  Study study = deepseek_study();
  study.tensor_parallel_size = 2;
  study.data_parallel_size = 4;
  study.expert_parallel_size = 8;
  EXPECT_EQ(row_of(rest_of(study), RestTerm::collectives).launches, 61 + 61 + 2 * 58);
}

/// Each of 64 tokens goes to each of its 8 experts as a row with 56 scales, and comes back.
TEST(RestOfStep, SendsAReplicasTokensToTheExpertsOfAll) {
  Study study = deepseek_study();
  const RestRow alone = row_of(rest_of(study), RestTerm::collectives);
  EXPECT_EQ(alone.launches, 0);
  study.data_parallel_size = 32;
  study.expert_parallel_size = 32;
  double dispatched = 0;
  double combined = 0;
  for (int token = 0; token < 64; ++token)
    for (int expert = 0; expert < 8; ++expert)
      for (int element = 0; element < 7168; ++element) {
        dispatched += 1 + (element % 128 == 0 ? 4 : 0);
        combined += 2;
      }
  study.machine->devices_per_node = 32;
  const RestRow row = row_of(rest_of(study), RestTerm::collectives);
  ASSERT_EQ(row.parts.size(), 2U);
  EXPECT_EQ(row.parts[0].name, "all_to_all over 32");
  EXPECT_EQ(row.parts[0].work.bytes_at(IntervalEnd::value).value, dispatched);
  EXPECT_EQ(row.parts[1].work.bytes_at(IntervalEnd::value).value, combined);
  EXPECT_EQ(row.launches, 2 * 58);
  EXPECT_EQ(only_workload(study).passes.front().execution.tokens, 64);
  study.dispatch_dtype = Dtype::bf16;
  EXPECT_EQ(row_of(rest_of(study), RestTerm::collectives).bytes.value, 2 * 58 * combined);
}

/// How many of four nodes eight experts lie in: the mean over all ways to lie.
double mean_nodes_of_eight_experts() {
  constexpr int kWays = 1 << 16;  // 4^8
  int nodes = 0;
  for (int way = 0; way < kWays; ++way) {
    std::set<int> hit;
    for (int expert = 0; expert < 8; ++expert) hit.insert(way >> (2 * expert) & 3);
    nodes += static_cast<int>(hit.size());
  }
  return static_cast<double>(nodes) / kWays;
}

/// How many of 32 ranks have one of eight experts: each expert meets a rank that has none yet, or
/// not.
double mean_ranks_of_eight_experts() {
  double ranks = 0;
  for (int expert = 0; expert < 8; ++expert) ranks += 1 - ranks / 32;
  return ranks;
}

/// A prefill sends a token to the ranks of its experts, or to their nodes; a decode step to each of
/// the experts.
TEST(RestOfStep, SendsATokenOfAPrefillOnceToANode) {
  Study study = deepseek_study();
  study.data_parallel_size = study.expert_parallel_size = 32;
  study.machine->network_bandwidth = BytesPerSecond{50e9};
  const auto bytes_in_nodes_of = [&](Count devices) {
    study.machine->devices_per_node = devices;
    return row_of(rest_of(study), RestTerm::collectives).bytes;
  };
  EXPECT_EQ(bytes_in_nodes_of(8), bytes_in_nodes_of(32));
  study.decode.reset();
  study.prefill = Prefill{.tokens = 64};
  EXPECT_NEAR(bytes_in_nodes_of(8) / bytes_in_nodes_of(32),
              mean_nodes_of_eight_experts() / mean_ranks_of_eight_experts(), 1e-12);
}

// Kimi K3's experts take rows of 3,584 of its 7,168 elements.
TEST(RestOfStep, SendsExpertsTheRowsThatTheyTake) {
  Study study = deepseek_study();
  study.model.architecture = test::kimi_k3();
  study.data_parallel_size = 8;
  study.expert_parallel_size = 8;
  EXPECT_EQ(row_of(rest_of(study), RestTerm::collectives).bytes.value,
            92 * 2 * 64 * 16 * 3584 * 2.0);
}

TEST(RestOfStep, ReadsTheHeadInTheModelsType) {
  const Study study = deepseek_study();
  EXPECT_EQ(row_of(rest_of(study), RestTerm::head).bytes.value, 129280.0 * 7168 * 2);
}

TEST(RestOfStep, TakesATermThatTheUserHasMeasured) {
  Study study = llama_study();
  study.decode->sequences = {1, 8};
  study.written_terms = {{WorkloadKind::decode, RestTerm::mlp, {Seconds{1e-3}, Seconds{2e-3}}},
                         {WorkloadKind::prefill, RestTerm::head, {Seconds{1}}}};
  const auto workloads = workloads_of(study, study.path, study.schedule);
  for (const std::size_t batch : {0U, 1U}) {
    const RestRow row = row_of(rest_of_step(study, workloads[batch]), RestTerm::mlp);
    EXPECT_EQ(row.origin, RestOrigin::written);
    EXPECT_EQ(row.time.low, row.time.high);
    EXPECT_EQ(row.time.value.value, batch == 0 ? 1e-3 : 2e-3);
    EXPECT_EQ(row_of(rest_of_step(study, workloads[batch]), RestTerm::head).origin,
              RestOrigin::modelled);
  }
}

TEST(RestOfStep, NeedsNoArchitectureWhereAllIsMeasured) {
  Study study = llama_study();
  study.model.architecture.reset();
  EXPECT_EQ(rest_of(study).missing, "the model has no attention and mlp");
  EXPECT_TRUE(rest_of(study).rows.empty());
  for (const RestTerm term : kEnumerators<RestTerm>)
    study.written_terms.push_back({WorkloadKind::decode, term, {Seconds{1e-3}}});
  EXPECT_NEAR(rest_of(study).total().value.value, 5e-3, 1e-15);
}

// What one layer streams: all weights but the head, and the cache, over 64 layers.
TEST(ModelledLayerBytes, AreThoseOfTheTermsPerLayer) {
  Study study = llama_study();
  study.model.architecture->tables = {{.rows = 1000, .width = 8, .projections = 5000}};
  const RestOfStep rest = rest_of(study);
  const Bytes all = row_of(rest, RestTerm::attention).bytes + row_of(rest, RestTerm::mlp).bytes;
  EXPECT_NEAR(modelled_layer_bytes(study, decode_pass(study, 0))->value, all.value / 64, 1e-6);
  EXPECT_EQ(only_workload(study).passes.front().execution.layer_bytes,
            modelled_layer_bytes(study, decode_pass(study, 0)));
}

TEST(ModelledStep, GivesPerCentThatTheAddedTimeDoesNotDependOn) {
  Study study = llama_study();
  const StepRow modelled = step_rows(study, study.path, study.schedule).front();
  ASSERT_TRUE(modelled.overhead);
  const Seconds base =
      rest_of(study).total().value + (modelled.residual.value - modelled.delta.value);
  EXPECT_NEAR(modelled.overhead->value, modelled.delta.value / base, 1e-12);
  EXPECT_LT(modelled.overhead->low, modelled.delta.low / base);
  EXPECT_GT(modelled.overhead->high, modelled.delta.high / base);
  study.written_terms = {{WorkloadKind::decode, RestTerm::mlp, {Seconds{1}}}};
  const StepRow written = step_rows(study, study.path, study.schedule).front();
  EXPECT_EQ(written.delta.value, modelled.delta.value);
  EXPECT_LT(written.overhead->value, modelled.overhead->value);
}

// All-reduce folds the standard residual's add away; attention over depth stands alone.
TEST(BaselineAttachment, IsTheStandardResidualsOwn) {
  Study study = llama_study();
  const StepRow alone = step_rows(study, study.path, study.schedule).front();
  study.baseline_attachment = Attachment::all_reduce;
  const StepRow folded = step_rows(study, study.path, study.schedule).front();
  EXPECT_EQ(folded.residual.value, alone.residual.value);
  EXPECT_GT(folded.delta.value, alone.delta.value);
}

}  // namespace
}  // namespace depthcost::rest_of_step_test
