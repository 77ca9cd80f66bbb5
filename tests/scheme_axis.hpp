// Four schemes on Kimi K3, for sweeps in which they compete.
#pragma once

#include "model/sweep/sweep.hpp"

namespace depthcost::test {

/// As the reader would fill it in; value 1 is mHC.
inline KnobAxis scheme_axis() {
  const Partition blocks = partition_by_size(186, 24);
  const auto path = [](const Scheme& scheme) {
    return SchemePath{.scheme = std::string(name(scheme)),
                      .path = {scheme, 186},
                      .schedule = shipped_schedule(scheme)};
  };
  return {.knob = Knob::scheme,
          .values = {0, 1, 2, 3},
          .schemes = {path(Standard{}), path(Mhc{4}), path(FullAttnRes{blocks}),
                      path(BlockAttnRes{blocks})}};
}

}  // namespace depthcost::test
