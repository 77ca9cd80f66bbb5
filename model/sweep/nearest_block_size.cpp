// A sweep of one axis under one budget.
#include "model/sweep/nearest_block_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "model/schemes/list.hpp"
#include "model/sweep/sweep.hpp"

namespace depthcost {
namespace {

// [ours] A sweep of 512 takes milliseconds.
constexpr Count kReach = 256;

/// Sizes of blocks that surely keep the one budget of the study.
std::vector<Count> keeping(const Study& study, std::vector<Count> sizes) {
  if (sizes.empty()) return {};
  const Sweep sweep(study, {{.key = SweptKey::block_size, .values = std::move(sizes)}}, 1);
  std::vector<Count> kept;
  for (std::size_t i = 0; i < sweep.choices().size(); ++i) {
    const SweepPoint point = sweep.point(0, i);
    if (point.exists() && sweep.verdict(point) == Verdict::pass)
      kept.push_back(sweep.choices()[i].values.front());
  }
  return kept;
}

/// The nearest size; the larger of two that are equally near.
std::optional<Count> nearest_of(const std::vector<Count>& sizes, Count own) {
  std::optional<Count> nearest;
  for (const Count size : sizes)
    if (!nearest || std::abs(size - own) <= std::abs(*nearest - own)) nearest = size;
  return nearest;
}

std::vector<Count> within_reach(Count own, Count num_layers) {
  std::vector<Count> sizes;
  const Count last = std::min(num_layers, own + kReach);
  for (Count size = std::max<Count>(1, own - kReach); size <= last; ++size)
    if (size != own) sizes.push_back(size);
  return sizes;
}

/// The first of ever farther sizes that keeps the budget, and from there back towards those that
/// do not: each training step is simulated, so that few are tried.
std::optional<Count> bisected(const Study& study, Count own, const std::vector<Count>& steps) {
  const auto keeps = [&](Count size) { return !keeping(study, {size}).empty(); };
  Count breaks = own;
  for (const Count size : steps) {
    if (!keeps(size)) {
      breaks = size;
      continue;
    }
    Count holds = size;
    while (std::abs(holds - breaks) > 1) {
      const Count middle = (holds + breaks) / 2;
      (keeps(middle) ? holds : breaks) = middle;
    }
    return holds;
  }
  return std::nullopt;
}

/// The nearest finer and the nearest coarser one.
std::vector<Count> of_training(const Study& study, Count own) {
  std::vector<Count> finer;
  std::vector<Count> coarser;
  for (Count size = own / 2; size >= 1; size /= 2) finer.push_back(size);
  for (Count size = 2 * own; size <= study.model.num_layers; size *= 2) coarser.push_back(size);
  std::vector<Count> sizes;
  for (const auto& found : {bisected(study, own, finer), bisected(study, own, coarser)})
    if (found) sizes.push_back(*found);
  return sizes;
}

}  // namespace

std::optional<Count> nearest_block_size(const Study& study, const Budget& budget) {
  const Partition* blocks = attnres_blocks(study.path.scheme);
  if (blocks == nullptr) return std::nullopt;
  const Count own = blocks->block_size;
  Study asked = study;
  asked.budgets = {budget};
  if (budget.kind == BudgetKind::training_overhead) return nearest_of(of_training(asked, own), own);
  // What the budget does not ask for takes time.
  if (budget.kind == BudgetKind::pipeline_peak)
    asked.machine.reset();  // but training has a wire of its own
  else
    asked.training.reset();
  return nearest_of(keeping(asked, within_reach(own, study.model.num_layers)), own);
}

void name_nearest_block_sizes(const Study& study, std::vector<BudgetRow>& rows) {
  for (BudgetRow& row : rows) {
    const bool is_open = row.verdict != Verdict::pass && row.high && row.nearest.empty();
    if (!is_open) continue;
    if (const auto size = nearest_block_size(study, row.budget))
      row.nearest = fmt::format("block_size {} would keep it", *size);
  }
}

}  // namespace depthcost
