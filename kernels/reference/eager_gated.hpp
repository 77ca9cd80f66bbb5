// The launches of Gated Residual in eager mode: kernels/operations/eager_gated.hpp.
#pragma once

#include "kernels/operations/eager_gated.hpp"
#include "kernels/reference/gated_residual.hpp"

namespace depthcost::reference {

template <class T, class Access = DirectAccess>
void run(const UnfusedGatedNorm<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Rows X = load_streams(access, op.streams, t, op.num_streams, d);
    for (std::size_t i = 0; i < op.num_streams; ++i) {
      const double inverse_rms = 1 / root_mean_square(X[i], op.eps);
      X[i] = gated_norm(X[i], inverse_rms, op.gain + i * d);
    }
    store_streams(access, op.output, t, X);
  }
}

template <class T, class Access = DirectAccess>
void run(const UnfusedGateDown<T>& op, Access&& access = {}) {
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows Xn = load_streams(access, op.input, t, op.num_streams, op.hidden_size);
    Row y = mean_projection(op.weights, op.num_outputs, Xn);
    store_row(access, row_at(op.output, t, op.num_outputs), y);
  }
}

template <class T, class Access = DirectAccess>
void run(const UnfusedGateUp<T>& op, Access&& access = {}) {
  const std::size_t size = op.num_streams * op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row a = load_row(access, row_at(op.activation, t, op.rank), op.rank);
    Row z;
    for (std::size_t i = 0; i < size; ++i)
      z.push_back(dot(stored_parameters(op.up + i * op.rank, op.rank), a));
    store_row(access, row_at(op.output, t, size), z);
  }
}

inline double gate_function(GateFunction function, double z) {
  if (function == GateFunction::silu) return silu(z);
  return function == GateFunction::twice_sigmoid ? 2 * sigmoid(z) : sigmoid(z);
}

template <class T, class Access = DirectAccess>
void run(const UnfusedActivation<T>& op, Access&& access = {}) {
  const std::size_t size = op.num_streams * op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row y = load_row(access, row_at(op.input, t, size), size);
    for (double& element : y) element = gate_function(op.function, element);
    store_row(access, row_at(op.output, t, size), y);
  }
}

template <class T, class Access = DirectAccess>
void run(const UnfusedGateProduct<T>& op, Access&& access = {}) {
  const std::size_t size = op.num_streams * op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row y = load_row(access, row_at(op.gates, t, size), size);
    const Row Xn = load_row(access, row_at(op.input, t, size), size);
    for (std::size_t e = 0; e < size; ++e) y[e] *= Xn[e];
    store_row(access, row_at(op.output, t, size), y);
  }
}

template <class T, class Access = DirectAccess>
void run(const UnfusedStreamMean<T>& op, Access&& access = {}) {
  const Row shares(op.num_streams, 1 / static_cast<double>(op.num_streams));
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows Y = load_streams(access, op.streams, t, op.num_streams, op.hidden_size);
    Row x = weighted_sum(shares, Y);
    store_row(access, row_at(op.output, t, op.hidden_size), x);
  }
}

}  // namespace depthcost::reference
