// Rules of tables, and numbers that keep them.
#include "model/mixing/mixing_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/base/seeded_random.hpp"

namespace depthcost {
namespace {

bool is_one(double sum) { return std::abs(sum - 1) <= kSumTolerance; }

double sum_of(const WeightRow& row) { return std::accumulate(row.begin(), row.end(), 0.0); }

/// Elements `first`, `first + stride`, ... of an m x m matrix sum to one for every line.
bool lines_sum_to_one(const WeightRow& matrix, std::size_t m, std::size_t line_stride,
                      std::size_t stride) {
  for (std::size_t line = 0; line < m; ++line) {
    double sum = 0;
    for (std::size_t i = 0; i < m; ++i) sum += matrix[line * line_stride + i * stride];
    if (!is_one(sum)) return false;
  }
  return true;
}

std::size_t side_of(const WeightRow& matrix) {
  return static_cast<std::size_t>(std::lround(std::sqrt(as_double(std::ssize(matrix)))));
}

WeightRow random_distribution(SeededRandom& random, std::size_t size) {
  WeightRow row(size);
  // Not zero, so that every source counts.
  for (double& weight : row) weight = 1 - random.uniform();
  const double sum = sum_of(row);
  for (double& weight : row) weight /= sum;
  return row;
}

/// sum_p c_p P_p over m random permutations: Birkhoff's theorem backwards.
WeightRow random_doubly_stochastic(SeededRandom& random, std::size_t m) {
  WeightRow matrix(m * m);
  std::vector<std::size_t> permutation(m);
  for (const double share : random_distribution(random, m)) {
    std::iota(permutation.begin(), permutation.end(), std::size_t{0});
    for (std::size_t left = m; left > 1; --left)
      std::swap(permutation[left - 1],
                permutation[static_cast<std::size_t>(random.below(static_cast<Count>(left)))]);
    for (std::size_t i = 0; i < m; ++i) matrix[i * m + permutation[i]] += share;
  }
  return matrix;
}

/// The identity and a little more, so that products of L of them neither vanish nor explode.
WeightRow random_near_identity(SeededRandom& random, std::size_t m, double size) {
  WeightRow matrix(m * m);
  for (double& element : matrix) element = random.uniform(-size, size);
  for (std::size_t i = 0; i < m; ++i) matrix[i * m + i] += 1;
  return matrix;
}

WeightRow random_row(SeededRandom& random, const WeightTable& table, std::size_t size) {
  if (table.rule == WeightRule::distribution) return random_distribution(random, size);
  WeightRow row(size);
  if (table.layout == WeightLayout::matrices) {
    const std::size_t m = side_of(row);
    if (table.rule == WeightRule::doubly_stochastic) return random_doubly_stochastic(random, m);
    return random_near_identity(random, m, 1 / as_double(std::ssize(table.row_sizes)));
  }
  for (double& weight : row)
    weight =
        table.rule == WeightRule::share ? random.uniform() : random.uniform(table.low, table.high);
  return row;
}

}  // namespace

std::string row_problem(const WeightTable& table, const WeightRow& row) {
  if (table.rule == WeightRule::any || row.empty()) return {};
  for (const double weight : row)
    if (weight < 0 || weight > 1 + kSumTolerance)
      return fmt::format("holds {:.6g}, which is not in [0, 1]", weight);
  if (table.rule == WeightRule::distribution && !is_one(sum_of(row)))
    return fmt::format("sums to {:.6g}, not to one", sum_of(row));
  if (table.rule != WeightRule::doubly_stochastic) return {};
  const std::size_t m = side_of(row);
  if (lines_sum_to_one(row, m, m, 1) || lines_sum_to_one(row, m, 1, m)) return {};
  return "has neither rows nor columns that all sum to one";
}

MixingWeights random_weights(std::span<const WeightTable> tables, std::uint64_t seed) {
  SeededRandom random(seed);
  MixingWeights weights;
  for (const WeightTable& table : tables) {
    WeightRows rows;
    for (const Count size : table.row_sizes)
      rows.push_back(random_row(random, table, static_cast<std::size_t>(size)));
    weights.set(table.name, std::move(rows));
  }
  return weights;
}

}  // namespace depthcost
