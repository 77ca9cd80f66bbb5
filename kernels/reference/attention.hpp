// Attention over depth for one token: Eq. 2-4 as they stand, and the pieces of Algorithm 1.
// arXiv:2603.15031v1.
#pragma once

#include <cmath>

#include "kernels/operations/attnres.hpp"
#include "kernels/reference/row.hpp"

namespace depthcost::reference {

/// w . RMSNorm(k), the logarithm of phi(w, k). Keys are normalised, values never.
inline double score(const Row& w, const Row& k, double eps) { return dot(w, rms_norm(k, eps)); }

inline Row scores(const Row& w, const Rows& sources, double eps) {
  Row s;
  for (const Row& k : sources) s.push_back(score(w, k, eps));
  return s;
}

/// Eq. 2: alpha_{i->l} = phi(w_l, k_i) / sum_j phi(w_l, k_j).
inline Row depth_weights(const Row& w, const Rows& sources, double eps) {
  return softmax(scores(w, sources, eps));
}

/// Eq. 4: h_l = sum_i alpha_{i->l} v_i, with k_i = v_i (Eq. 3).
inline Row attend(const Row& w, const Rows& sources, double eps) {
  return weighted_sum(depth_weights(w, sources, eps), sources);
}

/// The channels of head `head` in a row.
inline Row head_of(const Row& row, std::size_t head, std::size_t num_heads) {
  const std::size_t size = row.size() / num_heads;
  const auto first = row.begin() + static_cast<std::ptrdiff_t>(head * size);
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

/// The score of one head: w . k, with the key normalised as `norm` says.
inline Row head_scores(const Row& w, const Rows& sources, std::size_t head, std::size_t num_heads,
                       KeyNorm norm, double eps) {
  Row s;
  for (const Row& source : sources) {
    Row k = head_of(norm == KeyNorm::row ? rms_norm(source, eps) : source, head, num_heads);
    if (norm == KeyNorm::head) k = rms_norm(std::move(k), eps);
    s.push_back(dot(head_of(w, head, num_heads), k));
  }
  return s;
}

/// The ablations of Table 4: attend() with the variant's phi, keys and heads.
template <class T>
Row attend(const Row& w, const Rows& sources, const AttentionVariant<T>& variant, double eps) {
  Row h;
  for (std::size_t head = 0; head < variant.num_heads; ++head) {
    Row weights = head_scores(w, sources, head, variant.num_heads, variant.key_norm, eps);
    if (variant.weighting == DepthWeighting::softmax)
      weights = softmax(std::move(weights));
    else
      for (double& weight : weights) weight = sigmoid(weight);
    Rows values;
    for (const Row& source : sources) values.push_back(head_of(source, head, variant.num_heads));
    const Row part = weighted_sum(weights, values);
    h.insert(h.end(), part.begin(), part.end());
  }
  return h;
}

/// Attention before its division: o = sum_i e^{s_i - m} v_i, m = max_i s_i, l = sum_i e^{s_i - m}.
/// The paper's text calls l a log-sum-exp; line 12 uses it as the sum that it is here.
struct Statistics {
  Row o;
  double m = 0;
  double l = 0;
};

/// ATTNWITHSTATS of Algorithm 1, lines 3 and 10, for one query.
inline Statistics attend_with_stats(const Row& w, const Rows& sources, double eps) {
  const Row s = scores(w, sources, eps);
  const double m = *std::max_element(s.begin(), s.end());
  Row weights;
  double l = 0;
  for (const double s_i : s) l += weights.emplace_back(std::exp(s_i - m));
  return {weighted_sum(weights, sources), m, l};
}

/// Algorithm 1, lines 11-12, before the division.
inline Statistics merge(const Statistics& a, const Statistics& b) {
  const double m = std::max(a.m, b.m);
  const double scale_a = std::exp(a.m - m);
  const double scale_b = std::exp(b.m - m);
  return {weighted_sum({scale_a, scale_b}, {a.o, b.o}), m, scale_a * a.l + scale_b * b.l};
}

/// Algorithm 1, line 8: h = o / l.
inline Row divided(const Statistics& statistics) { return scaled(1 / statistics.l, statistics.o); }

}  // namespace depthcost::reference
