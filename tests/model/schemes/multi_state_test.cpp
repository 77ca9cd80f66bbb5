// Schemes of model/schemes/multi_state by hand.
#include "model/ledger/launches.hpp"
#include "tests/model/schemes/by_hand.hpp"

namespace depthcost::multi_state_test {
namespace {

using namespace by_hand;
using namespace schemes;
using enum Schedule;

// arXiv:2512.24880 Table 2 (hyper-connections, m = 4), and counts of update rules; d_v = 4.
TEST(MultiState, MovesWhatItsPaperCounts) {
  expect_moved({
      {"mhc", 21, 13, 13, 5},
      {"hc_static", 17, 13, 5, 5},
      {"hc_dynamic", 21, 13, 13, 5},
      {"mhc_lite", 21, 13, 13, 5},
      {"kromhc", 21, 13, 13, 5},
      {"deep_delta", 11, 6, 6, 5},
      {"gated_residual", 37, 25, 17, 13},
  });
}

TEST(MultiState, HasTheParametersOfItsPaper) {
  const double d = kHiddenSize;
  EXPECT_DOUBLE_EQ(per_layer("hc_static"), 24);
  EXPECT_DOUBLE_EQ(per_layer("hc_dynamic"), 24 + 6 * d + 2);
  EXPECT_DOUBLE_EQ(per_layer("single_pass_mhc"), 96 * d + 27);
  EXPECT_DOUBLE_EQ(per_layer("mhc_lite"), 128 * d + 35);
  EXPECT_DOUBLE_EQ(per_layer("kromhc"), 48 * d + 15);
  EXPECT_DOUBLE_EQ(per_layer("deep_delta"), 4 * 4 * d + 4 * d + 4 + 4 + d + 1);
}

// m = 4 streams.
TEST(MultiState, MovesInItsBackwardPassWhatGradientsNeed) {
  expect_backward({
      // X, f, dx | dX' | dX, df.
      {kHcStatic, fused, 5, {4 + 2, 4, 4 + 1}, 1},
      {kHcIdentity, fused, 5, {4 + 2, 4, 4 + 1}, 1},
      {kWideResidual, fused, 5, {4 + 2, 4, 4 + 1}, 1},
      {kWideResidual, fused, 13, {4 + 2, 0, 4 + 1}, 1},
      // pre X | u | m; norm; post f | dX' | df; residual X | dX' | m; sum | 2m | m.
      {kHcStatic, unfused, 5, {4 + 2 + 1 + 4, 1 + 4 + 4 + 8, 4 + 1 + 1 + 4 + 4}, 5},
      // norm; read X | u | m; sum | 2m | m; write f | dX | df.
      {kWideResidual, unfused, 5, {2 + 4 + 1, 1 + 8 + 4, 1 + 4 + 4 + 1}, 4},
      {kWideResidual, unfused, 13, {2 + 4 + 1, 1 + 4, 1 + 4 + 1}, 3},
      // as mHC: post 3m + 2, pre 3m + 1 and m for dphi; and with both copies of X in one scan.
      {kHcDynamic, fused, 5, {14, 8, 9}, 3},
      {kMhcLite, fused, 5, {14, 8, 9}, 3},
      {kKromHc, fused, 5, {14, 8, 9}, 3},
      {kSinglePassMhc, one_pass, 5, {10, 4, 5}, 1},
      // the mean, dx || m rows.
      {kMhcMeanExit, fused, 13, {2, 0, 4}, 1},
      {kMhcMeanExit, unfused, 13, {2, 1, 1 + 4}, 2},
      // predict h, dx | dl's share, dp | dh; LAuReL x | dl | 1; correct q, f, p_0 | dh | 3.
      {kAltup, fused, 5, {5 + 1 + 3, 5 + 1 + 4, 4 + 1 + 3}, 3},
      // middle q, f, dx | dq, dp_0 | df, dl, dp_0.
      {kAltup, fused, 6, {3, 2, 3}, 1},
      // entry: rescaling 4 | 4 | 4; E^T | 3 + 1 | 1; dE 1 | 3 |.
      {kAltup, fused, 1, {5 + 1 + 4 + 1, 5 + 1 + 4 + 4 + 3, 4 + 1 + 4 + 1}, 5},
      // exit: mean h_0, 3 products, dx || 4; U^T | 3 | 3; dU 3 | 3 |; correct.
      {kAltup, fused, 13, {5 + 3 + 3, 3 + 3 + 4, 4 + 3 + 3}, 4},
      // H, f, x, dx | dH', the next boundary's share of dx | dH, df, its own share.
      {kDeltaLearning, fused, 5, {4 + 3, 4 + 1, 4 + 2}, 1},
      {kDeltaLearning, fused, 12, {4 + 3, 4, 4 + 2}, 1},
      // norm; compressor H' | dy | 4; sum; update H, f, x | dH' | 6; sum with dx.
      {kDeltaLearning, unfused, 5, {2 + 4 + 6 + 1, 1 + 8 + 4 + 1, 1 + 4 + 4 + 6 + 1}, 5},
  });
}

TEST(MultiState, KeepsWhatItsGradientsRead) {
  expect_kept({
      {kHcStatic, fused, {6 * (5 + 1), 6}, {30, 0}, {1, 1}},            // X, f; x
      {kWideResidual, unfused, {6 * (5 + 2), 6}, {30, 0}, {2, 1}},      // and the mix
      {kKromHc, fused, {6 * 7, 6 * (8 + 4 + 2)}, {6 * 5, 0}, {6, 14}},  // as mHC; 2m + 2 log2 m
      {kMhcLite, fused, {6 * 7, 6 * (8 + 24 + 2)}, {6 * 5, 0}, {6, 34}},
      {kDeltaLearning, fused, {6 * (5 + 1) + 5, 6 * 7}, {35, 0}, {1, 7}},  // H, f; x
      // h, f of the MLP or f of attention alone; p_0, x and q, x.
      {kAltup, fused, {3 * (5 + 2) + 3 * (1 + 2) + 2, 3 * 17 + 3 * 2}, {20, 0}, {2, 17}},
  });
}

/// Behind the last layer: x = norm(mean of h_0 and U_i h_i): h_0, the three products r; x w.
TEST(Altup, EndsInTheMeanOfItsStreams) {
  Operation last;
  each_launch({{kAltup, {.hidden_size = 64, .num_streams = 4}}, 6}, fused,
              [&](Count layer, const Operation& launch) {
                if (layer == 0) last = launch;
              });
  EXPECT_EQ(traffic(last).reads_d, 1 + 3);
  EXPECT_EQ(traffic(last).writes_d, 1);
}

}  // namespace
}  // namespace depthcost::multi_state_test
