// Two groups, one for the experts and one for all other weights.
#include "model/training/replicas.hpp"

#include <algorithm>
#include <tuple>

#include "model/machine/node_crossing.hpp"
#include "model/step/layer_work.hpp"
#include "model/training/model_state.hpp"

namespace depthcost {
namespace {

/// Replicas on every `stride`-th rank, by the nodes that they fill.
struct Placed {
  Count first_node = 0;
  Count last_node = 0;
  Count in_first = 1;
  Count in_last = 1;
  ReplicaGroup group;
};

Placed place(Count first_rank, Count replicas, Count stride, Count devices_per_node) {
  const Count last_rank = first_rank + (replicas - 1) * stride;
  Placed placed{first_rank / devices_per_node, last_rank / devices_per_node};
  const Count left_in_first = (placed.first_node + 1) * devices_per_node - 1 - first_rank;
  placed.in_first = std::min(replicas, left_in_first / stride + 1);
  placed.in_last =
      std::min(replicas, (last_rank - placed.last_node * devices_per_node) / stride + 1);
  const Count nodes =
      stride >= devices_per_node ? replicas : placed.last_node - placed.first_node + 1;
  placed.group = {replicas, nodes, std::min(placed.in_first, placed.in_last),
                  std::max(placed.in_first, placed.in_last)};
  if (nodes > 2) {
    const Count inside = std::max(Count{1}, devices_per_node / stride);
    placed.group.fewest_in_a_node = std::min(placed.group.fewest_in_a_node, inside);
    placed.group.most_in_a_node = std::max(placed.group.most_in_a_node, inside);
  }
  return placed;
}

/// Those of two stages, the first of which has the lower ranks. They may meet in one node.
ReplicaGroup joined(const Placed& a, const Placed& b) {
  const Count replicas = a.group.replicas + b.group.replicas;
  const Count fewest = std::min(a.group.fewest_in_a_node, b.group.fewest_in_a_node);
  const Count most = std::max(a.group.most_in_a_node, b.group.most_in_a_node);
  if (a.last_node < b.first_node) return {replicas, a.group.nodes + b.group.nodes, fewest, most};
  const Count nodes = a.group.nodes + b.group.nodes - 1;
  if (nodes == 1) return {replicas, 1, replicas, replicas};
  return {replicas, nodes, fewest, std::max(most, a.in_last + b.in_first)};
}

/// Fewer neighbours send more over the network each, and more so in more nodes.
bool lies_worse(const ReplicaGroup& a, const ReplicaGroup& b) {
  return std::tuple(a.fewest_in_a_node, -a.nodes) < std::tuple(b.fewest_in_a_node, -b.nodes);
}

/// `stride` ranks lie between two replicas of a stage.
ReplicaGroup worst_group(const Study& study, Count replicas, Count stride) {
  const Count copies = num_copies(study.training->schedule);
  if (!study.machine) return {.replicas = copies * replicas};
  const Count stages = study.pipeline ? study.pipeline->num_stages : 1;
  const Count ranks = ranks_per_stage(study);
  std::optional<ReplicaGroup> worst;
  const auto place_stage = [&](Count stage) {
    return place(stage * ranks, replicas, stride, study.machine->devices_per_node);
  };
  for (Count stage = 0; copies * stage < stages; ++stage) {
    const Placed placed = place_stage(stage);
    const ReplicaGroup group =
        copies > 1 ? joined(placed, place_stage(stages - 1 - stage)) : placed.group;
    if (!worst || lies_worse(group, *worst)) worst = group;
  }
  return *worst;
}

std::optional<Estimate<Seconds>> time_of(const Machine& machine, const ReplicaGroup& group,
                                         Bytes bytes) {
  const double most = as_double(group.most_in_a_node);
  Estimate<Seconds> time{{}, {}, {}, Evidence::assumed};
  if (group.nodes > 1) {
    if (!machine.network_bandwidth) return std::nullopt;
    const double replicas = as_double(group.replicas);
    const double fewest = as_double(group.fewest_in_a_node);
    time +=
        time_over(*machine.network_bandwidth, ((replicas - fewest) / replicas / fewest) * bytes);
  }
  if (most > 1) {
    if (!machine.link_bandwidth) return std::nullopt;
    time += time_over(*machine.link_bandwidth, ((most - 1) / most) * bytes);
  }
  return time;
}

/// The time for `elements` weights that a group has.
std::optional<ReductionTime> time_of(const Study& study, const ReplicaGroup& group,
                                     double elements) {
  const Training& training = *study.training;
  const double copies = as_double(num_copies(training.schedule));
  const ReplicaBytes bytes = replica_bytes(training, elements);
  const auto once = time_of(*study.machine, group, copies * bytes.once);
  const auto forward = time_of(*study.machine, group, bytes.forward);
  const auto backward = time_of(*study.machine, group, bytes.backward);
  if (!once || !forward || !backward) return std::nullopt;
  return ReductionTime{*once, *forward, *backward};
}

}  // namespace

ReplicaGroup dense_replicas(const Study& study) {
  return worst_group(study, study.context_parallel_size * study.data_parallel_size,
                     study.tensor_parallel_size);
}

ReplicaGroup expert_replicas(const Study& study) {
  const Count stride = std::max(study.tensor_parallel_size, study.expert_parallel_size);
  return worst_group(study, std::max(Count{1}, ranks_per_stage(study) / stride), stride);
}

ReplicaBytes replica_bytes(const Training& training, double num_weights) {
  const Bytes gradients = storage(num_weights, training.main_gradients);
  const Bytes weights{kWeightBytes * num_weights};
  switch (training.sharding) {
    case StateSharding::none:
      return {.once = gradients + gradients};
    case StateSharding::optimizer:
      return {.once = gradients + weights};
    case StateSharding::gradients:
      return {.once = weights, .backward = gradients};
    case StateSharding::weights:
      return {.forward = weights, .backward = gradients + weights};
  }
  return {};
}

ReductionTime& ReductionTime::operator+=(const ReductionTime& more) {
  once += more.once;
  forward += more.forward;
  backward += more.backward;
  return *this;
}

Seconds ReductionTime::exposed(IntervalEnd end, Seconds work_on_one, Seconds last_backward) const {
  switch (end) {
    case IntervalEnd::low:
      return std::max(Seconds{}, once.low - work_on_one);
    case IntervalEnd::value:
      return once.value + std::min(backward.value, last_backward);
    case IntervalEnd::high:
      return once.high;
  }
  return {};
}

Seconds beside_exchange(Seconds pass, Seconds exchange, IntervalEnd end) {
  return end == IntervalEnd::high ? pass + exchange : std::max(pass, exchange);
}

std::optional<ReductionTime> reduction_time(const Study& study,
                                            const ReducedParameters& parameters) {
  const auto dense = time_of(study, dense_replicas(study), parameters.dense);
  const auto experts = time_of(study, expert_replicas(study), parameters.experts);
  if (!dense || !experts) return std::nullopt;
  ReductionTime time = *dense;
  time += *experts;
  return time;
}

ReductionTime tensor_reduction_time(const Study& study, double parameters) {
  const Count ranks = study.tensor_parallel_size;
  if (ranks == 1 || residual_shards(study, WorkloadKind::training) == 1) return {};
  const ReplicaGroup group = place(0, ranks, 1, study.machine->devices_per_node).group;
  const double copies = as_double(num_copies(study.training->schedule));
  const Bytes gradients = storage(parameters, study.training->main_gradients);
  const auto time = time_of(*study.machine, group, copies * (gradients + gradients));
  return time ? ReductionTime{.once = *time} : ReductionTime{};
}

}  // namespace depthcost
