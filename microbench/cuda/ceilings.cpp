// The highest bandwidth of the device's memory for each mix and size of the kernels.
#include <fmt/format.h>

#include <set>

#include "kernels/cuda/check.hpp"
#include "microbench/cuda/auxiliary_kernels.hpp"
#include "microbench/cuda/bandwidth_variants.hpp"
#include "microbench/cuda/chain.hpp"
#include "microbench/cuda/device_benchmark.hpp"
#include "microbench/cuda/device_shapes.hpp"
#include "microbench/cuda/rotation.hpp"
#include "model/operations/mhc_operations.hpp"

namespace depthcost::bench {
namespace {

/// The arrays of one mix, each of `size` bytes.
struct CeilingCase {
  Mix mix;
  std::size_t size = 0;

  std::size_t num_arrays() const { return mix.reads + mix.writes - mix.in_place; }
  std::size_t footprint() const { return num_arrays() * size; }
  double bytes() const { return static_cast<double>(size) * (mix.reads + mix.writes); }

  friend auto operator<=>(const CeilingCase&, const CeilingCase&) = default;
};

constexpr std::size_t vector_bytes(const Shape& shape) {
  return shape.num_tokens * shape.hidden_size * sizeof(Bf16);
}

std::set<CeilingCase> ceiling_cases() {
  std::set<CeilingCase> cases;
  each_large_case<Bf16>([&](const Shape& shape, std::string_view, const Operation& model, auto) {
    cases.insert({mix_of(model), vector_bytes(shape)});
  });
  cases.insert({mix_of(operations::mhc_post(static_cast<double>(kPublishedPost.num_streams))),
                vector_bytes(kPublishedPost)});
  return cases;
}

Rotation rotation_of(const CeilingCase& ceiling) {
  return cold_rotation(ceiling.footprint(), device_properties().cache_bytes, kMostWindowNodes);
}

/// One buffer for the arrays of all cases.
std::byte* all_arrays() {
  static std::byte* const buffer = [] {
    std::size_t most = 0;
    for (const CeilingCase& ceiling : ceiling_cases())
      most = std::max(most, rotation_of(ceiling).num_sets * ceiling.footprint());
    std::byte* memory = device_memory().allocate(most);
    launch_fill(memory, most, device_cuda_stream());
    return memory;
  }();
  return buffer;
}

DeviceArrays arrays_of(const CeilingCase& ceiling, std::size_t set) {
  std::byte* next = all_arrays() + set * ceiling.footprint();
  const auto take = [&] {
    std::byte* array = next;
    next += ceiling.size;
    return array;
  };
  const Mix& mix = ceiling.mix;
  DeviceArrays arrays{.num_inputs = mix.reads, .num_outputs = mix.writes, .size = ceiling.size};
  for (unsigned i = 0; i < mix.in_place; ++i) {
    arrays.outputs[i] = take();
    arrays.inputs[i] = arrays.outputs[i];
  }
  for (unsigned i = mix.in_place; i < mix.reads; ++i) arrays.inputs[i] = take();
  for (unsigned i = mix.in_place; i < mix.writes; ++i) arrays.outputs[i] = take();
  return arrays;
}

std::uint64_t word_at(const std::byte* array, std::size_t offset) {
  std::uint64_t word = 0;
  device_memory().copy_out(&word, array + offset, sizeof(word));
  return word;
}

/// Launches once more and checks some words of every output.
bool is_right(const DeviceArrays& arrays, const DeviceBandwidthVariant& variant) {
  const std::size_t last = arrays.size - sizeof(std::uint64_t);
  const std::array<std::size_t, 3> places{
      0, last / 3 / sizeof(std::uint64_t) * sizeof(std::uint64_t), last};
  std::array<std::uint64_t, 3> expected{};
  synchronise();
  for (std::size_t k = 0; k < places.size(); ++k)
    for (unsigned r = 0; r < arrays.num_inputs; ++r)
      expected[k] ^= word_at(arrays.inputs[r], places[k]);
  launch_bandwidth_kernel(arrays, variant, device_cuda_stream());
  synchronise();
  for (std::size_t k = 0; k < places.size(); ++k)
    for (unsigned w = 0; w < arrays.num_outputs; ++w)
      if (word_at(arrays.outputs[w], places[k]) != expected[k]) return false;
  return true;
}

/// The chain of a case. It is captured and checked in the first repetition.
struct Window {
  Chain chain;
  std::size_t num_nodes = 0;
  bool is_right = false;
};

Window window_of(const CeilingCase& ceiling, const DeviceBandwidthVariant& variant) {
  const Rotation rotation = rotation_of(ceiling);
  const LaunchNode node = [=](std::size_t i) {
    launch_bandwidth_kernel(arrays_of(ceiling, i % rotation.num_sets), variant,
                            device_cuda_stream());
  };
  const std::size_t num_nodes = nodes_per_window(node);
  if (!stays_cold(rotation, num_nodes, device_properties().cache_bytes))
    throw std::runtime_error("operands would come from the cache");
  return {chain_of(Launch::graph, num_nodes, node), num_nodes,
          is_right(arrays_of(ceiling, 0), variant)};
}

void run_ceiling(benchmark::State& state, const std::string& name, const CeilingCase& ceiling,
                 const DeviceBandwidthVariant& variant) {
  const auto window = kept<Window>(name, [&] { return window_of(ceiling, variant); });
  for (auto _ : state)
    state.SetIterationTime(seconds_of(window->chain, Launch::graph, Temperature::cold) /
                           static_cast<double>(window->num_nodes));
  if (!window->is_right) throw std::runtime_error("wrong result");
  set_traffic(state, ceiling.mix, ceiling.bytes());
}

/// The driver's own copy, for comparison.
void run_memcpy(benchmark::State& state) {
  constexpr std::size_t kSize =
      vector_bytes({.num_tokens = kPrefillTokens, .hidden_size = kWidths[2]});
  constexpr std::size_t kCopies = 16;
  const DeviceArrays arrays = arrays_of({{2, 1, 0}, kSize}, 0);
  const Chain copies = [&] {
    for (std::size_t i = 0; i < kCopies; ++i)
      cuda::check(cudaMemcpyAsync(arrays.outputs[0], arrays.inputs[i % 2], kSize,
                                  cudaMemcpyDeviceToDevice, device_cuda_stream()));
  };
  for (auto _ : state)
    state.SetIterationTime(seconds_of(copies, Launch::graph, Temperature::cold) / kCopies);
  set_traffic(state, {1, 1, 0}, 2.0 * kSize);
}

void add_all() {
  add_device_context();
  for (const CeilingCase& ceiling : ceiling_cases())
    for (const DeviceBandwidthVariant& variant : variants_for(ceiling.mix)) {
      const Mix& mix = ceiling.mix;
      const std::string benchmark =
          fmt::format("cuda/ceiling/r:{}/w:{}/in_place:{}/bytes:{}/{}", mix.reads, mix.writes,
                      mix.in_place, ceiling.size, name(variant));
      add_device_benchmark(benchmark, [=](benchmark::State& state) {
        run_ceiling(state, benchmark, ceiling, variant);
      });
    }
  add_device_benchmark("cuda/memcpy", run_memcpy);
}

const Registration kRegistration(add_all);

}  // namespace
}  // namespace depthcost::bench
