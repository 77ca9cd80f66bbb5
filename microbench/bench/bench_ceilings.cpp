// The highest bandwidth of this machine's memory for each mix of reads and writes that kernels
// have. Kernels that only move bytes are tried in several variants, and the best is the ceiling.
#include <fmt/format.h>
#include <omp.h>

#include <array>
#include <set>

#include "microbench/cases/case_list.hpp"
#include "microbench/cases/cpu_shapes.hpp"
#include "microbench/cpu/bandwidth_kernel.hpp"
#include "microbench/cpu/host_memory.hpp"
#include "microbench/harness/program.hpp"
#include "microbench/harness/sampling.hpp"
#include "microbench/harness/traffic_label.hpp"

namespace depthcost::bench {
namespace {

using Order = BandwidthVariant::Order;
using Stores = BandwidthVariant::Stores;

std::string name(BandwidthVariant variant) {
  const std::string order =
      variant.order == Order::by_lines ? fmt::format("by_lines/ahead:{}", variant.ahead) : "by_row";
  return order + (variant.stores == Stores::cached ? "/cached" : "/streaming");
}

/// Where the arrays of a ceiling lie.
struct ArrayLevel {
  std::string_view name;
  // Of all arrays together. 0: kVectorBytes each, more than any cache holds.
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

/// All variants that the mix allows.
std::vector<BandwidthVariant> variants_of(const CeilingCase& ceiling) {
  std::vector<BandwidthVariant> variants;
  const bool is_in_memory = ceiling.level.bytes == 0;
  for (const Stores stores : {Stores::cached, Stores::streaming}) {
    const bool has_choice = is_in_memory && ceiling.mix.writes > ceiling.mix.in_place;
    if (!has_choice && stores == Stores::streaming) continue;
    for (const std::size_t ahead : {std::size_t{1024}, kUsualAhead, std::size_t{8192}})
      if (is_in_memory || ahead == 1024) variants.push_back({Order::by_lines, stores, ahead});
    variants.push_back({Order::by_row, stores});
  }
  return variants;
}

std::size_t array_bytes(const CeilingCase& ceiling) {
  if (ceiling.level.bytes == 0) return kVectorBytes;
  const Mix& mix = ceiling.mix;
  const std::size_t bytes = ceiling.level.bytes / (mix.reads + mix.writes - mix.in_place);
  return bytes / kArrayPageBytes * kArrayPageBytes;
}

std::uint64_t* take(Operands& operands, std::size_t size) {
  return reinterpret_cast<std::uint64_t*>(operands.tensor<float>(1, size / sizeof(float)));
}

BandwidthCall make_arrays(const CeilingCase& ceiling, BandwidthVariant variant,
                          Operands& operands) {
  const Mix& mix = ceiling.mix;
  const std::size_t size = array_bytes(ceiling);
  BandwidthCall call{
      .size = size, .inputs = {}, .outputs = {}, .in_place = mix.in_place, .variant = variant};
  for (unsigned i = 0; i < mix.in_place; ++i) call.outputs.push_back(take(operands, size));
  call.inputs.assign(call.outputs.begin(), call.outputs.end());
  while (call.inputs.size() < mix.reads) call.inputs.push_back(take(operands, size));
  while (call.outputs.size() < mix.writes) call.outputs.push_back(take(operands, size));
  return call;
}

/// Runs `call` once more and checks some words of every output.
bool is_right(const BandwidthCall& call) {
  const std::size_t words = call.size / sizeof(std::uint64_t);
  const std::array<std::size_t, 3> places{0, words / 3, words - 1};
  std::array<std::uint64_t, 3> expected{};
  for (std::size_t k = 0; k < places.size(); ++k)
    for (const std::uint64_t* input : call.inputs) expected[k] ^= input[places[k]];
  run_bandwidth_kernel(call);
  for (std::size_t k = 0; k < places.size(); ++k)
    for (const std::uint64_t* output : call.outputs)
      if (output[places[k]] != expected[k]) return false;
  return true;
}

void run_case(benchmark::State& state, const CeilingCase& ceiling, BandwidthVariant variant) {
  const int usual_threads = omp_get_max_threads();
  if (ceiling.threads > 0) omp_set_num_threads(ceiling.threads);
  host_memory().reset();
  Operands operands(host_memory(), 1);
  std::vector<BandwidthCall> sets;
  do sets.push_back(make_arrays(ceiling, variant, operands));
  while (ceiling.level.bytes == 0 && operands.bytes() < rotation_bytes());
  std::size_t next = 0;
  const auto call = [&] { run_bandwidth_kernel(sets[next++ % sets.size()]); };
  sample(state, calls_per_sample(call), call);
  if (!is_right(sets.front())) state.SkipWithError("wrong result");
  omp_set_num_threads(usual_threads);
  const Mix& mix = ceiling.mix;
  set_traffic(state, mix, static_cast<double>(array_bytes(ceiling)) * (mix.reads + mix.writes));
}

void add_ceiling(const CeilingCase& ceiling) {
  const Mix& mix = ceiling.mix;
  const std::string threads =
      ceiling.threads > 0 ? fmt::format("/threads:{}", ceiling.threads) : "";
  for (const BandwidthVariant& variant : variants_of(ceiling))
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
