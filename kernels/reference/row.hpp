// Vectors of one token in float64, and the arithmetic of the operations on them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/operations/operands.hpp"

namespace depthcost::reference {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

/// Parameters as doubles.
template <class P>
Row parameters(const P* values, std::size_t count) {
  return {values, values + count};
}

inline double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

inline void add(Row& sum, const Row& term) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += term[i];
}

inline Row scaled(double factor, Row x) {
  for (double& element : x) element *= factor;
  return x;
}

/// sum_i weights[i] rows[i], of at least one row.
inline Row weighted_sum(const Row& weights, const Rows& rows) {
  Row sum(rows.front().size(), 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += weights[i] * rows[i][e];
  return sum;
}

/// sqrt(mean(x^2) + eps).
inline double root_mean_square(const Row& x, double eps) {
  return std::sqrt(dot(x, x) / static_cast<double>(x.size()) + eps);
}

/// x / sqrt(mean(x^2) + eps).
inline Row rms_norm(Row x, double eps) {
  const double rms = root_mean_square(x, eps);
  for (double& element : x) element /= rms;
  return x;
}

/// RMSNorm(h) * gain; h itself where there is no gain.
template <class P>
Row next_norm(const Row& h, const BasicNextNorm<P>& norm) {
  if (norm.gain == nullptr) return h;
  Row x = rms_norm(h, norm.eps);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= norm.gain[i];
  return x;
}

inline double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

/// e^{s_i} / sum_j e^{s_j}, relative to the largest s: logits of +-700 are legal.
inline Row softmax(Row s) {
  const double largest = *std::max_element(s.begin(), s.end());
  double sum = 0;
  for (double& element : s) sum += element = std::exp(element - largest);
  for (double& element : s) element /= sum;
  return s;
}

}  // namespace depthcost::reference
