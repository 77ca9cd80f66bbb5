// The time of a decode step with each residual scheme, on a CPU.
#include <fmt/format.h>

#include "kernels/cpu/run.hpp"
#include "microbench/cases/decode_step.hpp"
#include "microbench/cpu/bandwidth_kernel.hpp"
#include "microbench/cpu/host_memory.hpp"
#include "microbench/harness/program.hpp"
#include "microbench/harness/sampling.hpp"

namespace depthcost::bench {
namespace {

/// The weights of every layer, read from front to end.
class Weights {
 public:
  Weights(const StepShape& step, Operands& operands) {
    const std::size_t floats = step.weight_bytes / sizeof(float);
    for (Count layer = 0; layer < step.num_layers; ++layer)
      layers_.push_back(
          {.size = step.weight_bytes,
           .inputs = {reinterpret_cast<const std::uint64_t*>(operands.tensor<float>(1, floats))},
           .outputs = {},
           .variant = {.ahead = kUsualAhead}});
  }
  void read(Count layer) const { run_bandwidth_kernel(layers_[static_cast<std::size_t>(layer)]); }

 private:
  std::vector<BandwidthCall> layers_;
};

void run_case(benchmark::State& state, const StepShape& step, const StepKind& kind) {
  host_memory().reset();
  Operands parameters(host_memory(), 1);
  const Weights weights(step, parameters);
  Operands operands(host_memory(), step.num_tokens);
  const auto made = step_operands<Bf16>(step, operands);
  const auto call = [&] {
    run_step(
        made, kind, step.num_layers, [&](Count layer) { weights.read(layer); },
        [](const auto& op) { cpu::run(op); });
  };
  sample(state, calls_per_sample(call), call);
}

void add_all() {
  for (const std::size_t batch : kStepBatches)
    for (const StepKind& kind : kStepKinds) {
      const StepShape step{.num_tokens = batch};
      add_benchmark("cpu/" + step_name(step, kind),
                    [=](benchmark::State& state) { run_case(state, step, kind); });
    }
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  return depthcost::bench::run_program(argc, argv, depthcost::bench::add_all);
}
