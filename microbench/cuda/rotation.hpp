// How many sets of operands take turns, so that each comes from memory when it is used.
#pragma once

#include <algorithm>
#include <cstddef>

namespace depthcost::bench {

/// Bytes of other operands between two uses of a cold operand, in sizes of the cache. Two would be
/// enough for a cache that replaces the oldest line. An L2 does not quite.
inline constexpr std::size_t kCachesBetweenUses = 5;

struct Rotation {
  std::size_t num_sets = 1;
  std::size_t bytes_per_set = 0;
};

/// At most `num_calls` sets: that many are used before the cache is swept again.
constexpr Rotation cold_rotation(std::size_t bytes_per_set, std::size_t cache_bytes,
                                 std::size_t num_calls) {
  const std::size_t enough =
      kCachesBetweenUses * cache_bytes / std::max<std::size_t>(bytes_per_set, 1) + 1;
  return {std::min(enough, num_calls), bytes_per_set};
}

/// Whether `num_calls` calls in a row find no operand in the cache. The cache is swept before the
/// first call.
constexpr bool stays_cold(const Rotation& rotation, std::size_t num_calls,
                          std::size_t cache_bytes) {
  return num_calls <= rotation.num_sets ||
         rotation.num_sets * rotation.bytes_per_set >= kCachesBetweenUses * cache_bytes;
}

/// Sets of a hot chain. With one, a kernel would read what the one before has just written, and
/// would wait for more than the cache.
inline constexpr std::size_t kHotSets = 2;

}  // namespace depthcost::bench
