// Every operation on rows on the CPU: against the reference over shapes, again, and with arguments
// that are wrong.
#include "tests/kernels/cpu/row_problems.hpp"

namespace depthcost::test::row_operations_test {
namespace {

template <template <class> class Op, class T>
void expect_all_match(const char* operation) {
  const auto is_feasible = [](const Levels& l) {
    return 3 * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  for (const Levels& l : covering_cases({kTokenLevels, kHiddenLevels, {0, 1}}, is_feasible)) {
    SCOPED_TRACE(operation + (" T, d, vector:" + text_of(l)));
    expect_matches<RowProblem<Op, T>>(RowShape{l[0], l[1], l[2]});
    if (testing::Test::HasFailure()) return;
  }
}

template <template <class> class Op>
void expect_repeated_bits() {
  expect_repeatable<RowProblem<Op, float>>(RowShape{65, 1031, 0});
  expect_repeatable<RowProblem<Op, Bf16>>(RowShape{65, 2304, 1});
  expect_repeatable<RowProblem<Op, Bf16>>(RowShape{301, 7168, 1});
}

/// Each operand in turn is null.
template <class Problem>
void expect_all_refused() {
  int num_operands = 0;
  const RowShape shape{3, 8, 1};
  Problem problem(shape);
  each_operand(problem.op, [&](const auto*, OperandShape) { ++num_operands; });
  EXPECT_GT(num_operands, 1);
  for (int is_null = 0; is_null < num_operands; ++is_null)
    expect_refused<Problem>(shape, [&](auto& op) {
      int index = 0;
      each_operand(op, [&](auto*& operand, OperandShape) {
        if (index++ == is_null) operand = nullptr;
      });
    });
}

#define DEPTHCOST_FLOAT(Op, name) expect_all_match<Op, float>(#name);
#define DEPTHCOST_BF16(Op, name) expect_all_match<Op, Bf16>(#name);
TEST(RowOperationsOnCpu, MatchTheReferenceInFloat){
    DEPTHCOST_ROW_OPERATIONS(DEPTHCOST_FLOAT)} TEST(RowOperationsOnCpu, MatchTheReferenceInBf16){
    DEPTHCOST_ROW_OPERATIONS(DEPTHCOST_BF16)}
#define DEPTHCOST_REPEAT(Op, name) expect_repeated_bits<Op>();
TEST(RowOperationsOnCpu, AreRepeatable){DEPTHCOST_ROW_OPERATIONS(DEPTHCOST_REPEAT)}

#define DEPTHCOST_REFUSE(Op, name) expect_all_refused<Op##Problem<float>>();
TEST(RowOperationsOnCpu, WriteNothingIfAnArgumentIsWrong) {
  DEPTHCOST_ROW_OPERATIONS(DEPTHCOST_REFUSE)
}

}  // namespace
}  // namespace depthcost::test::row_operations_test
