// Hyper-connections in one scan on the device against the reference, over shapes.
#include "tests/kernels/cpu/hyper_connections_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::hyper_connections_test {
namespace {

class HyperConnectionsOnDevice : public OnDevice {};

template <class T>
void expect_streams_match() {
  const auto is_feasible = [](const Levels& l) {
    return (2 * l[2] + 2) * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  for (const Levels& l : covering_cases_on_device(
           {kTokenLevels, kHiddenLevels, {1, 2, 3, 4, 5, 8, 12}, {0, 1}, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, m, norm, in place:" + text_of(l));
    const MhcShape shape{l[0], l[1], l[2], l[3], l[4]};
    expect_matches_on_device<HcBoundaryProblem<T>>(shape);
    expect_matches_on_device<SinglePassMhcProblem<T>>(shape, kMhcAccuracy<T>);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(HyperConnectionsOnDevice, StreamsMatchTheReferenceInFloat) { expect_streams_match<float>(); }
TEST_F(HyperConnectionsOnDevice, StreamsMatchTheReferenceInBf16) { expect_streams_match<Bf16>(); }

}  // namespace
}  // namespace depthcost::test::hyper_connections_test
