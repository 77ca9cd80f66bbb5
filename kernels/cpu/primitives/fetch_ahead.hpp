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

/// The distance in elements.
template <class T>
constexpr std::size_t fetched_ahead(FetchAhead way) {
  return (way == FetchAhead::far ? kFarBytes : near_bytes(sizeof(T))) / sizeof(T);
}

}  // namespace depthcost::cpu
