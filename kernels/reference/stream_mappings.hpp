// Hyper-connections that compute their coefficients from the streams in another way than mHC:
// dynamic ones, and mHC-lite. The coefficients are then used as in mHC. They have no fast kernel.
#pragma once

#include <numeric>

#include "kernels/reference/mhc.hpp"

namespace depthcost::reference {

/// Dynamic hyper-connections (arXiv:2409.19606 Eq. 10-13), of each stream h_i by itself:
///   A_m[i] = s_a tanh(LN(h_i) . w_m) + A_m[i], beta[i] = s_b tanh(LN(h_i) . w_b) + beta[i],
///   A_r[i][j] = s_a tanh(LN(h_i) . w_j) + A_r[i][j]
/// LN has neither gain nor bias. H_res is A_r transposed.
template <class P>
struct HcMapping {
  const P* weights = nullptr;   // W (m + 2, d): w_m, w_b, w_1 .. w_m
  const P* pre = nullptr;       // A_m (m)
  const P* post = nullptr;      // beta (m)
  const P* residual = nullptr;  // A_r (m, m), from row to column
  P width_scale = 0;            // s_a
  P depth_scale = 0;            // s_b
  P eps = kNormEps<P>;
};

/// mHC-lite (arXiv:2601.05732): mHC's phi and gates with m! logits in place of m^2,
///   H_res = sum_p softmax(a2 z_res + b_res)_p P_p, P_p[i][p(i)] = 1
/// over the permutations p of m streams in lexicographic order.
template <class P>
struct MhcLiteMapping {
  const P* phi = nullptr;   // (2 m + m!, m d), rows pre, post, res
  const P* bias = nullptr;  // (2 m + m!)
  P scales[3] = {0, 0, 0};  // a0, a1, a2
  P eps = kNormEps<P>;
};

/// MhcPre with another mapping.
template <class T, class Mapping>
struct MappedPre {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;  // m
  const T* streams = nullptr;   // X (T, m, d)
  Mapping mapping;
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;            // x (T, d)
  Scalar<T>* post = nullptr;      // H_post (T, m)
  Scalar<T>* residual = nullptr;  // H_res (T, m, m)
};

/// (x - mean(x)) / sqrt(var(x) + eps).
inline Row layer_norm(Row x, double eps) {
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  for (double& element : x) element -= mean;
  return rms_norm(std::move(x), eps);
}

template <class P>
MhcCoefficients mhc_coefficients(const HcMapping<P>& mapping, const Rows& streams) {
  const std::size_t m = streams.size();
  const std::size_t d = streams.front().size();
  MhcCoefficients H;
  H.residual.resize(m * m);
  for (std::size_t i = 0; i < m; ++i) {
    const Row h = layer_norm(streams[i], mapping.eps);
    const auto dynamic = [&](std::size_t column) {
      return std::tanh(dot(parameters(row_at(mapping.weights, column, d), d), h));
    };
    H.pre.push_back(mapping.width_scale * dynamic(0) + mapping.pre[i]);
    H.post.push_back(mapping.depth_scale * dynamic(1) + mapping.post[i]);
    for (std::size_t j = 0; j < m; ++j)
      H.residual[j * m + i] = mapping.width_scale * dynamic(2 + j) + mapping.residual[i * m + j];
  }
  return H;
}

/// sum_p weights[p] P_p, with m! weights.
inline Row mixed_permutations(const Row& weights, std::size_t m) {
  Row matrix(m * m, 0.0);
  std::vector<std::size_t> p(m);
  std::iota(p.begin(), p.end(), 0);
  for (const double weight : weights) {
    for (std::size_t i = 0; i < m; ++i) matrix[i * m + p[i]] += weight;
    std::next_permutation(p.begin(), p.end());
  }
  return matrix;
}

inline std::size_t factorial(std::size_t m) { return m == 0 ? 1 : m * factorial(m - 1); }

template <class P>
MhcCoefficients mhc_coefficients(const MhcLiteMapping<P>& mapping, const Rows& streams) {
  const std::size_t m = streams.size();
  MhcCoefficients H = mhc_gates(mapping, streams, factorial(m));
  H.residual = mixed_permutations(softmax(std::move(H.residual)), m);
  return H;
}

}  // namespace depthcost::reference
