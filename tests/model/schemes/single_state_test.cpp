// Schemes of model/schemes/single_state by hand.
#include "tests/model/schemes/by_hand.hpp"

namespace depthcost::single_state_test {
namespace {

using namespace by_hand;
using namespace schemes;
using enum Schedule;

// Counts of their update rules.
TEST(SingleState, MovesWhatItsPaperCounts) {
  expect_moved({
      {"standard", 2, 1, 2, 2},
      {"rezero", 2, 1, 2, 2},
      {"layerscale", 2, 1, 2, 2},
      {"laurel_rw", 2, 1, 2, 2},
      {"laurel_lr", 3, 1, 2, 2},
      {"highway", 4, 2, 4, 3},
      {"deepnorm", 3, 2, 2, 1},
      {"keel", 3, 2, 2, 2},
      {"siamese_norm", 8, 5, 3, 3},
  });
}

// h and up to three states before it.
TEST(SingleState, OfLaurelPaKeepsTheStatesThatLaterLayersRead) {
  const auto state = [](Count layer) {
    return kLaurelPa.state_d({{.hidden_size = 64, .history = 3}, layer, 9});
  };
  EXPECT_EQ(state(1), 2);
  EXPECT_EQ(state(2), 3);
  EXPECT_EQ(state(3), 4);
  EXPECT_EQ(state(8), 4);
}

TEST(SingleState, HasTheParametersOfItsPaper) {
  const double d = kHiddenSize;
  EXPECT_DOUBLE_EQ(per_layer("rezero"), 1);
  EXPECT_DOUBLE_EQ(per_layer("layerscale"), d);
  EXPECT_DOUBLE_EQ(per_layer("highway"), d * d + d);
  EXPECT_DOUBLE_EQ(per_layer("laurel_rw"), 2);
  EXPECT_DOUBLE_EQ(per_layer("laurel_lr", {.rank = 64}), 2 * 64 * d);
}

// g is the gradient of the new state; eager code makes it by norm 2 + 0 r, 1 w and sum 2 r, 1 w.
TEST(SingleState, MovesInItsBackwardPassWhatGradientsNeed) {
  expect_backward({
      // h', f, dx | dh' | dh, df; eager: + f | g | df.
      {kReZero, fused, 5, {3, 1, 2}, 1},
      {kReZero, unfused, 5, {2 + 1, 2 + 1, 2 + 1}, 3},
      {kLayerScale, fused, 5, {3, 1, 2}, 1},
      // beta's gradient reads h too, from which and f h' follows.
      {kLaurelRw, fused, 5, {3, 1, 2}, 1},
      {kLaurelRw, unfused, 5, {2 + 2, 2 + 1, 2 + 2}, 3},
      // h, h', dx | dh' | df, dh; eager: B^T g and dB read g, A^T writes, dA reads h, a sum.
      {kLaurelLr, fused, 5, {3, 1, 2}, 1},
      {kLaurelLr, unfused, 5, {2 + 1, 2 + 2 + 2, 2 + 1 + 1}, 7},
      // h, f, z, dx | dh' | dh, df, dz; W^T dz into dh: | dz, dh | dh; dW: h | dz |.
      {kHighway, fused, 5, {4 + 1, 1 + 2 + 1, 3 + 1}, 3},
      // eager: mix h, f, z | g | dh, df, dz; dz | dh and h, dz; sum.
      {kHighway, unfused, 5, {2 + 3 + 1, 2 + 1 + 2 + 2, 2 + 3 + 1 + 1}, 6},
      // h, f, dx | dh' | u; eager: dx + dh', norm s, u; alpha u where there is an alpha.
      {kPostNorm, fused, 5, {3, 1, 1}, 1},
      {kPostNorm, unfused, 5, {1 + 1, 1 + 1, 1 + 1}, 2},
      {kDeepNorm, fused, 5, {3, 1, 1}, 1},
      {kDeepNorm, unfused, 5, {2, 2 + 1, 2 + 1}, 3},
      // attention reads h' as it is, the MLP a norm of it.
      {kHybridNorm, fused, 5, {1, 1, 1}, 1},
      {kHybridNorm, fused, 6, {3, 1, 1}, 1},
      // eager: inner norm, sum, norm on the stream, alpha u.
      {kKeel, fused, 5, {3, 1, 1}, 1},
      {kKeel, unfused, 5, {2 + 1, 2 + 1 + 1, 1 + 1 + 1 + 1}, 4},
      // h1, h2, y, dx | dh1', dh2' | dh1, dh2, dy; eager: dh1' + dx, two norms, two sums.
      {kSiameseNorm, fused, 5, {4, 2, 3}, 1},
      {kSiameseNorm, unfused, 5, {1 + 1 + 2, 1 + 1 + 2 + 2, 1 + 1 + 1 + 1 + 1}, 5},
      // f32 rows are two: r, f, dx | dr' | dr, df; behind the last layer nobody has left dr'.
      {kResidualScaling, fused, 5, {2 + 1 + 1, 2, 2 + 1}, 1},
      {kResidualScaling, fused, 13, {2 + 1 + 1, 0, 2 + 1}, 1},
      // eager: norm, sum, cast, f's and r's products.
      {kResidualScaling, unfused, 5, {3 + 1 + 2, 4 + 2 + 1 + 2, 2 + 2 + 1 + 1 + 2}, 5},
      {kResidualScaling, unfused, 1, {3 + 1, 4 + 2 + 1, 2 + 2 + 1 + 1}, 4},
  });
}

// Six layers each with what is left by recomputation and what is made again, and once what the
// first one reads of the layer before.
TEST(SingleState, KeepsWhatItsGradientsRead) {
  expect_kept({
      {kReZero, fused, {6 * (2 + 1), 6}, {12, 0}, {1, 1}},               // h', f; x
      {kLaurelRw, fused, {6 * (2 + 1) + 1, 6}, {13, 0}, {1, 1}},         // h, f; x
      {kLaurelLr, fused, {6 * 2 + 1, 6 * 5}, {7, 0}, {1, 5}},            // h'; x, four scalars A h
      {kHighway, fused, {6 * (2 + 2) + 1, 6}, {13, 0}, {2, 1}},          // h', f; z, x
      {kPostNorm, fused, {6 * 2 + 1, 6}, {13, 0}, {0, 1}},               // h', f
      {kPostNorm, unfused, {6 * 2, 6}, {6, 0}, {1, 1}},                  // s; h'
      {kHybridNorm, unfused, {3 * 1 + 3 * 2, 3}, {6, 0}, {1, 1}},        // s and h' of an MLP alone
      {kKeel, fused, {6 * 3 + 1, 12}, {13, 0}, {1, 2}},                  // h', f; x
      {kSiameseNorm, unfused, {6 * 3, 12}, {12, 0}, {1, 2}},             // s1, h2; x
      {kResidualScaling, fused, {6 * (3 + 1) + 2, 6}, {20, 0}, {1, 1}},  // r as two, f; x
  });
}

}  // namespace
}  // namespace depthcost::single_state_test
