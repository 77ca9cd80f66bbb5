// Benchmarks have the names of the programs, so that reading names is tested, too.
#include "tests/profile/synthetic.hpp"

#include <fmt/format.h>

#include <random>

#include "microbench/cases/cpu_shapes.hpp"
#include "microbench/results/benchmark_results.hpp"
#include "model/machine/time.hpp"

namespace depthcost::test {
namespace {

using bench::Measurement;

constexpr double kGb = 1e9;

template <class Q>
Estimate<Q> exactly(double value) {
  return {{value}, {value}, {value}, Evidence::calibrated};
}

/// Lines are read at 21 GB/s. A store that misses reads its line first, at 19 GB/s. Writing back
/// takes no time: a core waits only for reads.
double memory_rate(const Mix& mix) {
  const double reads = mix.reads;
  const double allocated = mix.writes - mix.in_place;
  return (mix.reads + mix.writes) / (reads / 21 + allocated / 19) * kGb;
}

double core_rate(Primitive primitive, Dtype dtype, CoreLevel level) {
  const double at_l1 = 10e-12 * (1 + static_cast<double>(primitive));
  return at_l1 * (dtype == Dtype::bf16 ? 1.5 : 1) * (level == CoreLevel::L2 ? 2 : 1);
}

constexpr double kExposed = 0.2;

class Recorder {
 public:
  explicit Recorder(const SyntheticRun& run) : run_(run), random_(run.seed) {}

  Measurement measured(const std::string& name, double seconds, double bytes = 0, Mix mix = {}) {
    Measurement m{.name = name, .seconds = {}, .bytes = bytes, .mix = mix};
    for (int i = 0; i < run_.rounds; ++i)
      m.seconds.push_back(seconds * (1 + run_.noise * spread_(random_)));
    return m;
  }

 private:
  const SyntheticRun& run_;
  std::mt19937 random_;
  // The distributions of standard libraries differ.
  struct {
    double operator()(std::mt19937& random) const {
      return static_cast<double>(random()) / 2147483648.0 - 1;  // [-1, 1)
    }
  } spread_;
};

const std::array kMixes{Mix{1, 0, 0}, Mix{0, 1, 0}, Mix{1, 1, 0}, Mix{1, 1, 1}, Mix{2, 1, 0},
                        Mix{2, 1, 1}, Mix{2, 2, 1}, Mix{5, 4, 4}, Mix{8, 1, 0}, Mix{10, 2, 1}};

void add_ceilings(Recorder& record, bench::Results& results) {
  for (const Mix& mix : kMixes)
    for (const auto& [level, factor] : {std::pair{"memory", 1.0}, std::pair{"L3", 2.0}}) {
      const double bytes = 28e6 * (mix.reads + mix.writes);
      for (const char* variant : {"by_row/cached", "by_line/ahead:1024/cached"}) {
        const double slower = variant[3] == 'r' ? 1.1 : 1;
        results.ceilings.push_back(
            record.measured(fmt::format("cpu/ceiling/r:{}/w:{}/in_place:{}/{}/{}", mix.reads,
                                        mix.writes, mix.in_place, level, variant),
                            slower * bytes / (factor * memory_rate(mix)), bytes, mix));
      }
    }
}

void add_cores(Recorder& record, bench::Results& results) {
  for (const Primitive primitive : kEnumerators<Primitive>)
    for (const Dtype dtype : kCoreDtypes)
      for (const CoreLevel level : kRatedLevels) {
        if (is_optional(primitive)) continue;
        Measurement m = record.measured(
            fmt::format("cpu/core/{}/{}/{}", name(primitive), name(dtype), name(level)),
            4096 * core_rate(primitive, dtype, level));
        m.elements = 4096;
        results.cores.push_back(m);
      }
  for (const auto& [primitive, mix] :
       {std::pair{Primitive::score, Mix{8, 0, 0}}, std::pair{Primitive::mix, Mix{8, 1, 0}},
        std::pair{Primitive::add, Mix{2, 1, 1}}})
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32}) {
      constexpr double kRow = 1e6;  // elements
      const double rows = primitive == Primitive::add ? 1 : 8;
      const double near = rows * kRow * core_rate(primitive, dtype, CoreLevel::L1);
      const double memory =
          (mix.reads + mix.writes) * kRow * bytes_per_element(dtype) / memory_rate(mix);
      Measurement m =
          record.measured(fmt::format("cpu/core/{}/{}/memory", name(primitive), name(dtype)),
                          std::max(near, memory) + kExposed * std::min(near, memory));
      m.elements = rows * kRow;
      results.cores.push_back(m);
    }
}

/// The samples of a kernel of that name.
void add_kernel(Recorder& record, const SyntheticRun& run, const Machine& machine,
                const StandaloneCall& call, bench::Results& results) {
  const Operation operation = *find_operation(call);
  const double seconds =
      run.slowdown * LaunchTime(machine, operation, execution_of(call)).terms({}).total().value;
  const std::string id = fmt::format("cpu/{}/{}/T:{}/d:{}/cold", call.operation, name(call.dtype),
                                     call.num_tokens, call.hidden_size);
  const Mix mix = mix_of(operation);
  const double bytes = launch_bytes(operation, execution_of(call)).value;
  results.kernels.push_back(record.measured(id, seconds, bytes, mix));
  if (call.hidden_size == 4096)
    results.kernels.push_back(record.measured(id + "/again", seconds, bytes, mix));
}

void add_kernels(Recorder& record, const SyntheticRun& run, bench::Results& results) {
  const Machine machine = synthetic_machine();
  for (const char* operation : {"residual_add", "residual_add_rmsnorm", "attnres_single_pass",
                                "attnres_phase2", "mhc_post"})
    for (const Count width : {2304, 4096, 5120, 7168})
      for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
        add_kernel(record, run, machine,
                   {.operation = operation,
                    .counts = {.num_sources = 8, .num_queries = 24, .num_streams = 4},
                    .num_tokens = 2048,
                    .hidden_size = width,
                    .dtype = dtype,
                    .launch = Launch::stream},
                   results);
}

}  // namespace

Machine synthetic_machine() {
  Machine machine{.name = "Synthetic CPU, 1 thread"};
  for (const Mix& mix : kMixes) {
    const double rate = memory_rate(mix);
    machine.exact_bandwidth.push_back({mix, exactly<BytesPerSecond>(rate)});
    machine.memory_ceiling = std::max(machine.memory_ceiling, BytesPerSecond{rate});
  }
  for (const Mix& mix : {Mix{0, 1, 0}, Mix{1, 1, 0}, Mix{2, 1, 0}, Mix{1, 0, 0}})
    machine.memory_bandwidth.push_back({static_cast<double>(mix.reads) / (mix.reads + mix.writes),
                                        exactly<BytesPerSecond>(memory_rate(mix))});
  for (const Launch launch : {Launch::stream, Launch::graph, Launch::graph_pdl})
    for (const Level level : {Level::cache, Level::memory}) {
      machine.floors.push_back({launch, level, Skeleton::elementwise, exactly<Seconds>(50e-9)});
      machine.floors.push_back({launch, level, Skeleton::row_reduction, exactly<Seconds>(120e-9)});
    }
  Core core{
      .first_level = {0.66 * 49152}, .threads = 1, .form = CoreForm::passes, .exposed = kExposed};
  for (const Primitive primitive : kEnumerators<Primitive>)
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
      for (const CoreLevel level : {CoreLevel::L1, CoreLevel::L2})
        if (!is_optional(primitive))
          core.rates.push_back(
              {primitive, dtype, level, exactly<Seconds>(core_rate(primitive, dtype, level))});
  machine.core = core;
  return machine;
}

std::string synthetic_samples(const SyntheticRun& run) {
  bench::Results results{.machine = "Synthetic CPU, 1 thread",
                         .device = "",
                         .kernels_hash = "synthetic",
                         .threads = 1,
                         .first_level_bytes = 49152,
                         .rotation_bytes = 1e9,
                         .huge_pages = "always",
                         .date = "2026-11-20",
                         .environment = {run.rounds, run.rounds, 0}};
  Recorder record(run);
  add_ceilings(record, results);
  add_cores(record, results);
  results.skeletons = {record.measured("cpu/skeleton/elementwise", 50e-9),
                       record.measured("cpu/skeleton/row_reduction", 120e-9)};
  add_kernels(record, run, results);
  return bench::to_json(results);
}

}  // namespace depthcost::test
