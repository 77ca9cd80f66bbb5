// A token's bits in batches of different sizes.
#include "tests/kernels/cpu/altup_problems.hpp"
#include "tests/kernels/cpu/attnres_ablation_problems.hpp"
#include "tests/kernels/cpu/dense_mix_problems.hpp"
#include "tests/kernels/cpu/eager_gated_problems.hpp"
#include "tests/kernels/cpu/row_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::batch_test {
namespace {

class BatchOnDevice : public OnDevice {};

/// One token, too few for every SM, and more than SMs.
const std::size_t kBatches[] = {1, 3, std::min<std::size_t>(700, most_test_tokens())};

/// Whether the first token of both has the same bits in every row.
template <class T>
bool begin_alike(const Tensor<T>& a, const Tensor<T>& b) {
  for (std::size_t row = 0; row < a.num_rows(); ++row)
    if (std::memcmp(a.at(row, 0), b.at(row, 0), a.size() * sizeof(T)) != 0) return false;
  return true;
}

/// Whether the first token's results are the same in every batch.
template <class Problem, class Shape>
bool is_invariant(Shape shape, cuda::Batch batch) {
  shape.num_tokens = kBatches[0];
  Problem alone(shape);
  run_on_device(alone.op, {.batch = batch});
  bool all_alike = true;
  for (const std::size_t num_tokens : kBatches) {
    shape.num_tokens = num_tokens;
    Problem problem(shape);
    run_on_device(problem.op, {.batch = batch});
    for_each_output(alone, problem, [&](const auto& a, const auto& b, const std::string&) {
      all_alike = all_alike && begin_alike(a, b);
    });
  }
  return all_alike;
}

template <class Problem, class Shape>
void expect_invariant(const char* operation, const Shape& shape) {
  EXPECT_TRUE((is_invariant<Problem>(shape, cuda::Batch::invariant))) << operation;
}

/// The operations whose plan depends on the number of tokens.
TEST_F(BatchOnDevice, DecidesNoBitsWhereThatIsAskedFor) {
  expect_invariant<SinglePassProblem<float>>("attnres_single_pass",
                                             SinglePassShape{0, 2304, 4, added_sum, 1});
  expect_invariant<SinglePassProblem<Bf16>>("attnres_single_pass",
                                            SinglePassShape{0, 7168, 4, added_sum, 1});
  expect_invariant<VariantProblem<float>>("attnres_single_pass by head",
                                          VariantShape{{0, 2048, 4, added_sum, 1}, 4, 0, 0, 0});
  expect_invariant<Phase1Problem<Bf16, float>>("attnres_phase1", Phase1Shape{0, 2304, 4, 3, 1, 1});
  expect_invariant<Phase2Problem<float, float>>("attnres_phase2", Phase2Shape{0, 2304, 2, 1, 1});
  expect_invariant<GatedApplyDownProblem<Bf16>>("gated_residual_apply_down",
                                                GateShape{0, 512, 4, 24});
  expect_invariant<MhcPreProblem<Bf16>>("mhc_pre", MhcShape{0, 2304, 4, 1, 0});
  expect_invariant<MhcBoundaryProblem<Bf16>>("mhc_boundary", MhcShape{0, 2304, 4, 1, 0});
  expect_invariant<SinglePassMhcProblem<Bf16>>("single_pass_mhc", MhcShape{0, 2304, 4, 1, 0});
}

/// A row is split where tokens are few, and its sums are added up in another order.
TEST_F(BatchOnDevice, DecidesBitsWhereSpeedIsAskedFor) {
  const auto fastest = cuda::Batch::fastest;
  EXPECT_FALSE(
      (is_invariant<SinglePassProblem<float>>(SinglePassShape{0, 2304, 4, added_sum, 1}, fastest)));
  EXPECT_FALSE((is_invariant<Phase2Problem<float, float>>(Phase2Shape{0, 2304, 2, 1, 1}, fastest)));
}

template <template <class> class Op>
void expect_invariant_rows(const char* operation) {
  EXPECT_TRUE((is_invariant<RowProblem<Op, Bf16>>(RowShape{0, 2304, 0}, cuda::Batch::fastest)))
      << operation;
}

TEST_F(BatchOnDevice, DecidesNoBitsElsewhere) {
#define DEPTHCOST_INVARIANT(Op, name) expect_invariant_rows<Op>(#name);
  DEPTHCOST_ROW_OPERATIONS(DEPTHCOST_INVARIANT)
#undef DEPTHCOST_INVARIANT
  const auto fastest = cuda::Batch::fastest;
  EXPECT_TRUE((is_invariant<MhcPostProblem<Bf16>>(MhcShape{0, 2304, 4, 1, 0}, fastest)));
  EXPECT_TRUE((is_invariant<GatedUpMixProblem<Bf16>>(GateShape{0, 512, 4, 24}, fastest)));
  EXPECT_TRUE((is_invariant<UnfusedGateDownProblem<Bf16>>(GateShape{0, 512, 4, 24}, fastest)));
  EXPECT_TRUE((is_invariant<UnfusedGateUpProblem<Bf16>>(GateShape{0, 512, 4, 24}, fastest)));
  EXPECT_TRUE((is_invariant<DenseMixProblem<Bf16>>(DenseShape{0, 2304, 4, 0, 1}, fastest)));
  EXPECT_TRUE((is_invariant<AltupPredictProblem<Bf16>>(AltupShape{0, 2304, 4}, fastest)));
  EXPECT_TRUE((is_invariant<AltupLaurelProblem<Bf16>>(AltupShape{0, 2304, 64}, fastest)));
  EXPECT_TRUE((is_invariant<AltupMiddleProblem<Bf16>>(AltupShape{0, 2304, 4}, fastest)));
  EXPECT_TRUE((is_invariant<AltupCorrectProblem<Bf16>>(AltupShape{0, 2304, 4}, fastest)));
}

}  // namespace
}  // namespace depthcost::test::batch_test
