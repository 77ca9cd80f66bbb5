// The time of a call that moves nothing: the floor `a` of the time formula, for each skeleton.
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/run.hpp"
#include "microbench/cases/row_cases.hpp"
#include "microbench/cpu/host_memory.hpp"
#include "microbench/harness/program.hpp"
#include "microbench/harness/sampling.hpp"

namespace depthcost::bench {
namespace {

/// One token of eight elements: next to nothing.
constexpr Shape kNothing{.num_tokens = 1, .hidden_size = 8};

template <class Run>
void add_skeleton(const std::string& name, const Run& run) {
  add_benchmark("cpu/skeleton/" + name, [=](benchmark::State& state) {
    small_memory().reset();
    Operands operands(small_memory(), kNothing.num_tokens);
    const auto call = run(operands);
    sample(state, calls_per_sample(call), call);
  });
}

/// Threads start, do nothing, and end.
void start_threads() {
  const std::size_t enough = cpu::kBytesPerThread;
  cpu::for_each_range(static_cast<std::size_t>(omp_get_max_threads()), enough,
                      [](cpu::TokenRange tokens) { benchmark::DoNotOptimize(tokens); });
}

void add_all() {
  add_skeleton("elementwise", [](Operands& operands) {
    return [op = row_operation<ResidualAdd<float>>(kNothing, operands)] { cpu::run(op); };
  });
  add_skeleton("row_reduction", [](Operands& operands) {
    return [op = row_operation<ResidualAddRmsNorm<float>>(kNothing, operands)] { cpu::run(op); };
  });
  add_skeleton("threads", [](Operands&) { return start_threads; });
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  return depthcost::bench::run_program(argc, argv, depthcost::bench::add_all);
}
