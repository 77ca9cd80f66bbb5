// The time of every kernel on the device, bf16: the mean of a window of launches where operands
// come from memory, the slope of chains where tokens are few.
#include "microbench/cuda/device_benchmark.hpp"
#include "microbench/cuda/device_shapes.hpp"
#include "microbench/cuda/prepared.hpp"
#include "microbench/harness/traffic_label.hpp"

namespace depthcost::bench {
namespace {

/// What the benchmarks of one operation and shape share. Launch mode and temperature follow the
/// name.
struct DeviceCase {
  std::string name;  // "cuda/attnres_phase2/bf16/T:8192/d:7168"
  Shape shape;
  Mix mix;
  double bytes = 0;

  DeviceCase(std::string_view operation, const Operation& model, const Shape& s)
      : name(fmt::format("cuda/{}/bf16/T:{}/d:{}", operation, s.num_tokens, s.hidden_size)),
        shape(s),
        mix(mix_of(model)),
        bytes(static_cast<double>(s.num_tokens) *
              depthcost::bytes(traffic(model), {static_cast<double>(s.hidden_size)}).value) {}
};

template <class Op, class Make>
std::shared_ptr<Prepared<Op>> prepared_for(const DeviceCase& device_case, const Make& make,
                                           std::size_t num_calls) {
  return kept<Prepared<Op>>(
      device_case.name, [&] { return prepare<Op>(make, device_case.shape.num_tokens, num_calls); });
}

template <class Op, class Make>
void run_window(benchmark::State& state, const DeviceCase& device_case, const Make& make) {
  constexpr Launch kLaunch = Launch::graph;
  const auto prepared = prepared_for<Op>(device_case, make, kMostWindowNodes);
  const LaunchNode node = prepared->node(kLaunch, prepared->sets.size());
  if (!prepared->window) {
    prepared->window_nodes = nodes_per_window(node);
    prepared->window = chain_of(kLaunch, prepared->window_nodes, node);
  }
  for (auto _ : state)
    state.SetIterationTime(seconds_of(prepared->window, kLaunch, Temperature::cold) /
                           static_cast<double>(prepared->window_nodes));
  verify_on_device(*prepared, make);
  set_traffic(state, device_case.mix, device_case.bytes);
}

/// How a short chain is run.
struct ChainMode {
  Launch launch = Launch::graph;
  Temperature temperature = Temperature::cold;
};

std::string name(ChainMode mode) {
  return fmt::format("{}/{}", name(mode.launch), name(mode.temperature));
}

template <class Op>
const Chains& chains_for(Prepared<Op>& prepared, const std::string& mode, const LaunchNode& node) {
  Chains& chains = prepared.chains[mode];
  if (chains.empty()) {
    node(0);  // loads the kernel
    chains = chains_of(Launch::graph, node);
  }
  return chains;
}

template <class Op, class Make>
void run_slope(benchmark::State& state, const DeviceCase& device_case, ChainMode mode,
               const Make& make) {
  const auto prepared = prepared_for<Op>(device_case, make, kLongestChain);
  const bool is_hot = mode.temperature == Temperature::hot;
  const std::size_t num_sets =
      is_hot ? std::min(kHotSets, prepared->sets.size()) : prepared->sets.size();
  const Chains& chains = chains_for(*prepared, name(mode), prepared->node(mode.launch, num_sets));
  time_slope(state, chains, mode.launch, mode.temperature);
  verify_on_device(*prepared, make);
  set_traffic(state, device_case.mix, device_case.bytes);
}

/// The time that a kernel adds between layers whose weights pass through the cache: the difference
/// of two slopes.
template <class Op, class Make>
void run_decode(benchmark::State& state, const DeviceCase& device_case, const Make& make) {
  constexpr Launch kLaunch = Launch::graph;
  static const Chains weights = chains_of(kLaunch, launch_weights);
  const auto prepared = prepared_for<Op>(device_case, make, kLongestChain);
  const LaunchNode kernel = prepared->node(kLaunch, std::min(kHotSets, prepared->sets.size()));
  const Chains& chains = chains_for(*prepared, "decode", [kernel](std::size_t i) {
    launch_weights(i);
    kernel(i);
  });
  std::vector<double> deviations;
  for (auto _ : state) {
    const SlopeSample without = sample_slope(weights, kLaunch, Temperature::hot);
    const SlopeSample with = sample_slope(chains, kLaunch, Temperature::hot);
    state.SetIterationTime(with.seconds - without.seconds);
    deviations.push_back(std::max(with.deviation, without.deviation));
  }
  verify_on_device(*prepared, make);
  set_traffic(state, device_case.mix, device_case.bytes);
  state.counters["deviation"] = median_of(deviations);
}

/// Adds all chains of each case that each_device_case visits.
auto add_chains(const Shape& shape) {
  return [=](std::string_view operation, const Operation& model, auto make_op) {
    using Op = decltype(make_op(shape, std::declval<Operands&>()));
    const auto make = [=](Operands& operands) { return make_op(shape, operands); };
    const DeviceCase device_case(operation, model, shape);
    for (const Launch launch : {Launch::graph, Launch::graph_pdl})
      for (const Temperature temperature : {Temperature::cold, Temperature::hot}) {
        if (temperature == Temperature::hot && device_case.bytes > kHotBytes) continue;
        const ChainMode mode{launch, temperature};
        add_device_benchmark(
            fmt::format("{}/{}", device_case.name, name(mode)),
            [=](benchmark::State& state) { run_slope<Op>(state, device_case, mode, make); });
      }
    if (device_case.bytes <= kHotBytes)
      add_device_benchmark(
          fmt::format("{}/graph/decode:{}MiB", device_case.name, kWeightBytesPerLayer >> 20),
          [=](benchmark::State& state) { run_decode<Op>(state, device_case, make); });
  };
}

void add_window(const Shape& shape, std::string_view operation, const Operation& model,
                auto make_op) {
  using Op = decltype(make_op(shape, std::declval<Operands&>()));
  const auto make = [=](Operands& operands) { return make_op(shape, operands); };
  const DeviceCase device_case(operation, model, shape);
  add_device_benchmark(device_case.name + "/graph/cold",
                       [=](benchmark::State& state) { run_window<Op>(state, device_case, make); });
}

void add_all() {
  add_device_context();
  each_large_case<Bf16>(
      [](const Shape& shape, auto... the_case) { add_window(shape, the_case...); });
  const Shape widest{.num_tokens = kPrefillTokens, .hidden_size = kWidths[2]};
  each_unfused_case<Bf16>(widest, [&](auto... the_case) { add_window(widest, the_case...); });
  for (const std::size_t tokens : kFewTokens) {
    const Shape shape{.num_tokens = tokens, .hidden_size = kWidths[2]};
    each_device_case<Bf16>(shape, add_chains(shape));
  }
}

const Registration kRegistration(add_all);

}  // namespace
}  // namespace depthcost::bench
