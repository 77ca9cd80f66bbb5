// Two groups, one for the experts and one for all other weights.
#include "model/training/replicas.hpp"

#include <algorithm>

#include "model/machine/node_crossing.hpp"
#include "model/step/layer_work.hpp"

namespace depthcost {
namespace {

/// `stride` ranks lie between two replicas of a stage. A second copy of its chunk is on a stage far
/// away.
ReplicaGroup group_of(const Study& study, Count replicas, double stride) {
  const Count all = replicas * num_copies(study.training->schedule);
  if (!study.machine) return {all, 1};
  const double in_a_node = as_double(study.machine->devices_per_node) / stride;
  return {all, std::clamp(static_cast<Count>(in_a_node), Count{1}, replicas)};
}

/// The rate of a link of which nobody has measured a step's reduction.
Estimate<Seconds> time_over(BytesPerSecond link, Bytes bytes) {
  return {bytes / (kNetworkEfficiency.high * link), bytes / (kNetworkEfficiency.value * link),
          bytes / (kNetworkEfficiency.low * link), Evidence::assumed};
}

std::optional<Estimate<Seconds>> time_of(const Machine& machine, const ReplicaGroup& group,
                                         Bytes bytes) {
  const double nodes = as_double(group.replicas) / as_double(group.in_a_node);
  const double inside = as_double(group.in_a_node);
  Estimate<Seconds> time{{}, {}, {}, Evidence::assumed};
  if (nodes > 1) {
    if (!machine.network_bandwidth) return std::nullopt;
    time += time_over(*machine.network_bandwidth, ((nodes - 1) / nodes / inside) * bytes);
  }
  if (inside > 1) {
    if (!machine.link_bandwidth) return std::nullopt;
    time += time_over(*machine.link_bandwidth, ((inside - 1) / inside) * bytes);
  }
  return time;
}

}  // namespace

ReplicaGroup dense_replicas(const Study& study) {
  return group_of(study, study.context_parallel_size * study.data_parallel_size,
                  as_double(study.tensor_parallel_size));
}

ReplicaGroup expert_replicas(const Study& study) {
  const Sharding sharding{.tensor = study.tensor_parallel_size,
                          .expert = study.expert_parallel_size};
  const double stride = as_double(sharding.expert) * ranks_per_expert(sharding);
  const double all = as_double(study.tensor_parallel_size * study.context_parallel_size *
                               study.data_parallel_size);
  return group_of(study, std::max(Count{1}, static_cast<Count>(all / stride)), stride);
}

Bytes reduced_bytes(const Training& training, double num_weights) {
  const bool is_shared = training.sharding >= StateSharding::optimizer;
  return storage(num_weights, training.main_gradients) +
         storage(num_weights, is_shared ? Dtype::bf16 : training.main_gradients);
}

std::optional<Estimate<Seconds>> reduction_time(const Study& study,
                                                const ReducedParameters& parameters) {
  const double copies = as_double(num_copies(study.training->schedule));
  const auto bytes = [&](double elements) {
    return reduced_bytes(*study.training, copies * elements);
  };
  const auto dense = time_of(*study.machine, dense_replicas(study), bytes(parameters.dense));
  const auto experts = time_of(*study.machine, expert_replicas(study), bytes(parameters.experts));
  if (!dense || !experts) return std::nullopt;
  Estimate<Seconds> time = *dense + *experts;
  time.low = {};
  return time;
}

}  // namespace depthcost
