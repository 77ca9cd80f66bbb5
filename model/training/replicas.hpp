// Devices of a training step that hold the same weights, and what they exchange in every step.
// REFERENCES.md, "training".
#pragma once

#include <optional>

#include "model/step/study.hpp"

namespace depthcost {

/// Ranks are numbered as in Megatron-LM: tensor first, then context, data and pipeline, so that a
/// stage's replicas are neighbours.
struct ReplicaGroup {
  Count replicas = 1;
  Count in_a_node = 1;  // of them, in the same node
};

/// Devices with the same attention, common MLP and vocabulary: context x data, and twice as many
/// where a schedule has two copies of every chunk.
ReplicaGroup dense_replicas(const Study& study);

/// Devices with the same experts: tensor x context x data over those that share them out.
ReplicaGroup expert_replicas(const Study& study);

/// What a device sends for each of its weights in every step: its gradient to be added up, and the
/// sum back, or where the optimiser's state is shared out, the new weight in bf16 in its place.
/// Weights that are shared out too are gathered once more in each micro-batch; that is taken to
/// hide behind the products of another layer, as [zero] and FSDP arrange it, and is not counted.
/// [ours]
///   g + 2, or 2 g where nothing is shared out      g bytes of main_gradients
Bytes reduced_bytes(const Training& training, double num_weights);

/// Weights that a device exchanges with its replicas, in elements.
struct ReducedParameters {
  double dense = 0;
  double experts = 0;
};

/// From all of it hidden behind the last backward pass (low) to none (value and high). Nothing
/// where replicas lie in several nodes and the machine has no network_bandwidth, or in one and it
/// has no link_bandwidth. The study must have a training step and a machine.
///   bytes (k - 1) / k / (replicas in a node) over the network, (r - 1) / r over a node's links
std::optional<Estimate<Seconds>> reduction_time(const Study& study,
                                                const ReducedParameters& parameters);

}  // namespace depthcost
