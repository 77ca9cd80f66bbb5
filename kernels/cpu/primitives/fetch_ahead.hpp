// How far ahead of its use a row is asked for, and into which cache: CPUs differ.
#pragma once

#include "kernels/cpu/tuning.hpp"

namespace depthcost::cpu {

enum class FetchAhead {
  near,  // near_bytes ahead, into L1
  far    // kFarBytes ahead, into L2
};

/// What suits this CPU.
extern const FetchAhead kFetchAhead;

/// Whether rows are fetched while others are read (fetcher.hpp).
enum class RowFetching { on, off };

/// The same for sources of AttnRes in f32. Zen 5 reads these faster by its own prefetcher: the
/// single pass takes 4 to 24 % less time so, Phase 2 up to 18 %, single pass backward 9 to 11 %.
/// With bf16 it takes 15 to 40 % more. Other CPUs were not tried. [ours]
extern const RowFetching kF32SourceFetching;

template <class T>
RowFetching source_fetching() {
  return sizeof(T) == sizeof(float) ? kF32SourceFetching : RowFetching::on;
}

/// The distance in elements.
template <class T>
constexpr std::size_t fetched_ahead(FetchAhead way) {
  return (way == FetchAhead::far ? kFarBytes : near_bytes(sizeof(T))) / sizeof(T);
}

}  // namespace depthcost::cpu
