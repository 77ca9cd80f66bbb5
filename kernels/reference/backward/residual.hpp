// Backward passes of residuals with one state, each in one scan.
#pragma once

#include "kernels/operations/backward/residual.hpp"
#include "kernels/reference/backward/norm.hpp"

namespace depthcost::reference {

/// g, the gradient of the new state: what its norm and what its other readers have for it.
template <class Op, class T, class Access>
Row state_gradient(const Op& op, std::size_t t, const Row& h, const T* next, Access& access) {
  const std::size_t d = op.hidden_size;
  Row g = next_norm_backward(h, load_row(access, row_at(op.output_gradient, t, d), d), op.norm,
                             op.gain_gradient);
  add(g, load_row(access, row_at(next, t, d), d));
  return g;
}

template <class T, class Access = DirectAccess>
void run(const ResidualAddRmsNormBackward<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row h = load_row(access, row_at(op.hidden_state, t, d), d);
    Row g = state_gradient(op, t, h, op.gradient, access);
    store_row(access, row_at(op.gradient, t, d), g);
  }
}

/// The backward pass of h' = beta h + lambda o f; x = norm(h'), h' made again:
///   dh = beta g, df = lambda o g, dlambda = sum f o g, dbeta = sum h . g
template <class T>
struct ScaledAddRmsNormBackward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  const T* hidden_state = nullptr;     // h (T, d)
  const T* layer_output = nullptr;     // f (T, d)
  const T* output_gradient = nullptr;  // dx (T, d)
  const T* next_gradient = nullptr;    // dh' (T, d)
  std::size_t num_scales = 1;          // 1 or d
  const Scalar<T>* scales = nullptr;   // lambda
  Scalar<T> hidden_scale = 1;          // beta
  BasicNextNorm<Scalar<T>> norm;
  T* gradient = nullptr;                       // dh (T, d)
  T* layer_gradient = nullptr;                 // df (T, d)
  Scalar<T>* scale_gradients = nullptr;        // dlambda
  Scalar<T>* hidden_scale_gradient = nullptr;  // dbeta
  Scalar<T>* gain_gradient = nullptr;
};

template <class T, class Access = DirectAccess>
void run(const ScaledAddRmsNormBackward<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row h = load_row(access, row_at(op.hidden_state, t, d), d);
    const Row f = load_row(access, row_at(op.layer_output, t, d), d);
    Row lambda(d);
    for (std::size_t i = 0; i < d; ++i) lambda[i] = op.scales[i % op.num_scales];
    Row next = scaled(op.hidden_scale, h);
    add(next, product(lambda, f));
    const Row g = state_gradient(op, t, next, op.next_gradient, access);
    Row dh = scaled(op.hidden_scale, g);
    Row df = product(lambda, g);
    store_row(access, row_at(op.gradient, t, d), dh);
    store_row(access, row_at(op.layer_gradient, t, d), df);
    add_parameters(op.hidden_scale_gradient, {dot(g, h)});
    add_parameters(op.scale_gradients, op.num_scales == 1 ? Row{dot(g, f)} : product(g, f));
  }
}

/// The backward pass of h' = (1 - s) o h + s o f; x = norm(h'), s = sigmoid(z), h' made again:
///   dh = (1 - s) o g, df = s o g, dz = s (1 - s) o (f - h) o g
/// The gate's product adds to dh afterwards.
template <class T>
struct HighwayRmsNormBackward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  const T* hidden_state = nullptr;     // h (T, d)
  const T* layer_output = nullptr;     // f (T, d)
  const T* gate_logits = nullptr;      // z (T, d)
  const T* output_gradient = nullptr;  // dx (T, d)
  const T* next_gradient = nullptr;    // dh' (T, d)
  BasicNextNorm<Scalar<T>> norm;
  T* gradient = nullptr;         // dh (T, d)
  T* layer_gradient = nullptr;   // df (T, d)
  T* logit_gradients = nullptr;  // dz (T, d)
  Scalar<T>* gain_gradient = nullptr;
};

template <class T, class Access = DirectAccess>
void run(const HighwayRmsNormBackward<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row dh = load_row(access, row_at(op.hidden_state, t, d), d);
    Row df = load_row(access, row_at(op.layer_output, t, d), d);
    Row dz = load_row(access, row_at(op.gate_logits, t, d), d);
    Row next(d);
    for (std::size_t i = 0; i < d; ++i) {
      const double s = sigmoid(dz[i]);
      next[i] = (1 - s) * dh[i] + s * df[i];
    }
    const Row g = state_gradient(op, t, next, op.next_gradient, access);
    for (std::size_t i = 0; i < d; ++i) {
      const double s = sigmoid(dz[i]);
      dz[i] = s * (1 - s) * (df[i] - dh[i]) * g[i];
      dh[i] = (1 - s) * g[i];
      df[i] = s * g[i];
    }
    store_row(access, row_at(op.gradient, t, d), dh);
    store_row(access, row_at(op.layer_gradient, t, d), df);
    store_row(access, row_at(op.logit_gradients, t, d), dz);
  }
}

/// The backward pass of y = W x: dx = W^T dy, stored as `store` says; and, in a product of its own,
/// dW.
template <class T>
struct ProjectionBackward {
  std::size_t num_tokens = 0;
  std::size_t input_size = 0;
  std::size_t output_size = 0;
  const T* input = nullptr;            // x
  const T* output_gradient = nullptr;  // dy
  const Scalar<T>* matrix = nullptr;   // W (output_size, input_size)
  GradientStore store = GradientStore::overwrite;
  T* gradient = nullptr;                 // dx
  Scalar<T>* matrix_gradient = nullptr;  // dW
};

template <class T, class Access = DirectAccess>
void run(const ProjectionBackward<T>& op, Access&& access = {}) {
  const std::size_t in = op.input_size;
  const std::size_t out = op.output_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row dy = load_row(access, row_at(op.output_gradient, t, out), out);
    Row dx(in, 0.0);
    for (std::size_t i = 0; i < out; ++i)
      add(dx, scaled(dy[i], parameters(row_at(op.matrix, i, in), in)));
    store_gradient(access, row_at(op.gradient, t, in), std::move(dx), op.store);
  }
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row dy = load_row(access, row_at(op.output_gradient, t, out), out);
    const Row x = load_row(access, row_at(op.input, t, in), in);
    for (std::size_t i = 0; i < out; ++i)
      add_parameters(row_at(op.matrix_gradient, i, in), scaled(dy[i], x));
  }
}

}  // namespace depthcost::reference
