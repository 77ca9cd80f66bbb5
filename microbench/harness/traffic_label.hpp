// How a benchmark reports the bytes that it moves.
#pragma once

#include <benchmark/benchmark.h>

#include <sstream>
#include <string>

#include "model/operations/mix.hpp"

namespace depthcost::bench {

/// "10 2 1": reads, writes, and how many of them are in place. It is a label, because of counters
/// Google Benchmark writes the coefficient of variation, which is NaN, and no JSON, where they are
/// 0.
inline std::string label_of(const Mix& mix) {
  return std::to_string(mix.reads) + ' ' + std::to_string(mix.writes) + ' ' +
         std::to_string(mix.in_place);
}

inline Mix mix_from(const std::string& label) {
  Mix mix;
  std::istringstream(label) >> mix.reads >> mix.writes >> mix.in_place;
  return mix;
}

/// Sets the mix and the bytes of one call. The bandwidth is the bytes over the median time.
inline void set_traffic(benchmark::State& state, const Mix& mix, double bytes) {
  state.SetLabel(label_of(mix));
  state.counters["bytes"] = bytes;
}

}  // namespace depthcost::bench
