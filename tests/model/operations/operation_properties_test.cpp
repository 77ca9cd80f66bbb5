// A machine that touches named vectors runs every schedule: what each kernel reads and writes, for
// any partition, against the closed forms of conventions `kernel` and `physical`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "model/ledger/ledger.hpp"
#include "model/schemes/list.hpp"
#include "tests/model/operations/vector_machine.hpp"

namespace depthcost::operation_properties_test {
namespace {

using test::bank_row;
using test::VectorMachine;

using Counts = std::vector<Count>;
using Names = std::vector<std::string>;

std::string layer_output(Count layer) { return "f_" + std::to_string(layer); }  // 0: the embedding

/// A layer of one block, as a run of the machine meets it.
struct Place {
  Count layer = 0;
  Count block = 0;
  Count index = 0;
  Count size = 0;
};

/// Calls `visit(place)` for all layers; the machine has its own walk.
template <class Visit>
void walk(const Counts& sizes, const Visit& visit) {
  Place at;
  for (const Count size : sizes) {
    ++at.block;
    at.size = size;
    for (at.index = 1; at.index <= size; ++at.index) {
      ++at.layer;
      visit(at);
    }
  }
}

Names bank_before(Count block) {
  Names rows;
  for (Count n = 0; n < block; ++n) rows.push_back(bank_row(n));
  return rows;
}

Names outputs_before(Count layer) {
  Names rows;
  for (Count l = 0; l < layer; ++l) rows.push_back(layer_output(l));
  return rows;
}

void read_all(VectorMachine& machine, const Names& vectors) {
  for (const std::string& vector : vectors) machine.read(vector);
}

std::string phase1_name(const Place& at, Count index) {
  return "o_" + std::to_string(at.block) + "_" + std::to_string(index);
}

/// o, and beside it m and l.
void write_phase1_outputs(VectorMachine& machine, const Place& at) {
  for (Count index = 2; index <= at.size; ++index) {
    const std::string o = phase1_name(at, index);
    machine.write(o);
    machine.write_scalar("m of " + o);
    machine.write_scalar("l of " + o);
  }
}

void read_phase1_output(VectorMachine& machine, const Place& at) {
  const std::string o = phase1_name(at, at.index);
  machine.read(o);
  machine.read_scalar("m of " + o);
  machine.read_scalar("l of " + o);
}

std::string partial_sum(Count block) { return "sum_" + std::to_string(block); }

/// The layer runs. Its output lies in its own buffer; a block's first output is its partial sum,
/// and the only output of a block is its bank row.
void run_layer(VectorMachine& machine, const Place& at) {
  machine.produce(layer_output(at.layer));
  if (at.index == 1) machine.produce(partial_sum(at.block));
  if (at.size == 1) machine.produce(bank_row(at.block));
}

/// What becomes of b_n = b + f, which the kernel that makes it has at hand and does not read again.
enum class Keep { in_bank, on_chip };

void close_block(VectorMachine& machine, Count block, Count size, Count last_layer, Keep keep) {
  if (size > 1) machine.read(partial_sum(block));
  machine.read(layer_output(last_layer));
  if (size > 1 && keep == Keep::in_bank) machine.write(bank_row(block));
}

void update_partial_sum(VectorMachine& machine, const Place& at) {
  if (at.index > 2) machine.read(partial_sum(at.block));
  machine.read(layer_output(at.layer - 1));
  if (at.index > 2) machine.write(partial_sum(at.block));
}

Traffic block_kernel_two_phase(const Counts& sizes) {
  VectorMachine machine;
  machine.produce(bank_row(0));
  walk(sizes, [&](const Place& at) {
    if (at.index == 1) {  // Phase 1: each row once, for all queries of the block
      if (at.block > 1) {
        const Count previous = sizes[static_cast<std::size_t>(at.block - 2)];
        close_block(machine, at.block - 1, previous, at.layer - 1, Keep::in_bank);
      }
      read_all(machine, bank_before(at.block > 1 ? at.block - 1 : 1));
      write_phase1_outputs(machine, at);
    } else {  // Phase 2
      read_phase1_output(machine, at);
      update_partial_sum(machine, at);
    }
    machine.write("x");
    run_layer(machine, at);
  });
  return machine.traffic();
}

Traffic block_kernel_output(const Counts& sizes) {
  const auto num_blocks = static_cast<Count>(sizes.size());
  VectorMachine machine;
  machine.produce(bank_row(0));
  Count layers = 0;
  walk(sizes, [&](const Place& at) {
    run_layer(machine, at);
    machine.produce(bank_row(at.block));
    layers = at.layer;
  });
  close_block(machine, num_blocks, sizes.back(), layers, Keep::on_chip);
  read_all(machine, bank_before(num_blocks));
  machine.write("x");
  return machine.traffic();
}

Traffic full_kernel_single_pass(const Counts& groups) {
  VectorMachine machine;
  machine.produce(layer_output(0));
  walk(groups, [&](const Place& at) {
    read_all(machine, outputs_before(at.layer));
    machine.write("x");
    run_layer(machine, at);
  });
  return machine.traffic();
}

Traffic full_kernel_two_phase(const Counts& groups) {
  VectorMachine machine;
  machine.produce(layer_output(0));
  walk(groups, [&](const Place& at) {
    const Count before_group = at.layer - at.index;
    if (at.index == 1) {
      read_all(machine, outputs_before(at.layer));
      write_phase1_outputs(machine, at);
    } else {
      read_phase1_output(machine, at);
      for (Count l = before_group + 1; l < at.layer; ++l) machine.read(layer_output(l));
    }
    machine.write("x");
    run_layer(machine, at);
  });
  return machine.traffic();
}

/// Eager mode over `sources`: stack, norm of the keys, scores, mix, next norm.
void run_eagerly(VectorMachine& machine, const Names& sources) {
  for (const std::string& v : sources) {
    machine.read(v);
    machine.write("stacked " + v);
  }
  for (const std::string& v : sources) {
    machine.read("stacked " + v);
    machine.write("key " + v);
  }
  for (const std::string& v : sources) {
    machine.read("key " + v);
    machine.write_scalar("score " + v);
  }
  for (const std::string& v : sources) {
    machine.read_scalar("score " + v);
    machine.read("stacked " + v);
  }
  machine.write("h");
  machine.read("h");
  machine.write("x");
}

Traffic block_kernel_unfused(const Counts& sizes) {
  VectorMachine machine;
  machine.produce(bank_row(0));
  walk(sizes, [&](const Place& at) {
    Names sources = bank_before(at.block);
    if (at.index > 1) sources.push_back(partial_sum(at.block));
    run_eagerly(machine, sources);
    run_layer(machine, at);
    if (at.index > 1) {
      machine.read(partial_sum(at.block));
      machine.read(layer_output(at.layer));
      machine.write(partial_sum(at.block));
    }
    if (at.index == at.size) machine.produce(bank_row(at.block));  // the sum is the bank row
  });
  return machine.traffic();
}

Traffic full_kernel_unfused(const Counts& groups) {
  VectorMachine machine;
  machine.produce(layer_output(0));
  walk(groups, [&](const Place& at) {
    run_eagerly(machine, outputs_before(at.layer));
    run_layer(machine, at);
  });
  return machine.traffic();
}

/// `physical`: the kernel that reads b also stores b += f; the last output of a block has no such
/// kernel behind it, so that a kernel of its own closes the block.
void close_physically(VectorMachine& machine, const Place& at) {
  if (at.index < at.size || at.size == 1) return;
  machine.read(partial_sum(at.block));
  machine.read(layer_output(at.layer));
  machine.write(bank_row(at.block));
}

void read_physical_sum(VectorMachine& machine, const Place& at) {
  machine.read(partial_sum(at.block));
  if (at.index == 2) return;  // b is the first output itself
  machine.read(layer_output(at.layer - 1));
  machine.write(partial_sum(at.block));
}

Traffic block_physical_single_pass(const Counts& sizes) {
  VectorMachine machine;
  machine.produce(bank_row(0));
  walk(sizes, [&](const Place& at) {
    read_all(machine, bank_before(at.block));
    if (at.index > 1) read_physical_sum(machine, at);
    machine.write("h");
    run_layer(machine, at);
    close_physically(machine, at);
  });
  return machine.traffic();
}

Traffic block_physical_two_phase(const Counts& sizes) {
  VectorMachine machine;
  machine.produce(bank_row(0));
  walk(sizes, [&](const Place& at) {
    if (at.index == 1) {
      read_all(machine, bank_before(at.block));
      write_phase1_outputs(machine, at);
    } else {
      read_phase1_output(machine, at);
      read_physical_sum(machine, at);
    }
    machine.write("h");
    run_layer(machine, at);
    close_physically(machine, at);
  });
  return machine.traffic();
}

Traffic output_over(const Names& sources) {
  VectorMachine machine;
  for (const std::string& v : sources) machine.produce(v);
  read_all(machine, sources);
  machine.write("h");
  return machine.traffic();
}

Partition any_partition() {
  const Count num_layers = *rc::gen::inRange<Count>(1, 50);
  const Count size = *rc::gen::inRange<Count>(1, num_layers + 1);
  const Count count = *rc::gen::inRange<Count>(1, num_layers + 1);
  return *rc::gen::element(partition_by_size(num_layers, size),
                           partition_by_count(num_layers, count, Remainder::paper));
}

Traffic total(const Scheme& scheme, const Partition& p, Schedule schedule, Convention convention) {
  return total_traffic({scheme, p.num_layers}, {schedule, convention});
}

Traffic output(const Scheme& scheme, const Partition& p, Schedule schedule, Convention convention) {
  return output_traffic({scheme, p.num_layers}, {schedule, convention});
}

using enum Schedule;
using enum Convention;

RC_GTEST_PROP(BlockAttnResKernels, MoveInTwoPhasesWhatAMachineTouches, ()) {
  const Partition p = any_partition();
  const Counts sizes = block_sizes(p);
  RC_ASSERT(total(Scheme{schemes::kBlockAttnRes, {.blocks = p}}, p, two_phase, kernel) ==
            block_kernel_two_phase(sizes));
  for (const Schedule schedule : {single_pass, two_phase})
    RC_ASSERT(output(Scheme{schemes::kBlockAttnRes, {.blocks = p}}, p, schedule, kernel) ==
              block_kernel_output(sizes));
}

RC_GTEST_PROP(FullAttnResKernels, MoveWhatAMachineTouchesOneSourceAtATime, ()) {
  const Partition p = any_partition();
  const Counts groups = block_sizes(p);
  RC_ASSERT(total(Scheme{schemes::kFullAttnRes, {.blocks = p}}, p, single_pass, kernel) ==
            full_kernel_single_pass(groups));
  RC_ASSERT(total(Scheme{schemes::kFullAttnRes, {.blocks = p}}, p, two_phase, kernel) ==
            full_kernel_two_phase(groups));
  for (const Schedule schedule : {single_pass, two_phase})
    RC_ASSERT(output(Scheme{schemes::kFullAttnRes, {.blocks = p}}, p, schedule, kernel) ==
              output_over(outputs_before(p.num_layers + 1)));
}

RC_GTEST_PROP(EagerAttnRes, MovesWhatAMachineTouchesKernelByKernel, ()) {
  const Partition p = any_partition();
  const Counts sizes = block_sizes(p);
  RC_ASSERT(total(Scheme{schemes::kBlockAttnRes, {.blocks = p}}, p, unfused, kernel) ==
            block_kernel_unfused(sizes));
  RC_ASSERT(total(Scheme{schemes::kFullAttnRes, {.blocks = p}}, p, unfused, kernel) ==
            full_kernel_unfused(sizes));
}

RC_GTEST_PROP(PhysicalConvention, CountsWhatAMachineTouches, ()) {
  const Partition p = any_partition();
  const Counts sizes = block_sizes(p);
  const Scheme block{schemes::kBlockAttnRes, {.blocks = p}};
  const Scheme full{schemes::kFullAttnRes, {.blocks = p}};
  RC_ASSERT(total(block, p, single_pass, physical) == block_physical_single_pass(sizes));
  RC_ASSERT(total(block, p, two_phase, physical) == block_physical_two_phase(sizes));
  // Full AttnRes has no sum to keep: its physical counts are its kernels'.
  RC_ASSERT(total(full, p, single_pass, physical) == full_kernel_single_pass(sizes));
  RC_ASSERT(total(full, p, two_phase, physical) == full_kernel_two_phase(sizes));
  for (const Schedule schedule : {single_pass, two_phase}) {
    RC_ASSERT(output(block, p, schedule, physical) == output_over(bank_before(p.num_blocks + 1)));
    RC_ASSERT(output(full, p, schedule, physical) == output_over(outputs_before(p.num_layers + 1)));
  }
}

RC_GTEST_PROP(TwoPhases, ReadNoMoreThanASinglePassAndWriteOneMoreVectorPerMergedLayer, ()) {
  const Partition p = any_partition();
  const Traffic once = total(Scheme{schemes::kBlockAttnRes, {.blocks = p}}, p, two_phase, kernel);
  const Traffic every_layer =
      total(Scheme{schemes::kBlockAttnRes, {.blocks = p}}, p, single_pass, kernel);
  RC_ASSERT(once.reads_d <= every_layer.reads_d);
  RC_ASSERT(once.writes_d - every_layer.writes_d ==
            static_cast<double>(p.num_layers - p.num_blocks));
}

}  // namespace
}  // namespace depthcost::operation_properties_test
