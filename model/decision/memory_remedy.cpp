// Settings first, then more devices.
#include "model/decision/memory_remedy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/architecture/expert_layers.hpp"
#include "model/decision/budget.hpp"
#include "model/training/training_memory.hpp"

namespace depthcost {
namespace {

/// The most of `all` ranks that experts can be dealt out to, up to a limit: a scenario's expert
/// ranks divide all.
Count expert_ranks(Count all, Count limit) {
  Count ranks = std::min(all, limit);
  while (all % ranks != 0) --ranks;
  return ranks;
}

/// "parallelism of tensor 8, expert 64, context 8 (64 devices)".
std::string parallelism_text(const Study& study) {
  std::string text = fmt::format("parallelism of tensor {}", study.tensor_parallel_size);
  if (study.expert_parallel_size > 1)
    text += fmt::format(", expert {}", study.expert_parallel_size);
  if (study.context_parallel_size > 1)
    text += fmt::format(", context {}", study.context_parallel_size);
  if (study.training && study.data_parallel_size > 1)
    text += fmt::format(", data {}", study.data_parallel_size);
  return text + fmt::format(" ({} devices)", num_devices(study));
}

/// The fewest replicas, by doubling, that would share out experts and the optimiser's state enough.
std::string nearest_replicas(const Study& study, double limit) {
  constexpr Count kMostDevices = 1 << 14;
  const Count experts = fewest_experts(*study.model.architecture).value_or(1);
  for (Count factor = 2; factor * num_devices(study) <= kMostDevices; factor *= 2) {
    Study spread = study;
    spread.data_parallel_size *= factor;
    const Count ranks =
        spread.tensor_parallel_size * spread.context_parallel_size * spread.data_parallel_size;
    spread.expert_parallel_size =
        expert_ranks(ranks, std::min(experts, factor * study.expert_parallel_size));
    if (surely_fits(fullest_memory(spread, spread.path), Bytes{limit}))
      return parallelism_text(spread);
  }
  return "";
}

/// The fewest devices, by doubling, over which everything would fit: more tensor ranks, or so many
/// context ranks, where the cache of latent attention is on every tensor rank.
std::string nearest_parallelism(const Study& study, double limit) {
  constexpr Count kMostTensorRanks = 1024;
  if (!study.model.architecture) return "";
  const Count heads = heads_to_share(*study.model.architecture);
  for (Count factor = 2; factor * study.tensor_parallel_size <= kMostTensorRanks; factor *= 2)
    for (Count context = 1; context <= factor; context *= 2) {
      Study spread = study;
      spread.tensor_parallel_size *= factor / context;
      if (heads % spread.tensor_parallel_size != 0) continue;
      spread.context_parallel_size *= context;
      spread.expert_parallel_size =
          expert_ranks(factor * study.tensor_parallel_size * study.context_parallel_size *
                           study.data_parallel_size,
                       std::min(fewest_experts(*study.model.architecture).value_or(1),
                                factor * study.expert_parallel_size));
      if (surely_fits(fullest_memory(spread, spread.path), Bytes{limit}))
        return parallelism_text(spread);
    }
  return "";
}

/// What a training step may do without: some of the kept activations of its layers, all of them,
/// weights on every replica, or both. Where that is not enough, more replicas: tensor ranks beyond
/// a node cost more.
std::string nearest_training_memory(const Study& study, double limit) {
  if (!study.training || !study.model.architecture) return "";
  const auto fits = [&](LayerActivations layers, StateSharding sharding) {
    Study other = study;
    other.training->layers = layers;
    other.training->sharding = sharding;
    return surely_fits(fullest_memory(other, other.path), Bytes{limit});
  };
  const Training& now = *study.training;
  const std::string recompute = "workload.training.layers: recompute";
  const std::string share = "workload.training.sharding: weights";
  if (now.layers == LayerActivations::keep && fits(LayerActivations::selective, now.sharding))
    return "workload.training.layers: selective";
  if (fits(LayerActivations::recompute, now.sharding)) return recompute;
  if (fits(now.layers, StateSharding::weights)) return share;
  if (fits(LayerActivations::recompute, StateSharding::weights))
    return fmt::format("{} and {}", recompute, share);
  return nearest_replicas(study, limit);
}

/// Rows of lookup tables that lie with the host.
std::string nearest_tables(const Study& study, double limit) {
  const bool may_move = !study.training && study.model.architecture &&
                        !study.model.architecture->tables.empty() &&
                        study.tables == TablePlacement::device;
  if (!may_move) return "";
  Study other = study;
  other.tables = TablePlacement::host;
  return surely_fits(fullest_memory(other, other.path), Bytes{limit}) ? "parallelism.tables: host"
                                                                      : "";
}

}  // namespace

std::string memory_remedy(const Study& study, double limit) {
  std::string setting = nearest_training_memory(study, limit);
  if (setting.empty()) setting = nearest_tables(study, limit);
  return setting.empty() ? nearest_parallelism(study, limit) : setting;
}

}  // namespace depthcost
