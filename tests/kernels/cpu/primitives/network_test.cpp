// AttnRes networks of CPU kernels, chained by the reference's code, against the same in float64.
// Without norms, whose invariance to scale would hide wrong weights.
#include <gtest/gtest.h>

#include "kernels/reference/eager_network.hpp"
#include "kernels/reference/two_phase_network.hpp"
#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test::network_test {
namespace {

using reference::AttnResBuffers;
using reference::AttnResNetwork;
using reference::SumUpdate;

constexpr std::size_t kTokens = 5;
constexpr std::size_t kSize = 2304;
constexpr std::size_t kLayers = 11;

/// The last block is short.
const std::vector<std::size_t> kBlocks{4, 4, 3};
const std::vector<std::size_t> kOnes(kLayers, 1);

enum class Execution { single_pass, two_phase, full_two_phase, unfused };

/// What every layer saw, and the output aggregation, one after the other.
using Seen = std::vector<double>;

const auto on_cpu = [](const auto& op) { cpu::run(op); };
const auto on_reference = [](const auto& op) { reference::run(op); };

/// Parameters of every layer, and values in bf16 that all storage types hold exactly.
struct Parameters {
  Tensor<float> queries{kLayers + 1, 1, kSize};
  Tensor<Bf16> embedding{1, kTokens, kSize};
  Tensor<Bf16> values{kLayers, kTokens, kSize};  // f_l, whatever the layer's input

  Parameters() {
    fill_query(queries);
    fill(embedding, 3, 2);
    fill(values, 4, 1);
  }
};

/// Chains operations in storage T, Phase 1's outputs in O.
template <class T, class O, class Run>
Seen trace(Execution execution, const std::vector<std::size_t>& blocks, const Run& run,
           SumUpdate update = SumUpdate::folded) {
  const Parameters parameters;
  const std::size_t count = kTokens * kSize;
  const auto converted = [](const auto* from, auto* to, std::size_t size) {
    using To = std::remove_pointer_t<decltype(to)>;
    for (std::size_t i = 0; i < size; ++i)
      to[i] = reference::round_to<To>(reference::to_double(from[i]));
  };
  std::vector<Scalar<T>> queries((kLayers + 1) * kSize);
  std::vector<T> embedding(count);
  converted(parameters.queries.data(), queries.data(), queries.size());
  converted(parameters.embedding.data(), embedding.data(), count);

  const AttnResNetwork<T> network{.num_tokens = kTokens,
                                  .hidden_size = kSize,
                                  .block_sizes = blocks,
                                  .queries = queries.data()};
  AttnResBuffers<T> buffers(network, kLayers + 1, embedding.data());
  Seen seen;
  const auto keep = [&](const T* x) {
    for (std::size_t i = 0; i < count; ++i) seen.push_back(reference::to_double(x[i]));
  };
  const auto layer = [&](std::size_t l, const T* x, T* f) {
    keep(x);
    converted(parameters.values.at(l - 1, 0), f, count);
  };
  if (execution == Execution::single_pass)
    reference::run_single_pass(network, buffers, update, layer, run);
  if (execution == Execution::two_phase)
    reference::run_two_phase<O>(network, buffers, update, layer, run);
  if (execution == Execution::full_two_phase)
    reference::run_full_two_phase<O>(network, buffers, layer, run);
  if (execution == Execution::unfused) reference::run_unfused(network, buffers, layer, run);
  keep(buffers.layer_input.data());
  return seen;
}

double relative_error(const Seen& actual, const Seen& expected) {
  SquaredError error;
  if (actual.size() != expected.size()) return std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < actual.size(); ++i) error.add(actual[i], expected[i]);
  return error.relative();
}

TEST(NetworkOnCpu, IsTheSameInEveryScheduleInFloat) {
  const Seen exact = trace<double, double>(Execution::single_pass, kBlocks, on_reference);
  for (const SumUpdate update : {SumUpdate::folded, SumUpdate::closing_apart, SumUpdate::apart})
    for (const Execution execution : {Execution::single_pass, Execution::two_phase})
      EXPECT_LE(relative_error(trace<float, float>(execution, kBlocks, on_cpu, update), exact),
                float_tolerance(kLargestLogit));
  EXPECT_LE(relative_error(trace<float, float>(Execution::unfused, kBlocks, on_cpu), exact),
            float_tolerance(kLargestLogit));
}

/// N = L: blocks of one layer are Full AttnRes, in one pass and in the two phases of its own.
TEST(NetworkOnCpu, IsFullAttnResWithBlocksOfOneLayer) {
  const Seen exact = trace<double, double>(Execution::full_two_phase, kBlocks, on_reference);
  for (const Execution execution : {Execution::single_pass, Execution::two_phase})
    EXPECT_LE(relative_error(trace<float, float>(execution, kOnes, on_cpu), exact),
              float_tolerance(kLargestLogit));
  EXPECT_LE(relative_error(trace<float, float>(Execution::full_two_phase, kBlocks, on_cpu), exact),
            float_tolerance(kLargestLogit));
}

/// In bf16 a partial sum is rounded at every layer, in any schedule: the error of the reference in
/// the same storage is the floor.
TEST(NetworkOnCpu, StaysNearTheFloorInBf16) {
  const Seen exact = trace<double, double>(Execution::single_pass, kBlocks, on_reference);
  const double floor =
      relative_error(trace<Bf16, Bf16>(Execution::single_pass, kBlocks, on_reference), exact);
  const auto error = [&](const Seen& seen) { return relative_error(seen, exact); };
  EXPECT_LE(error(trace<Bf16, Bf16>(Execution::single_pass, kBlocks, on_cpu)),
            kFloorFactor * floor);
  EXPECT_LE(error(trace<Bf16, Bf16>(Execution::two_phase, kBlocks, on_cpu)), 2 * floor);
  EXPECT_LE(error(trace<Bf16, float>(Execution::two_phase, kBlocks, on_cpu)), kFloorFactor * floor);
  EXPECT_LE(relative_error(trace<Bf16, Bf16>(Execution::full_two_phase, kBlocks, on_cpu),
                           trace<double, double>(Execution::single_pass, kOnes, on_reference)),
            2 * floor);
}

}  // namespace
}  // namespace depthcost::test::network_test
