// The ledger's second derivation: closed forms against sums over layers, and the `kernel` and
// `physical` rows against a machine that holds every vector by name and counts what is touched.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "model/ledger/arithmetic.hpp"
#include "model/ledger/path_operations.hpp"
#include "model/schemes/list.hpp"
#include "tests/model/operations/vector_machine.hpp"

namespace depthcost::ledger_properties_test {
namespace {

using test::bank_row;
using test::VectorMachine;

Scheme any_attnres(Count num_layers) {
  const Count size = *rc::gen::inRange<Count>(1, num_layers + 1);
  const Count count = *rc::gen::inRange<Count>(1, num_layers + 1);
  const Partition partition = *rc::gen::element(
      partition_by_size(num_layers, size), partition_by_count(num_layers, count, Remainder::paper));
  if (*rc::gen::arbitrary<bool>()) return Scheme{schemes::kFullAttnRes, {.blocks = partition}};
  return Scheme{schemes::kBlockAttnRes, {.blocks = partition}};
}

ResidualPath any_path() {
  const Count num_layers = *rc::gen::inRange<Count>(1, 80);
  const Count num_streams = *rc::gen::inRange<Count>(1, 9);
  const Scheme scheme = *rc::gen::element<Scheme>(
      Scheme{schemes::kStandard}, Scheme{schemes::kMhc, {.num_streams = num_streams}},
      any_attnres(num_layers));
  return {scheme, num_layers};
}

TEST(Ledger, ClosedFormEqualsSumOverLayers) {
  EXPECT_TRUE(rc::check([] {
    const ResidualPath path = any_path();
    for (const Counting counting : countings_of(path.scheme)) {
      if (counting.convention == Convention::paper) continue;  // a mean, not a sum of layers
      const std::vector<Traffic> layers = layer_traffics(path, counting);
      Traffic sum;
      for (Count layer = 1; layer <= path.num_layers; ++layer) {
        RC_ASSERT(layers[static_cast<std::size_t>(layer - 1)] ==
                  layer_traffic(path, counting, layer));
        sum += layer_traffic(path, counting, layer);
      }
      RC_ASSERT(total_traffic(path, counting) == sum);
    }
  }));
}

/// Block AttnRes as single_pass kernels run it: read every source once, fold b += f and the bank
/// write into the kernel that reads them. A block of one layer leaves f in the bank.
VectorMachine run_single_pass(const std::vector<Count>& sizes) {
  VectorMachine machine;
  machine.produce(bank_row(0));
  Count previous_size = 0;
  for (Count n = 1; n <= static_cast<Count>(sizes.size()); ++n) {
    const Count size = sizes[static_cast<std::size_t>(n - 1)];
    for (Count i = 1; i <= size; ++i) {
      const Count stored_rows = i == 1 && n > 1 ? n - 1 : n;
      for (Count row = 0; row < stored_rows; ++row) machine.read(bank_row(row));
      if (i == 1 && n > 1) {
        if (previous_size > 1) machine.read("partial");
        machine.read("f");
        if (previous_size > 1)
          machine.write(bank_row(n - 1));
        else
          machine.produce(bank_row(n - 1));
      }
      if (i == 2) machine.read("f");
      if (i > 2) {
        machine.read("partial");
        machine.read("f");
        machine.write("partial");
      }
      machine.write("x");
      machine.produce(i == 1 ? "partial" : "f");  // the first output of a block is its partial sum
      machine.produce("f");
    }
    previous_size = size;
  }
  return machine;
}

TEST(KernelConvention, SinglePassEqualsAMachineThatTouchesEveryVector) {
  EXPECT_TRUE(rc::check([] {
    const Count num_layers = *rc::gen::inRange<Count>(1, 60);
    const Partition partition =
        partition_by_size(num_layers, *rc::gen::inRange<Count>(1, num_layers + 1));
    const ResidualPath path{Scheme{schemes::kBlockAttnRes, {.blocks = partition}}, num_layers};
    const Traffic total = total_traffic(path, {Schedule::single_pass, Convention::kernel});
    const VectorMachine machine = run_single_pass(block_sizes(partition));
    RC_ASSERT(total == machine.traffic());
  }));
}

TEST(BlockAttnRes, WithBlocksOfOneLayerIsFullAttnRes) {
  EXPECT_TRUE(rc::check([] {
    const Count num_layers = *rc::gen::inRange<Count>(1, 60);
    const Partition ones = partition_by_size(num_layers, 1);
    const ResidualPath block{Scheme{schemes::kBlockAttnRes, {.blocks = ones}}, num_layers};
    const ResidualPath full{Scheme{schemes::kFullAttnRes, {.blocks = ones}}, num_layers};
    RC_ASSERT(aggregation(block) == aggregation(full));
    for (const Schedule schedule :
         {Schedule::single_pass, Schedule::two_phase, Schedule::unfused}) {
      const Counting counting{schedule, Convention::kernel};
      RC_ASSERT(total_traffic(block, counting) == total_traffic(full, counting));
      RC_ASSERT(output_traffic(block, counting) == output_traffic(full, counting));
    }
  }));
}

TEST(Aggregation, CountsWhatALoopOverLayersCounts) {
  EXPECT_TRUE(rc::check([] {
    const Count num_layers = *rc::gen::inRange<Count>(1, 80);
    const ResidualPath path{any_attnres(num_layers), num_layers};
    Count rows = 0;
    Count most = 0;
    for (const PlacedOperation& entry : all_operations(path, Schedule::single_pass)) {
      rows += entry.operation.sources;
      most = std::max(most, entry.operation.sources);
    }
    RC_ASSERT(aggregation(path).source_rows == rows);
    RC_ASSERT(aggregation(path).max_sources == most);
  }));
}

TEST(Flops, OfSinglePassAreSevenPerPair) {
  EXPECT_TRUE(rc::check([] {
    const Count num_layers = *rc::gen::inRange<Count>(1, 60);
    const ResidualPath path{any_attnres(num_layers), num_layers};
    const double pairs = static_cast<double>(aggregation(path).source_rows);
    RC_ASSERT(total_flops(path, Schedule::single_pass, 64).value == 7 * 64 * pairs);
    RC_ASSERT(total_flops(path, Schedule::two_phase, 64).value <= 7 * 64 * pairs);
  }));
}

}  // namespace
}  // namespace depthcost::ledger_properties_test
