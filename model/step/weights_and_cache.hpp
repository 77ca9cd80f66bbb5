// What lies in a device's memory beside the residual path: weights and KV cache, on the fullest
// device of a replica. REFERENCES.md, "memory of the rest".
#pragma once

#include "model/step/layer_cost.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// Layers on the fullest pipeline stage, and their share of all; all without a pipeline.
Count layers_of_largest_stage(const Study& study);
double largest_stage_share(const Study& study);

/// Weights on one rank, in elements.
struct DeviceParameters {
  double layers = 0;      // attention, and of MLPs what all tokens read and ranks share out
  double routers = 0;     // and latent projections, whole on every rank
  double experts = 0;     // routed
  double vocabulary = 0;  // embedding and head
  double tables = 0;      // projections of what is looked up in other tables
  double rows = 0;        // of these tables

  /// Layers without their routed experts.
  double dense_layers() const { return layers + routers; }
  /// All but the experts, which are spread in another way.
  double dense() const { return dense_layers() + vocabulary + tables + rows; }
};

/// What a device of the fullest stage holds. The model must have an architecture.
DeviceParameters device_parameters(const Study& study);

/// What one rank of a stage holds. A schedule of two directions keeps the chunks of two stages
/// there: the stage's own, and those of the stage as far from the other end.
DeviceParameters stage_parameters(const Study& study, std::size_t stage);

/// The share of all layers that lie on it.
double stage_share(const Study& study, std::size_t stage);

/// One rank's share of the embedding, or of the head.
double vocabulary_matrix(const Study& study);

/// device_parameters() in the types in which the model is stored.
Bytes device_weights(const Study& study);

/// What a device keeps of a sequence. `states` of linear attention: one, or one behind each token
/// that a step checks, since it may be refused.
struct CachedSequence {
  double tokens = 0;
  double states = 1;
};

/// KV cache and recurrent states of `num_sequences` such sequences.
Bytes device_cache(const Study& study, double num_sequences, const CachedSequence& sequence);

/// What lies there behind a decode step: of its sequences, and of the prompt that it takes along.
Bytes decode_cache(const Study& study, Count sequences);

/// Bytes by which one more token of one sequence makes the cache grow: the slope at `tokens`.
Bytes cache_per_token(const Study& study, double tokens);

}  // namespace depthcost
