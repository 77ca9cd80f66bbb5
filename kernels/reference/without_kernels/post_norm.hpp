// Schemes that normalise the stream itself: DeepNorm, KEEL, SiameseNorm. No fast kernel.
#pragma once

#include "kernels/operations/operands.hpp"
#include "kernels/reference/accessor.hpp"

namespace depthcost::reference {

/// h = Norm(alpha h + f), arXiv:2203.00555: the next layer's input as it stands.
template <class T>
struct DeepNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  const T* hidden_state = nullptr;  // h (T, d)
  const T* layer_output = nullptr;  // f (T, d)
  Scalar<T> hidden_scale = 1;       // alpha
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // h and x (T, d); may be `hidden_state`
};

/// h = Norm(alpha h + f), x = Norm'(h), arXiv:2601.19895: two norms, each with a gain.
template <class T>
struct Keel {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* hidden_state = nullptr;             // h (T, d), read and written
  const T* layer_output = nullptr;       // f (T, d)
  Scalar<T> hidden_scale = 1;            // alpha
  BasicNextNorm<Scalar<T>> stream_norm;  // Norm
  BasicNextNorm<Scalar<T>> norm;         // Norm'
  T* output = nullptr;                   // x (T, d)
};

/// h1 = Norm(h1 + f), h2 = h2 + f, x = h1 + Norm'(h2), arXiv:2602.08064.
template <class T>
struct SiameseNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* post_norm_stream = nullptr;         // h1 (T, d), read and written
  T* pre_norm_stream = nullptr;          // h2 (T, d), read and written
  const T* layer_output = nullptr;       // f (T, d)
  BasicNextNorm<Scalar<T>> stream_norm;  // Norm
  BasicNextNorm<Scalar<T>> norm;         // Norm'
  T* output = nullptr;                   // x (T, d)
};

/// Returns alpha h + f of token `t`.
template <class Op, class Access>
Row scaled_sum(const Op& op, std::size_t t, Access& access) {
  const std::size_t d = op.hidden_size;
  Row h = scaled(op.hidden_scale, load_row(access, row_at(op.hidden_state, t, d), d));
  add(h, load_row(access, row_at(op.layer_output, t, d), d));
  return h;
}

template <class T, class Access = DirectAccess>
void deep_norm(const DeepNorm<T>& op, Access&& access = {}) {
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row h = next_norm(scaled_sum(op, t, access), op.norm);
    store_row(access, row_at(op.output, t, op.hidden_size), h);
  }
}

template <class T, class Access = DirectAccess>
void keel(const Keel<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row h = next_norm(scaled_sum(op, t, access), op.stream_norm);
    store_row(access, row_at(op.hidden_state, t, d), h);
    Row x = next_norm(h, op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

template <class T, class Access = DirectAccess>
void siamese_norm(const SiameseNorm<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row f = load_row(access, row_at(op.layer_output, t, d), d);
    Row h1 = load_row(access, row_at(op.post_norm_stream, t, d), d);
    add(h1, f);
    h1 = next_norm(h1, op.stream_norm);
    store_row(access, row_at(op.post_norm_stream, t, d), h1);
    Row h2 = load_row(access, row_at(op.pre_norm_stream, t, d), d);
    add(h2, f);
    store_row(access, row_at(op.pre_norm_stream, t, d), h2);
    Row x = next_norm(h2, op.norm);
    add(x, h1);
    store_row(access, row_at(op.output, t, d), x);
  }
}

}  // namespace depthcost::reference
