// How many sets of operands take turns, so that each comes from memory whenever it is used.
#pragma once

#include <algorithm>
#include <cstddef>

namespace depthcost::bench {

/// Caches full of other bytes between two uses of an operand that is to come from memory. Two would
/// do for a cache that replaces what is oldest; L2 does not quite.
inline constexpr std::size_t kCachesBetweenUses = 5;

struct Rotation {
  std::size_t num_sets = 1;
  std::size_t bytes_per_set = 0;
};

/// At most `num_calls` sets: as many as are called before the cache is swept.
constexpr Rotation cold_rotation(std::size_t bytes_per_set, std::size_t cache_bytes,
                                 std::size_t num_calls) {
  const std::size_t enough =
      kCachesBetweenUses * cache_bytes / std::max<std::size_t>(bytes_per_set, 1) + 1;
  return {std::min(enough, num_calls), bytes_per_set};
}

/// Whether `num_calls` calls in a row, set by set, find nothing of theirs in the cache, if it has
/// been swept before the first.
constexpr bool stays_cold(const Rotation& rotation, std::size_t num_calls,
                          std::size_t cache_bytes) {
  return num_calls <= rotation.num_sets ||
         rotation.num_sets * rotation.bytes_per_set >= kCachesBetweenUses * cache_bytes;
}

/// Sets of a hot chain: two, since a kernel that reads what the one before has just written meets
/// other delays than the cache's.
inline constexpr std::size_t kHotSets = 2;

}  // namespace depthcost::bench
