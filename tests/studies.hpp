// Complete studies for tests of what follows the reader: Kimi K3 on a device with round numbers.
#pragma once

#include <utility>

#include "model/schemes/list.hpp"
#include "model/step/study.hpp"
#include "tests/architectures.hpp"
#include "tests/constants.hpp"

namespace depthcost::test {

template <class Q>
Estimate<Q> plus_minus(double value, double relative, Evidence evidence) {
  return {{value * (1 - relative)}, {value}, {value * (1 + relative)}, evidence};
}

/// 5 TB/s, 10 TB/s from a 100 MB cache, floors of 1 and 2 us, 10 % uncertain each.
inline Machine round_machine() {
  Machine machine;
  machine.name = "Round 5";
  machine.memory_bandwidth = {{0.5, plus_minus<BytesPerSecond>(4e12, 0.1, Evidence::published)},
                              {1.0, plus_minus<BytesPerSecond>(5e12, 0.1, Evidence::published)}};
  machine.cache_bandwidth = {{1.0, plus_minus<BytesPerSecond>(10e12, 0.1, Evidence::assumed)}};
  machine.memory_ceiling = {6e12};
  machine.cache_ceiling = {12e12};
  machine.transition = {{{50e6}, 0}, {{100e6}, 1}};
  for (const Launch launch : {Launch::stream, Launch::graph, Launch::graph_pdl})
    for (const Skeleton skeleton : {Skeleton::elementwise, Skeleton::row_reduction}) {
      machine.floors.push_back(
          {launch, Level::cache, skeleton, plus_minus<Seconds>(1e-6, 0.1, Evidence::published)});
      machine.floors.push_back(
          {launch, Level::memory, skeleton, plus_minus<Seconds>(2e-6, 0.1, Evidence::published)});
    }
  machine.vector_rate = FlopsPerSecond{50e12};
  machine.tensor_rate = FlopsPerSecond{1000e12};
  machine.memory_capacity = Bytes{100e9};
  machine.engine = constants().engine;
  return machine;
}

inline Study kimi_k3_study() {
  Study study;
  study.name = "Kimi K3 on Round 5";
  study.model = {.name = "Kimi K3", .num_layers = 186, .hidden_size = 7168};
  const Partition blocks = partition_by_size(186, 24);
  study.path = {Scheme{schemes::kBlockAttnRes, {.blocks = blocks}}, 186};
  study.schedule = Schedule::single_pass;
  study.compare = {{Scheme{schemes::kStandard}, 186},
                   {Scheme{schemes::kMhc, {.num_streams = 4}}, 186},
                   {Scheme{schemes::kFullAttnRes, {.blocks = blocks}}, 186}};
  study.tensor_parallel_size = 8;
  study.pipeline = even_layout(4, 2, 93, 2);
  study.decode =
      Decode{.sequences = {1, 64, 512}, .context = 100000, .baseline_steps = {Seconds{12e-3}}};
  study.prefill = Prefill{.tokens = 131072, .chunk = 16384, .sequence_shards = 8};
  study.machine = round_machine();
  study.budgets = {{BudgetKind::decode_overhead, 0.02},
                   {BudgetKind::prefill_bank, 2.5e9},
                   {BudgetKind::device_memory, 0}};
  return study;
}

/// The same with an architecture and measured collectives, so that every step is modelled.
inline Study modelled_study() {
  Study study = kimi_k3_study();
  study.model.architecture = kimi_k3();
  study.expert_parallel_size = 8;
  study.decode->baseline_steps.clear();
  for (const TransferKind kind :
       {TransferKind::all_reduce, TransferKind::all_gather, TransferKind::reduce_scatter})
    for (const auto& [size, seconds] : {std::pair{8192.0, 10e-6}, std::pair{8192e3, 50e-6}})
      study.machine->transfers.push_back({kind, TransferScope::node, 8, Bytes{size},
                                          plus_minus<Seconds>(seconds, 0.1, Evidence::published)});
  return study;
}

/// Llama 3.1 8B in blocks of eight layers on one device, in place of the model of `study`.
inline Study as_llama_8b(Study study) {
  study.model = {.name = "Llama", .num_layers = 64, .hidden_size = 4096};
  study.model.architecture = llama_8b();
  study.path = {Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(64, 8)}}, 64};
  study.compare.clear();
  study.pipeline.reset();
  study.prefill.reset();
  study.tensor_parallel_size = 1;
  return study;
}

/// A training step on four stages with two virtual stages each, over links of 10 us and 50 GB/s;
/// every tensor rank holds all tokens.
inline Study training_study() {
  Study study = modelled_study();
  study.layout = Layout::replicated;
  study.name = "Kimi K3 in training on Round 5";
  study.decode.reset();
  study.prefill.reset();
  study.budgets = {{BudgetKind::training_overhead, 0.04}};
  for (const TransferScope scope : {TransferScope::node, TransferScope::network})
    for (const double size : {1.0, 1e9})
      study.machine->transfers.push_back(
          {TransferKind::send, scope, 2, Bytes{size},
           plus_minus<Seconds>(10e-6 + (size - 1) / 50e9, 0.1, Evidence::published)});
  study.training = Training{.sequence_length = 4096,
                            .num_micro_batches = 8,
                            .schedule = PipelineSchedule::interleaved,
                            .activations = ActivationPolicy::recompute,
                            .gradient_accumulation = GradientAccumulation::fused};
  return study;
}

}  // namespace depthcost::test
