// What a core costs for each pass over a row: in its caches, where it is that pass, and from
// memory, where the two share the time.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "microbench/core.hpp"
#include "microbench/cpu.hpp"
#include "microbench/operands.hpp"
#include "microbench/plan.hpp"
#include "microbench/program.hpp"
#include "microbench/shapes.hpp"

namespace depthcost::bench {
namespace {

/// Rows that stay in a level: L1, 8 x 512 f32 = 16 KiB; L2, 8 x 7168 f32 = 224 KiB. In memory, a
/// row is a token's, and each of the eight comes from an array of its own.
struct CoreCase {
  Primitive primitive = Primitive::add;
  CoreLevel level = CoreLevel::L1;
  std::size_t size = 0;
  std::size_t num_tokens = 1;
  std::size_t ahead = 0;  // as CoreCall's

  std::size_t num_rows() const { return primitive == Primitive::add ? 1 : 8; }
};
constexpr std::size_t kNearSize = 512;
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
          .sums = parameters.tensor<float>(rows, kMultiplyParameters)};
}

/// One token after the other.
template <class T>
void run_tokens(const CoreCase& core, CoreCall<T> call) {
  for (std::size_t t = 0; t < core.num_tokens; ++t) {
    run_primitive(core.primitive, call);
    call.rows += core.size;
    call.output += core.size;
  }
  benchmark::ClobberMemory();
}

template <class T>
void run_case(benchmark::State& state, const CoreCase& core) {
  host_memory().reset();
  Operands parameters(host_memory(), 1);
  std::vector<Operands> sets;
  std::vector<CoreCall<T>> calls;
  std::size_t bytes = 0;
  do {
    sets.emplace_back(host_memory(), core.num_tokens);
    calls.push_back(make_call<T>(core, sets.back(), parameters));
    bytes += sets.back().bytes();
  } while (core.level == CoreLevel::memory && bytes < rotation_bytes());
  std::size_t next = 0;
  const auto call = [&] { run_tokens(core, calls[next++ % calls.size()]); };
  sample(state, calls_per_sample(call), call);
  state.counters["elements"] =
      static_cast<double>(core.num_tokens) * elements(core.primitive, calls.front());
}

template <class T>
void add_case(const CoreCase& core, std::string_view dtype) {
  add_benchmark(fmt::format("cpu/core/{}/{}/{}", name(core.primitive), dtype, name(core.level)),
                [=](benchmark::State& state) { run_case<T>(state, core); });
}

/// Far enough for the latency of memory: StreamVariant's middle distance.
constexpr std::size_t kAheadBytes = 3072;

/// From memory: what memory and core do at the same time, where nothing is kept.
constexpr std::array kStreaming{Primitive::score, Primitive::mix, Primitive::add};

template <class T>
void add_cases(std::string_view dtype) {
  for (const Primitive primitive : kPrimitives) {
    add_case<T>({primitive, CoreLevel::L1, kNearSize}, dtype);
    add_case<T>({primitive, CoreLevel::L2, kFarSize}, dtype);
  }
  const std::size_t num_tokens = kVectorBytes / (kFarSize * sizeof(T));
  for (const Primitive primitive : kStreaming)
    add_case<T>({primitive, CoreLevel::memory, kFarSize, num_tokens, kAheadBytes / sizeof(T)},
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
