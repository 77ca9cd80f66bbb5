// All aggregations of Kimi K3 over one bank, 187 operations in one graph: what the residual scheme
// costs a forward pass, single pass and two-phase.
#include "microbench/cases/attnres_forward.hpp"
#include "microbench/cuda/device_benchmark.hpp"
#include "microbench/cuda/device_shapes.hpp"
#include "microbench/cuda/prepared.hpp"

namespace depthcost::bench {
namespace {

constexpr Shape kShape{.num_tokens = kPrefillTokens, .hidden_size = kWidths[2]};

/// Kimi K3: 186 layers in blocks of 24.
Partition kimi_k3_blocks() { return partition_by_size(186, 24); }

AttnResForward<Bf16> make_pass(Operands& operands) {
  return attnres_forward<Bf16>(kimi_k3_blocks(), kShape, operands);
}

struct PreparedForward {
  Call<AttnResForward<Bf16>> call;
  std::map<Schedule, Chain> chains;
  std::map<Schedule, std::optional<std::string>> verdicts;
};

void launch_forward(const AttnResForward<Bf16>& pass, Schedule schedule) {
  run_forward(pass, schedule, [](const auto& op) { cuda::run(op, launch_options(Launch::graph)); });
}

/// Compares every tensor after a pass with that of the reference, at a few tokens.
std::optional<std::string> verify_forward(Call<AttnResForward<Bf16>>& call, Schedule schedule) {
  constexpr std::size_t kTokens = 2;
  comparison_memory().reset();
  auto expected = make_call<AttnResForward<Bf16>>(make_pass, comparison_memory(), kTokens);
  copy_verified(call.operands, expected.operands);
  launch_forward(call.op, schedule);
  synchronise();
  run_forward(expected.op, schedule, [](const auto& op) { reference::run(op); });
  auto actual = make_call<AttnResForward<Bf16>>(make_pass, comparison_memory(), kTokens);
  copy_verified(call.operands, actual.operands);
  return difference(actual.operands, expected.operands);
}

void run_pass(benchmark::State& state, Schedule schedule) {
  const auto prepared = kept<PreparedForward>("forward", [] {
    return PreparedForward{
        make_call<AttnResForward<Bf16>>(make_pass, device_memory(), kShape.num_tokens), {}, {}};
  });
  Chain& chain = prepared->chains[schedule];
  if (!chain) {
    launch_forward(prepared->call.op, schedule);  // loads the kernels
    synchronise();
    chain = chain_of(Launch::graph, 1,
                     [&](std::size_t) { launch_forward(prepared->call.op, schedule); });
  }
  for (auto _ : state) state.SetIterationTime(seconds_of(chain, Launch::graph, Temperature::cold));
  synchronise();
  auto verdict = prepared->verdicts.find(schedule);
  if (verdict == prepared->verdicts.end())
    verdict = prepared->verdicts.emplace(schedule, verify_forward(prepared->call, schedule)).first;
  if (verdict->second) throw std::runtime_error("wrong result: " + *verdict->second);
  const Traffic moved = forward_traffic(kimi_k3_blocks(), schedule);
  state.counters["bytes"] = static_cast<double>(kShape.num_tokens) *
                            bytes(moved, {static_cast<double>(kShape.hidden_size)}).value;
}

void add_forward_passes() {
  add_device_context();
  for (const Schedule schedule : {Schedule::single_pass, Schedule::two_phase})
    add_device_benchmark(fmt::format("cuda/kimi_k3_forward/{}/bf16/T:{}/d:{}/graph/cold",
                                     name(schedule), kShape.num_tokens, kShape.hidden_size),
                         [=](benchmark::State& state) { run_pass(state, schedule); });
}

const Registration kForwardPasses(add_forward_passes);

}  // namespace
}  // namespace depthcost::bench
