// One size after another, decided as the budget itself.
#include "model/decision/nearest_block_size.hpp"

#include <cstdlib>
#include <vector>

#include "model/decision/decoder_layer.hpp"
#include "model/decision/kept_budget.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

// [ours]
constexpr Count kReach = 256;

/// Whether a budget surely holds with blocks of that size.
bool keeps(Study study, const Budget& budget, Count size) {
  set_blocks(study.path.scheme.parameters, partition_by_size(study.model.num_layers, size));
  return surely_keeps(study, budget);
}

enum class Split : bool { no, yes };

/// Whether blocks of that size end inside a decoder layer.
Split split_of(const Study& study, Count size) {
  Scheme scheme = study.path.scheme;
  set_blocks(scheme.parameters, partition_by_size(study.model.num_layers, size));
  return splits_decoder_layer(study, scheme) ? Split::yes : Split::no;
}

/// From near to far: first what splits no decoder layer.
std::optional<Count> nearest_of_all(const Study& study, const Budget& budget, Count own) {
  for (const Split split : {Split::no, Split::yes})
    for (Count distance = 1; distance <= kReach; ++distance)
      for (const Count size : {own + distance, own - distance})
        if (size >= 1 && size <= study.model.num_layers && split_of(study, size) == split &&
            keeps(study, budget, size))
          return size;
  return std::nullopt;
}

/// The size itself, or the next one away from `own` where that splits no decoder layer and keeps
/// the budget.
std::optional<Count> whole(const Study& study, const Budget& budget, Count own,
                           std::optional<Count> size) {
  if (!size || split_of(study, *size) == Split::no) return size;
  const Count next = *size > own ? *size + 1 : *size - 1;
  const bool is_better = next >= 1 && next <= study.model.num_layers && keeps(study, budget, next);
  return is_better ? next : size;
}

/// The first of ever farther sizes that keeps the budget, and from there back towards those that
/// do not: each training step is simulated, so that few are tried.
std::optional<Count> bisected(const Study& study, const Budget& budget, Count own,
                              const std::vector<Count>& steps) {
  Count breaks = own;
  for (const Count size : steps) {
    if (!keeps(study, budget, size)) {
      breaks = size;
      continue;
    }
    Count holds = size;
    while (std::abs(holds - breaks) > 1) {
      const Count middle = (holds + breaks) / 2;
      (keeps(study, budget, middle) ? holds : breaks) = middle;
    }
    return holds;
  }
  return std::nullopt;
}

/// The nearer of the nearest finer and the nearest coarser one, the coarser if both are as near.
std::optional<Count> nearest_of_few(const Study& study, const Budget& budget, Count own) {
  std::vector<Count> sizes_below;
  std::vector<Count> sizes_above;
  for (Count size = own / 2; size >= 1; size /= 2) sizes_below.push_back(size);
  for (Count size = 2 * own; size <= study.model.num_layers; size *= 2) sizes_above.push_back(size);
  const auto best_of = [&](const std::vector<Count>& sizes) {
    return whole(study, budget, own, bisected(study, budget, own, sizes));
  };
  const auto finer = best_of(sizes_below);
  const auto coarser = best_of(sizes_above);
  if (!finer || !coarser) return finer ? finer : coarser;
  return own - *finer < *coarser - own ? finer : coarser;
}

}  // namespace

std::optional<Count> nearest_block_size(const Study& study, const Budget& budget) {
  const Partition* blocks = attnres_blocks(study.path.scheme);
  if (blocks == nullptr) return std::nullopt;
  const Count own = blocks->block_size;
  const bool is_simulated = budget.kind == BudgetKind::training_overhead ||
                            budget.kind == BudgetKind::exposed_communication;
  return is_simulated ? nearest_of_few(study, budget, own) : nearest_of_all(study, budget, own);
}

}  // namespace depthcost
