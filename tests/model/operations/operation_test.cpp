// Operations one by one: the traffic of each, the rows of REFERENCES.md "operations", and the
// traffic that an attachment saves.
#include "model/operations/operation.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "model/ledger/arithmetic.hpp"
#include "model/ledger/path_operations.hpp"
#include "model/operations/attnres_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/gated_residual_operations.hpp"
#include "model/operations/mhc_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "model/schemes/list.hpp"

namespace depthcost::operation_test {
namespace {

/// d-vectors as the tables print them, and scalars.
struct Moves {
  double reads_d = 0;
  double writes_d = 0;
  double reads_scalars = 0;
  double writes_scalars = 0;
};

struct OperationCase {
  const char* label;
  Operation operation;
  Moves moves;
};

void PrintTo(const OperationCase& c, std::ostream* out) { *out << c.label; }

class OperationTraffic : public testing::TestWithParam<OperationCase> {};

TEST_P(OperationTraffic, IsWhatTheTableSays) {
  const auto& [label, operation, moves] = GetParam();
  const Traffic moved = traffic(operation);
  EXPECT_EQ(moved.reads_d, moves.reads_d);
  EXPECT_EQ(moved.writes_d, moves.writes_d);
  EXPECT_EQ(moved.reads_scalars, moves.reads_scalars);
  EXPECT_EQ(moved.writes_scalars, moves.writes_scalars);
  EXPECT_EQ(operation.launches, 1);
}

std::string label_of(const testing::TestParamInfo<OperationCase>& row) { return row.param.label; }

constexpr Partition kKimiK3{186, 24, 8, 18};

/// Layer i of block n.
constexpr LayerPosition kimi_k3_layer(Count block, Count index) {
  return position(kKimiK3, block, index);
}

using namespace operations;

// Design section 8; m = 4.
INSTANTIATE_TEST_SUITE_P(
    Section8, OperationTraffic,
    testing::Values(OperationCase{"ResidualAdd", residual_add(), {2, 1}},
                    OperationCase{"ResidualAddRmsnorm", residual_add_rmsnorm(), {2, 2}},
                    OperationCase{"SinglePassOf9WithoutUpdate", full_single_pass(9), {9, 1}},
                    OperationCase{"Phase1Of1Source24Queries", phase1(1, 24, 1, {}), {1, 24, 0, 46}},
                    OperationCase{"Phase1Of5SourcesWhichClosesABlock",
                                  phase1(5, 24, 4, {1, 1, 1}),
                                  {4 + 2, 24 + 1, 0, 46}},
                    OperationCase{
                        "Phase2OfTheSecondLayer", block_phase2(kimi_k3_layer(3, 2)), {2, 1, 2, 0}},
                    OperationCase{"Phase2Later", block_phase2(kimi_k3_layer(3, 3)), {3, 2, 2, 0}},
                    OperationCase{"MhcPre", mhc_pre(4), {8, 1, 0, 20}},
                    OperationCase{"MhcPost", mhc_post(4), {5, 4, 20, 0}},
                    OperationCase{"MhcBoundaryInTwoPasses", mhc_boundary(4, 4), {9, 5, 20, 20}},
                    OperationCase{"MhcBoundaryInOnePass", mhc_boundary(4, 0), {5, 5, 20, 20}}),
    label_of);

// Design section 3, convention `kernel`, for n = 3 and N = 8.
INSTANTIATE_TEST_SUITE_P(
    Section3, OperationTraffic,
    testing::Values(
        OperationCase{"SinglePassOfLayer1", block_single_pass(kimi_k3_layer(1, 1)), {1, 1}},
        OperationCase{"SinglePassOfAFirstLayer", block_single_pass(kimi_k3_layer(3, 1)), {4, 2}},
        OperationCase{"SinglePassOfASecondLayer", block_single_pass(kimi_k3_layer(3, 2)), {4, 1}},
        OperationCase{"SinglePassOfALaterLayer", block_single_pass(kimi_k3_layer(3, 17)), {5, 2}},
        OperationCase{"OutputAggregation", block_output(kKimiK3), {10, 1}},
        OperationCase{"Phase1OfBlock1", block_phase1(kimi_k3_layer(1, 1)), {1, 24, 0, 46}},
        OperationCase{"Phase1OfBlock3", block_phase1(kimi_k3_layer(3, 1)), {4, 25, 0, 46}},
        OperationCase{"Phase1OfTheShortBlock8", block_phase1(kimi_k3_layer(8, 1)), {9, 19, 0, 34}}),
    label_of);

// Design section 3, `unfused`, s = 6 sources; the five rows of [attnres] Table 1 for m = 4.
INSTANTIATE_TEST_SUITE_P(
    Unfused, OperationTraffic,
    testing::Values(OperationCase{"Stack", unfused_stack(6), {6, 6}},
                    OperationCase{"KeyNorm", unfused_key_norm(6), {6, 6}},
                    OperationCase{"Scores", unfused_scores(6), {6, 0, 0, 6}},
                    OperationCase{"Mix", unfused_mix(6), {6, 1, 6, 0}},
                    OperationCase{"NextNorm", rmsnorm(), {1, 1}},
                    OperationCase{"PartialSum", unfused_partial_sum(), {2, 1}},
                    OperationCase{"MhcCoefficients", unfused_mhc_coefficients(4), {4, 0, 0, 24}},
                    OperationCase{"MhcPre", unfused_mhc_pre(4), {4, 1, 4, 0}},
                    OperationCase{"MhcPost", unfused_mhc_post(4), {1, 4, 4, 0}},
                    OperationCase{"MhcResidual", unfused_mhc_residual(4), {4, 4, 16, 0}},
                    OperationCase{"MhcMerge", unfused_mhc_merge(4), {8, 4}},
                    OperationCase{"GatedNorm", unfused_gated_norm({}), {4, 4}},
                    OperationCase{"GateDown", unfused_gate_down({}, 320), {4, 0, 0, 320}},
                    OperationCase{"GateUp", unfused_gate_up({}), {0, 4, 320, 0}},
                    OperationCase{"Gates", unfused_gates({}), {4, 4}},
                    OperationCase{"Lambda", unfused_scalar_activation(4), {0, 0, 4, 4}},
                    OperationCase{"GateProduct", unfused_gate_product({}), {8, 4}},
                    OperationCase{"StreamMean", unfused_stream_mean({}), {4, 1}}),
    label_of);

TEST(UnfusedMhc, IsTable1AndTheNextNorm) {
  for (const Count m : {1, 2, 4, 8}) {
    const ResidualPath path{Scheme{schemes::kMhc, {.num_streams = m}}, 1};
    Traffic sum;
    for (const auto& [operation, calls] : distinct_operations(path, Schedule::unfused))
      sum = sum + static_cast<double>(calls) * traffic(operation);
    EXPECT_EQ(sum,
              layer_traffic(path, {Schedule::unfused, Convention::paper}, 1) + traffic(rmsnorm()));
  }
}

TEST(Phase1Outputs, AreCountedApartBecauseTheyHaveTheirOwnType) {
  EXPECT_EQ(traffic(block_phase1(kimi_k3_layer(3, 1))).phase1_d, 23);
  EXPECT_EQ(traffic(block_phase2(kimi_k3_layer(3, 2))).phase1_d, 1);
  EXPECT_EQ(traffic(block_single_pass(kimi_k3_layer(3, 2))).phase1_d, 0);
}

TEST(Phase1, IsWaitedForAsFarAsItsFirstQuery) {
  // n = 3: 4 rows read, the closed block and the layer input written; 23 outputs are for later.
  EXPECT_EQ(hoistable_queries(block_phase1(kimi_k3_layer(3, 1))), 23);
  EXPECT_EQ(hoistable_queries(phase1(3, 1, 3, {})), 0);
}

TEST(AttachmentNames, AreThoseOfTheScenario) {
  EXPECT_EQ(name(Attachment::standalone), "standalone");
  EXPECT_EQ(name(Attachment::all_reduce), "all_reduce");
  EXPECT_EQ(name(Attachment::reduce_scatter), "reduce_scatter");
  EXPECT_EQ(name(Attachment::gemm_epilogue), "gemm_epilogue");
}

ResidualPath any_path() {
  const Count num_layers = *rc::gen::inRange<Count>(1, 60);
  const Partition blocks =
      partition_by_size(num_layers, *rc::gen::inRange<Count>(1, num_layers + 1));
  const Count num_streams = *rc::gen::inRange<Count>(1, 9);
  return {*rc::gen::element<Scheme>(Scheme{schemes::kStandard},
                                    Scheme{schemes::kMhc, {.num_streams = num_streams}},
                                    Scheme{schemes::kFullAttnRes, {.blocks = blocks}},
                                    Scheme{schemes::kBlockAttnRes, {.blocks = blocks}}),
          num_layers};
}

double layer_output_reads(const Operation& operation) {
  double reads = 0;
  for (const Access& access : operation.accesses)
    if (access.operand == Operand::layer_output) reads += access.reads_d;
  return reads;
}

RC_GTEST_PROP(Attachment, DropsExactlyTheReadsOfTheLayerOutputAndTheLaunch, ()) {
  const ResidualPath standalone = any_path();
  ResidualPath folded = standalone;
  folded.attachment = *rc::gen::element(Attachment::all_reduce, Attachment::reduce_scatter,
                                        Attachment::gemm_epilogue);
  for (const Schedule schedule : standalone.scheme.rule->schedules) {
    const auto before = all_operations(standalone, schedule);
    const auto after = all_operations(folded, schedule);
    RC_ASSERT(before.size() == after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      Operation expected = before[i].operation;
      const double dropped = layer_output_reads(expected);
      for (Access& access : expected.accesses)
        if (access.operand == Operand::layer_output) access.reads_d = 0;
      if (dropped > 0) expected.launches = 0;
      RC_ASSERT(after[i].operation == expected);
      RC_ASSERT(traffic(after[i].operation).reads_d + dropped ==
                traffic(before[i].operation).reads_d);
    }
  }
}

RC_GTEST_PROP(Attachment, SparesEverySchemeOneVectorAndOneLaunchForEachLayer, ()) {
  const ResidualPath standalone = any_path();
  ResidualPath folded = standalone;
  folded.attachment = Attachment::all_reduce;
  for (const Schedule schedule : standalone.scheme.rule->schedules) {
    const bool attends = aggregation(standalone).source_rows > 0;
    if (attends && schedule == Schedule::unfused) continue;  // a stack takes f for one of many
    const auto launches = [&](const ResidualPath& path) {
      double sum = 0;
      for (const PlacedOperation& entry : all_operations(path, schedule))
        sum += entry.operation.launches;
      return sum;
    };
    const Counting counting{schedule, Convention::kernel};
    const auto reads = [&](const ResidualPath& path) {
      return (total_traffic(path, counting) + output_traffic(path, counting)).reads_d;
    };
    const auto L = static_cast<double>(standalone.num_layers);
    RC_ASSERT(launches(standalone) - launches(folded) == L);
    RC_ASSERT(reads(standalone) - reads(folded) == L);
  }
}

}  // namespace
}  // namespace depthcost::operation_test
