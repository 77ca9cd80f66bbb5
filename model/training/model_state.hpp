// What a training step keeps of the model itself: weights, gradients and the optimiser's state.
// REFERENCES.md, "memory of training".
#pragma once

#include "model/step/study.hpp"

namespace depthcost {

/// On one device of a stage.
struct ModelState {
  Bytes weights;    // bf16
  Bytes gradients;  // in the type in which micro-batches are added up
  Bytes optimizer;  // master weights in f32, and moments in f32

  Bytes whole_weights;    // of the weights, gathered from the replicas for a moment, bf16
  Bytes whole_gradients;  // of the gradients, until replicas have shared them out, bf16

  Bytes all() const { return weights + gradients + optimizer; }
};

/// Bytes of a weight: bf16.
inline constexpr double kWeightBytes = 2;

/// Bytes of the optimiser's state for each weight: a master copy and two moments, or for Muon one.
inline constexpr double kAdamwBytes = 12;
inline constexpr double kMuonBytes = 8;

/// Decoder layers whose shared-out weights are whole on a device: the one that runs, and the one
/// that is fetched ahead. [fsdp] Sec. 3.3
inline constexpr double kGatheredLayers = 2;

/// The state of a stage's layers and of `path`'s own parameters. Replicas share what `sharding`
/// says; experts have replicas of their own. Where they share gradients, one decoder layer's are
/// whole in bf16; where they share weights, those of kGatheredLayers; or of embedding or head, if
/// that is more. Embedding and head have
/// AdamW's state under Muon, too. [muon] Sec. 2.2
/// The study must have a training step and an architecture.
ModelState model_state(const Study& study, const ResidualPath& path, std::size_t stage);

/// Parameters of all layers' residual path on one rank, in elements.
double path_parameters(const Study& study, const ResidualPath& path);

}  // namespace depthcost
