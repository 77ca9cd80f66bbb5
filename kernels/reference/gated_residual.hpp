// Gated Residual: kernels/operations/gated_residual.hpp, model/REFERENCES.md [gated_residual].
#pragma once

#include "kernels/operations/gated_residual.hpp"
#include "kernels/reference/mhc.hpp"

namespace depthcost::reference {

/// Parameters of type T as doubles.
template <class T>
Row stored_parameters(const T* values, std::size_t count) {
  Row row;
  for (std::size_t i = 0; i < count; ++i) row.push_back(to_double(values[i]));
  return row;
}

/// Xn_i: the stream in units of its RMS, times 1 + g.
template <class T>
Row gated_norm(Row stream, double inverse_rms, const T* gain) {
  for (std::size_t e = 0; e < stream.size(); ++e)
    stream[e] *= inverse_rms * (1 + to_double(gain[e]));
  return stream;
}

/// W vec(rows) / n, W of `num_outputs` x (n d).
template <class T>
Row mean_projection(const T* weights, std::size_t num_outputs, const Rows& rows) {
  const std::size_t d = rows.front().size();
  Row y(num_outputs, 0);
  for (std::size_t i = 0; i < num_outputs; ++i)
    for (std::size_t j = 0; j < rows.size(); ++j)
      y[i] += dot(stored_parameters(weights + (i * rows.size() + j) * d, d), rows[j]) /
              static_cast<double>(rows.size());
  return y;
}

inline double silu(double p) { return p * sigmoid(p); }

/// lambda = 2 sigmoid(B vec(Xn) / n).
template <class T>
Row gated_inject(const T* weights, const Rows& Xn) {
  Row lambda = mean_projection(weights, Xn.size(), Xn);
  for (double& element : lambda) element = 2 * sigmoid(element);
  return lambda;
}

template <class T, class Access = DirectAccess>
void run(const GatedApplyDown<T>& op, Access&& access = {}) {
  const std::size_t n = op.num_streams;
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row lambda = load_row(access, row_at(op.inject, t, n), n);
    const Row f = load_row(access, row_at(op.layer_output, t, d), d);
    Rows X = load_streams(access, op.streams, t, n, d);
    for (std::size_t i = 0; i < n; ++i) add(X[i], scaled(lambda[i], f));
    store_streams(access, op.next_streams, t, X);  // later steps see what was stored
    Row factors;
    Rows Xn;
    for (std::size_t i = 0; i < n; ++i) {
      factors.push_back(1 / root_mean_square(X[i], op.eps));
      Xn.push_back(gated_norm(X[i], factors[i], op.gain + i * d));
    }
    store_row(access, row_at(op.inverse_rms, t, n), factors);
    Row a = mean_projection(op.down, op.rank, Xn);
    for (double& element : a) element = silu(element);
    store_row(access, row_at(op.activation, t, op.rank), a);
    if (op.inject_weights == nullptr) continue;
    Row next = gated_inject(op.inject_weights, Xn);
    store_row(access, row_at(op.next_inject, t, n), next);
  }
}

template <class T, class Access = DirectAccess>
void run(const GatedUpMix<T>& op, Access&& access = {}) {
  const std::size_t n = op.num_streams;
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row factors = load_row(access, row_at(op.inverse_rms, t, n), n);
    const Row a = load_row(access, row_at(op.activation, t, op.rank), op.rank);
    const Rows X = load_streams(access, op.streams, t, n, d);
    Row x(d, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const Row Xn = gated_norm(X[i], factors[i], op.gain + i * d);
      for (std::size_t e = 0; e < d; ++e) {
        const double logit = dot(stored_parameters(op.up + (i * d + e) * op.rank, op.rank), a);
        x[e] += sigmoid(logit) * Xn[e] / static_cast<double>(n);
      }
    }
    store_row(access, row_at(op.output, t, d), x);
  }
}

}  // namespace depthcost::reference
