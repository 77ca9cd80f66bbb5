// Backward passes on the device against the reference in float64, over shapes and at their edges.
#include "tests/kernels/cpu/backward/backward_checks.hpp"
#include "tests/kernels/cuda/backward_operands.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::backward_cuda_test {
namespace {

class BackwardOnDevice : public OnDevice {};

struct OnGpu {
  template <class Op>
  static void run(const Op& op) {
    run_on_device(op);
  }
  static std::vector<Levels> cases(const std::vector<Levels>& factors,
                                   const std::function<bool(const Levels&)>& is_feasible) {
    return covering_cases_on_device(factors, [&](const Levels& levels) {
      return levels[0] <= most_test_tokens() && is_feasible(levels);
    });
  }
};
using Checks = BackwardChecks<OnGpu>;

TEST_F(BackwardOnDevice, OfRowOperationsMatchesTheReference) { Checks::row_operations(); }
TEST_F(BackwardOnDevice, OfAttnResMatchesTheReference) { Checks::single_pass(); }
TEST_F(BackwardOnDevice, OfPhase2MatchesTheReference) { Checks::phase2(); }
TEST_F(BackwardOnDevice, OfPhase1MatchesTheReference) { Checks::phase1(); }
TEST_F(BackwardOnDevice, OfMhcPostMatchesTheReference) { Checks::mhc_post(); }
TEST_F(BackwardOnDevice, OfMhcPreMatchesTheReference) { Checks::mhc_pre(); }
TEST_F(BackwardOnDevice, OfAnMhcBoundaryMatchesTheReference) { Checks::mhc_boundary(); }
TEST_F(BackwardOnDevice, OfAttnResIsRightAtItsEdges) { Checks::edges_of_attnres(); }

/// A row in registers, one that is too long for them, and one that has no whole vectors; more
/// sources, queries and streams than are added up at once.
TEST_F(BackwardOnDevice, MatchesTheReferenceInEveryVariant) {
  for (const std::size_t d : {264, 8200, 67}) {
    SCOPED_TRACE("d " + std::to_string(d));
    const std::size_t T = d > 1000 ? 1 : 3;
#define DEPTHCOST_MATCH(Op, name) Checks::expect_matches_in_both<Op##Problem>({T, d, 1, 1, 1, 2});
    DEPTHCOST_RESIDUAL_BACKWARD_OPERATIONS(DEPTHCOST_MATCH)
#undef DEPTHCOST_MATCH
    Checks::expect_matches_in_both<SinglePassBackwardProblem>({T, d, 9, 1, 1, 2, 1});
    Checks::expect_matches_in_both<SinglePassBackwardProblem>(
        {T, d, 2, 1, 0, 1, 1, GradientStore::overwrite});
    Checks::expect_matches_in_both<Phase2BackwardProblem>({T, d, 1, 1, 1, 2});
    Checks::expect_matches_in_both<Phase1BackwardProblem>({T, d, 9, 3, 1, 2});
    Checks::expect_matches_in_both<MhcPostBackwardProblem>({T, d, 4});
    const std::size_t width = d / 4 * 4 == d ? 64 : 61;
    Checks::expect_matches_in_both<MhcPreBackwardProblem>({T + 4, width, 4, 1, 1, 2});
    Checks::expect_matches_in_both<MhcBoundaryBackwardProblem>({T + 4, width, 4, 1, 1, 2});
  }
}

template <class Problem>
void expect_repeatable_bits(const BackwardShape& shape) {
  Problem first(shape);
  run_on_device(first.op);
  Problem again(shape);
  run_on_device(again.op, {.overlap = cuda::Overlap::programmatic});
  expect_same_bits(first, again, " of another run, with overlap");
}

TEST_F(BackwardOnDevice, IsRepeatable) {
  const BackwardShape shape{7, 264, 4, 3, 1, 3, 1};
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
}  // namespace depthcost::test::backward_cuda_test
