// Which of many points no other beats: lower is better in every objective.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace depthcost {

/// Points with the same number of objectives each, one after the other; none is NaN.
struct Objectives {
  std::span<const double> values;  // (points, objectives)
  std::size_t num_objectives = 1;

  std::size_t size() const { return values.size() / num_objectives; }
  const double* at(std::size_t point) const { return values.data() + point * num_objectives; }
};

/// a is nowhere worse than b and somewhere better.
bool dominates(const Objectives& points, std::size_t a, std::size_t b);

/// Indices, rising, of the points that no other dominates. Equal points stand or fall together.
/// O(n log n) for two objectives, O(n log^(k - 1) n) for k: Kung, Luccio and Preparata, "On finding
/// the maxima of a set of vectors", J. ACM 22 (1975).
std::vector<std::size_t> pareto_front(const Objectives& points);

}  // namespace depthcost
