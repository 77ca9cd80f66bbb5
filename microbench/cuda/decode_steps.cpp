// The time of a decode step with each residual scheme, on the device: one graph, in which every
// layer reads its weights and then runs its operations. The results of kernels are checked where
// they are measured one by one.
#include "microbench/cases/decode_step.hpp"

#include <fmt/format.h>

#include <map>

#include "microbench/cuda/branch.hpp"
#include "microbench/cuda/device_benchmark.hpp"
#include "microbench/cuda/prepared.hpp"

namespace depthcost::bench {
namespace {

/// Kimi K3's width. The weights of all layers are many times the cache.
StepShape device_step(std::size_t batch) {
  return {.num_tokens = batch, .hidden_size = 7168, .weight_bytes = kWeightBytesPerLayer};
}

struct PreparedStep {
  Call<StepOperands<Bf16>> call;
  std::map<std::string, Chain> chains;
};

void launch_step(const StepOperands<Bf16>& operands, const StepShape& step, const StepKind& kind,
                 Launch launch) {
  const auto stream_weights = [](Count layer) { launch_weights(static_cast<std::size_t>(layer)); };
  const auto run = [&](const auto& op) { cuda::run(op, launch_options(launch)); };
  if (kind.phase1 == Phase1Order::hoisted)
    return run_hoisted_step(operands, stream_weights, run, second_branch());
  run_step(operands, kind, step.num_layers, stream_weights, run);
}

void run_device_step(benchmark::State& state, const StepShape& step, const StepKind& kind,
                     Launch launch, const std::string& name) {
  const auto prepared = kept<PreparedStep>(fmt::format("step/T:{}", step.num_tokens), [&] {
    const auto make = [&](Operands& o) { return step_operands<Bf16>(step, o); };
    return PreparedStep{make_call<StepOperands<Bf16>>(make, device_memory(), step.num_tokens), {}};
  });
  Chain& chain = prepared->chains[name];
  if (!chain) {
    launch_step(prepared->call.op, step, kind, launch);  // loads the kernels
    synchronise();
    chain = chain_of(launch, 1,
                     [&](std::size_t) { launch_step(prepared->call.op, step, kind, launch); });
  }
  for (auto _ : state) state.SetIterationTime(seconds_of(chain, launch, Temperature::cold));
  synchronise();
}

void add_step(const StepShape& step, const StepKind& kind, Launch launch) {
  const std::string benchmark = fmt::format("cuda/{}/{}", step_name(step, kind), name(launch));
  add_device_benchmark(benchmark, [=](benchmark::State& state) {
    run_device_step(state, step, kind, launch, benchmark);
  });
}

void add_all() {
  add_device_context();
  for (const std::size_t batch : kStepBatches) {
    const StepShape step = device_step(batch);
    for (const StepKind& kind : kStepKinds)
      for (const Launch launch : {Launch::graph, Launch::graph_pdl}) add_step(step, kind, launch);
    // A programmatic launch follows one kernel, but after a fork or a join there are two.
    add_step(step, kHoistedStep, Launch::graph);
  }
}

const Registration kRegistration(add_all);

}  // namespace
}  // namespace depthcost::bench
