// Each function of the C interface yields the bits, or the error, of the C++ function it wraps.
#include <gtest/gtest.h>

#include "kernels/cpu/run.hpp"
#include "kernels/operations/operations.hpp"
#include "tests/kernels/c/run.hpp"
#include "tests/kernels/cpu/altup_problems.hpp"
#include "tests/kernels/cpu/attnres_ablation_problems.hpp"
#include "tests/kernels/cpu/backward/backward_problems.hpp"
#include "tests/kernels/cpu/dense_mix_problems.hpp"
#include "tests/kernels/cpu/eager_gated_problems.hpp"
#include "tests/kernels/cpu/eager_problems.hpp"
#include "tests/kernels/cpu/row_problems.hpp"

namespace depthcost::test::operations_test {
namespace {

// Values of their own in every member that has a default.
void set_parameters(NextNorm& norm) { norm.eps = 0.25F; }
void set_parameters(MhcMapping& mapping) {
  mapping.eps = 0.125F;
  mapping.iterations = 3;
}
template <class Op>
void set_parameters(Op& op) {
  if constexpr (requires { op.norm; }) set_parameters(op.norm);
  if constexpr (requires { op.output_norm; }) op.output_norm.eps = 0.125F;
  if constexpr (requires { op.router; }) op.router.norm.eps = 0.5F;
  if constexpr (requires { op.mapping; }) set_parameters(op.mapping);
  if constexpr (requires { op.key_eps; }) op.key_eps = 0.5F;
  if constexpr (requires { op.eps; }) op.eps = 0.375F;
}

template <class Problem, class Shape>
void expect_same_bits(const Shape& shape) {
  Problem in_cpp(shape);
  Problem in_c(shape);
  set_parameters(in_cpp.op);
  set_parameters(in_c.op);
  cpu::run(in_cpp.op);
  EXPECT_EQ(run_in_c(in_c.op), DEPTHCOST_OK);
  EXPECT_STREQ(depthcost_last_error(), "");
  for_each_output(in_cpp, in_c, [](const auto& a, const auto& b, const std::string& what) {
    EXPECT_TRUE(a.same_bits(b)) << what;
  });
}

template <class Op>
std::string refusal(const Op& op) {
  try {
    check(op);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

template <class Op>
void spoil(Op& op) {
  if constexpr (requires { op.hidden_size; })
    op.hidden_size = 0;
  else if constexpr (requires { op.post.hidden_size; })
    op.post.hidden_size = 0;
  else
    op.num_streams = 0;
}

template <class Problem, class Shape>
void expect_same_refusal(const Shape& shape) {
  const Problem untouched(shape);
  Problem problem(shape);
  spoil(problem.op);
  EXPECT_EQ(run_in_c(problem.op), DEPTHCOST_INVALID_ARGUMENT);
  EXPECT_EQ(depthcost_last_error(), refusal(problem.op));
  EXPECT_STRNE(depthcost_last_error(), "");
  for_each_output(untouched, problem, [](const auto& a, const auto& b, const std::string& what) {
    EXPECT_TRUE(a.same_bits(b)) << what;
  });
}

template <class Problem, class Shape>
void expect_wraps(std::initializer_list<Shape> shapes) {
  for (const Shape& shape : shapes) expect_same_bits<Problem>(shape);
  expect_same_refusal<Problem>(*shapes.begin());
}

template <template <class...> class Problem, class Shape>
void expect_wraps_in_both(std::initializer_list<Shape> shapes) {
  expect_wraps<Problem<float>>(shapes);
  expect_wraps<Problem<Bf16>>(shapes);
}
template <template <class...> class Problem, class Shape>
void expect_wraps_in_all(std::initializer_list<Shape> shapes) {
  expect_wraps<Problem<float, float>>(shapes);
  expect_wraps<Problem<Bf16, Bf16>>(shapes);
  expect_wraps<Problem<Bf16, float>>(shapes);
}

TEST(COperations, OnRows) {
#define DEPTHCOST_EXPECT_WRAPS(Op, name) \
  expect_wraps_in_both<Op##Problem, RowShape>({{5, 24, 0}, {5, 24, 1}});
  DEPTHCOST_ROW_OPERATIONS(DEPTHCOST_EXPECT_WRAPS)
#undef DEPTHCOST_EXPECT_WRAPS
}

TEST(COperations, AttnResSinglePass) {
  expect_wraps_in_both<SinglePassProblem, SinglePassShape>({{5, 24, 3, nothing, 0},
                                                            {5, 24, 3, stored_sum, 1},
                                                            {5, 24, 3, added_sum, 1},
                                                            {5, 24, 3, closed_block, 1},
                                                            {5, 24, 3, forgotten_sum, 1}});
}

TEST(COperations, AttnResVariants) {
  expect_wraps_in_both<VariantProblem, VariantShape>({{{5, 24, 3, added_sum, 1}, 2, 0, 0, 0},
                                                      {{5, 24, 3, added_sum, 1}, 2, 1, 0, 0},
                                                      {{5, 24, 3, nothing, 1}, 1, 2, 0, 1},
                                                      {{5, 24, 3, nothing, 1}, 3, 0, 1, 0}});
}

TEST(COperations, AttnResPhase1) {
  expect_wraps_in_all<Phase1Problem, Phase1Shape>({{5, 24, 3, 4, 0, 0}, {5, 24, 3, 4, 1, 1}});
}

TEST(COperations, AttnResPhase2) {
  expect_wraps_in_all<Phase2Problem, Phase2Shape>({{5, 24, 0, 0, 0}, {5, 24, 2, 1, 1}});
}

TEST(COperations, Mhc) {
  const std::initializer_list<MhcShape> shapes{{5, 24, 3, 0, 0},
                                               {5, 24, 3, 1, 1, SinkhornOrder::row_col}};
  expect_wraps_in_both<MhcPreProblem, MhcShape>(shapes);
  expect_wraps_in_both<MhcPostProblem, MhcShape>(shapes);
  expect_wraps_in_both<MhcBoundaryProblem, MhcShape>(shapes);
}

TEST(COperations, OtherSchemes) {
  const std::initializer_list<MhcShape> shapes{{5, 24, 3, 0, 0},
                                               {5, 24, 3, 1, 1, SinkhornOrder::row_col}};
  expect_wraps_in_both<HcBoundaryProblem, MhcShape>(shapes);
  expect_wraps_in_both<SinglePassMhcProblem, MhcShape>(shapes);
  const std::initializer_list<GateShape> gates{{5, 24, 3, 7}, {5, 24, 3, 7, 1, 1}};
  expect_wraps_in_both<GatedApplyDownProblem, GateShape>(gates);
  expect_wraps_in_both<GatedUpMixProblem, GateShape>(gates);
  expect_wraps_in_both<DenseMixProblem, DenseShape>(
      {{5, 24, 3, only_input, 0}, {5, 24, 3, stored_mix, 1}, {5, 24, 3, stored_stream, 1}});
}

/// All rows that the operation writes, in two problems of the same bits.
template <class Problem>
void expect_same_rows(const Problem& a, const Problem& b) {
  Problem::each_output(a.op, b.op,
                       [](const char* what, const auto* x, const auto* y, std::size_t count) {
                         EXPECT_EQ(0, std::memcmp(x, y, count * sizeof(*x))) << what;
                       });
}

template <class Problem>
void expect_wraps_backward(const BackwardShape& shape) {
  Problem in_cpp(shape);
  Problem in_c(shape);
  set_parameters(in_cpp.op);
  set_parameters(in_c.op);
  cpu::run(in_cpp.op);
  EXPECT_EQ(run_in_c(in_c.op), DEPTHCOST_OK);
  EXPECT_STREQ(depthcost_last_error(), "");
  expect_same_rows(in_cpp, in_c);
  const Problem untouched(shape);
  Problem spoilt(shape);
  const auto op = spoilt.op;
  spoil(spoilt.op);
  EXPECT_EQ(run_in_c(spoilt.op), DEPTHCOST_INVALID_ARGUMENT);
  EXPECT_EQ(depthcost_last_error(), refusal(spoilt.op));
  spoilt.op = op;
  expect_same_rows(untouched, spoilt);
}

template <template <class> class Problem>
void expect_wraps_backward_in_both() {
  for (const GradientStore store : {GradientStore::overwrite, GradientStore::add}) {
    const BackwardShape shape{5, 24, 3, 2, 1, 2, 1, store};
    expect_wraps_backward<Problem<float>>(shape);
    expect_wraps_backward<Problem<Bf16>>(shape);
  }
}

TEST(COperations, Backward) {
#define DEPTHCOST_EXPECT_WRAPS(Op, name) expect_wraps_backward_in_both<Op##Problem>();
  DEPTHCOST_RESIDUAL_BACKWARD_OPERATIONS(DEPTHCOST_EXPECT_WRAPS)
#undef DEPTHCOST_EXPECT_WRAPS
  expect_wraps_backward_in_both<SinglePassBackwardProblem>();
  expect_wraps_backward_in_both<Phase1BackwardProblem>();
  expect_wraps_backward_in_both<Phase2BackwardProblem>();
  expect_wraps_backward_in_both<MhcPostBackwardProblem>();
  expect_wraps_backward_in_both<MhcPreBackwardProblem>();
  expect_wraps_backward_in_both<MhcBoundaryBackwardProblem>();
}

TEST(COperations, Altup) {
  const std::initializer_list<AltupShape> shapes{{5, 24, 3}};
  expect_wraps_in_both<AltupPredictProblem, AltupShape>(shapes);
  expect_wraps_in_both<AltupLaurelProblem, AltupShape>(shapes);
  expect_wraps_in_both<AltupMiddleProblem, AltupShape>(shapes);
  expect_wraps_in_both<AltupCorrectProblem, AltupShape>(shapes);
}

TEST(COperations, Sinkhorn) {
  expect_wraps<SinkhornProblem, SinkhornShape>(
      {{5, 3, 2, SinkhornOrder::col_row}, {5, 3, 4, SinkhornOrder::row_col}});
}

TEST(COperations, UnfusedAttnRes) {
  expect_wraps_in_both<UnfusedStackProblem, StackShape>({{5, 24, 3}});
  expect_wraps_in_both<UnfusedKeyNormProblem, StackShape>({{5, 24, 3}});
  expect_wraps_in_both<UnfusedScoresProblem, StackShape>({{5, 24, 3}});
  expect_wraps_in_both<UnfusedMixProblem, StackShape>({{5, 24, 3}});
}

TEST(COperations, UnfusedMhc) {
  const std::initializer_list<MhcShape> shapes{{5, 24, 3, 0, 0}};
  expect_wraps_in_both<UnfusedMhcCoefficientsProblem, MhcShape>(shapes);
  expect_wraps_in_both<UnfusedMhcPreProblem, MhcShape>(shapes);
  expect_wraps_in_both<UnfusedMhcPostProblem, MhcShape>(shapes);
  expect_wraps_in_both<UnfusedMhcResidualProblem, MhcShape>(shapes);
  expect_wraps_in_both<UnfusedMhcMergeProblem, MhcShape>(shapes);
}

TEST(COperations, UnfusedGatedResidual) {
  const std::initializer_list<GateShape> shapes{{5, 24, 3, 6}, {5, 24, 3, 7}, {5, 24, 3, 8}};
  expect_wraps_in_both<UnfusedGatedNormProblem, GateShape>(shapes);
  expect_wraps_in_both<UnfusedGateDownProblem, GateShape>(shapes);
  expect_wraps_in_both<UnfusedGateUpProblem, GateShape>(shapes);
  expect_wraps_in_both<UnfusedActivationProblem, GateShape>(shapes);  // its three functions
  expect_wraps_in_both<UnfusedGateProductProblem, GateShape>(shapes);
  expect_wraps_in_both<UnfusedStreamMeanProblem, GateShape>(shapes);
}

}  // namespace
}  // namespace depthcost::test::operations_test
