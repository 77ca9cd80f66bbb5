// Every operation on rows on the device against the reference, over shapes.
#include "tests/kernels/cpu/row_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::row_operations_test {
namespace {

class RowOperationsOnDevice : public OnDevice {};

template <template <class> class Op, class T>
void expect_all_match(const char* operation) {
  const auto is_feasible = [](const Levels& l) {
    return 3 * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  // Rows that one warp, four slices, or no registers hold, and odd ones.
  Levels sizes = kHiddenLevels;
  for (const std::size_t size : {120U, 512U, 8200U, 32768U, 40000U, 2305U}) sizes.push_back(size);
  for (const Levels& l : covering_cases_on_device({kTokenLevels, sizes, {0, 1}}, is_feasible)) {
    SCOPED_TRACE(operation + (" T, d, vector:" + text_of(l)));
    expect_matches_on_device<RowProblem<Op, T>>(RowShape{l[0], l[1], l[2]});
    if (testing::Test::HasFailure()) return;
  }
}

#define DEPTHCOST_FLOAT(Op, name) expect_all_match<Op, float>(#name);
#define DEPTHCOST_BF16(Op, name) expect_all_match<Op, Bf16>(#name);
TEST_F(RowOperationsOnDevice, MatchTheReferenceInFloat){
    DEPTHCOST_ROW_OPERATIONS(DEPTHCOST_FLOAT)} TEST_F(RowOperationsOnDevice,
                                                      MatchTheReferenceInBf16) {
  DEPTHCOST_ROW_OPERATIONS(DEPTHCOST_BF16)
}

}  // namespace
}  // namespace depthcost::test::row_operations_test
