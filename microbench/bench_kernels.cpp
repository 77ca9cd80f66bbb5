// Every kernel under the same plan, on operands from memory and, where a batch is small, from the
// cache too. Bytes are the model's.
#include <fmt/format.h>

#include "kernels/cpu/run.hpp"
#include "microbench/cases.hpp"
#include "microbench/cpu.hpp"
#include "microbench/mix.hpp"
#include "microbench/plan.hpp"
#include "microbench/program.hpp"
#include "microbench/shapes.hpp"
#include "microbench/verify.hpp"

namespace depthcost::bench {
namespace {

/// Where operands come from: other sets are used in between, or the same set again and again.
enum class Temperature { cold, hot };

std::string_view name(Temperature temperature) {
  return temperature == Temperature::cold ? "cold" : "hot";
}

/// As many sets as must pass before one may be used again.
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

template <class Op, class Make>
void run_case(benchmark::State& state, const Make& make, const Shape& shape,
              Temperature temperature) {
  host_memory().reset();
  auto sets = make_sets<Op>(make, shape, temperature);
  std::size_t next = 0;
  const auto call = [&] { cpu::run(sets[next++ % sets.size()].op); };
  sample(state, calls_per_sample(call), call);
  small_memory().reset();
  const auto run = [](const Op& op) { cpu::run(op); };
  const auto wrong = verify(sets.front(), make, run, small_memory());
  if (wrong) state.SkipWithError(("wrong result: " + *wrong).c_str());
}

template <class T>
constexpr std::string_view kTypeName = "f32";
template <>
constexpr std::string_view kTypeName<Bf16> = "bf16";

/// Adds what each_case visits.
template <class T>
auto add_case(const Shape& shape, Temperature temperature) {
  const Dtype dtype = sizeof(T) == 2 ? Dtype::bf16 : Dtype::f32;
  const VectorStorage types{static_cast<double>(shape.hidden_size), dtype, dtype};
  return [=](std::string_view operation, const Operation& model, auto make_op) {
    using Op = decltype(make_op(shape, std::declval<Operands&>()));
    const auto make = [=](Operands& operands) { return make_op(shape, operands); };
    const double moved = static_cast<double>(shape.num_tokens) * bytes(traffic(model), types).value;
    add_benchmark(fmt::format("cpu/{}/{}/T:{}/d:{}/{}", operation, kTypeName<T>, shape.num_tokens,
                              shape.hidden_size, name(temperature)),
                  [=](benchmark::State& state) {
                    run_case<Op>(state, make, shape, temperature);
                    set_traffic(state, mix_of(model), moved);
                  });
  };
}

template <class T>
void add_large_shapes() {
  for (const std::size_t width : kWidths) {
    const Shape shape = large_shape(width, sizeof(T));
    each_fused_case<T>(shape, add_case<T>(shape, Temperature::cold));
  }
  const Shape widest = large_shape(kWidths[2], sizeof(T));
  each_unfused_case<T>(widest, add_case<T>(widest, Temperature::cold));
}

void add_all() {
  add_large_shapes<Bf16>();
  add_large_shapes<float>();
  for (const std::size_t batch : kBatches)
    for (const Temperature temperature : {Temperature::cold, Temperature::hot}) {
      const Shape shape{.num_tokens = batch, .hidden_size = kWidths[2]};
      each_fused_case<Bf16>(shape, add_case<Bf16>(shape, temperature));
    }
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  return depthcost::bench::run_program(argc, argv, depthcost::bench::add_all);
}
