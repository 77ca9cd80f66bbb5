// The time of every kernel, on operands from memory and, for small batches, from the cache too. The
// bytes are those of the model.
#include <fmt/format.h>

#include <map>

#include "kernels/cpu/run.hpp"
#include "microbench/cases/case_list.hpp"
#include "microbench/cases/cpu_shapes.hpp"
#include "microbench/cpu/host_memory.hpp"
#include "microbench/cpu/mix_ceiling.hpp"
#include "microbench/harness/pairs.hpp"
#include "microbench/harness/program.hpp"
#include "microbench/harness/sampling.hpp"
#include "microbench/harness/traffic_label.hpp"
#include "microbench/harness/verification.hpp"

namespace depthcost::bench {
namespace {

/// Cold: so many sets that none is in a cache when its turn comes. Hot: one set.
template <class Op, class Make>
std::vector<Call<Op>> make_sets(const Make& make, const Shape& shape, Temperature temperature) {
  std::vector<Call<Op>> sets;
  std::size_t bytes = 0;
  do {
    sets.push_back(make_call<Op>(make, host_memory(), shape.num_tokens));
    bytes += sets.back().operands.bytes();
  } while (temperature == Temperature::cold && bytes < rotation_bytes());
  return sets;
}

/// With fewer bytes most of the time would be the call.
constexpr double kFewestBytes{kVectorBytes};

/// Operands from memory are timed beside their ceiling.
bool has_ceiling(double bytes, Temperature temperature) {
  return temperature == Temperature::cold && bytes >= kFewestBytes;
}

/// What one call moves.
struct Moves {
  Mix mix;
  double bytes = 0;
};

template <class Op, class Make>
void run_case(benchmark::State& state, const Make& make, const Shape& shape,
              Temperature temperature, const Moves& moves) {
  host_memory().reset();
  auto sets = make_sets<Op>(make, shape, temperature);
  std::size_t next = 0;
  const auto call = [&] { cpu::run(sets[next++ % sets.size()].op); };
  const std::size_t calls = calls_per_sample(call);
  if (has_ceiling(moves.bytes, temperature))
    sample_beside(state, calls, moves.bytes, call,
                  [&] { return ceiling_of(moves.mix).seconds_per_byte(); });
  else
    sample(state, calls, call);
  set_traffic(state, moves.mix, moves.bytes);
  small_memory().reset();
  const auto run = [](const Op& op) { cpu::run(op); };
  const auto wrong = verify(sets.front(), make, run, small_memory());
  if (wrong) state.SkipWithError(("wrong result: " + *wrong).c_str());
}

template <class T>
constexpr std::string_view kTypeName = "f32";
template <>
constexpr std::string_view kTypeName<Bf16> = "bf16";

/// One of so many cases is measured twice, under two names: that is the noise of the machine.
constexpr std::size_t kCasesPerRepeat = 10;

bool is_repeated() {
  static std::size_t cases = 0;
  return cases++ % kCasesPerRepeat == 0;
}

std::string case_name(std::string_view operation, std::string_view type, const Shape& shape,
                      Temperature temperature) {
  const std::string blocks =
      shape.num_blocks == Shape{}.num_blocks ? "" : fmt::format("/n:{}", shape.num_blocks);
  return fmt::format("cpu/{}/{}/T:{}/d:{}{}/{}", operation, type, shape.num_tokens,
                     shape.hidden_size, blocks, name(temperature));
}

/// Adds a benchmark for each case that each_case visits.
template <class T>
auto add_case(const Shape& shape, Temperature temperature) {
  const Dtype dtype = sizeof(T) == 2 ? Dtype::bf16 : Dtype::f32;
  const VectorStorage types{static_cast<double>(shape.hidden_size), dtype, dtype};
  return [=](std::string_view operation, const Operation& model, auto make_op) {
    using Op = decltype(make_op(shape, std::declval<Operands&>()));
    const auto make = [=](Operands& operands) { return make_op(shape, operands); };
    const double moved = static_cast<double>(shape.num_tokens) * bytes(traffic(model), types).value;
    const auto run = [=](benchmark::State& state) {
      run_case<Op>(state, make, shape, temperature, {mix_of(model), moved});
    };
    const std::string name = case_name(operation, kTypeName<T>, shape, temperature);
    add_benchmark(name, run);
    if (is_repeated()) add_benchmark(name + "/again", run);
  };
}

/// The tokens of a tile share phi, and L2 cannot hold their residual streams: the mix reads them
/// again.
constexpr StreamsAgain kStreamsAgain = StreamsAgain::from_memory;

template <class T, class Visit>
void each_case(const Shape& shape, const Visit& visit) {
  each_fused_case<T>(shape, kStreamsAgain, visit);
  each_unfused_case<T>(shape, visit);
}

template <class T>
void add_large_shape(const Shape& shape) {
  each_case<T>(shape, add_case<T>(shape, Temperature::cold));
}

/// Adds only cases that the number of blocks changes. The others have been added already.
template <class T>
void add_other_blocks(const Shape& shape) {
  std::map<std::string_view, Operation> usual;
  Shape other = shape;
  other.num_blocks = Shape{}.num_blocks;
  each_case<T>(other, [&](std::string_view operation, const Operation& model, auto) {
    usual[operation] = model;
  });
  const auto add = add_case<T>(shape, Temperature::cold);
  each_case<T>(shape, [&](std::string_view operation, const Operation& model, auto make_op) {
    if (usual.at(operation) != model) add(operation, model, make_op);
  });
}

template <class T>
void add_backward(std::size_t hidden_size) {
  const Shape shape = large_shape(hidden_size, sizeof(T));
  each_backward_case<T>(shape, add_case<T>(shape, Temperature::cold));
}

template <class T>
void add_large_shapes() {
  for (const std::size_t width : kWidths) add_large_shape<T>(large_shape(width, sizeof(T)));
  add_large_shape<T>(large_shape(kHeldOutWidth, sizeof(T)));
  for (const std::size_t width : {kWidths[0], kWidths[1], kWidths[2], kHeldOutWidth}) {
    Shape shape = large_shape(width, sizeof(T));
    shape.num_blocks = kHeldOutBlocks;
    add_other_blocks<T>(shape);
  }
  for (const std::size_t width : {kWidths[0], kWidths[1], kHeldOutWidth}) {
    const Shape shape{.num_tokens = kHeldOutTokens, .hidden_size = width};
    if (shape.num_tokens * width * sizeof(T) <= kLargestVectorBytes) add_large_shape<T>(shape);
  }
}

void add_all() {
  add_large_shapes<Bf16>();
  add_large_shapes<float>();
  for (const std::size_t batch : kBatches)
    for (const Temperature temperature : {Temperature::cold, Temperature::hot}) {
      const Shape shape{.num_tokens = batch, .hidden_size = kWidths[2]};
      each_fused_case<Bf16>(shape, kStreamsAgain, add_case<Bf16>(shape, temperature));
    }
  const Shape widest = large_shape(kWidths[2], sizeof(Bf16));
  each_variant_case<Bf16>(widest, add_case<Bf16>(widest, Temperature::cold));
  const Shape gated = large_shape(kGatedWidth, sizeof(Bf16));
  each_gated_case<Bf16>(gated, add_case<Bf16>(gated, Temperature::cold));
  each_eager_gated_case<Bf16>(gated, add_case<Bf16>(gated, Temperature::cold));
  const Shape wide_gated = large_shape(kGatedWidth, sizeof(float));
  each_gated_case<float>(wide_gated, add_case<float>(wide_gated, Temperature::cold));
  each_eager_gated_case<float>(wide_gated, add_case<float>(wide_gated, Temperature::cold));
  for (const std::size_t width : {kWidths[2], kHeldOutWidth}) {
    add_backward<Bf16>(width);
    add_backward<float>(width);
  }
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  return depthcost::bench::run_program(argc, argv, depthcost::bench::add_all);
}
