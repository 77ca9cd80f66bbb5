// A step streams the weights of every layer once, and runs what the schedule launches.
#include "microbench/step.hpp"

#include <gtest/gtest.h>

#include "kernels/check.hpp"
#include "model/path_operations.hpp"

namespace depthcost::bench {
namespace {

constexpr StepShape kSmall{.num_tokens = 2, .hidden_size = 16, .num_layers = 10, .block_size = 4};

Scheme scheme_of(const StepKind& kind) {
  if (kind.scheme == "mhc") return Mhc{.num_streams = 4};
  if (kind.scheme == "block_attnres")
    return BlockAttnRes{partition_by_size(kSmall.num_layers, kSmall.block_size)};
  return Standard{};
}

TEST(Step, StreamsEveryLayersWeightsBeforeWhatTheScheduleLaunches) {
  const auto memory = host_space(std::size_t{16} << 20);
  for (const StepKind& kind : kStepKinds) {
    memory->reset();
    Operands operands(*memory, kSmall.num_tokens);
    const auto step = step_operands<Bf16>(kSmall, operands);
    Count layers = 0;
    std::size_t launches = 0;
    run_step(
        step, kind, kSmall.num_layers, [&](Count layer) { EXPECT_EQ(layer, layers++); },
        [&](const auto& op) {
          check(op);
          EXPECT_GT(layers, 0);
          ++launches;
        });
    EXPECT_EQ(layers, kSmall.num_layers) << kind.scheme;
    const ResidualPath path{scheme_of(kind), kSmall.num_layers};
    EXPECT_EQ(launches, all_operations(path, kind.schedule).size())
        << kind.scheme << " " << name(kind.schedule);
  }
}

TEST(Step, IsNamedByAllThatItDependsOn) {
  EXPECT_EQ(step_name({.num_tokens = 8}, kStepKinds[3]),
            "step/block_attnres/single_pass/bf16/T:8/d:2304/L:48/S:8/W:8388608");
}

}  // namespace
}  // namespace depthcost::bench
