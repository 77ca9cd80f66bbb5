// The name and the order of workload points.
#include "model/step/workload_id.hpp"

#include <gtest/gtest.h>

namespace depthcost::workload_id_test {
namespace {

TEST(WorkloadId, HasTheNameOfItsKindAndASequenceCountWhereItDecodes) {
  EXPECT_EQ(name(WorkloadId::decode(64)), "decode/64");
  EXPECT_EQ(name(WorkloadId::prefill()), "prefill");
  EXPECT_EQ(name(WorkloadId::training()), "training");
}

/// As text "decode/16" would come before "decode/2".
TEST(WorkloadId, OrdersDecodeStepsByTheirSequences) {
  EXPECT_LT(WorkloadId::decode(2), WorkloadId::decode(16));
  EXPECT_LT(WorkloadId::decode(512), WorkloadId::prefill());
}

}  // namespace
}  // namespace depthcost::workload_id_test
