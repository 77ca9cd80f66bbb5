// What the residual path keeps from the forward to the backward pass: per chunk of layers and per
// token of a micro-batch in flight. From what each backward pass reads; REFERENCES.md,
// "activations". The layers' own activations, but for their normalised inputs, are not counted.
#pragma once

#include <cmath>
#include <cstdint>

#include "model/base/units.hpp"
#include "model/schemes/ledger.hpp"

namespace depthcost {

enum class ActivationPolicy : std::uint8_t {
  keep,       ///< everything that a backward pass reads stays on the device
  recompute,  ///< what the residual path can make again from the rest, without running a layer
  offload,    ///< as keep, but in host memory, and back on the device for its backward pass
};

/// recompute_layers counts the layers that mHC makes again from one kept state, >= 1; the other
/// schemes recompute layer by layer.
struct ActivationPlan {
  ActivationPolicy policy = ActivationPolicy::keep;
  Count recompute_layers = 1;           // L_r
  Schedule schedule = Schedule::fused;  // of the forward pass: eager code keeps its copies
};

/// Whether the aggregation behind the last layer runs here too. Only AttnRes has one.
enum class OutputAggregation : std::uint8_t { elsewhere, here };

/// Layers first_layer .. first_layer + num_layers - 1 (1-based) of a path.
struct ChunkOfLayers {
  Count first_layer = 1;
  Count num_layers = 0;
  OutputAggregation output = OutputAggregation::elsewhere;
};

/// d-vectors and loose f32 scalars per token.
struct SavedVectors {
  double vectors = 0;
  double scalars = 0;

  friend constexpr bool operator==(const SavedVectors&, const SavedVectors&) = default;
  friend constexpr SavedVectors operator+(const SavedVectors& a, const SavedVectors& b) {
    return {a.vectors + b.vectors, a.scalars + b.scalars};
  }
  friend constexpr SavedVectors operator*(double k, const SavedVectors& a) {
    return {k * a.vectors, k * a.scalars};
  }
};

/// Bytes per token.
constexpr Bytes bytes(const SavedVectors& saved, double hidden_size, Dtype dtype) {
  return storage(saved.vectors * hidden_size, dtype) + Bytes{kBytesPerScalar * saved.scalars};
}

/// All but `working` are for each micro-batch in flight.
struct ChunkActivations {
  SavedVectors received;     // on the device: the blocks that the chunk is handed, b_0 included
  SavedVectors kept;         // on the device, made here
  SavedVectors own_blocks;   // of those, blocks that later chunks are handed
  SavedVectors for_weights;  // normalised inputs, which the layers' gradients of weights read too
  SavedVectors offloaded;    // in host memory: crosses the host link once each way
  SavedVectors working;      // on the device once: while the chunk's backward pass runs
};

/// Of a chunk of `path`. A chunk without any layer or output keeps nothing.
ChunkActivations chunk_activations(const ResidualPath& path, const ChunkOfLayers& chunk,
                                   const ActivationPlan& plan);

/// d-vectors per token that mHC holds while it recomputes L layers, L_r at a time, from one kept
/// state each; without the layer outputs, which stay in either case.
///   m ceil(L / L_r) + (m + 2) L_r
/// [mhc] Sec. 4.3, what is minimised over L_r beside Table 3.
constexpr Count mhc_recomputation_vectors(Count num_streams, Count num_layers,
                                          Count recompute_layers) {
  const Count m = num_streams;
  const Count num_states = (num_layers + recompute_layers - 1) / recompute_layers;
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

/// Where that minimum lies when states are not rounded to whole ones.
///   sqrt(m L / (m + 2))
/// [mhc] Sec. 4.3.
inline double mhc_recomputation_estimate(Count num_streams, Count num_layers) {
  const double m = static_cast<double>(num_streams);
  return std::sqrt(m * static_cast<double>(num_layers) / (m + 2));
}

}  // namespace depthcost
