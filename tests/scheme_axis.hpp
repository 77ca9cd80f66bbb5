// Four schemes on Kimi K3, for sweeps in which they compete.
#pragma once

#include "model/schemes/list.hpp"
#include "model/sweep/sweep.hpp"

namespace depthcost::test {

/// The axis as the reader makes it; value 1 is mHC.
inline SweptAxis scheme_axis() {
  const Partition blocks = partition_by_size(186, 24);
  const auto path = [](const Scheme& scheme) {
    return SchemePath{.scheme = std::string(name(scheme)),
                      .path = {scheme, 186},
                      .schedule = shipped_schedule(scheme)};
  };
  return {
      .key = SweptKey::scheme,
      .values = {0, 1, 2, 3},
      .schemes = {path(Scheme{schemes::kStandard}), path(Scheme{schemes::kMhc, {.num_streams = 4}}),
                  path(Scheme{schemes::kFullAttnRes, {.blocks = blocks}}),
                  path(Scheme{schemes::kBlockAttnRes, {.blocks = blocks}})}};
}

}  // namespace depthcost::test
