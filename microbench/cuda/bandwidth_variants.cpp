// Width, unrolling and grid for each way to access memory.
#include "microbench/cuda/bandwidth_variants.hpp"

#include <fmt/format.h>

namespace depthcost::bench {

using Access = DeviceBandwidthVariant::Access;

std::string name(const DeviceBandwidthVariant& v) {
  const std::string grid =
      v.ctas_per_sm == 0 ? "one_shot" : fmt::format("ctas_per_sm:{}", v.ctas_per_sm);
  if (v.access == Access::bulk) return "bulk/" + grid;
  return fmt::format("{}/width:{}/unroll:{}/{}", v.access == Access::plain ? "plain" : "streaming",
                     16 * v.vectors_side_by_side, v.unroll, grid);
}

std::vector<DeviceBandwidthVariant> variants_for(const Mix& mix) {
  std::vector<std::array<unsigned, 2>> shapes{{1, 1}};
  if (mix.reads <= kManyReads) shapes.insert(shapes.end(), {{1, 2}, {2, 1}});
  if (mix.reads <= kFewReads) shapes.insert(shapes.end(), {{1, 4}, {2, 2}});
  std::vector<DeviceBandwidthVariant> variants;
  for (const Access access : {Access::plain, Access::streaming})
    for (const auto& [width, unroll] : shapes)
      for (const unsigned ctas_per_sm : {0U, 1U, 2U, 4U, 8U})
        variants.push_back({access, width, unroll, ctas_per_sm});
  for (const unsigned ctas_per_sm : {1U, 2U, 4U})
    if (ctas_per_sm < 4 || mix.reads <= kManyReads)
      variants.push_back({.access = Access::bulk, .ctas_per_sm = ctas_per_sm});
  return variants;
}

}  // namespace depthcost::bench
