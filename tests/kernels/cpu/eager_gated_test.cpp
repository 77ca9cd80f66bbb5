// The pieces of Gated Residual on the CPU against the reference, over shapes.
#include "tests/kernels/cpu/eager_gated_problems.hpp"
#include "tests/kernels/cpu/run.hpp"
#include "tests/kernels/reference/eager_site.hpp"

namespace depthcost::test::eager_gated_test {
namespace {

template <class T>
class EagerGatedOnCpu : public testing::Test {};
using Storage = testing::Types<float, Bf16>;
TYPED_TEST_SUITE(EagerGatedOnCpu, Storage);

/// Every size meets every other, in rows of up to `most` elements of D or U.
template <template <class> class Problem, class T>
void expect_all_match(std::size_t most) {
  const auto is_feasible = [&](const Levels& l) { return l[1] * l[2] * l[3] <= most; };
  for (const Levels& l : covering_cases(
           {{0, 1, 3, 17, 65, 131}, {1, 7, 64, 72, 100, 2560}, {1, 2, 3, 4}, {1, 8, 33, 65, 320}},
           is_feasible)) {
    SCOPED_TRACE("T, d, n, r:" + text_of(l));
    expect_matches<Problem<T>>(GateShape{l[0], l[1], l[2], l[3]});
    if (testing::Test::HasFailure()) return;
  }
}
constexpr std::size_t kMostWeights = 1'000'000;
constexpr std::size_t kAnyRank = 10'000'000;

TYPED_TEST(EagerGatedOnCpu, NormMatchesTheReference) {
  expect_all_match<UnfusedGatedNormProblem, TypeParam>(kAnyRank);
}
TYPED_TEST(EagerGatedOnCpu, DownMatchesTheReference) {
  expect_all_match<UnfusedGateDownProblem, TypeParam>(kMostWeights);
}
TYPED_TEST(EagerGatedOnCpu, UpMatchesTheReference) {
  expect_all_match<UnfusedGateUpProblem, TypeParam>(kMostWeights);
}
TYPED_TEST(EagerGatedOnCpu, ActivationMatchesTheReference) {
  expect_all_match<UnfusedActivationProblem, TypeParam>(kAnyRank);
}
TYPED_TEST(EagerGatedOnCpu, ProductMatchesTheReference) {
  expect_all_match<UnfusedGateProductProblem, TypeParam>(kAnyRank);
}
TYPED_TEST(EagerGatedOnCpu, MeanMatchesTheReference) {
  expect_all_match<UnfusedStreamMeanProblem, TypeParam>(kAnyRank);
}

TYPED_TEST(EagerGatedOnCpu, IsRepeatable) {
  const GateShape shape{65, 1031, 4, 33};
  expect_repeatable<UnfusedGatedNormProblem<TypeParam>>(shape);
  expect_repeatable<UnfusedGateDownProblem<TypeParam>>(shape);
  expect_repeatable<UnfusedGateUpProblem<TypeParam>>(shape);
  expect_repeatable<UnfusedActivationProblem<TypeParam>>(shape);
  expect_repeatable<UnfusedGateProductProblem<TypeParam>>(shape);
  expect_repeatable<UnfusedStreamMeanProblem<TypeParam>>(shape);
}

TEST(EagerGatedArguments, WriteNothingIfOneIsWrong) {
  const GateShape shape{3, 8, 2, 4};
  const auto without_input = [](auto& op) { op.input = nullptr; };
  expect_refused<UnfusedGatedNormProblem<float>>(shape, [](auto& op) { op.gain = nullptr; });
  expect_refused<UnfusedGateDownProblem<Bf16>>(shape, [](auto& op) { op.num_outputs = 0; });
  expect_refused<UnfusedGateUpProblem<float>>(shape, [](auto& op) { op.rank = 0; });
  expect_refused<UnfusedActivationProblem<Bf16>>(shape, without_input);
  expect_refused<UnfusedGateProductProblem<float>>(shape, without_input);
  expect_refused<UnfusedStreamMeanProblem<Bf16>>(shape, [](auto& op) { ++op.streams; });
}

/// Saturated gates are 0 and 1, and what is no number stays none.
TEST(EagerGatedActivation, TakesAnyNumber) {
  const float huge = std::numeric_limits<float>::max();
  const float z[] = {-huge, -100, 0, 100, huge, std::numeric_limits<float>::quiet_NaN()};
  const float gates[] = {0, 0, 0.5F, 1, 1};
  for (const GateFunction function : {GateFunction::sigmoid, GateFunction::twice_sigmoid}) {
    float y[6] = {};
    cpu::run(UnfusedActivation<float>{1, 6, 1, function, z, y});
    const float factor = function == GateFunction::sigmoid ? 1 : 2;
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(y[i], factor * gates[i], 1e-6) << i;
    EXPECT_TRUE(std::isnan(y[5]));
  }
}

/// Relative L2 of `actual` from `expected`.
template <class T>
double error_of(const Tensor<T>& actual, const Tensor<T>& expected) {
  SquaredError error;
  for (std::size_t i = 0; i < actual.count(); ++i)
    error.add(reference::to_double(actual.data()[i]), reference::to_double(expected.data()[i]));
  return error.relative();
}

/// All pieces in a row against the reference of the two passes. Bf16 loses up to 2^-9 of a row
/// seven times: of the terms, the streams, Xn, the logits, the gates, their products, and the mean.
TYPED_TEST(EagerGatedOnCpu, PiecesComputeWhatTheTwoPassesDo) {
  using T = TypeParam;
  for (const GateShape& shape : {GateShape{19, 264, 4, 40}, GateShape{1, 7, 3, 1}}) {
    GatedApplyDownProblem<T> first(shape);
    GatedUpMixProblem<T> second(shape);
    Tensor<T> terms(gated_streams<T>(shape)), streams(gated_streams<T>(shape));
    Tensor<T> normed(gated_streams<T>(shape)), logits(gated_streams<T>(shape));
    Tensor<T> gates(gated_streams<T>(shape)), gated(gated_streams<T>(shape));
    Tensor<T> output(1, shape.num_tokens, shape.hidden_size);
    Tensor<float> projected(1, shape.num_tokens, shape.rank);
    Tensor<float> activation(1, shape.num_tokens, shape.rank);
    Tensor<float> projected_inject(1, shape.num_tokens, shape.num_streams);
    Tensor<float> next_inject(1, shape.num_tokens, shape.num_streams);
    GatedApplyDown<T>& down = first.op;
    run_pieces(EagerSite<T>{shape.num_tokens,
                            shape.hidden_size,
                            shape.num_streams,
                            shape.rank,
                            down.streams,
                            down.layer_output,
                            down.inject,
                            down.gain,
                            down.down,
                            down.inject_weights,
                            second.op.up,
                            terms.data(),
                            streams.data(),
                            normed.data(),
                            projected.data(),
                            activation.data(),
                            projected_inject.data(),
                            next_inject.data(),
                            logits.data(),
                            gates.data(),
                            gated.data(),
                            output.data()},
               [](const auto& op) { cpu::run(op); });
    GatedUpMix<T>& up = second.op;
    up.streams = down.next_streams;
    up.inverse_rms = down.inverse_rms;
    up.gain = down.gain;
    up.activation = down.activation;
    reference::run(down);
    reference::run(up);
    const double tolerance = sizeof(T) == 2 ? 7 * 0x1p-9 : 1e-5;
    EXPECT_LE(error_of(streams, first.next_streams), tolerance);
    EXPECT_LE(error_of(next_inject, first.next_inject), tolerance);
    EXPECT_LE(error_of(output, second.output), tolerance);
  }
}

}  // namespace
}  // namespace depthcost::test::eager_gated_test
