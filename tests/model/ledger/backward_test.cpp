// Layer by layer against the closed sums of whole paths, and against counts of kernels one by one.
#include "model/ledger/backward.hpp"
#include "model/schemes/list.hpp"

#include <gtest/gtest.h>

namespace depthcost::backward_test {
namespace {

const Partition kBlocks = partition_by_size(186, 24);
const ResidualPath kBlock{Scheme{schemes::kBlockAttnRes, {.blocks = kBlocks}}, 186};
const ResidualPath kFull{Scheme{schemes::kFullAttnRes, {.blocks = partition_by_size(20, 4)}}, 20};

GradientTraffic sum(const ResidualPath& path, Schedule schedule, GradientAccumulation mode) {
  GradientTraffic total;
  for (const BackwardLayer& layer : backward_layers(path, schedule, mode)) total += layer.traffic;
  return total;
}

TEST(BackwardLayers, OfAttentionAddUpToItsPath) {
  for (const auto mode : {GradientAccumulation::autograd, GradientAccumulation::fused,
                          GradientAccumulation::per_block}) {
    EXPECT_EQ(sum(kBlock, Schedule::single_pass, mode), backward_traffic(kBlocks, mode))
        << name(mode);
    EXPECT_EQ(sum(kFull, Schedule::two_phase, mode),
              backward_traffic(partition_by_size(kFull.num_layers, 1), mode))
        << name(mode);
  }
}

TEST(BackwardLayers, AreOneMoreThanLayers) {
  for (const ResidualPath& path : {ResidualPath{Scheme{schemes::kStandard}, 7},
                                   ResidualPath{Scheme{schemes::kMhc, {.num_streams = 4}}, 7}}) {
    const auto layers = backward_layers(path, Schedule::fused, GradientAccumulation::fused);
    ASSERT_EQ(layers.size(), 8u);
    EXPECT_EQ(layers.back().kernels, 0);
    EXPECT_EQ(total_d(layers.back().traffic), 0);
  }
  EXPECT_EQ(backward_layers(kBlock, Schedule::single_pass, GradientAccumulation::fused).size(),
            187u);
}

double d_of_a_layer(const ResidualPath& path, Schedule schedule) {
  return total_d(backward_layers(path, schedule, GradientAccumulation::autograd).front().traffic);
}

// 39 d and 19 d at m = 4: shipped kernels, and the least possible.
TEST(BackwardLayers, OfMhcAreThoseOfItsKernels) {
  EXPECT_EQ(d_of_a_layer({Scheme{schemes::kMhc, {.num_streams = 4}}, 2}, Schedule::fused), 39);
  EXPECT_EQ(d_of_a_layer({Scheme{schemes::kMhc, {.num_streams = 4}}, 2}, Schedule::one_pass), 19);
  EXPECT_EQ(d_of_a_layer({Scheme{schemes::kMhc, {.num_streams = 4}}, 2}, Schedule::two_pass), 19);
  // coefficients 2m, pre 2m + 1, norm 3, post m + 2, residual 3m, two additions 3m each.
  EXPECT_EQ(d_of_a_layer({Scheme{schemes::kMhc, {.num_streams = 4}}, 2}, Schedule::unfused),
            8 + 9 + 3 + 6 + 12 + 24);
}

// Streams, their gradient, du and f read, two written: 15 d at n = 4; with dZ and Xn for the
// products that make gradients of weights 24 d more. The exit has a backward pass as every site
// has.
TEST(BackwardLayers, OfGatedResidualAreThoseOfASite) {
  const ResidualPath gated{Scheme{schemes::kGatedResidual, {.hidden_size = 2560}}, 2};
  EXPECT_EQ(d_of_a_layer(gated, Schedule::one_pass), 15);
  EXPECT_EQ(d_of_a_layer(gated, Schedule::fused), 39);
  EXPECT_EQ(
      total_d(backward_layers(gated, Schedule::fused, GradientAccumulation::fused).back().traffic),
      39);
}

// Scaling: r, f, dx, dr' read, dr and df written, where r is two vectors or one. Three wide
// streams: X, f, dx, dX' read, dX and df written, where a stream is one vector or two.
TEST(BackwardLayers, CountGradientsOfAStreamInItsType) {
  const auto moved = [](const SchemeRule& rule, const SchemeParameters& parameters) {
    return d_of_a_layer({Scheme{rule, parameters}, 2}, Schedule::fused);
  };
  EXPECT_EQ(moved(schemes::kResidualScaling, {}), 2 + 1 + 1 + 2 + 2 + 1);
  EXPECT_EQ(moved(schemes::kResidualScaling, {.stream_row_d = 1.0}), 1 + 1 + 1 + 1 + 1 + 1);
  EXPECT_EQ(moved(schemes::kWideResidual, {.num_streams = 3}), 3 + 1 + 1 + 3 + 3 + 1);
  EXPECT_EQ(moved(schemes::kWideResidual, {.num_streams = 3, .stream_row_d = 2.0}),
            6 + 1 + 1 + 6 + 6 + 1);
}

TEST(BackwardLayers, OfTheStandardResidualAreThoseOfItsKernels) {
  EXPECT_EQ(d_of_a_layer({Scheme{schemes::kStandard}, 2}, Schedule::fused), 4);
  EXPECT_EQ(d_of_a_layer({Scheme{schemes::kStandard}, 2}, Schedule::unfused), 3 + 3);
}

// norm 3, mix 2s + 1, scores 2s, key norm 3s, sum 3s, unstack 2s, additions 3s.
TEST(BackwardLayers, OfEagerAttentionAreThoseOfItsKernels) {
  const auto layers = backward_layers(kBlock, Schedule::unfused, GradientAccumulation::autograd);
  EXPECT_EQ(total_d(layers[0].traffic), 3 + 3 + 2 + 3 + 3 + 2 + 3);
  EXPECT_EQ(total_d(layers[185].traffic), 3 + (2 * 9 + 1) + 2 * 9 + 3 * 9 + 3 * 9 + 2 * 9 + 3 * 9);
  EXPECT_EQ(layers[185].kernels, 6 + 9);
}

/// A layer's backward pass by hand: rows of activations read, of gradients read and written, and
/// kernels, with gradients of shared sources added up by the kernel.
struct ByHand {
  const SchemeRule& rule;
  Schedule schedule;
  Count layer;
  GradientTraffic traffic;
  double kernels;
};

/// Twelve layers, blocks of three, four streams, four columns, a mix behind every second
/// Transformer block.
constexpr Count kLayers = 12;
SchemeParameters parameters_by_hand() {
  return {.hidden_size = 64,
          .block_size = 3,
          .dilation = 2,
          .period = 2,
          .blocks = partition_by_size(kLayers, 3)};
}

void expect_by_hand(const std::vector<ByHand>& rows) {
  for (const ByHand& row : rows) {
    const auto layers = backward_layers({Scheme{row.rule, parameters_by_hand()}, kLayers},
                                        row.schedule, GradientAccumulation::fused);
    const BackwardLayer& layer = layers[static_cast<std::size_t>(row.layer) - 1];
    const GradientTraffic& t = layer.traffic;
    EXPECT_EQ(t, row.traffic) << row.rule.id << ' ' << name(row.schedule) << ' ' << row.layer
                              << ": " << t.activation_reads_d << ' ' << t.gradient_reads_d << ' '
                              << t.gradient_writes_d;
    EXPECT_EQ(layer.kernels, row.kernels) << row.rule.id << ' ' << name(row.schedule);
  }
}

// g is the gradient of the new state; eager code makes it by norm 2 + 0 r, 1 w and sum 2 r, 1 w.
TEST(BackwardLayersByHand, OfOneState) {
  using enum Schedule;
  using namespace schemes;
  expect_by_hand({
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

// m = 4 streams.
TEST(BackwardLayersByHand, OfStreams) {
  using enum Schedule;
  using namespace schemes;
  expect_by_hand({
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
      // as mHC: post 3m + 2, mix 3m + 1 and map 3m; and with both copies of X in one scan.
      {kHcDynamic, fused, 5, {14, 12, 13}, 3},
      {kMhcLite, fused, 5, {14, 12, 13}, 3},
      {kKromHc, fused, 5, {14, 12, 13}, 3},
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

TEST(BackwardLayersByHand, OfSourcesOverDepth) {
  using enum Schedule;
  using namespace schemes;
  expect_by_hand({
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

/// Every scheme can be trained: in each schedule and with gradients added up in each way, a layer
/// reads what arrives and writes a gradient, in a kernel at least, and keeps what it reads.
TEST(BackwardLayers, OfEverySchemeAreCounted) {
  for (const SchemeRule* rule : scheme_rules()) {
    const ResidualPath path{Scheme{*rule, parameters_by_hand()}, kLayers};
    ASSERT_NE(rule->backward, nullptr) << rule->id;
    for (const Schedule schedule : rule->schedules) {
      for (const auto mode : {GradientAccumulation::autograd, GradientAccumulation::fused,
                              GradientAccumulation::per_block}) {
        SCOPED_TRACE(std::string(rule->id) + ' ' + std::string(name(schedule)));
        auto layers = backward_layers(path, schedule, mode);
        if (rule->output == nullptr) layers.pop_back();
        for (const BackwardLayer& layer : layers) {
          EXPECT_GE(layer.traffic.activation_reads_d, 1);
          EXPECT_GE(layer.traffic.gradient_reads_d, 0);
          EXPECT_GE(layer.traffic.gradient_writes_d, 1);
          EXPECT_GE(layer.kernels, 1);
        }
      }
    }
  }
}

/// What autograd's pairwise additions cost more than sums in the kernel, summed over layers, is
/// what accumulation_d() says of a whole pass.
TEST(BackwardLayers, OfSharedSourcesDifferByWhatAccumulationCosts) {
  for (const SchemeRule* rule : scheme_rules()) {
    if (rule->backward->accumulation_d == nullptr || rule->schedules.size() == 1) continue;
    const ResidualPath path{Scheme{*rule, parameters_by_hand()}, kLayers};
    const auto total = [&](GradientAccumulation mode) {
      return total_d(sum(path, shipped_schedule(path.scheme), mode));
    };
    EXPECT_EQ(total(GradientAccumulation::autograd) - total(GradientAccumulation::fused),
              accumulation_d(path, GradientAccumulation::autograd) -
                  accumulation_d(path, GradientAccumulation::fused))
        << rule->id;
  }
}

}  // namespace
}  // namespace depthcost::backward_test
