// A forward pass moves the bytes of the ledger, and kernels accept its operations.
#include "microbench/cases/attnres_forward.hpp"

#include <gtest/gtest.h>

#include "kernels/operations/operations.hpp"
#include "kernels/reference/run.hpp"
#include "tests/microbench/cases/element_counter.hpp"

namespace depthcost::bench::forward_test {
namespace {

/// Kimi K3's layers and blocks; the width does not matter here.
const Partition kBlocks = partition_by_size(186, 24);
constexpr Shape kShape{.num_tokens = 3, .hidden_size = 16};

struct Pass {
  std::unique_ptr<Arena> memory = host_arena(std::size_t{16} << 20);
  Operands operands{*memory, kShape.num_tokens};
  AttnResForward<Bf16> pass = attnres_forward<Bf16>(kBlocks, kShape, operands);
};

TEST(AttnResForward, MovesWhatTheLedgerSays) {
  for (const Schedule schedule : {Schedule::single_pass, Schedule::two_phase}) {
    Pass forward;
    ElementCounter counter;
    std::size_t num_operations = 0;
    run_forward(forward.pass, schedule, [&](const auto& op) {
      check(op);
      reference::run(op, counter);
      ++num_operations;
    });
    EXPECT_EQ(num_operations, 187U);
    const auto T = static_cast<double>(kShape.num_tokens);
    const double vectors = T * static_cast<double>(kShape.hidden_size);
    const Traffic expected = forward_traffic(kBlocks, schedule);
    EXPECT_EQ(counter.reads / vectors, expected.reads_d);
    EXPECT_EQ(counter.writes / vectors, expected.writes_d);
    EXPECT_EQ(counter.scalar_reads / T, expected.reads_scalars);
    EXPECT_EQ(counter.scalar_writes / T, expected.writes_scalars);
  }
}

TEST(AttnResForward, OfKimiK3IsWorthTwoPhases) {
  EXPECT_EQ(total_d(forward_traffic(kBlocks, Schedule::single_pass)), 1545);
  EXPECT_EQ(total_d(forward_traffic(kBlocks, Schedule::two_phase)), 1121);
}

TEST(AttnResForward, LeavesTheSameOutputUnderBothSchedules) {
  std::vector<std::vector<float>> outputs;
  for (const Schedule schedule : {Schedule::single_pass, Schedule::two_phase}) {
    Pass forward;
    run_forward(forward.pass, schedule, [](const auto& op) { reference::run(op); });
    const Bf16* output = forward.pass.output;
    std::vector<float>& values = outputs.emplace_back();
    for (std::size_t i = 0; i < kShape.num_tokens * kShape.hidden_size; ++i)
      values.push_back(static_cast<float>(output[i]));
  }
  EXPECT_EQ(outputs[0], outputs[1]);
}

}  // namespace
}  // namespace depthcost::bench::forward_test
