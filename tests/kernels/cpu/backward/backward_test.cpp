// Backward passes on the CPU against the reference in float64, over shapes and at their edges.
#include <gtest/gtest.h>
#include <omp.h>

#include "kernels/cpu/run.hpp"
#include "kernels/cpu/tuning.hpp"
#include "tests/kernels/cpu/backward/backward_checks.hpp"

namespace depthcost::test::backward_cpu_test {
namespace {

struct OnCpu {
  template <class Op>
  static void run(const Op& op) {
    cpu::run(op);
  }
  static std::vector<Levels> cases(const std::vector<Levels>& factors,
                                   const std::function<bool(const Levels&)>& is_feasible) {
    return covering_cases(factors, is_feasible);
  }
};
using Checks = BackwardChecks<OnCpu>;

TEST(BackwardOnCpu, OfRowOperationsMatchesTheReference) { Checks::row_operations(); }
TEST(BackwardOnCpu, OfAttnResMatchesTheReference) { Checks::single_pass(); }
TEST(BackwardOnCpu, OfPhase2MatchesTheReference) { Checks::phase2(); }
TEST(BackwardOnCpu, OfPhase1MatchesTheReference) { Checks::phase1(); }
TEST(BackwardOnCpu, OfMhcPostMatchesTheReference) { Checks::mhc_post(); }
TEST(BackwardOnCpu, OfMhcPreMatchesTheReference) { Checks::mhc_pre(); }
TEST(BackwardOnCpu, OfAnMhcBoundaryMatchesTheReference) { Checks::mhc_boundary(); }
TEST(BackwardOnCpu, OfAttnResIsRightAtItsEdges) { Checks::edges_of_attnres(); }

// Rows of 4,000 bytes are aligned to a vector now and then.
TEST(BackwardOnCpu, OfSoManyRowsThatUpdatesMayBypassTheCachesMatchesTheReference) {
  for (const std::size_t width : {std::size_t{1000}, std::size_t{1024}}) {
    const BackwardShape shape{1100, width, 1, 1, 1, 3, 0};
    ASSERT_GE(shape.num_tokens * width * sizeof(float), cpu::kStreamBytes);
    ResidualAddRmsNormBackwardProblem<float> residual(shape);
    Checks::expect_matches_reference(residual);
    Phase2BackwardProblem<float> phase2(shape);
    Checks::expect_matches_reference(phase2);
  }
}

template <class Problem>
void expect_repeatable_bits(const BackwardShape& shape) {
  Problem first(shape);
  cpu::run(first.op);
  const int num_threads = omp_get_max_threads();
  for (const int threads : {num_threads, 1, 2, 3}) {
    omp_set_num_threads(threads);
    Problem again(shape);
    cpu::run(again.op);
    expect_same_bits(first, again, " with " + std::to_string(threads) + " threads");
  }
  omp_set_num_threads(num_threads);
}

TEST(BackwardOnCpu, IsRepeatableWithAnyNumberOfThreads) {
  const BackwardShape shape{61, 2048, 4, 3, 1, 8, 1};
#define DEPTHCOST_REPEAT(Op, name) expect_repeatable_bits<Op##Problem<Bf16>>(shape);
  DEPTHCOST_RESIDUAL_BACKWARD_OPERATIONS(DEPTHCOST_REPEAT)
#undef DEPTHCOST_REPEAT
  expect_repeatable_bits<SinglePassBackwardProblem<Bf16>>(shape);
  expect_repeatable_bits<Phase1BackwardProblem<Bf16>>(shape);
  expect_repeatable_bits<Phase2BackwardProblem<Bf16>>(shape);
  expect_repeatable_bits<MhcPostBackwardProblem<Bf16>>(shape);
  expect_repeatable_bits<MhcPreBackwardProblem<Bf16>>(shape);
  expect_repeatable_bits<MhcBoundaryBackwardProblem<Bf16>>(shape);
}

}  // namespace
}  // namespace depthcost::test::backward_cpu_test
