// What lies in a device's memory beside the residual path: weights and KV cache, on the fullest
// device of a replica. REFERENCES.md, "memory of the rest".
#pragma once

#include "model/step/layer_cost.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// Layers on the fullest pipeline stage, and their share of all; all without a pipeline.
Count layers_of_largest_stage(const Study& study);
double largest_stage_share(const Study& study);

/// Weights of attention and MLPs on one rank of the fullest stage; embedding, head and other tables
/// beside them.
/// The model must have an architecture.
Bytes device_weights(const Study& study);

/// KV cache and recurrent states of `num_sequences` sequences, each with `tokens` tokens.
Bytes device_cache(const Study& study, double num_sequences, double tokens);

/// What lies there behind a decode step: of its sequences, and of the prompt that it takes along.
Bytes decode_cache(const Study& study, Count sequences);

/// Bytes by which one more token of one sequence makes the cache grow: the slope at `tokens`.
Bytes cache_per_token(const Study& study, double tokens);

}  // namespace depthcost
