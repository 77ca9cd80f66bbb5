// How fast the model itself is: sweeps evaluate millions of ledgers.
#include <benchmark/benchmark.h>

#include <random>

#include "model/base/parallel.hpp"
#include "model/evaluation/evaluation.hpp"
#include "model/pipeline/pipeline_simulation.hpp"
#include "model/schemes/list.hpp"
#include "model/sweep/pareto.hpp"
#include "model/sweep/sweep.hpp"
#include "tests/architectures.hpp"
#include "tests/studies.hpp"

namespace depthcost {
namespace {

/// The mean ledger of a schedule and a convention, for all block sizes of Kimi K3 in turn.
void mean_ledger(benchmark::State& state, Schedule schedule, Convention convention) {
  constexpr Count kLayers = 186;
  Count block_size = 0;
  for (auto _ : state) {
    block_size = block_size % kLayers + 1;
    const ResidualPath path{
        Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(kLayers, block_size)}},
        kLayers};
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
  study.path = {Scheme{schemes::kBlockAttnRes, {.blocks = blocks}}, 186};
  study.schedule = Schedule::single_pass;
  study.compare = {{Scheme{schemes::kStandard}, 186},
                   {Scheme{schemes::kMhc, {.num_streams = 4}}, 186},
                   {Scheme{schemes::kFullAttnRes, {.blocks = blocks}}, 186}};
  return study;
}

/// The rows of all layers of Kimi K3 and of the schemes that it is compared with, in every
/// schedule.
void layer_ledger(benchmark::State& state) {
  const Study study = kimi_k3();
  const std::vector<ResidualPath> paths = paths_of(study);
  std::size_t rows = 0;
  for (auto _ : state)
    for (const ResidualPath& path : paths)
      for (const Schedule schedule : path.scheme.rule->schedules) {
        const auto ledger = layer_rows(study, path, {schedule, Convention::kernel});
        rows += ledger.size();
        benchmark::DoNotOptimize(ledger.data());
      }
  state.SetItemsProcessed(state.iterations());
  state.counters["rows"] = static_cast<double>(rows) / static_cast<double>(state.iterations());
}
BENCHMARK(layer_ledger);

/// A simulated training step with its table of tasks. Messages have 4,096 tokens with d = 7168.
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

SweptAxis range(SweptKey key, Count last) {
  SweptAxis axis{.key = key, .values = {}};
  for (Count value = 1; value <= last; ++value) axis.values.push_back(value);
  return axis;
}

/// Kimi K3 with the rest of its step modelled: bytes, decode, prefill and memory.
Study swept(Schedule schedule) {
  Study study = test::kimi_k3_study();
  study.model.architecture = test::kimi_k3();
  study.machine->devices_per_node = 8;
  study.decode->baseline_steps.clear();
  study.schedule = schedule;
  return study;
}

void run_sweep(benchmark::State& state, const Study& study, const std::vector<SweptAxis>& axes) {
  std::size_t points = 0;
  for (auto _ : state) {
    const Sweep sweep(study, axes, num_hardware_threads());
    double sum = 0;
    for (std::size_t c = 0; c < sweep.num_circumstances(); ++c)
      for (std::size_t i = 0; i < sweep.choices().size(); ++i) {
        const SweepPoint point = sweep.point(c, i);
        if (point.decode) sum += point.decode->delta.value.value;
        if (point.memory) sum += point.memory->all.value;
        sum += static_cast<double>(sweep.verdict(point));
      }
    benchmark::DoNotOptimize(sum);
    points += sweep.size();
  }
  state.counters["points"] = static_cast<double>(points) / static_cast<double>(state.iterations());
  state.SetItemsProcessed(static_cast<std::int64_t>(points));
}

/// A million points: every block size with 5,377 batch sizes.
void sweep_blocks_and_batches(benchmark::State& state, Schedule schedule) {
  run_sweep(state, swept(schedule),
            {range(SweptKey::block_size, 186), range(SweptKey::sequences, 5377)});
}
BENCHMARK_CAPTURE(sweep_blocks_and_batches, single_pass, Schedule::single_pass)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(sweep_blocks_and_batches, two_phase, Schedule::two_phase)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

/// Points share nothing: each has a step of its own.
void sweep_batches_and_contexts(benchmark::State& state) {
  SweptAxis contexts{.key = SweptKey::context, .values = {1000, 10000, 100000}};
  run_sweep(state, swept(Schedule::single_pass), {range(SweptKey::sequences, 1000), contexts});
}
BENCHMARK(sweep_batches_and_contexts)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

/// Five simulated training steps at each point, P stages and M micro-batches.
void sweep_training(benchmark::State& state) {
  Study study = swept(Schedule::single_pass);
  study.decode.reset();
  study.prefill.reset();
  study.pipeline = even_layout(state.range(0), 1, 93, 2);
  study.training = Training{
      .sequence_length = 4096, .num_micro_batches = state.range(1), .baseline_step = Seconds{2}};
  run_sweep(state, study, {range(SweptKey::block_size, 186)});
}
BENCHMARK(sweep_training)
    ->ArgNames({"P", "M"})
    ->Args({4, 16})
    ->Args({8, 32})
    ->Args({8, 64})
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

enum class Points {
  random,
  all_stand,  // the worst case
};

void front_of_a_million(benchmark::State& state, Points points) {
  const auto k = static_cast<std::size_t>(state.range(0));
  std::mt19937_64 random(20260316);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> values;
  for (std::size_t i = 0; i < 1'000'000; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j + 1 < k; ++j) {
      values.push_back(uniform(random));
      sum += values.back();
    }
    values.push_back(points == Points::all_stand ? -sum : uniform(random));
  }
  std::size_t standing = 0;
  for (auto _ : state) standing = pareto_front({values, k}).size();
  state.counters["front"] = static_cast<double>(standing);
}
BENCHMARK_CAPTURE(front_of_a_million, random, Points::random)
    ->ArgName("objectives")
    ->DenseRange(2, 6)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(front_of_a_million, all_stand, Points::all_stand)
    ->ArgName("objectives")
    ->DenseRange(2, 4)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace depthcost
