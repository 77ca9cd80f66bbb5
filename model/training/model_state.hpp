// What a training step keeps of the model itself: weights, gradients and the optimiser's state.
// REFERENCES.md, "memory of training".
#pragma once

#include "model/step/study.hpp"

namespace depthcost {

/// On the fullest device.
struct ModelState {
  Bytes weights;    // bf16
  Bytes gradients;  // in the type in which micro-batches are added up
  Bytes optimizer;  // master weights in f32, and moments in f32
};

/// Bytes of a weight: bf16.
inline constexpr double kWeightBytes = 2;

/// Bytes of the optimiser's state for each weight: a master copy and two moments, or for Muon one.
inline constexpr double kAdamwBytes = 12;
inline constexpr double kMuonBytes = 8;

/// The state of the layers and of `path`'s own parameters. Replicas share what `sharding` says;
/// experts have replicas of their own. Embedding and head have AdamW's state under Muon, too.
/// [muon] Sec. 2.2 The study must have a training step and an architecture.
ModelState model_state(const Study& study, const ResidualPath& path);

/// Parameters of a residual path on one rank of the fullest stage, in elements.
double path_parameters(const Study& study, const ResidualPath& path);

}  // namespace depthcost
