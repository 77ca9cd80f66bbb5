// What the device's memory can do, mix by mix and size by size: those of the kernels.
#include <fmt/format.h>

#include <set>

#include "kernels/cuda/check.hpp"
#include "microbench/cuda/chain.hpp"
#include "microbench/cuda/device_plan.hpp"
#include "microbench/cuda/lead.hpp"
#include "microbench/cuda/rotation.hpp"
#include "microbench/cuda/shapes.hpp"
#include "microbench/cuda/stream_variants.hpp"
#include "model/operations/mhc_operations.hpp"

namespace depthcost::bench {
namespace {

/// Streams of one mix, each of `size` bytes.
struct StreamCase {
  Mix mix;
  std::size_t size = 0;

  std::size_t num_streams() const { return mix.reads + mix.writes - mix.in_place; }
  std::size_t footprint() const { return num_streams() * size; }
  double bytes() const { return static_cast<double>(size) * (mix.reads + mix.writes); }

  friend auto operator<=>(const StreamCase&, const StreamCase&) = default;
};

constexpr std::size_t vector_bytes(const Shape& shape) {
  return shape.num_tokens * shape.hidden_size * sizeof(Bf16);
}

std::set<StreamCase> stream_cases() {
  std::set<StreamCase> cases;
  each_large_case<Bf16>([&](const Shape& shape, std::string_view, const Operation& model, auto) {
    cases.insert({mix_of(model), vector_bytes(shape)});
  });
  cases.insert({mix_of(operations::mhc_post(static_cast<double>(kPublishedPost.num_streams))),
                vector_bytes(kPublishedPost)});
  return cases;
}

Rotation rotation_of(const StreamCase& stream_case) {
  return cold_rotation(stream_case.footprint(), device_properties().cache_bytes, kMostWindowNodes);
}

/// One buffer that all cases lay their streams into.
std::byte* all_streams() {
  static std::byte* const buffer = [] {
    std::size_t most = 0;
    for (const StreamCase& stream_case : stream_cases())
      most = std::max(most, rotation_of(stream_case).num_sets * stream_case.footprint());
    std::byte* memory = device_memory().allocate(most);
    launch_fill(memory, most, device_cuda_stream());
    return memory;
  }();
  return buffer;
}

DeviceStreams streams_of(const StreamCase& stream_case, std::size_t set) {
  std::byte* next = all_streams() + set * stream_case.footprint();
  const auto take = [&] {
    std::byte* stream = next;
    next += stream_case.size;
    return stream;
  };
  const Mix& mix = stream_case.mix;
  DeviceStreams streams{
      .num_inputs = mix.reads, .num_outputs = mix.writes, .size = stream_case.size};
  for (unsigned i = 0; i < mix.in_place; ++i) {
    streams.outputs[i] = take();
    streams.inputs[i] = streams.outputs[i];
  }
  for (unsigned i = mix.in_place; i < mix.reads; ++i) streams.inputs[i] = take();
  for (unsigned i = mix.in_place; i < mix.writes; ++i) streams.outputs[i] = take();
  return streams;
}

std::uint64_t word_at(const std::byte* stream, std::size_t offset) {
  std::uint64_t word = 0;
  device_memory().copy_out(&word, stream + offset, sizeof(word));
  return word;
}

/// Launches once more and looks at some words of every output.
bool is_right(const DeviceStreams& streams, const DeviceStreamVariant& variant) {
  const std::size_t last = streams.size - sizeof(std::uint64_t);
  const std::array<std::size_t, 3> places{
      0, last / 3 / sizeof(std::uint64_t) * sizeof(std::uint64_t), last};
  std::array<std::uint64_t, 3> expected{};
  synchronise();
  for (std::size_t k = 0; k < places.size(); ++k)
    for (unsigned r = 0; r < streams.num_inputs; ++r)
      expected[k] ^= word_at(streams.inputs[r], places[k]);
  launch_streams(streams, variant, device_cuda_stream());
  synchronise();
  for (std::size_t k = 0; k < places.size(); ++k)
    for (unsigned w = 0; w < streams.num_outputs; ++w)
      if (word_at(streams.outputs[w], places[k]) != expected[k]) return false;
  return true;
}

/// The chain of a case, captured in its first repetition; checked then, too.
struct Window {
  Chain chain;
  std::size_t num_nodes = 0;
  bool is_right = false;
};

Window window_of(const StreamCase& stream_case, const DeviceStreamVariant& variant) {
  const Rotation rotation = rotation_of(stream_case);
  const LaunchNode node = [=](std::size_t i) {
    launch_streams(streams_of(stream_case, i % rotation.num_sets), variant, device_cuda_stream());
  };
  const std::size_t num_nodes = nodes_per_window(node);
  if (!stays_cold(rotation, num_nodes, device_properties().cache_bytes))
    throw std::runtime_error("operands would come from the cache");
  return {chain_of(Launch::graph, num_nodes, node), num_nodes,
          is_right(streams_of(stream_case, 0), variant)};
}

void run_streams_case(benchmark::State& state, const std::string& name,
                      const StreamCase& stream_case, const DeviceStreamVariant& variant) {
  const auto window = kept<Window>(name, [&] { return window_of(stream_case, variant); });
  for (auto _ : state)
    state.SetIterationTime(seconds_of(window->chain, Launch::graph, Temperature::cold) /
                           static_cast<double>(window->num_nodes));
  if (!window->is_right) throw std::runtime_error("wrong result");
  set_traffic(state, stream_case.mix, stream_case.bytes());
}

/// The driver's own copy: no kernel of ours should be far from it.
void run_memcpy(benchmark::State& state) {
  constexpr std::size_t kSize =
      vector_bytes({.num_tokens = kPrefillTokens, .hidden_size = kWidths[2]});
  constexpr std::size_t kCopies = 16;
  const DeviceStreams streams = streams_of({{2, 1, 0}, kSize}, 0);
  const Chain copies = [&] {
    for (std::size_t i = 0; i < kCopies; ++i)
      cuda::check(cudaMemcpyAsync(streams.outputs[0], streams.inputs[i % 2], kSize,
                                  cudaMemcpyDeviceToDevice, device_cuda_stream()));
  };
  for (auto _ : state)
    state.SetIterationTime(seconds_of(copies, Launch::graph, Temperature::cold) / kCopies);
  set_traffic(state, {1, 1, 0}, 2.0 * kSize);
}

void add_all() {
  add_device_context();
  for (const StreamCase& stream_case : stream_cases())
    for (const DeviceStreamVariant& variant : variants_for(stream_case.mix)) {
      const Mix& mix = stream_case.mix;
      const std::string benchmark =
          fmt::format("cuda/ceiling/r:{}/w:{}/in_place:{}/bytes:{}/{}", mix.reads, mix.writes,
                      mix.in_place, stream_case.size, name(variant));
      add_device_benchmark(benchmark, [=](benchmark::State& state) {
        run_streams_case(state, benchmark, stream_case, variant);
      });
    }
  add_device_benchmark("cuda/memcpy", run_memcpy);
}

const Registration kRegistration(add_all);

}  // namespace
}  // namespace depthcost::bench
