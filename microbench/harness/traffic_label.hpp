// How a benchmark says what it moves.
#pragma once

#include <benchmark/benchmark.h>

#include <sstream>
#include <string>

#include "model/operations/mix.hpp"

namespace depthcost::bench {

/// "10 2 1": reads, writes, of them in place. A label and no counters: Google Benchmark would write
/// their coefficient of variation, NaN where they are 0, which is no JSON.
inline std::string label_of(const Mix& mix) {
  return std::to_string(mix.reads) + ' ' + std::to_string(mix.writes) + ' ' +
         std::to_string(mix.in_place);
}

inline Mix mix_from(const std::string& label) {
  Mix mix;
  std::istringstream(label) >> mix.reads >> mix.writes >> mix.in_place;
  return mix;
}

/// The mix and `bytes` of one call; bytes over the median time is the bandwidth.
inline void set_traffic(benchmark::State& state, const Mix& mix, double bytes) {
  state.SetLabel(label_of(mix));
  state.counters["bytes"] = bytes;
}

}  // namespace depthcost::bench
