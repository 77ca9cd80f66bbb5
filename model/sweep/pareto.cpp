// Divide and conquer: points are sorted by the first objective, so that only the earlier half can
// dominate the later one; what is left to compare is one objective less.
#include "model/sweep/pareto.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>

namespace depthcost {
namespace {

using Indices = std::vector<std::size_t>;
using Range = std::span<std::size_t>;

class Front {
 public:
  explicit Front(const Objectives& points) : points_(points), beaten_(points.size(), 0) {}

  Indices find() {
    Indices order(points_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::lexicographical_compare(at(a), at(a) + k(), at(b), at(b) + k());
    });
    // The first of equal points stands for all: among different points "nowhere worse" is "better".
    Indices distinct;
    for (const std::size_t point : order)
      if (distinct.empty() || !is_equal(distinct.back(), point)) distinct.push_back(point);
    thin_out(distinct);
    if (k() == 3)
      climb(distinct);
    else if (k() > 1)
      split(distinct);
    return standing(order);
  }

 private:
  const double* at(std::size_t point) const { return points_.at(point); }
  std::size_t k() const { return points_.num_objectives; }
  bool is_equal(std::size_t a, std::size_t b) const {
    return std::equal(at(a), at(a) + k(), at(b));
  }

  /// A few good points beat most of the others: kept in a short list, as they come.
  void thin_out(Indices& sorted) {
    constexpr std::size_t kShort = 128;
    if (k() == 1) {
      for (std::size_t i = 1; i < sorted.size(); ++i) beaten_[sorted[i]] = 1;
      return;
    }
    Indices best;
    Indices kept;
    for (const std::size_t point : sorted) {
      const auto by = std::find_if(best.begin(), best.end(),
                                   [&](std::size_t b) { return no_worse(b, point, 1, k()); });
      if (by != best.end()) {
        beaten_[point] = 1;
        std::rotate(best.begin(), by, by + 1);
        continue;
      }
      kept.push_back(point);
      if (best.size() < kShort) best.push_back(point);
    }
    sorted = std::move(kept);
  }

  bool no_worse(std::size_t a, std::size_t b, std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i)
      if (at(a)[i] > at(b)[i]) return false;
    return true;
  }

  /// Three objectives: what stands so far is a staircase, the third falling with the second.
  void climb(const Indices& sorted) {
    std::map<double, double> stairs;
    for (const std::size_t point : sorted) {
      const double second = at(point)[1];
      const double third = at(point)[2];
      auto above = stairs.upper_bound(second);
      if (above != stairs.begin() && std::prev(above)->second <= third) {
        beaten_[point] = 1;
        continue;
      }
      while (above != stairs.end() && above->second >= third) above = stairs.erase(above);
      stairs.insert_or_assign(second, third);
    }
  }

  /// Marks what is beaten within `sorted`, which rises lexicographically.
  void split(Range sorted) {
    if (sorted.size() < 2) return;
    const Range early = sorted.first(sorted.size() / 2);
    const Range late = sorted.last(sorted.size() - early.size());
    split(early);
    split(late);
    filter(still(early), still(late), k());
  }

  Indices still(std::span<const std::size_t> points) const {
    Indices left;
    for (const std::size_t point : points)
      if (beaten_[point] == 0) left.push_back(point);
    return left;
  }

  /// Marks those of `targets` that one of `rivals` is nowhere worse than in objectives [1, last);
  /// in the others none is.
  void filter(Indices rivals, Indices targets, std::size_t last) {
    constexpr std::size_t kFew = 48;
    if (rivals.empty() || targets.empty()) return;
    if (last == 2) return sweep(rivals, targets, 1, 1);
    if (last == 3) return sweep(rivals, targets, 1, 2);
    if (rivals.size() <= kFew || targets.size() <= kFew) return compare_all(rivals, targets, last);
    const double middle = dividing_value(rivals, targets, last - 1);
    const auto is_low = [&](std::size_t point) { return at(point)[last - 1] <= middle; };
    const auto high_rivals = std::stable_partition(rivals.begin(), rivals.end(), is_low);
    const auto high_targets = std::stable_partition(targets.begin(), targets.end(), is_low);
    const Indices low_rivals(rivals.begin(), high_rivals);
    const Indices upper_targets(high_targets, targets.end());
    if (high_rivals == rivals.end() && high_targets == targets.end())
      return filter(rivals, targets, last - 1);  // all alike in this objective
    filter(low_rivals, {targets.begin(), high_targets}, last);
    filter({high_rivals, rivals.end()}, upper_targets, last);
    filter(low_rivals, still(upper_targets), last - 1);
  }

  /// The median of an objective, or the largest value below the maximum where the median is that.
  double dividing_value(const Indices& rivals, const Indices& targets,
                        std::size_t objective) const {
    std::vector<double> values;
    values.reserve(rivals.size() + targets.size());
    for (const Indices* points : {&rivals, &targets})
      for (const std::size_t point : *points) values.push_back(at(point)[objective]);
    const auto median = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), median, values.end());
    const double highest = *std::max_element(median, values.end());
    if (*median < highest) return *median;
    double below = -std::numeric_limits<double>::infinity();
    for (const double value : values)
      if (value < highest) below = std::max(below, value);
    return below == -std::numeric_limits<double>::infinity() ? highest : below;
  }

  void compare_all(const Indices& rivals, const Indices& targets, std::size_t last) {
    for (const std::size_t target : targets)
      for (const std::size_t rival : rivals)
        if (no_worse(rival, target, 1, last)) {
          beaten_[target] = 1;
          break;
        }
  }

  /// Two objectives: along the first, the best of the second so far.
  void sweep(Indices& rivals, Indices& targets, std::size_t first, std::size_t second) {
    const auto by_first = [&](std::size_t a, std::size_t b) { return at(a)[first] < at(b)[first]; };
    std::sort(rivals.begin(), rivals.end(), by_first);
    std::sort(targets.begin(), targets.end(), by_first);
    double best = std::numeric_limits<double>::infinity();
    bool has_rival = false;
    auto rival = rivals.begin();
    for (const std::size_t target : targets) {
      for (; rival != rivals.end() && at(*rival)[first] <= at(target)[first]; ++rival) {
        best = std::min(best, at(*rival)[second]);
        has_rival = true;
      }
      if (has_rival && best <= at(target)[second]) beaten_[target] = 1;
    }
  }

  /// Points that nobody beats, with those that equal one of them.
  Indices standing(const Indices& order) const {
    Indices front;
    for (std::size_t i = 0, first = 0; i < order.size(); ++i) {
      if (!is_equal(order[first], order[i])) first = i;
      if (beaten_[order[first]] == 0) front.push_back(order[i]);
    }
    std::sort(front.begin(), front.end());
    return front;
  }

  const Objectives& points_;
  std::vector<char> beaten_;
};

}  // namespace

bool dominates(const Objectives& points, std::size_t a, std::size_t b) {
  bool is_better = false;
  for (std::size_t i = 0; i < points.num_objectives; ++i) {
    if (points.at(a)[i] > points.at(b)[i]) return false;
    is_better = is_better || points.at(a)[i] < points.at(b)[i];
  }
  return is_better;
}

std::vector<std::size_t> pareto_front(const Objectives& points) {
  return points.size() == 0 ? std::vector<std::size_t>{} : Front(points).find();
}

}  // namespace depthcost
