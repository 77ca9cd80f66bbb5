// Which variants of a ceiling kernel are tried, their names, and their arrays.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "microbench/cpu/bandwidth_kernel.hpp"

namespace depthcost::bench {

std::string name(BandwidthVariant variant);

/// Where the arrays lie.
enum class ArrayPlace { memory, cache };

/// All variants that the mix allows. In a cache there is nothing to fetch ahead.
std::vector<BandwidthVariant> variants_of(const Mix& mix, ArrayPlace place);

constexpr std::size_t num_arrays(const Mix& mix) {
  return std::size_t{mix.reads} + mix.writes - mix.in_place;
}

/// Arrays of `size` bytes, one after the other from `first` on: num_arrays() of them.
BandwidthCall arrays_at(std::byte* first, std::size_t size, const Mix& mix,
                        BandwidthVariant variant);

}  // namespace depthcost::bench
