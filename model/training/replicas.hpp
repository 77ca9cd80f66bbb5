// Devices of a training step that hold the same weights, and what they exchange in every step.
// REFERENCES.md, "training". Ranks are numbered as in Megatron-LM: tensor first, then context, data
// and pipeline, so that a stage's replicas are neighbours.
#pragma once

#include <optional>

#include "model/base/interval_end.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// Replicas of the weights of one device, those of the stage where they lie worst.
struct ReplicaGroup {
  Count replicas = 1;
  Count nodes = 1;             // in which they lie
  Count fewest_in_a_node = 1;  // of them
  Count most_in_a_node = 1;
};

/// Devices with the same attention, common MLP and vocabulary: context x data, and twice as many
/// where a schedule has two copies of every chunk, on stages p and P - 1 - p.
ReplicaGroup dense_replicas(const Study& study);

/// Devices with the same experts: tensor x context x data over those that share them out.
ReplicaGroup expert_replicas(const Study& study);

/// What a device sends to its replicas.
struct ReplicaBytes {
  Bytes once;      // in every step
  Bytes forward;   // in every forward pass of a micro-batch
  Bytes backward;  // in every backward pass of one
};

/// With g bytes of main_gradients for each weight, by what is shared out [zero]:
///   nothing             2 g once: gradients are added up, and their sum comes back
///   optimizer states    g + 2 once: the new weight comes back, in bf16
///   gradients too       2 once, g each backward pass: no device has room to add up all of them
///   weights too         2 each forward pass, g + 2 each backward pass: both gather the weights
ReplicaBytes replica_bytes(const Training& training, double num_weights);

/// Weights that a device exchanges with its replicas, in elements.
struct ReducedParameters {
  double dense = 0;
  double experts = 0;
};

/// What replicas' messages take: the same bytes over the links between them. `forward` and
/// `backward` are those of all chunks of a device, one micro-batch each.
struct ReductionTime {
  Estimate<Seconds> once{{}, {}, {}, Evidence::assumed};
  Estimate<Seconds> forward{{}, {}, {}, Evidence::assumed};
  Estimate<Seconds> backward{{}, {}, {}, Evidence::assumed};

  ReductionTime& operator+=(const ReductionTime& more);

  /// What a step does not hide of these. `once`, but at the low end the work on one micro-batch
  /// hides it. At the value the exchange of the last backward pass waits for its gradients: that
  /// pass lasts as long as the longer of both, and the shorter one comes on top. At the high end
  /// that is in each pass. [ours]
  Seconds exposed(IntervalEnd end, Seconds work_on_one, Seconds last_backward) const;
};

/// A pass beside which replicas exchange: the longer of both, at the high end one after the other.
/// [ours]
Seconds beside_exchange(Seconds pass, Seconds exchange, IntervalEnd end);

/// Each of n replicas, m of them in the node with the fewest, sends (n - m) / n / m of the bytes
/// over the network, and in a node with r of them (r - 1) / r over its links. Nothing where
/// replicas lie in several nodes and the machine has no network_bandwidth, or in one and it has no
/// link_bandwidth. The study must have a training step and a machine.
std::optional<ReductionTime> reduction_time(const Study& study,
                                            const ReducedParameters& parameters);

/// Gradients of `parameters` weights that every tensor rank has whole, while it has a share of the
/// tokens: their sum over the tensor ranks. Zero where no link is known.
ReductionTime tensor_reduction_time(const Study& study, double parameters);

}  // namespace depthcost
