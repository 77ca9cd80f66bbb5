// The pieces of Gated Residual on the device against the reference, over shapes.
#include "tests/kernels/cpu/eager_gated_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::eager_gated_test {
namespace {

template <class T>
class EagerGatedOnDevice : public OnDevice {};
using Storage = testing::Types<float, Bf16>;
TYPED_TEST_SUITE(EagerGatedOnDevice, Storage);

/// In rows of up to `most` elements of D or U.
template <template <class> class Problem, class T>
void expect_all_match(std::size_t most, const Accuracy& accuracy = {}) {
  const auto is_feasible = [&](const Levels& l) { return l[1] * l[2] * l[3] <= most; };
  for (const Levels& l : covering_cases_on_device({{0, 1, 3, 17, 65, 260, 1100},
                                                   {1, 7, 64, 72, 100, 2560},
                                                   {1, 2, 3, 4, 5},
                                                   {1, 8, 33, 65, 72, 320}},
                                                  is_feasible)) {
    SCOPED_TRACE("T, d, n, r:" + text_of(l));
    expect_matches_on_device<Problem<T>>(GateShape{l[0], l[1], l[2], l[3]}, accuracy);
    if (testing::Test::HasFailure()) return;
  }
}
constexpr std::size_t kMostWeights = 4'000'000;

/// Of sums in float by tensor cores, whose terms have lost nothing.
template <class T>
constexpr Accuracy kSumAccuracy{.float_tolerance = sizeof(T) == 2 ? 1e-4 : 0};

TYPED_TEST(EagerGatedOnDevice, NormMatchesTheReference) {
  expect_all_match<UnfusedGatedNormProblem, TypeParam>(kMostWeights);
}
TYPED_TEST(EagerGatedOnDevice, DownMatchesTheReference) {
  expect_all_match<UnfusedGateDownProblem, TypeParam>(kMostWeights, kSumAccuracy<TypeParam>);
}
TYPED_TEST(EagerGatedOnDevice, UpMatchesTheReference) {
  expect_all_match<UnfusedGateUpProblem, TypeParam>(kMostWeights);
}
TYPED_TEST(EagerGatedOnDevice, ActivationMatchesTheReference) {
  expect_all_match<UnfusedActivationProblem, TypeParam>(kMostWeights);
}
TYPED_TEST(EagerGatedOnDevice, ProductMatchesTheReference) {
  expect_all_match<UnfusedGateProductProblem, TypeParam>(kMostWeights);
}
TYPED_TEST(EagerGatedOnDevice, MeanMatchesTheReference) {
  expect_all_match<UnfusedStreamMeanProblem, TypeParam>(kMostWeights);
}

/// Both variants of a product, whatever cases the covering has chosen for this run: several pieces,
/// the last one in part, rows and tokens that fill no tile.
TYPED_TEST(EagerGatedOnDevice, EveryVariantOfAProductMatches) {
  using T = TypeParam;
  for (const GateShape& shape : {GateShape{19, 40, 4, 72}, GateShape{3, 7, 3, 5},
                                 GateShape{1, 136, 1, 8}, GateShape{24, 24, 2, 200}}) {
    SCOPED_TRACE("T " + std::to_string(shape.num_tokens) + ", d " +
                 std::to_string(shape.hidden_size));
    expect_matches_on_device<UnfusedGateDownProblem<T>>(shape, kSumAccuracy<T>);
    expect_matches_on_device<UnfusedGateUpProblem<T>>(shape, Accuracy{});
  }
}

TYPED_TEST(EagerGatedOnDevice, EveryFunctionMatches) {
  for (const std::size_t function : {0U, 1U, 2U})
    for (const std::size_t size : {3U, 40U})
      expect_matches_on_device<UnfusedActivationProblem<TypeParam>>(GateShape{3, size, 3, function},
                                                                    Accuracy{});
}

/// Scalars may begin anywhere.
TEST(EagerGatedScalarsOnDevice, NeedNoAlignment) {
  if (!cuda::has_device()) GTEST_SKIP() << "no CUDA device";
  std::vector<float> z(24, 1), y(24, 0);
  DeviceBuffers buffers;
  float* to = y.data();
  const float* from = z.data();
  buffers.move(from, z.size());
  buffers.move(to, y.size());
  buffers.upload();
  cuda::run(UnfusedActivation<float>{1, 20, 1, GateFunction::silu, from + 1, to + 3}, {});
  buffers.download();
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(y[i], i < 3 || i == 23 ? 0 : 1 / (1 + std::exp(-1.0)), 1e-6) << i;
}

}  // namespace
}  // namespace depthcost::test::eager_gated_test
