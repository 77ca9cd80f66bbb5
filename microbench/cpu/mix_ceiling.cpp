// A tournament of all variants, in turns, so that a slow moment hits all of them.
#include "microbench/cpu/mix_ceiling.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "microbench/cases/cpu_shapes.hpp"
#include "microbench/cpu/bandwidth_variants.hpp"
#include "microbench/cpu/host_memory.hpp"
#include "microbench/harness/filled_operands.hpp"
#include "microbench/harness/sampling.hpp"

namespace depthcost::bench {
namespace {

constexpr int kTurns = 3;

// Smaller than those of bench_ceilings: a pair is the better the shorter it is.
constexpr std::size_t kPairedBytes = kVectorBytes / 4;

/// Room for the rotation, filled once.
std::byte* memory() {
  static Operands operands(ceiling_memory(), 1);
  static float* const first = operands.tensor<float>(1, rotation_bytes() / sizeof(float));
  return reinterpret_cast<std::byte*>(first);
}

std::vector<BandwidthCall> sets_of(const Mix& mix, BandwidthVariant variant) {
  const std::size_t set_bytes = num_arrays(mix) * kPairedBytes;
  std::vector<BandwidthCall> sets;
  for (std::size_t at = 0; at + set_bytes <= rotation_bytes(); at += set_bytes)
    sets.push_back(arrays_at(memory() + at, kPairedBytes, mix, variant));
  return sets;
}

double bytes_of(const BandwidthCall& call) {
  return static_cast<double>(call.size) *
         static_cast<double>(call.inputs.size() + call.outputs.size());
}

/// Runs sets from `next` on until the sample is long enough.
double time_sets(const std::vector<BandwidthCall>& sets, std::size_t& next) {
  double bytes = 0;
  const auto start = Clock::now();
  Seconds elapsed{0};
  while (elapsed < kShortestSample) {
    const BandwidthCall& call = sets[next++ % sets.size()];
    run_bandwidth_kernel(call);
    bytes += bytes_of(call);
    elapsed = Clock::now() - start;
  }
  return elapsed.count() / bytes;
}

/// The mix, and the fewest streams in its proportions.
std::vector<Mix> candidates(const Mix& mix) {
  const unsigned parts = std::gcd(std::gcd(mix.reads, mix.writes), mix.in_place);
  if (parts <= 1) return {mix};
  return {mix, {mix.reads / parts, mix.writes / parts, mix.in_place / parts}};
}

struct Contender {
  std::vector<BandwidthCall> sets;
  double seconds_per_byte = 1;
};

std::vector<BandwidthCall> fastest_sets(const Mix& mix) {
  std::vector<Contender> contenders;
  for (const Mix& candidate : candidates(mix))
    for (const BandwidthVariant& variant : variants_of(candidate, ArrayPlace::memory))
      contenders.push_back({.sets = sets_of(candidate, variant)});
  for (int turn = 0; turn < kTurns; ++turn)
    for (Contender& contender : contenders) {
      std::size_t next = 0;
      contender.seconds_per_byte =
          std::min(contender.seconds_per_byte, time_sets(contender.sets, next));
    }
  return std::min_element(contenders.begin(), contenders.end(),
                          [](const Contender& a, const Contender& b) {
                            return a.seconds_per_byte < b.seconds_per_byte;
                          })
      ->sets;
}

}  // namespace

MixCeiling::MixCeiling(const Mix& mix) : sets_(fastest_sets(mix)) {}

double MixCeiling::seconds_per_byte() { return time_sets(sets_, next_); }

MixCeiling& ceiling_of(const Mix& mix) {
  static std::map<Mix, MixCeiling> ceilings;
  return ceilings.try_emplace(mix, mix).first->second;
}

}  // namespace depthcost::bench
