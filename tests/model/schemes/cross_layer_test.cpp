// Schemes of model/schemes/cross_layer by hand.
#include "model/ledger/launches.hpp"
#include "tests/model/schemes/by_hand.hpp"

namespace depthcost::cross_layer_test {
namespace {

using namespace by_hand;
using namespace schemes;
using enum Schedule;

TEST(CrossLayer, MovesInItsBackwardPassWhatGradientsNeed) {
  expect_backward({
      // add and norm; V_1, dV | sum | its gradient. The last one finds no sum; the first adds what
      // is left to what attention has.
      {kValueResidual, fused, 5, {2 + 2, 1 + 1, 1 + 1}, 2},
      {kValueResidual, fused, 11, {2 + 2, 1, 1 + 1}, 2},
      {kValueResidual, fused, 1, {2 + 1, 1 + 1, 1 + 1}, 2},
      {kValueResidual, unfused, 11, {2 + 3, 2, 2 + 2}, 3},
      // h', 4 earlier states, dx | dh', sums of three of them and of h | df, 4, dh.
      {kLaurelPa, fused, 6, {6, 1 + 3 + 1, 1 + 4 + 1}, 1},
      {kLaurelPa, fused, 12, {6, 1, 1 + 4}, 1},
      {kLaurelPa, fused, 1, {2, 1 + 1, 1 + 1}, 1},
      // Block 4 mixes X_0, X_2, X_4, which block 6 mixes again: X, dx | dy, 3 sums | 3.
      {kDenseFormer, fused, 8, {4, 1 + 3, 3}, 1},
      {kDenseFormer, fused, 12, {5, 1, 4}, 1},
      {kDenseFormer, unfused, 12, {2 + 4, 2 + 1, 1 + 1 + 4}, 3},
      {kDenseFormer, fused, 6, {2, 1, 1}, 1},
      // Four states, three inputs and the next state: X, dx | 1, 4 sums | 4; weights X_i | dX_i |
      // dX_i. Behind the last block one input.
      {kMuddFormer, fused, 6, {4 + 3 + 1, 1 + 4 + 1, 4 + 1}, 2},
      {kMuddFormer, fused, 12, {7 + 1 + 1, 1, 7 + 1}, 2},
      // norm; s = 6 + 1 sources: convolution | dy | s, s | dy |; unstack; sums.
      {kDenseNet, unfused, 12, {2 + 13, 1 + 1 + 13, 1 + 13 + 13}, 4},
      {kDenseNet, unfused, 5, {2 + 6, 1 + 1 + 6 + 12, 1 + 6 + 6 + 6}, 4 + 6},
      {kMrla, unfused, 12, {2 + 12 + 1, 1 + 1 + 1, 1 + 12 + 1}, 4},
      // Layer 5 attends to two blocks and the partial sum: v, dh | sums | dv.
      {kAttnResSigmoid, single_pass, 5, {4, 3, 3}, 1},
      {kAttnResRawKeys, unfused, 5, {12 - 3, 18 - 3, 19 - 3}, 9 - 1},
      {kAttnResInputIndependent, unfused, 5, {2 + 4, 3 + 6, 1 + 3 + 3 + 3}, 3 + 3},
      // q || dq; W^T dq into dv: | dq, dv | dv; dW: v | dq |.
      {kAttnResInputDependent, single_pass, 5, {4 + 1 + 1, 3 + 2 + 1, 3 + 1 + 1}, 3},
      // v_0 and W = 8: layer 10 is the first at which the oldest is not read again.
      {kAttnResSlidingWindow, single_pass, 8, {9, 8, 8}, 1},
      {kAttnResSlidingWindow, single_pass, 10, {10, 8, 9}, 1},
      // Two checkpoints, h, f, dx | dh', sums of both and of the new one | 3.
      {kBoundaryAttention, single_pass, 6, {5, 1 + 3, 3}, 1},
      {kBoundaryAttention, single_pass, 12, {7, 1, 5}, 1},
      // q, 5 K, 5 V, y, dx | dy, sums of K and V | dq, K, V, df; W_q: | dq, df | df, f | dq |; K
      // and
      // V of one state: | 2 | 1, 1 | 2 |.
      {kHistoryAttention, single_pass, 5, {13 + 1 + 1, 1 + 10 + 3 + 4, 12 + 1 + 1}, 5},
      {kHistoryAttention, single_pass, 12, {27 + 1 + 1, 3 + 4, 26 + 1 + 1}, 5},
      // The same over two states, with dh'; K and V of h' add to dh'.
      {kHistoryAttentionBlock, single_pass, 6, {7 + 1 + 1, 1 + 4 + 3 + 5, 6 + 1 + 1}, 5},
      {kHistoryAttentionBlock, single_pass, 12, {11 + 1, 1 + 3, 10 + 1}, 3},
  });
}

TEST(CrossLayer, KeepsWhatItsGradientsRead) {
  expect_kept({
      {kValueResidual, fused, {6 * 2, 6}, {6, 0}, {1, 1}, 1},
      {kValueResidual, unfused, {6 * 2 + 3, 6}, {6, 0}, {2, 1}, 1},
      // h_0, h_1 and h_2; two, three, then four times A h.
      {kLaurelPa, fused, {6 * 2, 6 + 4 * (2 + 3 + 4 * 4)}, {6, 0}, {1, 17}, 3},
      {kDenseFormer, fused, {6 * 2 + 2, 6}, {6, 0}, {2, 1}, 2},  // y behind blocks 2 and 4
      // Behind blocks of 3, 4 and 5 states three inputs, 4 s weights and a layer of 64.
      {kMuddFormer,
       fused,
       {6 + 3 + 3 * 3, 3 + 9 + 4 * (3 + 4 + 5) + 3 * 64},
       {6, 0},
       {3, 3 + 20 + 64},
       2},
      // The stacks of 4 .. 9 rows, the norm's input and output.
      {kDenseNet, unfused, {6 * 3 + 39, 6}, {6, 0}, {11, 1}, 3},
      {kAttnResSlidingWindow, single_pass, {6 * 3, 6 + 2 * 33}, {6, 0}, {2, 17}, 2},
      // Boundaries behind layers 3 and 6, of 2 and 3 states, keep f as well.
      {kBoundaryAttention, single_pass, {6 * 2 + 2, 6 + 4 + 6}, {8, 0}, {1, 7}, 1},
      // y, f; x, q, k, v and a weight for each of 3 .. 8 states.
      {kHistoryAttention, single_pass, {6 * 6, 6 + 33}, {12, 0}, {4, 9}, 5},
      {kHistoryAttentionBlock, single_pass, {6 * 2 + 2 * 4, 6 + 1 + 2}, {8, 0}, {4, 3}, 2},
  });
}

/// V = l_1 V + l_2 V_1: two products and a sum for each of the layer's values, a row of half a
/// d-vector here, in three of six layers less the first.
TEST(ValueResidual, MultipliesAndAddsEachValue) {
  for (const Schedule schedule : {fused, unfused}) {
    double flops_d = 0;
    double without = 0;
    each_launch({{kValueResidual, {.hidden_size = 64, .kv_size = 32}}, 6}, schedule,
                [&](Count, const Operation& launch) { flops_d += launch.flops_d; });
    each_launch({Scheme{kStandard}, 6}, schedule,
                [&](Count, const Operation& launch) { without += launch.flops_d; });
    EXPECT_EQ(flops_d - without, 2 * 3 * 0.5) << name(schedule);
  }
}

TEST(ValueResidual, TakesKeysAndValuesOfUpTo1024HiddenSizes) {
  const auto problem = [](Count kv_size) {
    return parameter_problem({schemes::kValueResidual, {.hidden_size = 64, .kv_size = kv_size}}, 8);
  };
  EXPECT_FALSE(problem(64 * 1024));
  ASSERT_TRUE(problem(64 * 1024 + 1));
  EXPECT_EQ(problem(64 * 1024 + 1)->reason, "more than 1024 d");
}

}  // namespace
}  // namespace depthcost::cross_layer_test
