// How many layers mHC best makes again from one kept state. [mhc] Sec. 4.3.
#pragma once

#include "model/base/units.hpp"

namespace depthcost {

/// d-vectors per token that mHC holds while it recomputes L layers, L_r at a time, from one kept
/// state each; without the layer outputs, which stay in either case.
///   m ceil(L / L_r) + (m + 2) L_r
/// [mhc] Sec. 4.3, what is minimised over L_r beside Table 3.
constexpr Count mhc_recomputation_vectors(Count num_streams, Count num_layers,
                                          Count recompute_layers) {
  const Count m = num_streams;
  const Count num_states = divided_up(num_layers, recompute_layers);
  return m * num_states + (m + 2) * recompute_layers;
}

/// The L_r that makes mhc_recomputation_vectors() least, the smallest of several; 1 for no layers.
constexpr Count best_mhc_recomputation(Count num_streams, Count num_layers) {
  Count best = 1;
  for (Count L_r = 2; L_r <= num_layers; ++L_r) {
    if (mhc_recomputation_vectors(num_streams, num_layers, L_r) <
        mhc_recomputation_vectors(num_streams, num_layers, best)) {
      best = L_r;
    }
  }
  return best;
}

}  // namespace depthcost
