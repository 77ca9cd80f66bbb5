// A step reads the weights of every layer once, and runs the launches of the schedule.
#include "microbench/cases/decode_step.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "kernels/operations/operations.hpp"
#include "kernels/reference/run.hpp"
#include "model/ledger/path_operations.hpp"
#include "model/schemes/list.hpp"

namespace depthcost::bench::step_test {
namespace {

constexpr StepShape kSmall{.num_tokens = 2, .hidden_size = 16, .num_layers = 10, .block_size = 4};

Scheme scheme_of(const StepKind& kind) {
  if (kind.scheme == "mhc") return Scheme{schemes::kMhc, {.num_streams = 4}};
  if (kind.scheme == "block_attnres")
    return Scheme{schemes::kBlockAttnRes,
                  {.blocks = partition_by_size(kSmall.num_layers, kSmall.block_size)}};
  return Scheme{schemes::kStandard};
}

TEST(Step, StreamsEveryLayersWeightsBeforeWhatTheScheduleLaunches) {
  const auto memory = host_arena(std::size_t{16} << 20);
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

/// A branch that runs an operation at once, or as late as it may.
class Deferred {
 public:
  enum class Runs { at_the_fork, at_the_join };
  explicit Deferred(Runs runs) : runs_(runs) {}

  void fork() const { EXPECT_TRUE(std::exchange(is_joined_, false)); }
  template <class Op>
  void run(const Op& op) const {
    check(op);
    EXPECT_FALSE(is_joined_);
    waiting_ = [op] { reference::run(op); };
    if (runs_ == Runs::at_the_fork) waiting_();
  }
  void join() const {
    EXPECT_FALSE(std::exchange(is_joined_, true));
    if (runs_ == Runs::at_the_join) waiting_();
    ++joins_;
  }
  int joins() const { return joins_; }
  bool is_joined() const { return is_joined_; }

 private:
  Runs runs_;
  mutable std::function<void()> waiting_;
  mutable bool is_joined_ = true;
  mutable int joins_ = 0;
};

/// Bank, partial sum and every layer's input, in the order in which a step leaves them.
template <class RunStep>
std::vector<float> trace_of(const StepShape& shape, const RunStep& run_step_of) {
  const auto memory = host_arena(std::size_t{16} << 20);
  Operands operands(*memory, shape.num_tokens);
  const auto step = step_operands<Bf16>(shape, operands);
  std::vector<float> trace;
  const auto append = [&](const Bf16* values, std::size_t rows) {
    for (std::size_t i = 0; i < rows * shape.num_tokens * shape.hidden_size; ++i)
      trace.push_back(static_cast<float>(values[i]));
  };
  run_step_of(step, [&](const auto& op) {
    check(op);
    reference::run(op);
    append(step.attnres.output, 1);
  });
  append(step.attnres.partial_sum, 1);
  append(step.attnres.bank, static_cast<std::size_t>(step.attnres.blocks.num_blocks));
  return trace;
}

// The two branches are correct if the second may run as early or as late as the events allow.
TEST(HoistedStep, LeavesWhatTheOneInOrderDoesHoweverLateTheBranchRuns) {
  for (const Count num_layers : {10, 9, 8}) {  // two, one and four layers in the last block
    StepShape shape = kSmall;
    shape.num_layers = num_layers;
    const auto no_weights = [](Count) {};
    const auto in_order = trace_of(shape, [&](const auto& step, const auto& run) {
      run_step(step, {"block_attnres", Schedule::two_phase}, num_layers, no_weights, run);
    });
    for (const auto runs : {Deferred::Runs::at_the_fork, Deferred::Runs::at_the_join}) {
      const Deferred branch(runs);
      const auto hoisted = trace_of(shape, [&](const auto& step, const auto& run) {
        run_hoisted_step(step, no_weights, run, branch);
      });
      EXPECT_EQ(hoisted, in_order) << num_layers;
      EXPECT_TRUE(branch.is_joined()) << "a capture may not end with an open branch";
      EXPECT_EQ(branch.joins(), (num_layers + 2) / 4) << num_layers;
    }
  }
}

TEST(HoistedStep, StreamsEveryLayersWeightsBesideTheBranch) {
  const auto memory = host_arena(std::size_t{16} << 20);
  Operands operands(*memory, kSmall.num_tokens);
  const auto step = step_operands<Bf16>(kSmall, operands);
  const Deferred branch(Deferred::Runs::at_the_join);
  std::vector<Count> streamed;
  std::vector<Count> beside;
  run_hoisted_step(
      step,
      [&](Count layer) {
        streamed.push_back(layer);
        if (!branch.is_joined()) beside.push_back(layer);
      },
      [](const auto&) {}, branch);
  EXPECT_EQ(streamed, (std::vector<Count>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(beside, (std::vector<Count>{1, 5, 9}));
}

TEST(Step, IsNamedByAllThatItDependsOn) {
  EXPECT_EQ(step_name({.num_tokens = 8}, kHoistedStep),
            "step/block_attnres/two_phase_hoisted/bf16/T:8/d:2304/L:48/S:8/W:8388608");
  EXPECT_EQ(step_name({.num_tokens = 8}, kStepKinds[3]),
            "step/block_attnres/single_pass/bf16/T:8/d:2304/L:48/S:8/W:8388608");
}

}  // namespace
}  // namespace depthcost::bench::step_test
