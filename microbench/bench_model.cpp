// How fast the model itself is: sweeps evaluate millions of ledgers.
#include <benchmark/benchmark.h>

#include "model/evaluation.hpp"
#include "model/pipeline_simulation.hpp"

namespace depthcost {
namespace {

/// The mean ledger of one (scheme, schedule, S), S running over all block sizes of Kimi K3.
void mean_ledger(benchmark::State& state, Schedule schedule, Convention convention) {
  constexpr Count kLayers = 186;
  Count block_size = 0;
  for (auto _ : state) {
    block_size = block_size % kLayers + 1;
    const ResidualPath path{BlockAttnRes{partition_by_size(kLayers, block_size)}, kLayers};
    benchmark::DoNotOptimize(mean_traffic(path, {schedule, convention}));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(mean_ledger, single_pass_kernel, Schedule::single_pass, Convention::kernel);
BENCHMARK_CAPTURE(mean_ledger, two_phase_kernel, Schedule::two_phase, Convention::kernel);
BENCHMARK_CAPTURE(mean_ledger, unfused_kernel, Schedule::unfused, Convention::kernel);
BENCHMARK_CAPTURE(mean_ledger, two_phase_physical, Schedule::two_phase, Convention::physical);
BENCHMARK_CAPTURE(mean_ledger, two_phase_paper, Schedule::two_phase, Convention::paper);

Study kimi_k3() {
  Study study;
  study.model = {.name = "Kimi K3", .num_layers = 186, .hidden_size = 7168};
  const Partition blocks = partition_by_size(186, 24);
  study.path = {BlockAttnRes{blocks}, 186};
  study.schedule = Schedule::single_pass;
  study.compare = {{Standard{}, 186}, {Mhc{4}, 186}, {FullAttnRes{blocks}, 186}};
  return study;
}

/// Per-layer rows of Kimi K3's scheme and its `compare` list under `kernel`, every schedule.
void layer_ledger(benchmark::State& state) {
  const Study study = kimi_k3();
  const std::vector<ResidualPath> paths = paths_of(study);
  std::size_t rows = 0;
  for (auto _ : state)
    for (const ResidualPath& path : paths)
      for (const Schedule schedule : schedules_of(path.scheme)) {
        const auto ledger = layer_rows(study, path, {schedule, Convention::kernel});
        rows += ledger.size();
        benchmark::DoNotOptimize(ledger.data());
      }
  state.SetItemsProcessed(state.iterations());
  state.counters["rows"] = static_cast<double>(rows) / static_cast<double>(state.iterations());
}
BENCHMARK(layer_ledger);

/// A training step, its order tables included. Messages of 4,096 tokens with d = 7168.
void pipeline_step(benchmark::State& state) {
  const Count P = state.range(0);
  const Count V = state.range(1);
  const Count M = state.range(2);
  const auto num_chunks = static_cast<std::size_t>(P * V);
  std::size_t num_tasks = 0;
  for (auto _ : state) {
    const SimulatedStep step = simulate(
        {.order = pipeline_order(PipelineSchedule::interleaved, P, V, M, Activations::kept),
         .chunks = std::vector<ChunkTimes>(num_chunks, {.forward = {1e-3},
                                                        .recompute = {1e-3},
                                                        .backward_input = {1e-3},
                                                        .backward_weight = {1e-3}}),
         .forward_messages = std::vector<Bytes>(num_chunks - 1, storage(4096 * 7168, Dtype::bf16)),
         .backward_messages = std::vector<Bytes>(num_chunks - 1, storage(4096 * 7168, Dtype::bf16)),
         .links =
             std::vector<StageLink>(num_chunks - 1, {.latency = {1e-5}, .bandwidth = {100e9}})});
    benchmark::DoNotOptimize(step.makespan);
    for (const std::vector<TimedTask>& stage : step.stages) num_tasks += stage.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(num_tasks));
}
BENCHMARK(pipeline_step)
    ->ArgNames({"P", "V", "M"})
    ->Args({8, 2, 64})
    ->Args({64, 8, 512})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace depthcost
