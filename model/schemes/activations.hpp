// What the residual path keeps from the forward to the backward pass: per chunk of layers and per
// token of a micro-batch in flight. From what each backward pass reads; REFERENCES.md,
// "activations". The layers' own activations, but for their normalised inputs, are not counted.
#pragma once

#include <cstdint>

#include "model/base/enum_names.hpp"
#include "model/base/units.hpp"
#include "model/schemes/schedule.hpp"

namespace depthcost {

enum class ActivationPolicy : std::uint8_t {
  keep,       ///< everything that a backward pass reads stays on the device
  recompute,  ///< what the residual path can make again from the rest, without running a layer
  offload,    ///< as keep, but in host memory, and back on the device for its backward pass
};

/// Layers that run again from one kept input, attention and MLP included.
enum class LayerRecomputation : std::uint8_t { none, decoder_layer };

/// recompute_layers counts the layers that mHC makes again from one kept state, >= 1; the other
/// schemes recompute layer by layer. Where whole decoder layers run again, `recompute` keeps the
/// inputs of these alone: an odd layer and the even one behind it.
struct ActivationPlan {
  ActivationPolicy policy = ActivationPolicy::keep;
  Count recompute_layers = 1;           // L_r
  Schedule schedule = Schedule::fused;  // of the forward pass: eager code keeps its copies
  LayerRecomputation recomputation = LayerRecomputation::none;

  /// Whether the input of a layer of a chunk is kept. The first one is handed over, and is.
  bool keeps_input_of(Count layer, Count first_layer) const {
    return recomputation == LayerRecomputation::none || layer % 2 == 1 || layer == first_layer;
  }
  /// Layers whose inputs and mixes are there at a time.
  double layers_at_once() const { return recomputation == LayerRecomputation::none ? 1 : 2; }
};

/// Whether the aggregation behind the last layer runs here too. Only AttnRes has one.
enum class OutputAggregation : std::uint8_t { elsewhere, here };

/// Layers first_layer .. first_layer + num_layers - 1 (1-based) of a path.
struct ChunkOfLayers {
  Count first_layer = 1;
  Count num_layers = 0;
  OutputAggregation output = OutputAggregation::elsewhere;
};

/// Inputs of decoder layers, whole or cut, that a chunk has.
constexpr Count inputs_of_decoder_layers(const ChunkOfLayers& chunk) {
  const bool begins_inside = chunk.num_layers > 0 && chunk.first_layer % 2 == 0;
  return begins_inside ? 1 + divided_up(chunk.num_layers - 1, 2) : divided_up(chunk.num_layers, 2);
}

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

/// The next norm saves its input, its output, which the layer's own backward pass reads, and one
/// statistic.
inline constexpr SavedVectors kNormInput{.vectors = 1, .scalars = 0};
inline constexpr SavedVectors kNormOutput{.vectors = 1, .scalars = 1};

constexpr SavedVectors saved_vectors(Count num_vectors) {
  return {.vectors = static_cast<double>(num_vectors), .scalars = 0};
}

/// What policies `keep` and `offload` make of `all` that a chunk saves. `layer` is what one layer
/// of it saves. `shared` is read by every layer of the chunk, and stays throughout its backward
/// pass. What is in host memory waits there for the gradients of weights too.
constexpr ChunkActivations placed_activations(ActivationPolicy policy, Count num_inputs,
                                              const SavedVectors& all, const SavedVectors& layer,
                                              const SavedVectors& shared) {
  if (policy == ActivationPolicy::keep)
    return {.kept = all, .for_weights = saved_vectors(num_inputs)};
  // Two layers' worth is on the device: one in use, one on its way.
  constexpr double kOffloadBuffers = 2;
  return {.offloaded = all, .working = kOffloadBuffers * layer + shared};
}

}  // namespace depthcost
