// Settings first, then other ranks on the same devices, then more devices.
#include "model/decision/memory_remedy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/architecture/expert_layers.hpp"
#include "model/base/counted.hpp"
#include "model/decision/budget.hpp"
#include "model/step/rest_of_step.hpp"
#include "model/step/workload.hpp"
#include "model/training/training_memory.hpp"
#include "model/training/training_step.hpp"

namespace depthcost {
namespace {

/// The most of `all` ranks that experts can be dealt out to, up to a limit: a scenario's expert
/// ranks divide all.
Count expert_ranks(Count all, Count limit) {
  Count ranks = std::min(all, limit);
  while (all % ranks != 0) --ranks;
  return ranks;
}

/// "tensor 8, expert 64".
std::string ranks_text(const Study& study) {
  std::string text = fmt::format("tensor {}", study.tensor_parallel_size);
  if (study.expert_parallel_size > 1 && fewest_experts(*study.model.architecture))
    text += fmt::format(", expert {}", study.expert_parallel_size);
  if (study.context_parallel_size > 1)
    text += fmt::format(", context {}", study.context_parallel_size);
  if (study.data_parallel_size > 1) text += fmt::format(", data {}", study.data_parallel_size);
  return text;
}

/// "tensor 8, expert 64 (64 devices)".
std::string parallelism_text(const Study& study) {
  return ranks_text(study) +
         fmt::format(" ({} devices{})", num_devices(study),
                     study.context_parallel_size > 1 ? "; context exchange untimed" : "");
}

/// Whether a written attachment joins a collective of tensor ranks. Experts beyond these ranks hand
/// tokens back by all-to-all, and one rank has no collective: nothing can be fused with either.
bool joins_collective(const Study& study) {
  const auto joins = [](std::optional<Attachment> attachment) {
    return attachment == Attachment::all_reduce || attachment == Attachment::reduce_scatter;
  };
  return joins(study.attachment) || joins(study.baseline_attachment);
}

/// The study, and with its experts over so many of the same devices as can share them out.
std::vector<Study> expert_placements(const Study& study, Count most) {
  std::vector<Study> placements{study};
  const Count experts = fewest_experts(*study.model.architecture).value_or(1);
  const Count spread = expert_ranks(ranks_per_stage(study), std::min(experts, most));
  if (spread <= study.expert_parallel_size || joins_collective(study)) return placements;
  placements.push_back(study);
  placements.back().expert_parallel_size = spread;
  return placements;
}

std::vector<Study> expert_placements(const Study& study) {
  return expert_placements(study, ranks_per_stage(study));
}

/// The fewest devices, by doubling, that would share out weights, experts and the optimiser's state
/// enough: as replicas, or as tensor ranks of a node.
std::string nearest_replicas(const Study& study, double limit) {
  constexpr Count kMostDevices = 1 << 14;
  const Count heads = heads_to_share(*study.model.architecture);
  const Count node = study.machine ? study.machine->devices_per_node : 1;
  for (Count factor = 2; factor * num_devices(study) <= kMostDevices; factor *= 2)
    for (Count tensor = 1; tensor <= factor; tensor *= 2) {
      Study spread = study;
      spread.tensor_parallel_size *= tensor;
      spread.data_parallel_size *= factor / tensor;
      const bool is_in_node = tensor == 1 || spread.tensor_parallel_size <= node;
      if (!is_in_node || heads % spread.tensor_parallel_size != 0) continue;
      for (const Study& placed : expert_placements(spread, factor * study.expert_parallel_size))
        if (surely_fits(fullest_memory(placed, placed.path), Bytes{limit}))
          return parallelism_text(placed);
    }
  return "";
}

/// The first step of a workload without its residual path; nothing where it is not modelled.
std::optional<Seconds> first_step(const Study& study, WorkloadKind kind) {
  if (!study.machine || is_measured(study, kind)) return {};
  const Study standard = baseline_study(study);
  for (const Workload& workload : workloads_of(standard, standard.path, Schedule::fused)) {
    if (workload.id.kind != kind) continue;
    const RestOfStep rest = rest_of_step(standard, workload);
    if (rest.rows.empty()) return {};
    return rest.total().value;
  }
  return {};
}

/// "; a decode step takes 2.4 x as long", of workloads that another placement of the same devices
/// slows.
std::string price_text(const Study& now, const Study& then) {
  constexpr double kWorthSaying = 1.05;
  std::string text;
  for (const auto& [kind, what] : {std::pair{WorkloadKind::decode, "a decode step"},
                                   std::pair{WorkloadKind::prefill, "prefill"}}) {
    const auto before = first_step(now, kind);
    const auto after = first_step(then, kind);
    if (!before || !after || *after / *before < kWorthSaying) continue;
    text += fmt::format("; {} takes {:.1f} x as long", what, *after / *before);
  }
  return text;
}

/// With a factor more replicas, and that many fewer sequences each.
Study with_more_replicas(const Study& study, Count factor) {
  Study spread = study;
  spread.data_parallel_size *= factor;
  for (Count& sequences : spread.decode->sequences) sequences = divided_up(sequences, factor);
  return spread;
}

/// "tensor 8, data 2 (16 devices, up to 128 sequences a replica)". A written share of the prompt
/// would contradict fewer tensor ranks.
std::string replicas_text(const Study& now, const Study& placed, std::string_view devices,
                          std::string_view price = "") {
  const auto& batches = placed.decode->sequences;
  const bool changes_shards =
      now.prefill && placed.prefill->sequence_shards != now.prefill->sequence_shards;
  return fmt::format(
      "{} ({} devices, up to {} a replica{}{})", ranks_text(placed), devices,
      counted(*std::max_element(batches.begin(), batches.end()), "sequence", "sequences"),
      changes_shards ? fmt::format("; prefill sequence_shards {}", placed.prefill->sequence_shards)
                     : "",
      price);
}

/// A factor more tensor ranks, of which so many become context ranks. Whole experts follow; shared
/// ones lie on all tensor ranks anyway.
Study with_more_ranks(const Study& study, Count factor, Count context) {
  Study spread = study;
  spread.tensor_parallel_size *= factor / context;
  spread.context_parallel_size *= context;
  if (study.expert_parallel_size == 1) return spread;
  spread.expert_parallel_size =
      expert_ranks(factor * ranks_per_stage(study),
                   std::min(fewest_experts(*study.model.architecture).value_or(1),
                            factor * study.expert_parallel_size));
  return spread;
}

/// Whether a step of inference may run on fewer tensor ranks: no written key contradicts them.
bool may_have_fewer_ranks(const Study& study) {
  return study.decode && !study.training && !joins_collective(study) &&
         (!study.prefill || study.prefill->sequence_shards == study.tensor_parallel_size);
}

/// With a factor fewer tensor ranks, as many times more replicas, and that many fewer sequences
/// each.
Study with_replicas(const Study& study, Count factor) {
  Study spread = with_more_replicas(study, factor);
  spread.tensor_parallel_size /= factor;
  if (spread.prefill) spread.prefill->sequence_shards = spread.tensor_parallel_size;
  if (!fewest_experts(*study.model.architecture)) spread.expert_parallel_size = 1;
  return spread;
}

/// A factor more devices as tensor ranks, or as replicas where a step has several sequences:
/// whichever leaves more room. Tensor ranks beyond the heads of a cache share it no further.
std::string nearest_ranks(const Study& study, Count factor, double limit) {
  Bytes least{limit};
  std::string text;
  const auto consider = [&](const Study& placed, const auto& words) {
    const Bytes need = fullest_memory(placed, placed.path);
    if (!surely_fits(need, Bytes{limit}) || need >= least) return;
    least = need;
    text = words(placed);
  };
  const auto devices_text = [&](const Study& it) {
    return replicas_text(study, it, std::to_string(num_devices(it)));
  };
  if (heads_to_share(*study.model.architecture) % (factor * study.tensor_parallel_size) == 0)
    consider(with_more_ranks(study, factor, 1), parallelism_text);
  if (study.decode && !study.training)
    for (const Study& placed : expert_placements(with_more_replicas(study, factor)))
      consider(placed, devices_text);
  if (!text.empty() || !may_have_fewer_ranks(study)) return text;
  // Each rank would keep the cache of fewer sequences.
  for (Count fewer = 2; fewer <= study.tensor_parallel_size; fewer *= 2) {
    if (study.tensor_parallel_size % fewer != 0) continue;
    for (const Study& placed :
         expert_placements(with_more_replicas(with_replicas(study, fewer), factor)))
      consider(placed, devices_text);
  }
  return text;
}

/// The fewest devices, by doubling, over which everything would fit: more tensor ranks, more
/// replicas, or so many context ranks, where the cache of latent attention is on every tensor rank.
std::string nearest_parallelism(const Study& study, double limit) {
  constexpr Count kMostTensorRanks = 1024;
  if (!study.model.architecture) return "";
  const Count heads = heads_to_share(*study.model.architecture);
  for (Count factor = 2; factor * study.tensor_parallel_size <= kMostTensorRanks; factor *= 2) {
    if (std::string ranks = nearest_ranks(study, factor, limit); !ranks.empty()) return ranks;
    for (Count context = 2; context <= factor; context *= 2) {
      const Study spread = with_more_ranks(study, factor, context);
      if (heads % spread.tensor_parallel_size != 0) continue;
      if (surely_fits(fullest_memory(spread, spread.path), Bytes{limit}))
        return parallelism_text(spread);
    }
  }
  return "";
}

/// The experts alone over all of the same devices.
std::string nearest_experts(const Study& study, double limit) {
  if (study.training || !study.model.architecture) return "";
  const std::vector<Study> placements = expert_placements(study);
  if (placements.size() == 1 ||
      !surely_fits(fullest_memory(placements.back(), study.path), Bytes{limit}))
    return "";
  return fmt::format("expert {} (the same {}{})", placements.back().expert_parallel_size,
                     counted(num_devices(study), "device", "devices"),
                     price_text(study, placements.back()));
}

/// A few sequences less, where that is enough: at least three quarters of the largest batch.
std::string nearest_batch(const Study& study, double limit) {
  if (!study.decode || study.training || !study.model.architecture) return "";
  const auto& asked = study.decode->sequences;
  const Count most = *std::max_element(asked.begin(), asked.end());
  const auto fits = [&](Count batch) {
    Study smaller = study;
    for (Count& sequences : smaller.decode->sequences) sequences = std::min(sequences, batch);
    return surely_fits(fullest_memory(smaller, smaller.path), Bytes{limit});
  };
  Count holds = divided_up(3 * most, Count{4});
  if (holds == most || !fits(holds)) return "";
  Count breaks = most;
  while (breaks - holds > 1) {
    const Count middle = (holds + breaks) / 2;
    (fits(middle) ? holds : breaks) = middle;
  }
  return fmt::format("at most {}{}", counted(holds, "sequence", "sequences"),
                     study.data_parallel_size > 1 ? " a replica" : "");
}

/// Attention of fewer sequences on each of the same devices, and the experts over all of them:
/// where every tensor rank would keep the whole cache of latent attention, each keeps that of its
/// own sequences. Not where a written key would contradict the smaller number of tensor ranks.
std::string nearest_sequences(const Study& study, double limit) {
  if (!study.model.architecture || !may_have_fewer_ranks(study)) return "";
  for (Count factor = 2; factor <= study.tensor_parallel_size; factor *= 2) {
    if (study.tensor_parallel_size % factor != 0) continue;
    for (const Study& placed : expert_placements(with_replicas(study, factor))) {
      if (!surely_fits(fullest_memory(placed, placed.path), Bytes{limit})) continue;
      return replicas_text(study, placed, fmt::format("the same {}", num_devices(placed)),
                           price_text(study, placed));
    }
  }
  return "";
}

/// "workload.training.layers: recompute and workload.training.sharding: weights".
std::string changes_text(const Study& now, const Study& then) {
  std::vector<std::string> changes;
  if (then.expert_parallel_size != now.expert_parallel_size)
    changes.push_back(fmt::format("parallelism.expert: {}", then.expert_parallel_size));
  if (then.training->activations != now.training->activations)
    changes.push_back(
        fmt::format("workload.training.activations: {}", name(then.training->activations)));
  if (then.training->layers != now.training->layers)
    changes.push_back(fmt::format("workload.training.layers: {}", name(then.training->layers)));
  if (then.training->sharding != now.training->sharding)
    changes.push_back(fmt::format("workload.training.sharding: {}", name(then.training->sharding)));
  return fmt::format("{}", fmt::join(changes, " and "));
}

/// The policy of the residual path, and the usual one.
std::vector<ActivationPolicy> cheaper_policies(ActivationPolicy now) {
  if (now != ActivationPolicy::keep) return {now};
  return {now, ActivationPolicy::recompute};
}

/// Whether replicas may share so much. Beside a pipeline no engine shares out gradients or weights,
/// since it would exchange them in every micro-batch.
bool may_share(const Study& study, StateSharding sharding) {
  const StateSharding now = study.training->sharding;
  const bool has_stages = study.pipeline && study.pipeline->num_stages > 1;
  return sharding == now ||
         (sharding > now && (sharding < StateSharding::gradients || !has_stages));
}

/// What a training step may do without: some of the kept activations of its layers or all of them,
/// what replicas may share out, or both; and experts may be shared out by more devices. The fastest
/// change that fits is taken, but no larger one for less than 5 % of the step. Where none is
/// enough, more replicas: tensor ranks beyond a node cost more.
std::string nearest_training_memory(const Study& study, double limit) {
  if (!study.training || !study.model.architecture) return "";
  const Training& now = *study.training;
  const bool is_timed = study.machine && !now.baseline_step;
  constexpr double kWorthAChange = 0.95;
  std::optional<Study> best;
  Seconds shortest;
  const auto consider = [&](Study other) {
    if (!surely_fits(fullest_memory(other, other.path), Bytes{limit})) return;
    const Seconds step = is_timed ? standard_training_step(other) : Seconds{};
    if (best && step >= kWorthAChange * shortest) return;
    best = std::move(other);
    shortest = step;
  };
  for (const Study& placed : expert_placements(study))
    for (const StateSharding sharding : kEnumerators<StateSharding>)
      for (const LayerActivations layers : kEnumerators<LayerActivations>)
        for (const ActivationPolicy activations : cheaper_policies(now.activations)) {
          if (!may_share(study, sharding) || layers < now.layers) continue;
          Study other = placed;
          other.training->sharding = sharding;
          other.training->layers = layers;
          other.training->activations = activations;
          consider(std::move(other));
        }
  if (!best) return nearest_replicas(study, limit);
  const std::string changes = changes_text(study, *best);
  const double longer = is_timed ? shortest / standard_training_step(study) - 1 : 0;
  constexpr double kWorthSaying = 0.005;
  if (longer < kWorthSaying) return changes;
  return fmt::format("{} (a step takes {:.0f} % longer)", changes, 100 * longer);
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
  if (setting.empty()) setting = nearest_experts(study, limit);
  if (setting.empty()) setting = nearest_batch(study, limit);
  if (setting.empty()) setting = nearest_sequences(study, limit);
  return setting.empty() ? nearest_parallelism(study, limit) : setting;
}

}  // namespace depthcost
