// Which outputs bypass the caches: CPUs differ.
#pragma once

#include <cstddef>

#include "kernels/cpu/tuning.hpp"

namespace depthcost::cpu {

enum class StorePolicy { cached, streaming };

/// The policy of a call that writes `output_bytes`.
inline StorePolicy store_policy(std::size_t output_bytes) {
  return output_bytes < kStreamBytes ? StorePolicy::cached : StorePolicy::streaming;
}

/// Whether f32 rows bypass the caches that a backward pass reads, and updates in place one row
/// later. On Zen 5 they do: add and norm backward reach 0.84 of their ceiling in place of 0.75 with
/// lines that are asked for kUpdateBytes ahead, Phase 2 backward 0.90 in place of 0.86. bf16 loses
/// 8 %, and so do forward passes that update rows as they read them: up to 60 %. Other CPUs were
/// not tried. [ours]
extern const StorePolicy kF32Updates;

/// The policy of a backward pass that updates `bytes` of rows of T so.
template <class T>
StorePolicy update_policy(std::size_t bytes) {
  return sizeof(T) == sizeof(float) && kF32Updates == StorePolicy::streaming ? store_policy(bytes)
                                                                             : StorePolicy::cached;
}

}  // namespace depthcost::cpu
