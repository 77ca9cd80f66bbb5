// One size after another, decided as the budget itself.
#include "model/decision/nearest_block_size.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "model/decision/decoder_layer.hpp"
#include "model/decision/kept_budget.hpp"
#include "model/decision/quality.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

// [ours]
constexpr Count kReach = 256;

/// What must hold of a block size.
struct Asked {
  const Study& study;
  const Budget& budget;
  Kept kept = Kept::surely;
  Losses losses = Losses::any;
};

/// Whether the budget holds with blocks of that size.
bool keeps(const Asked& asked, Count size) {
  Study study = asked.study;
  set_blocks(study.path.scheme.parameters, partition_by_size(study.model.num_layers, size));
  const bool is_published = quality_of(study.path.scheme).at_most().has_value();
  if (asked.losses != Losses::any && is_published != (asked.losses == Losses::published))
    return false;
  const BudgetRow row = decided_for(study, asked.budget);
  if (row.verdict == Verdict::pass) return true;
  return asked.kept == Kept::likely && row.middle && *row.middle <= asked.budget.limit;
}

enum class Split : bool { no, yes };

/// Whether blocks of that size end inside a decoder layer.
Split split_of(const Study& study, Count size) {
  Scheme scheme = study.path.scheme;
  set_blocks(scheme.parameters, partition_by_size(study.model.num_layers, size));
  return splits_decoder_layer(study, scheme) ? Split::yes : Split::no;
}

/// From near to far: first what splits no decoder layer.
std::optional<Count> nearest_of_all(const Asked& asked, Count own) {
  for (const Split split : {Split::no, Split::yes})
    for (Count distance = 1; distance <= kReach; ++distance)
      for (const Count size : {own + distance, own - distance})
        if (size >= 1 && size <= asked.study.model.num_layers &&
            split_of(asked.study, size) == split && keeps(asked, size))
          return size;
  return std::nullopt;
}

/// The size itself, or the next one away from `own` where that splits no decoder layer and keeps
/// the budget.
std::optional<Count> whole(const Asked& asked, Count own, std::optional<Count> size) {
  if (!size || split_of(asked.study, *size) == Split::no) return size;
  const Count next = *size > own ? *size + 1 : *size - 1;
  const bool is_better = next >= 1 && next <= asked.study.model.num_layers && keeps(asked, next);
  return is_better ? next : size;
}

/// The first of ever farther sizes that keeps the budget, and from there back towards those that
/// do not: each training step is simulated, so that few are tried.
std::optional<Count> bisected(const Asked& asked, Count own, const std::vector<Count>& steps) {
  Count breaks = own;
  for (const Count size : steps) {
    if (!keeps(asked, size)) {
      breaks = size;
      continue;
    }
    Count holds = size;
    while (std::abs(holds - breaks) > 1) {
      const Count middle = (holds + breaks) / 2;
      (keeps(asked, middle) ? holds : breaks) = middle;
    }
    return holds;
  }
  return std::nullopt;
}

/// The nearer of the nearest finer and the nearest coarser one, the coarser if both are as near.
std::optional<Count> nearest_of_few(const Asked& asked, Count own) {
  std::vector<Count> sizes_below;
  std::vector<Count> sizes_above;
  for (Count size = own / 2; size >= 1; size /= 2) sizes_below.push_back(size);
  for (Count size = 2 * own; size <= asked.study.model.num_layers; size *= 2)
    sizes_above.push_back(size);
  const auto best_of = [&](const std::vector<Count>& sizes) {
    return whole(asked, own, bisected(asked, own, sizes));
  };
  const auto finer = best_of(sizes_below);
  const auto coarser = best_of(sizes_above);
  if (!finer || !coarser) return finer ? finer : coarser;
  return own - *finer < *coarser - own ? finer : coarser;
}

bool is_simulated(BudgetKind kind) {
  return kind == BudgetKind::training_overhead || kind == BudgetKind::exposed_communication;
}

/// The study itself and, where the budget is of a step that is not simulated, with each other
/// schedule that can run.
std::vector<Study> schedules_of(const Study& study, BudgetKind kind) {
  std::vector<Study> studies{study};
  if (kind != BudgetKind::decode_overhead && kind != BudgetKind::prefill_overhead) return studies;
  for (const Schedule schedule : study.path.scheme.rule->schedules) {
    if (schedule == study.schedule || is_bound(study.path.scheme, schedule)) continue;
    studies.push_back(study);
    studies.back().schedule = schedule;
  }
  return studies;
}

/// The size nearest to the study's own, with whichever schedule keeps the budget there: a schedule
/// can be changed, where blocks are trained.
std::optional<Remedy> nearest_of_schedules(const Study& study, const Budget& budget, Kept kept,
                                           Losses losses) {
  std::optional<Remedy> nearest;
  Count least = 0;
  for (const Study& other : schedules_of(study, budget.kind)) {
    const auto size = nearest_block_size(other, budget, kept, losses);
    if (!size) continue;
    const Count distance = std::abs(*size - attnres_blocks(study.path.scheme)->block_size);
    if (nearest && distance >= least) continue;
    least = distance;
    const std::string schedule = other.schedule == study.schedule
                                     ? ""
                                     : fmt::format("schedule {} and ", name(other.schedule));
    nearest = Remedy{fmt::format("{}block_size {}", schedule, *size), kept};
  }
  return nearest;
}

}  // namespace

std::optional<Count> nearest_block_size(const Study& study, const Budget& budget, Kept kept,
                                        Losses losses) {
  const Partition* blocks = attnres_blocks(study.path.scheme);
  if (blocks == nullptr) return std::nullopt;
  const Asked asked{study, budget, kept, losses};
  return is_simulated(budget.kind) ? nearest_of_few(asked, blocks->block_size)
                                   : nearest_of_all(asked, blocks->block_size);
}

std::optional<Remedy> nearest_blocks(const Study& study, const BudgetRow& row) {
  const auto surely = nearest_of_schedules(study, row.budget, Kept::surely, Losses::published);
  if (surely) return surely;
  const bool may_become_likely =
      !is_simulated(row.budget.kind) && row.middle && *row.middle > row.budget.limit;
  if (may_become_likely)
    if (auto likely = nearest_of_schedules(study, row.budget, Kept::likely, Losses::published))
      return likely;
  const auto coarser = nearest_block_size(study, row.budget, Kept::surely, Losses::coarser);
  if (!coarser) return std::nullopt;
  return Remedy{fmt::format("block_size {} (coarser than any with a published loss)", *coarser),
                Kept::surely};
}

}  // namespace depthcost
