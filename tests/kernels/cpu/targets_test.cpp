// Every SIMD target that this machine can run, not only the best, against the reference.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>

#include "tests/kernels/cpu/attnres_ablation_problems.hpp"
#include "tests/kernels/cpu/dense_mix_problems.hpp"
#include "tests/kernels/cpu/eager_gated_problems.hpp"
#include "tests/kernels/cpu/eager_problems.hpp"
#include "tests/kernels/cpu/laurel_accuracy.hpp"
#include "tests/kernels/cpu/row_problems.hpp"

namespace depthcost::test::targets_test {
namespace {

/// Dispatch goes to `targets` while this lives.
class OnlyTargets {
 public:
  explicit OnlyTargets(std::int64_t targets) { restrict_to(targets); }
  ~OnlyTargets() { restrict_to(0); }
  OnlyTargets(const OnlyTargets&) = delete;
  OnlyTargets& operator=(const OnlyTargets&) = delete;

 private:
  static void restrict_to(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().DeInit();
  }
};

/// Those of kernels/cpu/primitives/targets.hpp on x86 that the kernels are compiled for; elsewhere
/// there is one. A better target has a lower bit.
std::vector<std::int64_t> runnable_targets() {
  std::vector<std::int64_t> targets{0};
#if HWY_ARCH_X86
  for (const std::int64_t target : {HWY_SSSE3, HWY_AVX2, HWY_AVX3})
    if (target <= DEPTHCOST_LEAST_TARGET && (hwy::SupportedTargets() & target) != 0)
      targets.push_back(target);
#endif
  return targets;
}

template <class T>
void expect_attnres_matches(std::size_t d) {
  for (const std::size_t joining : {nothing, stored_sum, added_sum, closed_block, forgotten_sum})
    expect_matches<SinglePassProblem<T>>(SinglePassShape{7, d, 9, joining, d % 2}, kLargestLogit);
  for (const std::size_t keys : {0U, 1U, 2U})
    expect_matches<VariantProblem<T>>(VariantShape{{7, d, 9, added_sum, 1}, 1, keys, 0, 1}, 20.0);
  if (d % 4 == 0)
    expect_matches<VariantProblem<T>>(VariantShape{{7, d, 9, forgotten_sum, 1}, 4, 0, 0, 0},
                                      kLargestLogit);
  expect_matches<Phase1Problem<T, T>>(Phase1Shape{7, d, 5, 8, 1, d % 2}, kLargestLogit);
  expect_matches<Phase1Problem<T, float>>(Phase1Shape{7, d, 3, 5, 0, 0}, kLargestLogit);
  expect_matches<Phase2Problem<T, T>>(Phase2Shape{7, d, 0, 1, d % 2}, kLargestLogit);
  expect_matches<Phase2Problem<T, float>>(Phase2Shape{7, d, 3, 0, 1}, kLargestLogit);
}

/// With few tokens of LAuReL, and with many.
template <class T>
void expect_altup_matches(std::size_t d) {
  expect_matches<AltupPredictProblem<T>>(AltupShape{7, d, 3});
  for (const std::size_t num_tokens : {7U, 101U})
    for (const std::size_t rank : {5U, 65U})
      expect_matches<AltupLaurelProblem<T>>(AltupShape{num_tokens, d, rank});
  expect_matches<AltupMiddleProblem<T>>(AltupShape{7, d, 3});
  expect_matches<AltupCorrectProblem<T>>(AltupShape{7, d, 3});
}

template <class T>
void expect_other_schemes_match(std::size_t d) {
  for (const std::size_t m : {1U, 3U, 4U}) {
    expect_matches<HcBoundaryProblem<T>>(MhcShape{7, d, m, 1, 0});
    expect_matches<SinglePassMhcProblem<T>>(MhcShape{7, d, m, 1, 1});
  }
  for (const std::size_t rank : {5U, 32U}) {
    expect_matches<GatedApplyDownProblem<T>>(GateShape{7, d, 2, rank});
    expect_matches_after<GatedUpMixProblem<T>>(GateShape{7, d, 2, rank}, 0, round_activations<T>);
    expect_matches<UnfusedGateDownProblem<T>>(GateShape{7, d, 2, rank});
    expect_matches<UnfusedGateUpProblem<T>>(GateShape{7, d, 2, rank});
  }
  for (const std::size_t function : {0U, 1U, 2U})
    expect_matches<UnfusedActivationProblem<T>>(GateShape{7, d, 2, function});
  expect_matches<UnfusedGatedNormProblem<T>>(GateShape{7, d, 3, 1});
  expect_matches<UnfusedGateProductProblem<T>>(GateShape{7, d, 3, 1});
  expect_matches<UnfusedStreamMeanProblem<T>>(GateShape{7, d, 3, 1});
  for (const std::size_t stores : {only_input, stored_mix, stored_stream})
    expect_matches<DenseMixProblem<T>>(DenseShape{7, d, 3, stores, d % 2});
}

template <class T>
void expect_all_match(std::size_t d) {
  expect_other_schemes_match<T>(d);
  expect_attnres_matches<T>(d);
  expect_altup_matches<T>(d);
#define DEPTHCOST_EXPECT_MATCH(Op, name) expect_matches<Op##Problem<T>>(RowShape{7, d, d % 2});
  DEPTHCOST_ROW_OPERATIONS(DEPTHCOST_EXPECT_MATCH)
#undef DEPTHCOST_EXPECT_MATCH
  expect_matches<UnfusedKeyNormProblem<T>>(StackShape{7, d, 3});
  expect_matches<UnfusedScoresProblem<T>>(StackShape{7, d, 3});
  expect_matches<UnfusedMixProblem<T>>(StackShape{7, d, 3});
  for (const std::size_t m : {1U, 3U, 4U}) {
    expect_matches<MhcPreProblem<T>>(MhcShape{7, d, m, 1, 0});
    expect_matches<MhcPostProblem<T>>(MhcShape{7, d, m, 1, 0});
    expect_matches<MhcBoundaryProblem<T>>(MhcShape{7, d, m, 1, 1});
    expect_matches<UnfusedMhcPostProblem<T>>(MhcShape{7, d, m, 0, 0});
    expect_matches<UnfusedMhcMergeProblem<T>>(MhcShape{7, d, m, 0, 0});
  }
}

TEST(EveryTargetOnCpu, MatchesTheReference) {
  for (const std::int64_t target : runnable_targets()) {
    const OnlyTargets only(target);
    for (const std::size_t d : {7U, 64U, 2304U, 4111U}) {
      SCOPED_TRACE("target " + std::to_string(target) + ", d " + std::to_string(d));
      expect_all_match<float>(d);
      expect_all_match<Bf16>(d);
      if (testing::Test::HasFailure()) return;
    }
    expect_matches<SinkhornProblem>(SinkhornShape{21, 4, 20, SinkhornOrder::col_row});
  }
}

constexpr std::size_t kUpperHalves = 65536;

/// Calls check(floats) with every upper half of a float, for lower halves next to a tie and others.
template <class Check>
void for_all_upper_halves(const Check& check) {
  std::vector<float> exact(kUpperHalves);
  for (const std::uint32_t lower : {0U, 1U, 0x7EU, 0x7FFFU, 0x8000U, 0x8001U, 0xFF01U, 0xFFFFU}) {
    for (std::uint32_t upper = 0; upper < kUpperHalves; ++upper)
      exact[upper] = std::bit_cast<float>(upper << 16 | lower);
    check(exact);
  }
}

/// h = 0 h + lambda 1 stores lambda, and goes on with what it stored.
TEST(EveryTargetOnCpu, RoundsToTheNearestEven) {
  const std::vector<Bf16> ones(kUpperHalves, Bf16(1));
  const std::vector<float> gain(kUpperHalves, 1);
  std::vector<Bf16> stored(kUpperHalves), normed(kUpperHalves);
  for (const std::int64_t target : runnable_targets()) {
    const OnlyTargets only(target);
    for_all_upper_halves([&](const std::vector<float>& exact) {
      std::fill(stored.begin(), stored.end(), Bf16(0));
      ScaledAddRmsNorm<Bf16> op;
      op.num_tokens = 1;
      op.hidden_size = op.num_scales = kUpperHalves;
      op.hidden_state = stored.data();
      op.layer_output = ones.data();
      op.hidden_scale = 0;
      op.scales = exact.data();
      op.norm.gain = gain.data();
      op.output = normed.data();
      cpu::run(op);
      for (std::size_t i = 0; i < kUpperHalves; ++i)
        ASSERT_EQ(stored[i].bits, Bf16(exact[i] + 0.0F).bits) << target << ' ' << exact[i];
    });
  }
}

/// x = 1 gain is stored and not used again, which takes another conversion where there is one.
TEST(EveryTargetOnCpu, RoundsOutputsToTheNearestEven) {
  const std::vector<Bf16> ones(kUpperHalves, Bf16(1));
  std::vector<Bf16> stored(kUpperHalves);
  for (const std::int64_t target : runnable_targets()) {
    const OnlyTargets only(target);
    for_all_upper_halves([&](const std::vector<float>& exact) {
      std::fill(stored.begin(), stored.end(), Bf16(-1));
      UnfusedRmsNorm<Bf16> op;
      op.num_tokens = 1;
      op.hidden_size = kUpperHalves;
      op.input = ones.data();
      op.norm.gain = exact.data();
      op.norm.eps = 0;
      op.output = stored.data();
      cpu::run(op);
      for (std::size_t i = 0; i < kUpperHalves; ++i)
        ASSERT_EQ(stored[i].bits, Bf16(exact[i] * 1.0F).bits) << target << ' ' << exact[i];
    });
  }
}

}  // namespace
}  // namespace depthcost::test::targets_test
