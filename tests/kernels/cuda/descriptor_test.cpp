// The traffic that kernels say they move equals that of the ledger.
#include "kernels/cuda/variants.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "kernels/operations/operations.hpp"
#include "model/base/partition.hpp"
#include "model/machine/catalogue.hpp"
#include "model/operations/altup_operations.hpp"
#include "model/operations/attnres_operations.hpp"
#include "model/operations/dense_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/gated_residual_operations.hpp"
#include "model/operations/hyper_connection_operations.hpp"
#include "model/operations/mhc_operations.hpp"

namespace depthcost::test::descriptor_test {
namespace {

using cuda::descriptor;
using cuda::Descriptor;
using Traffic = std::map<std::string, std::pair<double, double>>;

void add(Traffic& traffic, std::string_view operand, double reads_d, double writes_d) {
  if (reads_d == 0 && writes_d == 0) return;
  auto& [reads, writes] = traffic[std::string(operand)];
  reads += reads_d;
  writes += writes_d;
}

void expect_ledger_row(const Descriptor& kernel, const Operation& row) {
  Traffic moved;
  for (const auto& [operand, reads_d, writes_d] : kernel.operands)
    add(moved, operand, reads_d, writes_d);
  Traffic counted;
  for (const auto& [operand, reads_d, writes_d] : row.accesses)
    add(counted, name(operand), reads_d, writes_d);
  const std::string where(kernel.operation);
  EXPECT_EQ(kernel.operation, name(row.id));
  EXPECT_EQ(moved, counted) << where;
  EXPECT_EQ(kernel.reads_scalars, row.reads_scalars) << where;
  EXPECT_EQ(kernel.writes_scalars, row.writes_scalars) << where;
  EXPECT_EQ(kernel.launches, row.launches) << where;
  EXPECT_EQ(kernel.skeleton == cuda::Skeleton::elementwise, row.skeleton == Skeleton::elementwise)
      << where;
}

/// Only whether a pointer is there counts.
Bf16 somewhere;
constexpr std::size_t kHiddenSize = 7168;

AttnResSinglePass<Bf16> single_pass(std::size_t bank_sources) {
  return {.num_tokens = 8192,
          .hidden_size = kHiddenSize,
          .num_bank_rows = bank_sources + 1,
          .num_bank_sources = bank_sources,
          .bank = &somewhere};
}

/// b + f of a block, or f alone if it is all that the block has.
AttnResSinglePass<Bf16> closing(std::size_t bank_sources, Count closed_size, SumStore store) {
  AttnResSinglePass<Bf16> op = single_pass(bank_sources);
  op.partial_sum = &somewhere;
  if (closed_size > 1) op.layer_output = &somewhere;
  op.store = store;
  op.bank_row = bank_sources;
  return op;
}

AttnResSinglePass<Bf16> single_pass_before(const LayerPosition& at) {
  const auto n = static_cast<std::size_t>(at.block);
  if (at.index == 1 && at.block == 1) return single_pass(1);
  if (at.index == 1) return closing(n - 1, at.previous_size, SumStore::bank_row);
  AttnResSinglePass<Bf16> op = single_pass(n);
  op.partial_sum = &somewhere;
  if (at.index > 2) op.layer_output = &somewhere;
  return op;
}

template <class Visit>
void each_position(const Partition& blocks, const Visit& visit) {
  Count layer = 0;
  for (Count block = 1; block <= blocks.num_blocks; ++block)
    for (Count index = 1; index <= blocks.size(block); ++index)
      visit(LayerPosition{++layer, block, index, blocks.size(block),
                          block == 1 ? 0 : blocks.size(block - 1)});
}

TEST(Descriptors, EqualTheLedgerForResiduals) {
#define DEPTHCOST_EXPECT_ROW(Op, name) \
  expect_ledger_row(descriptor(Op<Bf16>{8192, kHiddenSize}), catalogue_row(#name, {}));
  DEPTHCOST_RESIDUAL_OPERATIONS(DEPTHCOST_EXPECT_ROW)
#undef DEPTHCOST_EXPECT_ROW
}

TEST(Descriptors, EqualTheLedgerAtEveryLayerInSinglePass) {
  for (const Partition& blocks : {partition_by_size(186, 24), partition_by_size(9, 4)}) {
    each_position(blocks, [](const LayerPosition& at) {
      expect_ledger_row(descriptor(single_pass_before(at)), operations::block_single_pass(at));
    });
    const auto n = static_cast<std::size_t>(blocks.num_blocks);
    expect_ledger_row(descriptor(closing(n, blocks.last_size, SumStore::nowhere)),
                      operations::block_output(blocks));
  }
}

/// Every entry of the catalogue that is one: as it is benchmarked, with n = 8.
TEST(Descriptors, EqualTheLedgerForAblations) {
  AttnResSinglePass<Bf16> inside = single_pass(8);
  inside.layer_output = inside.partial_sum = &somewhere;
  AttnResSinglePass<Bf16> window = single_pass(15);
  window.partial_sum = &somewhere;
  window.variant.first_recent_row = 8;
  const auto with = [&](const AttentionVariant<Bf16>& variant) {
    AttnResSinglePass<Bf16> op = inside;
    op.variant = variant;
    return op;
  };
  const std::map<std::string, AttnResSinglePass<Bf16>> ablations{
      {"sigmoid", with({.weighting = DepthWeighting::sigmoid})},
      {"multihead", with({.num_heads = 16})},
      {"raw_keys", with({.key_norm = KeyNorm::none})},
      {"input_dependent", with({.token_queries = &somewhere})},
      {"sliding_window", window}};
  for (const auto& [variant, op] : ablations)
    expect_ledger_row(descriptor(op),
                      catalogue_row("attnres_single_pass/" + variant, {.num_sources = 8}));
}

TEST(Descriptors, EqualTheLedgerAtEveryLayerInTwoPhases) {
  each_position(partition_by_size(186, 24), [](const LayerPosition& at) {
    if (at.index > 1) {
      AttnResPhase2<Bf16, Bf16> op{.num_tokens = 8192, .hidden_size = kHiddenSize};
      op.partial_sum = &somewhere;
      if (at.index > 2) op.layer_output = &somewhere;
      expect_ledger_row(descriptor(op), operations::block_phase2(at));
      return;
    }
    AttnResPhase1<Bf16, Bf16> op{.num_tokens = 8192, .hidden_size = kHiddenSize};
    op.num_queries = static_cast<std::size_t>(at.size);
    op.num_bank_sources = static_cast<std::size_t>(at.block) - (at.block == 1 ? 0 : 1);
    if (at.block > 1) op.partial_sum = op.bank = &somewhere;
    if (at.block > 1) op.layer_output = &somewhere;
    expect_ledger_row(descriptor(op), operations::block_phase1(at));
  });
}

TEST(Descriptors, EqualTheLedgerForMhc) {
  for (const std::size_t m : {1, 2, 4}) {
    const auto streams = static_cast<double>(m);
    const MhcPost<Bf16> post{.num_tokens = 8192, .hidden_size = kHiddenSize, .num_streams = m};
    expect_ledger_row(descriptor(post), operations::mhc_post(streams));
    expect_ledger_row(descriptor(MhcBoundary<Bf16>{.post = post}),
                      operations::mhc_boundary(streams, 0));
    // The ledger reads the streams twice, as what ships on Hopper does; here they stay on chip.
    Operation pre = operations::mhc_pre(streams);
    pre.accesses[0].reads_d /= 2;
    expect_ledger_row(descriptor(MhcPre<Bf16>{8192, kHiddenSize, m}), pre);
  }
}

TEST(Descriptors, EqualTheLedgerForGatedResidual) {
  for (const std::size_t n : {2, 4}) {
    using operations::GateSite;
    operations::Gate gate{.n = static_cast<double>(n), .r = 320};
    GatedApplyDown<Bf16> op{.num_tokens = 8192, .hidden_size = 2560, .num_streams = n, .rank = 320};
    const GatedUpMix<Bf16> mix{8192, 2560, n, 320};
    expect_ledger_row(descriptor(mix),
                      operations::gate_up_mix(gate, operations::StreamNorm::folded));
    gate.site = GateSite::exit;
    expect_ledger_row(descriptor(op), operations::gate_apply_down(gate));
    gate.site = GateSite::layer;
    float lambda = 0;
    op.next_inject = &lambda;
    expect_ledger_row(descriptor(op), operations::gate_apply_down(gate));
  }
}

/// Few tokens are split over every SM by rows of D, and take a launch more.
TEST(Descriptors, SayThatFewTokensOfGatedResidualSplitRows) {
  const auto variant = [](std::size_t T, std::size_t d, std::size_t n, std::size_t r) {
    return std::string(descriptor(GatedApplyDown<Bf16>{T, d, n, r}).variant);
  };
  EXPECT_EQ(variant(1, 2560, 4, 320), "split_rows");
  EXPECT_EQ(variant(64, 2560, 4, 320), "split_rows");
  EXPECT_EQ(variant(512, 2560, 4, 320), "cluster_tile");
  EXPECT_EQ(variant(8192, 2560, 4, 320), "cluster_tile");
  EXPECT_EQ(variant(8192, 2560, 5, 320), "split_rows");   // more streams than a tile has
  EXPECT_EQ(variant(8192, 2560, 4, 1000), "split_rows");  // and more rows
  EXPECT_EQ(variant(8192, 2561, 4, 320), "scalar");
  EXPECT_EQ(descriptor(GatedApplyDown<Bf16>{1, 2560, 4, 320}).launches, 2U);
}

TEST(Descriptors, EqualTheLedgerForTheFamily) {
  constexpr std::size_t T = 8192;
  constexpr std::size_t d = kHiddenSize;
  for (const std::size_t m : {1, 2, 4, 8, 16}) {
    const auto streams = static_cast<double>(m);
    expect_ledger_row(descriptor(HcBoundary<Bf16>{T, d, m}), operations::hc_boundary(streams));
    expect_ledger_row(descriptor(SinglePassMhc<Bf16>{T, d, m}),
                      operations::single_pass_mhc(streams));
  }
  DenseMix<Bf16> dense{.num_tokens = T, .hidden_size = d, .num_bank_sources = 8};
  expect_ledger_row(descriptor(dense), operations::dense_mix(8));
  dense.hidden_state = dense.mixed = &somewhere;
  dense.bank_row = 8;
  expect_ledger_row(descriptor(dense), operations::denseformer_mix(8));
}

TEST(Descriptors, EqualTheLedgerForUnfusedPieces) {
  constexpr std::size_t T = 8192;
  constexpr std::size_t d = kHiddenSize;
  expect_ledger_row(descriptor(UnfusedRmsNorm<Bf16>{T, d}), operations::rmsnorm());
  expect_ledger_row(descriptor(UnfusedStack<Bf16>{T, d, 9}), operations::unfused_stack(9));
  expect_ledger_row(descriptor(UnfusedKeyNorm<Bf16>{T, d, 9}), operations::unfused_key_norm(9));
  expect_ledger_row(descriptor(UnfusedScores<Bf16>{T, d, 9}), operations::unfused_scores(9));
  expect_ledger_row(descriptor(UnfusedMix<Bf16>{T, d, 9}), operations::unfused_mix(9));
  expect_ledger_row(descriptor(UnfusedMhcCoefficients<Bf16>{T, d, 4}),
                    operations::unfused_mhc_coefficients(4));
  expect_ledger_row(descriptor(UnfusedMhcPre<Bf16>{T, d, 4}), operations::unfused_mhc_pre(4));
  expect_ledger_row(descriptor(UnfusedMhcPost<Bf16>{T, d, 4}), operations::unfused_mhc_post(4));
  expect_ledger_row(descriptor(UnfusedMhcResidual<Bf16>{T, d, 4}),
                    operations::unfused_mhc_residual(4));
  expect_ledger_row(descriptor(UnfusedMhcMerge<Bf16>{T, d, 4}), operations::unfused_mhc_merge(4));
}

TEST(Descriptors, EqualTheLedgerForUnfusedGatedResidual) {
  constexpr std::size_t T = 8192;
  constexpr std::size_t d = 2560;
  constexpr std::size_t r = 320;
  for (const std::size_t n : {1, 4}) {
    const operations::Gate gate{.n = static_cast<double>(n), .r = r};
    expect_ledger_row(descriptor(UnfusedGatedNorm<Bf16>{T, d, n}),
                      operations::unfused_gated_norm(gate));
    for (const std::size_t outputs : {r, n})
      expect_ledger_row(descriptor(UnfusedGateDown<Bf16>{T, d, n, outputs}),
                        operations::unfused_gate_down(gate, static_cast<double>(outputs)));
    expect_ledger_row(descriptor(UnfusedGateUp<Bf16>{T, d, n, r}),
                      operations::unfused_gate_up(gate));
    expect_ledger_row(descriptor(UnfusedActivation<Bf16>{T, d, n}),
                      operations::unfused_gates(gate));
    expect_ledger_row(descriptor(UnfusedGateProduct<Bf16>{T, d, n}),
                      operations::unfused_gate_product(gate));
    expect_ledger_row(descriptor(UnfusedStreamMean<Bf16>{T, d, n}),
                      operations::unfused_stream_mean(gate));
  }
  EXPECT_EQ(descriptor(UnfusedGateUp<Bf16>{T, d, 4, r}).variant, "tile");
  EXPECT_EQ(descriptor(UnfusedGateUp<Bf16>{T, d, 4, 33}).variant, "scalar");
  EXPECT_EQ(descriptor(UnfusedGateDown<float>{T, d, 4, r}).variant, "scalar");
}

TEST(Descriptors, EqualTheLedgerForAltup) {
  for (const std::size_t A : {1, 4, 8}) {
    const auto copies = static_cast<double>(A);
    expect_ledger_row(descriptor(AltupPredict<Bf16>{8192, kHiddenSize, A}),
                      operations::altup_predict(copies));
    expect_ledger_row(descriptor(AltupCorrect<Bf16>{8192, kHiddenSize, A}),
                      operations::altup_correct(copies));
    expect_ledger_row(descriptor(AltupMiddle<Bf16>{8192, kHiddenSize, A}),
                      operations::altup_middle());
  }
  expect_ledger_row(descriptor(AltupLaurel<Bf16>{8192, kHiddenSize, 64}),
                    operations::altup_laurel(64));
}

TEST(Descriptors, EqualTheLedgerForBackwardPasses) {
  constexpr std::size_t T = 8192;
  constexpr std::size_t d = kHiddenSize;
  float gain = 0;
#define DEPTHCOST_EXPECT_ROW(Op, name) \
  expect_ledger_row(descriptor(Op<Bf16>{T, d}), catalogue_row(#name, {}));
  DEPTHCOST_RESIDUAL_BACKWARD_OPERATIONS(DEPTHCOST_EXPECT_ROW)
#undef DEPTHCOST_EXPECT_ROW
  AttnResSinglePassBackward<Bf16> pass{T, d, 8};
  expect_ledger_row(descriptor(pass), operations::single_pass_backward(8, 0));
  pass.partial_sum = &somewhere;
  expect_ledger_row(descriptor(pass), operations::single_pass_backward(8, 1));
  EXPECT_EQ(descriptor(pass).variant, "registers");
  AttnResPhase2Backward<Bf16> phase2{T, d};
  phase2.norm.gain = &gain;
  expect_ledger_row(descriptor(phase2), operations::phase2_backward());
  expect_ledger_row(descriptor(AttnResPhase1Backward<Bf16>{T, d, 8, 12}),
                    operations::phase1_backward(8, 12));
  for (const std::size_t m : {1, 2, 4}) {
    const auto streams = static_cast<double>(m);
    expect_ledger_row(descriptor(MhcPostBackward<Bf16>{T, d, m}),
                      operations::mhc_post_backward(streams));
    expect_ledger_row(descriptor(MhcPreBackward<Bf16>{T, d, m}),
                      operations::mhc_pre_backward(streams));
    expect_ledger_row(descriptor(MhcBoundaryBackward<Bf16>{.post = {T, d, m}}),
                      operations::mhc_boundary_backward(streams));
  }
}

TEST(Descriptors, NameTheVariantThatRuns) {
  EXPECT_EQ(descriptor(single_pass(9)).variant, "row_ring");
  AttnResSinglePass<Bf16> heads = single_pass(9);
  heads.variant.num_heads = 16;
  EXPECT_EQ(descriptor(heads).variant, "split_heads");
  EXPECT_EQ(descriptor(heads).bytes_in_flight_per_cta, 4 * kHiddenSize * sizeof(Bf16) / 2);
  heads.variant.num_heads = 1024;
  EXPECT_EQ(descriptor(heads).variant, "scalar");
  AttnResSinglePass<Bf16> decode = single_pass(9);
  decode.num_tokens = 1;
  EXPECT_EQ(descriptor(decode).variant, "split_row");
  EXPECT_EQ(descriptor(decode).skeleton, cuda::Skeleton::cluster_reduction);
  decode.hidden_size = 7169;
  EXPECT_EQ(descriptor(decode).variant, "scalar");
}

static_assert(descriptor(ResidualAdd<Bf16>{8192, kHiddenSize}).launches == 1);

}  // namespace
}  // namespace depthcost::test::descriptor_test
