// The time of a core for each kind of pass over a row. From its caches the pass alone takes time.
// From memory it shares the time with memory traffic.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "microbench/cases/cpu_shapes.hpp"
#include "microbench/cpu/bandwidth_kernel.hpp"
#include "microbench/cpu/core_loops.hpp"
#include "microbench/cpu/host_memory.hpp"
#include "microbench/harness/filled_operands.hpp"
#include "microbench/harness/program.hpp"
#include "microbench/harness/sampling.hpp"

namespace depthcost::bench {
namespace {

/// Rows that stay in a cache level. L1: 8 x 512 f32 = 16 KiB, or one row of 1536, because a row
/// that is stored must be longer than the stores under way. L2: 8 x 7168 f32 = 224 KiB. From
/// memory, each of the eight rows of a token comes from an array of its own.
struct CoreCase {
  Primitive primitive = Primitive::add;
  CoreLevel level = CoreLevel::L1;
  std::size_t size = 0;
  std::size_t num_tokens = 1;
  std::size_t ahead = 0;  // as in CoreCall

  std::size_t num_rows() const {
    if (primitive == Primitive::product) return kProductRows;
    return has_one_row(primitive) ? 1 : 8;
  }
};

/// The columns of a product are most of what it has: 64 x 192 bf16 are 24 KiB.
constexpr std::size_t near_size(Primitive primitive) {
  if (primitive == Primitive::product) return 192;
  return has_one_row(primitive) ? 1536 : 512;
}
constexpr std::size_t kFarSize = 7168;

template <class T>
CoreCall<T> make_call(const CoreCase& core, Operands& operands, Operands& parameters) {
  const std::size_t size = core.size;
  const std::size_t rows = core.num_rows();
  return {.num_rows = rows,
          .size = size,
          .row_stride = core.num_tokens * size,
          .ahead = core.ahead,
          .rows = operands.tensor<T>(rows, size),
          .parameters = parameters.parameters(kMultiplyParameters * size, {}),
          .floats = parameters.tensor<float>(rows, size),
          .output = operands.tensor<T>(1, size),
          .sums = parameters.tensor<float>(rows, kMultiplyParameters),
          .columns = parameters.tensor<Bf16>(kProductColumns, size),
          .products = parameters.tensor<float>(rows, kProductColumns)};
}

/// Runs one token after the other.
template <class T>
void run_tokens(const CoreCase& core, CoreCall<T> call) {
  for (std::size_t t = 0; t < core.num_tokens; ++t) {
    run_primitive(core.primitive, call);
    call.rows += core.size;
    call.output += core.size;
  }
  benchmark::ClobberMemory();
}

/// The rows and the parameters of one call.
template <class T>
struct Place {
  explicit Place(const CoreCase& core)
      : rows(host_memory(), core.num_tokens),
        parameters(host_memory(), 1),
        call(make_call<T>(core, rows, parameters)) {}

  Operands rows;
  Operands parameters;
  CoreCall<T> call;
};

/// Samples rows in a cache at many places, because a cache that predicts its ways by address is
/// faster at some. Each place is read once before it is timed.
template <class T>
void sample_places(benchmark::State& state, const CoreCase& core) {
  constexpr std::size_t kPlaces = 16;
  std::vector<Place<T>> places;
  for (std::size_t i = 0; i < kPlaces; ++i) places.emplace_back(core);
  const auto call = [&](const Place<T>& place) { run_tokens(core, place.call); };
  const std::size_t calls = calls_per_sample([&] { call(places.front()); }) / kPlaces + 1;
  for (auto _ : state) {
    Seconds elapsed{0};
    for (const Place<T>& place : places) {
      call(place);
      const auto start = Clock::now();
      for (std::size_t i = 0; i < calls; ++i) call(place);
      elapsed += Clock::now() - start;
    }
    state.SetIterationTime(elapsed.count() / static_cast<double>(calls * kPlaces));
  }
}

/// Samples rows in memory. So many take turns that none is in a cache when its turn comes.
template <class T>
void sample_rotation(benchmark::State& state, const CoreCase& core) {
  std::vector<Place<T>> places;
  std::size_t bytes = 0;
  for (; bytes < rotation_bytes(); bytes += places.back().rows.bytes()) places.emplace_back(core);
  std::size_t next = 0;
  const auto call = [&] { run_tokens(core, places[next++ % places.size()].call); };
  sample(state, calls_per_sample(call), call);
}

template <class T>
void run_case(benchmark::State& state, const CoreCase& core) {
  host_memory().reset();
  if (core.level == CoreLevel::memory)
    sample_rotation<T>(state, core);
  else
    sample_places<T>(state, core);
  const CoreCall<T> one{.num_rows = core.num_rows(), .size = core.size};
  state.counters["elements"] = static_cast<double>(core.num_tokens) * elements(core.primitive, one);
}

template <class T>
void add_case(const CoreCase& core, std::string_view dtype) {
  add_benchmark(fmt::format("cpu/core/{}/{}/{}", name(core.primitive), dtype, name(core.level)),
                [=](benchmark::State& state) { run_case<T>(state, core); });
}

/// The primitives that are measured from memory, too.
constexpr std::array kStreaming{Primitive::score, Primitive::mix, Primitive::add};

template <class T>
void add_cases(std::string_view dtype) {
  for (const Primitive primitive : kEnumerators<Primitive>) {
    add_case<T>({primitive, CoreLevel::L1, near_size(primitive)}, dtype);
    add_case<T>({primitive, CoreLevel::L2, kFarSize}, dtype);
  }
  const std::size_t num_tokens = kVectorBytes / (kFarSize * sizeof(T));
  for (const Primitive primitive : kStreaming)
    add_case<T>({primitive, CoreLevel::memory, kFarSize, num_tokens, kUsualAhead / sizeof(T)},
                dtype);
}

void add_all() {
  add_cases<Bf16>("bf16");
  add_cases<float>("f32");
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  return depthcost::bench::run_program(argc, argv, depthcost::bench::add_all);
}
