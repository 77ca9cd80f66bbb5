// One size after another, decided as the budget itself.
#include "model/decision/nearest_block_size.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <vector>

#include "model/decision/decided_budget.hpp"
#include "model/decision/decoder_layer.hpp"
#include "model/decision/quality.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

// [ours]
constexpr Count kReach = 256;

/// What a budget says of a block size, each asked about once: searches for different answers meet
/// the same sizes.
class SizesTried {
 public:
  SizesTried(const Study& study, const Budget& budget) : study_(study), budget_(budget) {}

  const Study& study() const { return study_; }

  bool keeps(Count size, Kept kept) {
    const auto [entry, is_new] = tried_.try_emplace(size);
    if (is_new) entry->second = tried(size);
    return entry->second.passes || (kept == Kept::likely && entry->second.middle_passes);
  }

  bool is_published(Count size) const {
    return quality_of(with_size(size).path.scheme).at_most().has_value();
  }

 private:
  struct Tried {
    bool passes = false;
    bool middle_passes = false;
  };

  Study with_size(Count size) const {
    Study study = study_;
    set_blocks(study.path.scheme.parameters, partition_by_size(study.model.num_layers, size));
    return study;
  }

  Tried tried(Count size) const {
    const BudgetRow row = decided_for(with_size(size), budget_);
    return {row.verdict == Verdict::pass, row.middle && *row.middle <= budget_.limit};
  }

  const Study& study_;
  const Budget& budget_;
  std::map<Count, Tried> tried_;
};

/// What must hold of a block size.
struct Asked {
  SizesTried& sizes;
  Kept kept = Kept::surely;
  Losses losses = Losses::any;

  const Study& study() const { return sizes.study(); }
};

/// Whether the budget holds with blocks of that size.
bool keeps(const Asked& asked, Count size) {
  if (asked.losses != Losses::any &&
      asked.sizes.is_published(size) != (asked.losses == Losses::published))
    return false;
  return asked.sizes.keeps(size, asked.kept);
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
        if (size >= 1 && size <= asked.study().model.num_layers &&
            split_of(asked.study(), size) == split && keeps(asked, size))
          return size;
  return std::nullopt;
}

/// The size itself, or the next one away from `own` where that splits no decoder layer and keeps
/// the budget.
std::optional<Count> whole(const Asked& asked, Count own, std::optional<Count> size) {
  if (!size || split_of(asked.study(), *size) == Split::no) return size;
  const Count next = *size > own ? *size + 1 : *size - 1;
  const bool is_better = next >= 1 && next <= asked.study().model.num_layers && keeps(asked, next);
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
  for (Count size = 2 * own; size <= asked.study().model.num_layers; size *= 2)
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

/// The size nearest to the study's own that is as asked.
std::optional<Count> nearest(const Asked& asked, BudgetKind kind) {
  const Count own = attnres_blocks(asked.study().path.scheme)->block_size;
  return is_simulated(kind) ? nearest_of_few(asked, own) : nearest_of_all(asked, own);
}

/// The size nearest to the study's own, with whichever schedule keeps the budget there: a schedule
/// can be changed, where blocks are trained. The first of `tried` has the study's.
std::optional<Remedy> nearest_of_schedules(std::vector<SizesTried>& tried, BudgetKind kind,
                                           Kept kept, Losses losses) {
  const Study& own = tried.front().study();
  std::optional<Remedy> best;
  Count least = 0;
  for (SizesTried& sizes : tried) {
    const auto size = nearest({sizes, kept, losses}, kind);
    if (!size) continue;
    const Count distance = std::abs(*size - attnres_blocks(own.path.scheme)->block_size);
    if (best && distance >= least) continue;
    least = distance;
    const Schedule schedule = sizes.study().schedule;
    best = Remedy{
        fmt::format("{}block_size {}",
                    schedule == own.schedule ? "" : fmt::format("schedule {} and ", name(schedule)),
                    *size),
        kept};
  }
  return best;
}

}  // namespace

std::optional<Count> nearest_block_size(const Study& study, const Budget& budget, Kept kept,
                                        Losses losses) {
  if (attnres_blocks(study.path.scheme) == nullptr) return std::nullopt;
  SizesTried sizes(study, budget);
  return nearest({sizes, kept, losses}, budget.kind);
}

std::optional<Remedy> nearest_blocks(const Study& study, const BudgetRow& row) {
  if (attnres_blocks(study.path.scheme) == nullptr) return std::nullopt;
  const BudgetKind kind = row.budget.kind;
  const std::vector<Study> studies = schedules_of(study, kind);
  std::vector<SizesTried> tried;
  for (const Study& each : studies) tried.emplace_back(each, row.budget);
  const auto surely = nearest_of_schedules(tried, kind, Kept::surely, Losses::published);
  if (surely) return surely;
  const bool may_become_likely =
      !is_simulated(kind) && row.middle && *row.middle > row.budget.limit;
  if (may_become_likely)
    if (auto likely = nearest_of_schedules(tried, kind, Kept::likely, Losses::published))
      return likely;
  const auto coarser = nearest({tried.front(), Kept::surely, Losses::coarser}, kind);
  if (!coarser) return std::nullopt;
  return Remedy{fmt::format("block_size {} (coarser than any with a published loss)", *coarser),
                Kept::surely};
}

}  // namespace depthcost
