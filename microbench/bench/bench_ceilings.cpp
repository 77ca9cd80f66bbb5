// The highest bandwidth of this machine's memory for each mix of reads and writes that kernels
// have. Kernels that only move bytes are tried in several variants, and the best is the ceiling.
#include <fmt/format.h>
#include <omp.h>

#include <array>
#include <set>

#include "microbench/cases/case_list.hpp"
#include "microbench/cases/cpu_shapes.hpp"
#include "microbench/cpu/bandwidth_variants.hpp"
#include "microbench/cpu/host_memory.hpp"
#include "microbench/harness/program.hpp"
#include "microbench/harness/sampling.hpp"
#include "microbench/harness/traffic_label.hpp"

namespace depthcost::bench {
namespace {

/// Where the arrays of a ceiling lie.
struct ArrayLevel {
  std::string_view name;
  // All arrays together have so many. 0: kVectorBytes each, more than any cache holds.
  std::size_t bytes = 0;
};
constexpr ArrayLevel kMemory{"memory", 0};
constexpr std::array kCaches{ArrayLevel{"L1", profile::kArrayBytesInL1},
                             ArrayLevel{"L2", profile::kArrayBytesInL2},
                             ArrayLevel{"L3", profile::kArrayBytesInL3}};

/// One ceiling. threads == 0: as many as kernels use.
struct CeilingCase {
  Mix mix;
  ArrayLevel level = kMemory;
  int threads = 0;
};

ArrayPlace place_of(const CeilingCase& ceiling) {
  return ceiling.level.bytes == 0 ? ArrayPlace::memory : ArrayPlace::cache;
}

std::size_t array_bytes(const CeilingCase& ceiling) {
  if (ceiling.level.bytes == 0) return kVectorBytes;
  const Mix& mix = ceiling.mix;
  const std::size_t bytes = ceiling.level.bytes / num_arrays(mix);
  return bytes / kArrayPageBytes * kArrayPageBytes;
}

/// Runs `call` once more and checks some words of every output.
bool is_right(const BandwidthCall& call) {
  const std::size_t words = call.size / sizeof(std::uint64_t);
  const std::array<std::size_t, 3> places{0, words / 3, words - 1};
  std::vector<std::uint64_t> expected;
  for (const std::size_t place : places)
    for (std::size_t k = 0; k < call.outputs.size(); ++k)
      expected.push_back(expected_word(call, k, place));
  run_bandwidth_kernel(call);
  auto next = expected.begin();
  for (const std::size_t place : places)
    for (const std::uint64_t* output : call.outputs)
      if (output[place] != *next++) return false;
  return true;
}

void run_case(benchmark::State& state, const CeilingCase& ceiling, BandwidthVariant variant) {
  const int usual_threads = omp_get_max_threads();
  if (ceiling.threads > 0) omp_set_num_threads(ceiling.threads);
  host_memory().reset();
  Operands operands(host_memory(), 1);
  const std::size_t size = array_bytes(ceiling);
  const auto make_arrays = [&] {
    auto* floats = operands.tensor<float>(num_arrays(ceiling.mix), size / sizeof(float));
    return arrays_at(reinterpret_cast<std::byte*>(floats), size, ceiling.mix, variant);
  };
  std::vector<BandwidthCall> sets;
  do sets.push_back(make_arrays());
  while (ceiling.level.bytes == 0 && operands.bytes() < rotation_bytes());
  std::size_t next = 0;
  const auto call = [&] { run_bandwidth_kernel(sets[next++ % sets.size()]); };
  sample(state, calls_per_sample(call), call);
  if (!is_right(sets.front())) state.SkipWithError("wrong result");
  omp_set_num_threads(usual_threads);
  const Mix& mix = ceiling.mix;
  set_traffic(state, mix, static_cast<double>(size) * (mix.reads + mix.writes));
}

void add_ceiling(const CeilingCase& ceiling) {
  const Mix& mix = ceiling.mix;
  const std::string threads =
      ceiling.threads > 0 ? fmt::format("/threads:{}", ceiling.threads) : "";
  for (const BandwidthVariant& variant : variants_of(mix, place_of(ceiling)))
    add_benchmark(fmt::format("cpu/ceiling/r:{}/w:{}/in_place:{}/{}{}/{}", mix.reads, mix.writes,
                              mix.in_place, ceiling.level.name, threads, name(variant)),
                  [=](benchmark::State& state) { run_case(state, ceiling, variant); });
}

/// The mixes of the kernels, with both numbers of blocks.
std::set<Mix> kernel_mixes() {
  std::set<Mix> mixes;
  const auto insert = [&](std::string_view, const Operation& model, auto) {
    mixes.insert(mix_of(model));
  };
  for (const std::size_t blocks : {Shape{}.num_blocks, kHeldOutBlocks}) {
    const Shape shape{.num_tokens = 1, .hidden_size = 1, .num_blocks = blocks};
    each_fused_case<float>(shape, StreamsAgain::from_memory, insert);
    each_unfused_case<float>(shape, insert);
  }
  each_variant_case<float>({.num_tokens = 1, .hidden_size = 1}, insert);
  each_gated_case<float>({.num_tokens = 1, .hidden_size = 1}, insert);
  each_eager_gated_case<float>({.num_tokens = 1, .hidden_size = 1}, insert);
  each_backward_case<float>({.num_tokens = 1, .hidden_size = 1}, insert);
  return mixes;
}

/// Read, copy, update, triad and write. They stand in for a mix that was not measured.
constexpr std::array kGenericMixes{Mix{1, 0, 0}, Mix{1, 1, 0}, Mix{1, 1, 1}, Mix{2, 1, 0},
                                   Mix{0, 1, 0}};

void add_all() {
  std::set<Mix> mixes = kernel_mixes();
  mixes.insert(kGenericMixes.begin(), kGenericMixes.end());
  for (const Mix& mix : mixes) add_ceiling({.mix = mix});
  for (const Mix& mix : kGenericMixes) {
    for (const ArrayLevel& level : kCaches) add_ceiling({.mix = mix, .level = level});
    if (omp_get_num_procs() > omp_get_max_threads())
      add_ceiling({.mix = mix, .threads = omp_get_num_procs()});
  }
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  return depthcost::bench::run_program(argc, argv, depthcost::bench::add_all);
}
