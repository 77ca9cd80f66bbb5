// Which choice of a sweep to take under one circumstance: the front, a rule that is written down
// here, and what would change its answer.
//
//   0. A schedule that is a bound (SchemeRule::bounds) is no choice.
//   1. Choices that break a budget, surely or by their median, are out, and those coarser than
//      anything published. Where every choice breaks some budget, nothing is recommended; the rule
//      says what it would take without that budget. Nor is anything where there is neither a limit
//      nor hardware: the lowest loss would win, whatever it costs.
//   2. Blocks that end inside a decoder layer are out, if any do not; but for blocks of one layer,
//      which are those of Full AttnRes.
//   3. The lowest published loss wins; losses that may be equal before rounding count as equal
//      (kSameLoss). Where the two readings of Fig. 6 differ, the higher one counts.
//   4. Of those the cheapest wins: by decode, else prefill, else training, else bytes.
//
// Schemes are held against one another by Table 4, which is of the model of Fig. 6.
//
// [ours]. [attnres] Sec. 5.3: finer blocks are better as far as memory allows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/sweep/sweep.hpp"

namespace depthcost {

/// Which reading of the published losses the rule goes by.
enum class Reading : std::uint8_t { higher_of_both, by_size, by_count };

/// Choices of which none is nowhere worse and somewhere better than another: in time, in memory,
/// in payload, and in both readings of the published losses. Rising.
std::vector<std::size_t> front_of(const Sweep& sweep, std::size_t circumstance,
                                  Reading reading = Reading::higher_of_both);

/// The cheapest choice that dominates `choice`, if one does; with a reading of its own, losses are
/// compared by that alone.
std::optional<std::size_t> dominator_of(const Sweep& sweep, std::size_t circumstance,
                                        std::size_t choice, Reading reading);

/// What the rule's last step goes by.
enum class Cost : std::uint8_t { decode, prefill, training, bytes };

/// The first that the sweep knows.
Cost cost_of(const Sweep& sweep);

/// Seconds, an overhead where that is known, or bytes.
double cost_at(const SweepPoint& point, Cost cost);

/// The cheapest choice of which `is_asked` is true. A bound is none.
std::optional<std::size_t> cheapest_choice(
    const Sweep& sweep, std::size_t circumstance,
    const std::function<bool(const SweepPoint& point)>& is_asked);

/// A budget without which the rule would answer otherwise.
struct BindingBudget {
  std::size_t budget = 0;   // of the study's
  std::size_t allowed = 0;  // the choice that it rules out
};

struct Recommendation {
  std::optional<std::size_t> best;       // nothing where no choice has published evidence
  std::optional<std::size_t> runner_up;  // what the rule says without it
  std::vector<BindingBudget> binding;
  std::vector<std::size_t> unattainable;  // budgets of the sweep's study that every choice breaks
  std::vector<std::size_t> undecided;     // limits of which nothing is known at any choice
  bool has_no_cost = false;               // there is no limit, and no time is known
  std::optional<std::size_t> without_unattainable;  // what it says if these three did not count
  std::optional<std::size_t> cheapest;              // with a published loss, whatever it breaks
  std::optional<std::size_t> sure;      // what it says if no limit may lie inside an interval
  std::optional<std::size_t> by_size;   // what it says by one reading alone
  std::optional<std::size_t> by_count;  // as above
};

Recommendation recommend(const Sweep& sweep, std::size_t circumstance);

/// How far two choices lie apart in decode or prefill time. What is not known is one truth for
/// both, so that the difference is surer than either time.
struct Distance {
  Cost cost = Cost::decode;
  Estimate<Seconds> difference;  // of `other` against `best`
};

/// Nothing where the rule does not go by a time.
std::optional<Distance> distance(const Sweep& sweep, std::size_t circumstance, std::size_t best,
                                 std::size_t other);

}  // namespace depthcost
