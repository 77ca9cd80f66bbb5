// The family of [attnres] Table 5 against the counts of its papers, and against itself.
#include "model/schemes/scheme.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/evaluation/family.hpp"
#include "model/ledger/arithmetic.hpp"
#include "model/ledger/ledger.hpp"
#include "model/ledger/path_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "model/schemes/list.hpp"
#include "model/step/scheme_payload.hpp"
#include "tests/model/schemes/by_hand.hpp"

namespace depthcost::scheme_test {
namespace {

using namespace by_hand;

constexpr Count kLayers = kDeepLayers;

TEST(Schemes, HaveALabelThatTellsThemApart) {
  std::set<std::string_view> labels;
  for (const SchemeRule* rule : scheme_rules()) {
    EXPECT_FALSE(rule->label.empty()) << rule->id;
    EXPECT_TRUE(labels.insert(rule->label).second) << rule->label;
  }
}

/// How a layer is cut into launches changes what is moved, and not what is computed. Three schemes
/// compute more in one form: eager code projects all of a history again at each layer, and the
/// kernel of hc_static multiplies by the identity. Phase 1 norms the keys of a block once.
TEST(Schemes, ComputeAsMuchInEverySchedule) {
  const std::set<std::string_view> others{"hc_identity", "history_attention",
                                          "history_attention_block"};
  for (const SchemeRule* rule : scheme_rules()) {
    if (others.contains(rule->id)) continue;
    const ResidualPath path = path_of(rule->id);
    const Flops first = total_flops(path, rule->schedules.front(), 1);
    for (const Schedule schedule : rule->schedules)
      if (schedule != Schedule::two_phase) {
        EXPECT_DOUBLE_EQ(total_flops(path, schedule, 1).value, first.value)
            << rule->id << ", " << name(schedule);
      }
  }
}

TEST(Schemes, SinglePassMhcNeedsTenAndHasNoUnfusedForm) {
  const FamilyRow row =
      row_of(family_rows(study_of(path_of("single_pass_mhc"))), "single_pass_mhc");
  EXPECT_DOUBLE_EQ(row.traffic.reads_d, 5);
  EXPECT_DOUBLE_EQ(row.traffic.writes_d, 5);
  EXPECT_FALSE(row.unfused);
}

/// Qwen3.8-Flash-Next: 48 decoder layers, d = 2560, n = 4, r = 320.
ResidualPath gated_path() { return {Scheme{schemes::kGatedResidual, {.hidden_size = 2560}}, 96}; }

TEST(GatedResidual, HasTheWeightsOfTheReleasedModel) {
  const Parameters weights = parameters(gated_path(), 2560);
  EXPECT_DOUBLE_EQ(weights.per_layer, 6'604'800);
  EXPECT_DOUBLE_EQ(weights.total, 640'624'640);  // 96 sites, and the exit without B
}

// A site's launches read g, D, U and B once each, and the exit all but B.
TEST(GatedResidual, ReadsEachWeightOnceInEverySchedule) {
  const SchemeRule& rule = schemes::kGatedResidual;
  const SchemeParameters p{.hidden_size = 2560};
  const auto weights_of = [](const Launches& launches) {
    double sum = 0;
    for (const Operation& launch : launches) sum += launch.weights_d * 2560;
    return sum;
  };
  for (const Schedule schedule : rule.schedules) {
    // Both passes of two_pass norm the streams, and read the gain.
    const double again = schedule == Schedule::two_pass ? 4 * 2560 : 0;
    EXPECT_DOUBLE_EQ(weights_of(rule.operations({p, 1, 96}, schedule)), 6'604'800 + again)
        << name(schedule);
    EXPECT_DOUBLE_EQ(weights_of(rule.output({p, 96, 96}, schedule)), 6'563'840 + again)
        << name(schedule);
  }
}

TEST(GatedResidual, MovesWhatEachImplementationDoes) {
  struct Expected {
    Schedule schedule;
    double moved_d;
    std::size_t launches;
  };
  const SchemeRule& rule = schemes::kGatedResidual;
  const SchemeParameters p{.hidden_size = 2560};
  for (const Expected& expected :
       {Expected{Schedule::unfused, 62, 11}, Expected{Schedule::fused, 30, 5},
        Expected{Schedule::fused_gate, 22, 3}, Expected{Schedule::folded_norm, 18, 3},
        Expected{Schedule::two_pass, 14, 2}, Expected{Schedule::one_pass, 10, 1}}) {
    SCOPED_TRACE(name(expected.schedule));
    const Launches launches = rule.operations({p, 2, 96}, expected.schedule);
    Traffic sum;
    for (const Operation& launch : launches) sum += traffic(launch);
    EXPECT_DOUBLE_EQ(total_d(sum), expected.moved_d);
    EXPECT_EQ(launches.size(), expected.launches);
  }
}

// 2 n d (2r + n) for the products and 12 n d beside them: 13.2 MF; 1.28 GF for 97 sites.
TEST(GatedResidual, ComputesWhatItsMatricesNeed) {
  for (const Schedule schedule : {Schedule::fused, Schedule::folded_norm, Schedule::one_pass}) {
    const double flops = total_flops(gated_path(), schedule, 2560).value;
    const double d = 2560;
    const double site = 2 * 4 * d * (2 * 320 + 4) + 12 * 4 * d;
    EXPECT_NEAR(flops, 97 * site, 1e-3 * 97 * site) << name(schedule);
    EXPECT_NEAR(site, 13.2e6, 0.12e6);
  }
}

// Streams of 143 tokens are as many bytes as the weights of a site at 18 d.
TEST(GatedResidual, MovesAsManyBytesOfStreamsAsOfWeightsAt143Tokens) {
  EXPECT_NEAR(6'604'800.0 / (18 * 2560), 143, 0.5);
}

// Gemma 3n: A = 4 copies, r = 64, d = 2,048, 30 decoder layers.
TEST(Altup, HasTheWeightsOfTheReleasedModel) {
  const Scheme gemma{schemes::kAltup, {.hidden_size = 2048, .num_streams = 4, .rank = 64}};
  const Parameters weights = parameters({gemma, 60}, 2048);
  EXPECT_DOUBLE_EQ(weights.total, 30 * (12'368 + 264'192) + 6 * 2048.0 * 2048);
}

// A pair of predict and correct is (4A + 1) d. A norm's row, LAuReL's two and the middle's five
// stand beside it, and correct reads q and the MLP's output where their sum would be one row.
TEST(Altup, MovesSeventeenVectorsForPredictAndCorrect) {
  const Scheme gemma{schemes::kAltup, {.hidden_size = 2048, .num_streams = 4, .rank = 64}};
  const auto rows = layer_traffics({gemma, 60}, {Schedule::fused, Convention::kernel});
  EXPECT_DOUBLE_EQ(total_d(rows[2]) + total_d(rows[3]), 17 + 1 + 1 + 2 + 5);
  EXPECT_DOUBLE_EQ(total_d(rows[0]), 1 + 3 + 4 + 4 + 4 + 5 + 2) << "the entry's products and sizes";
}

// ZAYA1: bf16 rows, a stream in f32, four vectors of weights a merge.
TEST(ResidualScaling, MovesTwelveBytesAChannel) {
  const Scheme zaya{schemes::kResidualScaling, {.hidden_size = 2048}};
  const ResidualPath path{zaya, 80};
  for (const Traffic& layer : layer_traffics(path, {Schedule::fused, Convention::kernel}))
    EXPECT_DOUBLE_EQ(bytes(layer, {.hidden_size = 2048, .dtype = Dtype::bf16}).value, 12 * 2048);
  EXPECT_DOUBLE_EQ(parameters(path, 2048).total, (2 + 80 * 4) * 2048.0) << "80 layers and the exit";
}

// K = 3: 11 d and the norm's 2 d as the kernels are, 8 d in one scan.
TEST(WideResidual, MovesWhatItsKernelsDo) {
  const ResidualPath path{Scheme{schemes::kWideResidual, {.num_streams = 3}}, 96};
  EXPECT_DOUBLE_EQ(total_d(layer_traffics(path, {Schedule::unfused, Convention::kernel})[5]), 13);
  EXPECT_DOUBLE_EQ(total_d(layer_traffics(path, {Schedule::fused, Convention::kernel})[5]), 8);
}

// GLM-5.3-Flash: 90 sites as in DeepSeek-V4, and a mean of four streams behind them.
TEST(MhcMeanExit, IsMhcWithOneMoreRead) {
  const ResidualPath glm{Scheme{schemes::kMhcMeanExit}, 90};
  const ResidualPath mhc{Scheme{schemes::kMhc}, 90};
  EXPECT_DOUBLE_EQ(parameters(glm, 4096).total, 90 * 393'243.0);
  for (const Schedule schedule : {Schedule::fused, Schedule::two_pass, Schedule::one_pass}) {
    const Counting counting{schedule, Convention::kernel};
    EXPECT_EQ(total_traffic(glm, counting), total_traffic(mhc, counting)) << "of all layers";
    EXPECT_DOUBLE_EQ(
        total_d(forward_traffic(glm, counting)) - total_d(forward_traffic(mhc, counting)), 5);
  }
}

// A diary entry says 128 x 8 = 1,024 attention operations for 128 layers in blocks of 16, against
// 128 x 128 = 16,384. Only boundaries attend, each to the states before it.
TEST(HistoryAttentionBlock, Has36PairsWhereItsAuthorCounts1024) {
  const auto pairs = [](const ResidualPath& path) {
    double sum = 0;
    for (const PlacedOperation& placed : all_operations(path, Schedule::single_pass))
      for (const Access& access : placed.operation.accesses)
        if (access.operand == Operand::bank && placed.operation.id == operations::kRowUpdate)
          sum += access.reads_d / 2;  // a key and a value
    return sum;
  };
  const ResidualPath block{
      Scheme{schemes::kHistoryAttentionBlock, {.hidden_size = 64, .block_size = 16}}, 128};
  EXPECT_DOUBLE_EQ(pairs(block), 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);
  const ResidualPath full{Scheme{schemes::kHistoryAttention, {.hidden_size = 64}}, 128};
  EXPECT_DOUBLE_EQ(pairs(full), 128 * 129 / 2.0) << "8,256, where the author counts 16,384";
}

// The other entry's model: 32 layers, four boundaries, d = 256. It says less than 0.2 % of the
// parameters, and has 12 d^2 a decoder layer.
TEST(BoundaryAttention, AddsFewerParametersThanItsAuthorSays) {
  const ResidualPath path{
      Scheme{schemes::kBoundaryAttention, {.hidden_size = 256, .block_size = 8}}, 32};
  EXPECT_DOUBLE_EQ(parameters(path, 256).total, 4 * 2 * 256);
  EXPECT_LT(parameters(path, 256).total / (32 * 12.0 * 256 * 256), 0.002);
}

// Behind block i, i + 1 states and 4 ways: 64 hidden units up to 63 weights; behind the last, one
// way and four hidden units a weight, 4 x 49 = 196 of them up to 256.
TEST(Schemes, MuddFormerHasTheParametersOfItsCode) {
  const SchemeRule& mudd = *find_scheme("muddformer");
  const SchemeParameters p{.hidden_size = kHiddenSize};
  const double d = kHiddenSize;
  EXPECT_DOUBLE_EQ(mudd.parameters({p, 1, kLayers}), 0);
  EXPECT_DOUBLE_EQ(mudd.parameters({p, 2, kLayers}), 64 * (d + 8) + 8);
  EXPECT_DOUBLE_EQ(mudd.parameters({p, 32, kLayers}), 128 * (d + 68) + 68);
  EXPECT_DOUBLE_EQ(mudd.parameters({p, kLayers, kLayers}), 256 * (d + 49) + 49);
}

// A standard residual inside blocks (2 r, 2 w); behind block i, h and f to X_i, then i + 1 states
// to a stream and three inputs; behind the last, to one input.
TEST(Schemes, MuddFormerMakesFourMixesInOneScan) {
  const Counting counting{Schedule::fused, Convention::kernel};
  double reads = 0;
  double writes = 0;
  for (Count block = 1; block <= kLayers / 2; ++block) {
    reads += 2 + 2 + static_cast<double>(block) + 1;
    writes += 2 + 1 + (block == kLayers / 2 ? 1 : 4);
  }
  const Traffic total = total_traffic(path_of("muddformer"), counting);
  EXPECT_DOUBLE_EQ(total.reads_d, reads);
  EXPECT_DOUBLE_EQ(total.writes_d, writes);
}

// With an odd L half a block follows the last whole one, and needs a state and all inputs.
TEST(Schemes, MuddFormerLeavesAStateForHalfABlock) {
  const SchemeRule& mudd = *find_scheme("muddformer");
  const SchemeParameters p{.hidden_size = kHiddenSize};
  const auto writes_behind = [&](Count layer, Count num_layers) {
    Traffic sum;
    for (const Operation& launch : mudd.operations({p, layer, num_layers}, Schedule::fused))
      sum += traffic(launch);
    return sum.writes_d;
  };
  EXPECT_DOUBLE_EQ(writes_behind(4, 5), 1 + 4);
  EXPECT_DOUBLE_EQ(writes_behind(4, 4), 1 + 1);
}

/// Elements that the launches of a layer read of parameters and weights, without the next gain.
double parameters_read(const SchemeRule& rule, const SchemeLayer& at, Schedule schedule) {
  double sum = -kHiddenSize;
  for (const Operation& launch : rule.operations(at, schedule))
    sum += (launch.parameters_d + launch.weights_d) * kHiddenSize + launch.parameters;
  return sum;
}

/// Whether launches read others than layers have: scales and beta are arguments of a call, gains of
/// key norms are folded into queries, norms on the stream are other launches', and Gated Residual
/// has its norm in place of the layer's. The kernel of hc_identity is given the identity.
bool reads_others(const SchemeRule& rule) {
  if (rule.parameters == nullptr) return true;
  for (const std::string_view part :
       {"gated_residual", "mhc", "hc_dynamic", "altup", "laurel_rw", "attnres", "muddformer"})
    if (rule.id.find(part) != rule.id.npos) return true;
  for (const std::string_view id :
       {"deepnorm", "post_norm", "hybrid_norm", "siamese_norm", "boundary_attention", "hc_identity",
        "history_attention", "history_attention_block"})
    if (rule.id == id) return true;
  return false;
}

TEST(Schemes, LaunchesReadEveryParameterOnce) {
  const SchemeParameters p{.hidden_size = kHiddenSize, .dilation = 2, .period = 1};
  const SchemeLayer at{p, 6, 8};
  std::size_t num_checked = 0;
  for (const SchemeRule* rule : scheme_rules()) {
    if (reads_others(*rule)) continue;
    SCOPED_TRACE(rule->id);
    for (const Schedule schedule : rule->schedules)
      EXPECT_DOUBLE_EQ(parameters_read(*rule, at, schedule), rule->parameters(at))
          << name(schedule);
    ++num_checked;
  }
  EXPECT_GE(num_checked, 10U);
}

// h_0 is the embedding: layer 1 has no earlier state, layer 2 one.
TEST(Schemes, LaurelReadsOnlyStatesThatThereAre) {
  const auto traffics =
      layer_traffics(path_of("laurel_pa", {.history = 2}), {Schedule::fused, Convention::kernel});
  for (const std::size_t layer : {0U, 1U, 2U, 3U})
    EXPECT_DOUBLE_EQ(traffics[layer].reads_d, 2 + std::min(static_cast<double>(layer), 2.0));
}

// Every second layer ends one of L/2 Transformer blocks; block i mixes X_0 .. X_i.
TEST(Schemes, DenseFormerWithoutDilationReadsEveryBlock) {
  const ResidualPath path = path_of("denseformer", {.dilation = 1, .period = 1});
  double reads = 0;
  double writes = 0;
  double walked = 0;
  for (Count block = 1; block <= kLayers / 2; ++block) {
    reads += 2 + static_cast<double>(block) + 2;
    writes += 2 + 3;
    walked += static_cast<double>(block) + 1;
  }
  const Traffic total = total_traffic(path, {Schedule::fused, Convention::kernel});
  EXPECT_DOUBLE_EQ(total.reads_d, reads);
  EXPECT_DOUBLE_EQ(total.writes_d, writes);
  const double blocks = kLayers / 2;
  EXPECT_DOUBLE_EQ(parameters(path, kHiddenSize).total, walked);
  EXPECT_DOUBLE_EQ(walked, blocks * (blocks + 3) / 2);
}

TEST(Schemes, DenseFormerMixesEveryPeriodOverEveryDilationsRow) {
  const ResidualPath path = path_of("denseformer", {.dilation = 4, .period = 5});
  Count mixes = 0;
  Count sources = 0;
  for (Count block = 1; block <= kLayers / 2; ++block)
    if (block % 5 == 0) {
      ++mixes;
      for (Count j = 0; j <= block; ++j) sources += (block - j) % 4 == 0 ? 1 : 0;
    }
  const Traffic total = total_traffic(path, {Schedule::fused, Convention::kernel});
  EXPECT_DOUBLE_EQ(total.reads_d, static_cast<double>(2 * (kLayers - mixes) + sources + mixes));
  EXPECT_DOUBLE_EQ(parameters(path, kHiddenSize).total, static_cast<double>(sources));
}

TEST(Schemes, VariantsOfAttnResReadTheRowsOfAttnRes) {
  for (const Count S : {1, 4, 24, 96}) {
    const ResidualPath block{
        Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(kLayers, S)}}, kLayers};
    for (const std::string_view id : {"attnres_sigmoid", "attnres_raw_keys", "attnres_multihead",
                                      "attnres_input_independent"}) {
      SCOPED_TRACE(id);
      const ResidualPath variant = path_of(id, {.block_size = S});
      const Counting counting{Schedule::single_pass, Convention::kernel};
      EXPECT_EQ(total_d(forward_traffic(variant, counting)),
                total_d(forward_traffic(block, counting)));
    }
  }
}

TEST(Schemes, AWindowOverAllLayersIsFullAttnRes) {
  const ResidualPath full{Scheme{schemes::kFullAttnRes, {.blocks = partition_by_size(kLayers, 1)}},
                          kLayers};
  const ResidualPath window = path_of("attnres_sliding_window", {.window = kLayers});
  for (const Schedule schedule : {Schedule::unfused, Schedule::single_pass}) {
    const Counting counting{schedule, Convention::kernel};
    EXPECT_EQ(layer_traffics(window, counting), layer_traffics(full, counting));
    EXPECT_EQ(output_traffic(window, counting), output_traffic(full, counting));
  }
}

TEST(Schemes, AnInputDependentQueryAddsItsProjectionAndItsRow) {
  const Counting counting{Schedule::single_pass, Convention::kernel};
  const ResidualPath variant = path_of("attnres_input_dependent", {.block_size = 24});
  const ResidualPath block{
      Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(kLayers, 24)}}, kLayers};
  const auto with = layer_traffics(variant, counting);
  const auto without = layer_traffics(block, counting);
  // In front of layer 2 the newest source is f; later it is b + f.
  EXPECT_DOUBLE_EQ(with[1].reads_d - without[1].reads_d, 2);
  EXPECT_DOUBLE_EQ(with[2].reads_d - without[2].reads_d, 3);
  EXPECT_DOUBLE_EQ(with[2].writes_d - without[2].writes_d, 1);
}

TEST(Schemes, FoldTheFirstReadOfAnOutputAlone) {
  for (const SchemeRule* rule : scheme_rules()) {
    SCOPED_TRACE(rule->id);
    ResidualPath path = path_of(rule->id);
    for (const Counting& counting : countings_of(path.scheme)) {
      path.attachment = Attachment::standalone;
      const std::vector<Traffic> alone = layer_traffics(path, counting);
      path.attachment = Attachment::all_reduce;
      const std::vector<Traffic> folded = layer_traffics(path, counting);
      for (std::size_t l = 0; l < alone.size(); ++l) {
        EXPECT_LE(alone[l].reads_d - folded[l].reads_d, 1) << l;
        EXPECT_GE(alone[l].reads_d, folded[l].reads_d) << l;
      }
    }
  }
}

TEST(Schemes, SumsOfLayersAreTotals) {
  for (const SchemeRule* rule : scheme_rules()) {
    SCOPED_TRACE(rule->id);
    const ResidualPath path = path_of(rule->id);
    for (const Counting& counting : countings_of(path.scheme)) {
      Traffic sum;
      for (Count layer = 1; layer <= kLayers; ++layer)
        sum = sum + layer_traffic(path, counting, layer);
      const double total = total_d(total_traffic(path, counting));
      EXPECT_NEAR(total_d(sum), total, 1e-12 * total);
    }
  }
}

TEST(Schemes, FusionNeverMovesMore) {
  for (const FamilyRow& row : family_rows(study_of(path_of("rezero")))) {
    if (!row.unfused) continue;
    SCOPED_TRACE(name(row.path.scheme));
    const Traffic unfused = mean_traffic(row.path, {Schedule::unfused, Convention::kernel});
    EXPECT_LE(total_d(row.traffic), total_d(unfused));
  }
}

TEST(Schemes, AreNamedOnceAndSayWhereTheyComeFrom) {
  std::set<std::string_view> ids;
  for (const SchemeRule* rule : scheme_rules()) {
    SCOPED_TRACE(rule->id);
    EXPECT_TRUE(ids.insert(rule->id).second);
    EXPECT_FALSE(rule->source.empty() || rule->update.empty());
    EXPECT_FALSE(rule->backward->moves.empty());
    EXPECT_FALSE(rule->schedules.empty());
    for (const SchemeKey& key : rule->keys) EXPECT_FALSE(key.source.empty());
  }
}

TEST(Schemes, HandOverTheirStateAtEveryTransition) {
  const PipelineLayout layout = even_layout(4, 2, kLayers, 1);
  const auto total = [&](std::string_view id) {
    return scheme_payload(layout, path_of(id), Cache::none).total;
  };
  EXPECT_EQ(total("rezero"), 7);
  EXPECT_EQ(total("siamese_norm"), 14);
  EXPECT_EQ(total("hc_static"), 28);
  EXPECT_EQ(total("laurel_pa"), 7 * 5);
  // Behind 12, 24 .. 84 layers: X_0 .. X_6, X_0 .. X_12, ...
  EXPECT_EQ(total("denseformer"), 7 + 13 + 19 + 25 + 31 + 37 + 43);
}

TEST(Schemes, KeepOfAttnResWhatItsPipelineSends) {
  const PipelineLayout layout = even_layout(4, 2, kLayers, 1);
  const ResidualPath variant = path_of("attnres_sigmoid", {.block_size = 24});
  const ResidualPath block{
      Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(kLayers, 24)}}, kLayers};
  EXPECT_EQ(scheme_payload(layout, variant, Cache::none).total,
            scheme_payload(layout, block, Cache::none).total);
}

/// What ships is never a bound, and a bound is a schedule that is counted.
TEST(Schemes, ShipNoBound) {
  std::size_t bounds = 0;
  for (const SchemeRule* rule : scheme_rules()) {
    const Scheme scheme(*rule);
    EXPECT_FALSE(is_bound(scheme, shipped_schedule(scheme))) << rule->id;
    for (const Schedule schedule : rule->schedules) bounds += is_bound(scheme, schedule) ? 1U : 0U;
    EXPECT_LT(rule->bounds.size(), rule->schedules.size()) << rule->id;
  }
  EXPECT_EQ(bounds, 1U);
  EXPECT_EQ(schedule_label(Scheme{schemes::kGatedResidual}, Schedule::one_pass),
            "one_pass (bound)");
  EXPECT_EQ(schedule_label(Scheme{schemes::kMhc}, Schedule::one_pass), "one_pass");
}

/// No kernel makes mHC's gradients in one pass, though one makes its update so.
TEST(Schemes, HaveBoundsOfTheirBackwardPass) {
  const Scheme mhc{schemes::kMhc};
  EXPECT_FALSE(is_bound(mhc, Schedule::one_pass));
  EXPECT_TRUE(is_training_bound(mhc, Schedule::one_pass));
  EXPECT_FALSE(is_training_bound(mhc, Schedule::two_pass));
  EXPECT_EQ(training_schedule_label(mhc, Schedule::one_pass), "one_pass (bound)");
  EXPECT_EQ(training_schedule_label(mhc, Schedule::two_pass), "two_pass");
  EXPECT_TRUE(is_training_bound(Scheme{schemes::kGatedResidual}, Schedule::one_pass));
  for (const SchemeRule* rule : scheme_rules())
    EXPECT_FALSE(is_training_bound(Scheme(*rule), shipped_schedule(Scheme(*rule)))) << rule->id;
}

/// f32 in a model of two bytes is two d-vectors, in a model of four one.
TEST(Schemes, CountAStreamInItsType) {
  const auto moved = [](std::string_view id, const SchemeParameters& parameters) {
    return total_d(mean_traffic(path_of(id, parameters), {Schedule::fused, Convention::kernel}));
  };
  EXPECT_EQ(moved("residual_scaling", {}), 6);
  EXPECT_EQ(moved("residual_scaling", {.f32_row_d = 1}), 4);
  EXPECT_EQ(moved("residual_scaling", {.stream_row_d = 1.0}), 4);
  EXPECT_EQ(moved("wide_residual", {.num_streams = 3}), 8);
  EXPECT_EQ(moved("wide_residual", {.num_streams = 3, .stream_row_d = 2.0}), 14);
  EXPECT_EQ(moved("hc_identity", {.num_streams = 3, .stream_row_d = 2.0}), 8);
  const auto state = [](std::string_view id, const SchemeParameters& parameters) {
    return largest_state(path_of(id, parameters).scheme, kLayers);
  };
  EXPECT_EQ(state("wide_residual", {.num_streams = 3, .stream_row_d = 2.0}), 6);
  EXPECT_EQ(state("residual_scaling", {.stream_row_d = 1.0}), 2);
}

TEST(Schemes, RefuseParametersOutsideTheirRange) {
  const auto problem = [](std::string_view id, const SchemeParameters& parameters) {
    const auto found = parameter_problem(path_of(id, parameters).scheme, kLayers);
    return found ? std::string(found->key) + ": " + found->reason : "";
  };
  EXPECT_EQ(problem("attnres_sliding_window", {.window = 97}), "window: more than 96 layers");
  EXPECT_EQ(problem("deep_delta", {.value_width = 5}), "value_width: must divide d = 768");
  EXPECT_EQ(problem("denseformer", {.dilation = 49}), "dilation: more than 48 decoder layers");
  EXPECT_EQ(problem("attnres_multihead", {.heads = 7}), "heads: must divide d = 768");
  EXPECT_EQ(problem("attnres_sigmoid", {.block_size = 97}), "block_size: more than 96 layers");
  EXPECT_EQ(problem("mhc_lite", {.num_streams = 7}),
            "num_streams: m! permutations; more than 6 streams are not sensible");
  EXPECT_EQ(problem("kromhc", {.num_streams = 6}), "num_streams: must be a power of two");
  EXPECT_EQ(problem("deep_delta", {.value_width = 8}), "");
  EXPECT_EQ(problem("laurel_lr", {.rank = 769}), "rank: more than d = 768");
  EXPECT_EQ(problem("laurel_pa", {.history = 97}), "history: more than 96 layers");
  EXPECT_EQ(problem("gated_residual", {.gate_rank = 3073}), "gate_rank: more than n d = 3072");
  EXPECT_EQ(problem("gated_residual", {.num_streams = Count{1} << 62}),
            problem("mhc", {.num_streams = Count{1} << 62}));
}

TEST(Family, HasOneBlockSizeForAllOfItsMembers) {
  for (const Count written : {Count{1}, Count{24}}) {
    Study study = study_of({Scheme{schemes::kStandard}, kLayers});
    study.scheme_parameters.block_size = written;
    const std::vector<FamilyRow> rows = family_rows(study);
    const Count expected = written == 1 ? kLayers / 8 : written;
    EXPECT_EQ(blocks_of(row_of(rows, "block_attnres").path.scheme)->block_size, expected);
    const auto variant = row_of(rows, "attnres_sigmoid").path.scheme;
    EXPECT_EQ(variant.parameters.block_size, expected);
    EXPECT_EQ(row_of(rows, "attnres_sigmoid").state, row_of(rows, "block_attnres").state);
  }
}

TEST(Family, TakesTheBlocksOfTheStudysOwnMechanism) {
  const std::vector<FamilyRow> rows =
      family_rows(study_of(path_of("attnres_sigmoid", {.block_size = 1})));
  EXPECT_EQ(blocks_of(row_of(rows, "block_attnres").path.scheme)->block_size, 1);
}

TEST(Family, IsSortedByCost) {
  const std::vector<FamilyRow> rows = family_rows(study_of({Scheme{schemes::kStandard}, kLayers}));
  EXPECT_EQ(rows.size(), scheme_rules().size());
  for (std::size_t i = 1; i < rows.size(); ++i)
    EXPECT_LE(rows[i - 1].bytes.value, rows[i].bytes.value) << i;
}

TEST(Family, PutsWhatAModelCannotHaveLast) {
  Study study = study_of({Scheme{schemes::kStandard}, kLayers});
  study.scheme_parameters.window = kLayers + 1;
  const FamilyRow last = family_rows(study).back();
  EXPECT_EQ(name(last.path.scheme), "attnres_sliding_window");
  EXPECT_EQ(last.problem, "window more than 96 layers");
}

}  // namespace
}  // namespace depthcost::scheme_test
