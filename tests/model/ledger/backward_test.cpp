// Layer by layer against the closed sums of whole paths, and against counts of kernels one by one.
#include "model/ledger/backward.hpp"
#include "model/machine/catalogue.hpp"
#include "model/schemes/backward_parts.hpp"
#include "model/schemes/list.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/schemes/list.hpp"
#include "tests/model/schemes/by_hand.hpp"

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

// 31 d, 23 d and 19 d at m = 4: two kernels and a product, one kernel and the product, and the
// least possible.
TEST(BackwardLayers, OfMhcAreThoseOfItsKernels) {
  EXPECT_EQ(d_of_a_layer({Scheme{schemes::kMhc, {.num_streams = 4}}, 2}, Schedule::fused), 31);
  EXPECT_EQ(d_of_a_layer({Scheme{schemes::kMhc, {.num_streams = 4}}, 2}, Schedule::one_pass), 19);
  EXPECT_EQ(d_of_a_layer({Scheme{schemes::kMhc, {.num_streams = 4}}, 2}, Schedule::two_pass), 23);
  // coefficients 2m, pre 2m + 1, norm 3, post m + 2, residual 3m, two additions 3m each.
  EXPECT_EQ(d_of_a_layer({Scheme{schemes::kMhc, {.num_streams = 4}}, 2}, Schedule::unfused),
            8 + 9 + 3 + 6 + 12 + 24);
}

// The kernels of TileKernels, and the least possible.
TEST(BackwardLayers, OfMhcHaveThoseOfOthersBesideThem) {
  const SchemeParameters four{.num_streams = 4};
  std::vector<double> d;
  std::vector<double> kernels;
  for (const OtherBackwardCount& other : schemes::kMhc.backward->others) {
    d.push_back(total_d(other.layer({four, 1, 2}).traffic));
    kernels.push_back(other.layer({four, 1, 2}).kernels);
  }
  EXPECT_EQ(d, (std::vector<double>{39, 19}));
  EXPECT_EQ(kernels, (std::vector<double>{3, 1}));
}

GradientTraffic moved(const Operation& operation) {
  return scheme_parts::backward_of(operation, 1).traffic;
}

/// What a kernel moves in layer `at` of a path of `blocks`; nothing where the layer does not call
/// it.
GradientTraffic moved_by(std::string_view kernel, const LayerPosition& at, double m) {
  using namespace operations;
  if (kernel == kMhcPreBackward.text) return moved(mhc_pre_backward(m));
  if (kernel == kMhcPostBackward.text) return moved(mhc_post_backward(m));
  if (kernel == kMhcBoundaryBackward.text) return moved(mhc_boundary_backward(m));
  if (kernel == kAttnresSinglePassBackward.text)
    return moved(single_pass_backward(static_cast<double>(at.block), at.index > 1 ? 1 : 0));
  if (kernel == kAttnresPhase1Backward.text)
    return at.index == 1 ? moved(phase1_backward(at.block, at.size)) : GradientTraffic{};
  if (kernel == kAttnresPhase2Backward.text)
    return at.index > 1 ? moved(phase2_backward()) : GradientTraffic{};
  // An operation on the rows of a token moves the same in each layer.
  const CatalogueEntry* entry = find_entry(kernel);
  if (entry != nullptr && entry->sources.empty() && !entry->has_queries && !entry->has_streams)
    return moved(entry->operation({}));
  ADD_FAILURE() << kernel;
  return {};
}

// Every schedule of every scheme that names kernels moves what their rows say, in every layer.
// Only these two ways to add up gradients are in the kernels; autograd adds with its own.
TEST(BackwardLayers, MoveWhatTheirKernelsDo) {
  constexpr Count kLayers = 23;
  int num_held = 0;
  for (const SchemeRule* rule : schemes::kRules) {
    if (rule->backward == nullptr || rule->backward->gradients == nullptr) continue;
    const bool is_full = rule == &schemes::kFullAttnRes;
    const SchemeParameters parameters{.num_streams = 4,
                                      .blocks = partition_by_size(kLayers, is_full ? 1 : 5)};
    const ResidualPath path{Scheme{*rule, parameters}, kLayers};
    for (const Schedule schedule : rule->schedules)
      for (const auto mode : {GradientAccumulation::fused, GradientAccumulation::per_block}) {
        SCOPED_TRACE(fmt::format("{} {} {}", rule->id, name(schedule), name(mode)));
        const auto kernels = rule->backward->gradients(schedule, mode).kernels;
        if (kernels.empty()) continue;
        const auto layers = backward_layers(path, schedule, mode);
        for (Count layer = 1; layer <= kLayers; ++layer, ++num_held) {
          const LayerPosition at = position_of_layer(parameters.blocks, layer);
          GradientTraffic expected;
          for (const std::string_view kernel : kernels) expected += moved_by(kernel, at, 4);
          EXPECT_EQ(layers.at(static_cast<std::size_t>(layer) - 1).traffic, expected) << layer;
        }
      }
  }
  EXPECT_GT(num_held, 12 * kLayers);
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

/// Every scheme can be trained: in each schedule and with gradients added up in each way, a layer
/// reads what arrives and writes a gradient, in a kernel at least, and keeps what it reads.
TEST(BackwardLayers, OfEverySchemeAreCounted) {
  for (const SchemeRule* rule : scheme_rules()) {
    const ResidualPath path = by_hand::trained_path(*rule);
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
    const ResidualPath path = by_hand::trained_path(*rule);
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
