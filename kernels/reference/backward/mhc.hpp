// Backward passes of mHC: post, the mix of pre and the mapping as kernels of their own, and the
// whole boundary in one scan; and of static hyper-connections.
#pragma once

#include "kernels/operations/backward/mhc.hpp"
#include "kernels/operations/hyper_connections.hpp"
#include "kernels/reference/backward/norm.hpp"
#include "kernels/reference/hyper_connections.hpp"

namespace depthcost::reference {

/// What post leaves for one token: dX = H_res^T dX', df = sum_i H_post[i] dX'_i, dH_post[i] =
/// dX'_i . f, dH_res[i][j] = dX'_i . X_j.
struct PostGradients {
  Rows streams;
  Row layer_output;
  Row post;
  Row residual;
};

inline PostGradients post_gradients(const Rows& X, const Row& f, const Row& post,
                                    const Row& residual, const Rows& next) {
  const std::size_t m = X.size();
  PostGradients of{Rows(m, Row(f.size(), 0.0)), weighted_sum(post, next), {}, {}};
  for (std::size_t i = 0; i < m; ++i) {
    of.post.push_back(dot(next[i], f));
    for (std::size_t j = 0; j < m; ++j) {
      add(of.streams[j], scaled(residual[i * m + j], next[i]));
      of.residual.push_back(dot(next[i], X[j]));
    }
  }
  return of;
}

/// The backward pass of one normalisation of lines, y = x / sum(x) along each:
///   dx = (dy - dy . y) / sum(x)
template <class LineOf>
void normalise_backward(Row& gradient, const Row& before, const Row& after, std::size_t m,
                        const LineOf& line_of) {
  for (std::size_t index = 0; index < m; ++index) {
    const Line line = line_of(index, m);
    double sum = 0;
    double along = 0;
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t at = line.first + i * line.stride;
      sum += before[at];
      along += gradient[at] * after[at];
    }
    for (std::size_t i = 0; i < m; ++i) {
      double& element = gradient[line.first + i * line.stride];
      element = (element - along) / sum;
    }
  }
}

/// The logits' gradient of Sinkhorn(exp(logits)), whose iterations are made again.
inline Row sinkhorn_backward(const Row& logits, Row gradient, std::size_t m, std::size_t iterations,
                             SinkhornOrder order) {
  const Row first = exp_for_sinkhorn(logits, m, order);
  Rows states{first};
  const bool rows_first = order == SinkhornOrder::row_col;
  for (std::size_t half = 0; half < 2 * iterations; ++half) {
    states.push_back(states.back());
    if ((half % 2 == 0) == rows_first)
      normalise(states.back(), m, row_line);
    else
      normalise(states.back(), m, column_line);
  }
  for (std::size_t half = 2 * iterations; half-- > 0;) {
    if ((half % 2 == 0) == rows_first)
      normalise_backward(gradient, states[half], states[half + 1], m, row_line);
    else
      normalise_backward(gradient, states[half], states[half + 1], m, column_line);
  }
  return product(std::move(gradient), first);
}

/// Gradients of the logits a z + b from those of H_pre, H_post and H_res.
template <class P>
Row logit_gradients(const BasicMhcMapping<P>& mapping, const Rows& X, const MhcCoefficients& dH) {
  const std::size_t m = X.size();
  const MhcCoefficients H = mhc_gates(mapping, X, m * m);
  Row logits;
  for (std::size_t i = 0; i < m; ++i) logits.push_back(dH.pre[i] * H.pre[i] * (1 - H.pre[i]));
  for (std::size_t i = 0; i < m; ++i)
    logits.push_back(dH.post[i] * H.post[i] * (1 - H.post[i] / 2));
  const Row residual =
      sinkhorn_backward(H.residual, dH.residual, m, mapping.iterations, mapping.order);
  logits.insert(logits.end(), residual.begin(), residual.end());
  return logits;
}

/// What the mapping leaves for one token.
struct MappingGradients {
  Rows streams;    // added to dX
  Row projection;  // dz / r
};

/// From the gradients of the coefficients: z = phi . n, n = vec(X) / r, so that dn = phi^T dz.
template <class P>
MappingGradients mapping_gradients(const BasicMhcMapping<P>& mapping, const Rows& X,
                                   const MhcCoefficients& dH, const MhcMappingGradients<P>& into) {
  const std::size_t m = X.size();
  const std::size_t d = X.front().size();
  Row vec;
  for (const Row& stream : X) vec.insert(vec.end(), stream.begin(), stream.end());
  const Row normed = rms_norm(vec, mapping.eps);
  const Row z = mhc_projection(mapping, X, m * m + 2 * m);
  const Row logits = logit_gradients(mapping, X, dH);
  Row dn(m * d, 0.0);
  MappingGradients of;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const std::size_t gate = std::min<std::size_t>(i / m, 2);
    const double dz = logits[i] * mapping.scales[gate];
    of.projection.push_back(dz / root_mean_square(vec, mapping.eps));
    add(dn, scaled(dz, parameters(row_at(mapping.phi, i, m * d), m * d)));
    add_parameters(row_at(into.phi, i, m * d), scaled(dz, normed));
    add_parameters(row_at(into.scales, gate, 1), {logits[i] * z[i]});
  }
  add_parameters(into.bias, logits);
  const Row dvec = rms_norm_backward(vec, std::move(dn), mapping.eps);
  for (std::size_t i = 0; i < m; ++i)
    of.streams.emplace_back(dvec.begin() + static_cast<std::ptrdiff_t>(i * d),
                            dvec.begin() + static_cast<std::ptrdiff_t>((i + 1) * d));
  return of;
}

/// Runs post's backward pass of token `t` from the gradients of the next streams.
template <class T, class Access>
void mhc_post_backward_token(const MhcPostBackward<T>& op, std::size_t t, const Rows& next,
                             Access& access) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  const Rows X = load_streams(access, op.streams, t, m, d);
  const Row f = load_row(access, row_at(op.layer_output, t, d), d);
  const Row post = load_row(access, row_at(op.post, t, m), m);
  const Row residual = load_row(access, row_at(op.residual, t, m * m), m * m);
  PostGradients of = post_gradients(X, f, post, residual, next);
  store_streams(access, op.gradients, t, of.streams);
  store_row(access, row_at(op.layer_gradient, t, d), of.layer_output);
  store_row(access, row_at(op.post_gradients, t, m), of.post);
  store_row(access, row_at(op.residual_gradients, t, m * m), of.residual);
}

template <class T, class Access = DirectAccess>
void run(const MhcPostBackward<T>& op, Access&& access = {}) {
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows next = load_streams(access, op.gradients, t, op.num_streams, op.hidden_size);
    mhc_post_backward_token(op, t, next, access);
  }
}

/// The backward pass of x = norm(sum_j H_pre[j] X_j), the mix made again: adds H_pre[j] du to dX_j,
/// and leaves dH_pre.
template <class T>
struct MhcMixBackward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;
  const T* streams = nullptr;          // X (T, m, d)
  const T* output_gradient = nullptr;  // dx (T, d)
  const Scalar<T>* pre = nullptr;      // H_pre (T, m)
  BasicNextNorm<Scalar<T>> norm;
  T* gradients = nullptr;              // dX (T, m, d), added to
  Scalar<T>* pre_gradients = nullptr;  // (T, m)
  Scalar<T>* gain_gradient = nullptr;
};

/// Adds what the mix of one token has for its streams to `gradients`, and returns dH_pre.
template <class P>
Row mix_gradients(const Rows& X, const Row& pre, const Row& dx, const BasicNextNorm<P>& norm,
                  P* gain_gradient, Rows& gradients) {
  const Row du = next_norm_backward(weighted_sum(pre, X), dx, norm, gain_gradient);
  Row of_pre;
  for (std::size_t j = 0; j < X.size(); ++j) {
    of_pre.push_back(dot(du, X[j]));
    add(gradients[j], scaled(pre[j], du));
  }
  return of_pre;
}

template <class T, class Access = DirectAccess>
void run(const MhcMixBackward<T>& op, Access&& access = {}) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows X = load_streams(access, op.streams, t, m, d);
    const Row dx = load_row(access, row_at(op.output_gradient, t, d), d);
    const Row pre = load_row(access, row_at(op.pre, t, m), m);
    Rows gradients = load_streams(access, op.gradients, t, m, d);
    Row of_pre = mix_gradients(X, pre, dx, op.norm, op.gain_gradient, gradients);
    store_streams(access, op.gradients, t, gradients);
    store_row(access, row_at(op.pre_gradients, t, m), of_pre);
  }
}

/// The backward pass of the coefficients: adds to dX what they leave for X, from their gradients.
template <class T>
struct MhcMappingBackward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;
  const T* streams = nullptr;                     // X (T, m, d)
  const Scalar<T>* pre_gradients = nullptr;       // (T, m)
  const Scalar<T>* post_gradients = nullptr;      // (T, m)
  const Scalar<T>* residual_gradients = nullptr;  // (T, m, m)
  BasicMhcMapping<Scalar<T>> mapping;
  MhcMappingGradients<Scalar<T>> into;
  T* gradients = nullptr;  // dX (T, m, d), added to
};

template <class T, class Access = DirectAccess>
void run(const MhcMappingBackward<T>& op, Access&& access = {}) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows X = load_streams(access, op.streams, t, m, d);
    const MhcCoefficients dH{load_row(access, row_at(op.pre_gradients, t, m), m),
                             load_row(access, row_at(op.post_gradients, t, m), m),
                             load_row(access, row_at(op.residual_gradients, t, m * m), m * m)};
    Rows gradients = load_streams(access, op.gradients, t, m, d);
    const Rows more = mapping_gradients(op.mapping, X, dH, op.into).streams;
    for (std::size_t i = 0; i < m; ++i) add(gradients[i], more[i]);
    store_streams(access, op.gradients, t, gradients);
  }
}

/// Mix and mapping in one kernel, the coefficients made again.
template <class T, class Access = DirectAccess>
void run(const MhcPreBackward<T>& op, Access&& access = {}) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows X = load_streams(access, op.streams, t, m, d);
    const Row dx = load_row(access, row_at(op.output_gradient, t, d), d);
    Rows gradients = load_streams(access, op.gradients, t, m, d);
    const Row pre = mhc_gates(op.mapping, X, m * m).pre;
    const MhcCoefficients dH{mix_gradients(X, pre, dx, op.norm, op.gain_gradient, gradients),
                             load_row(access, row_at(op.post_gradients, t, m), m),
                             load_row(access, row_at(op.residual_gradients, t, m * m), m * m)};
    MappingGradients of = mapping_gradients(op.mapping, X, dH, op.into);
    for (std::size_t i = 0; i < m; ++i) add(gradients[i], of.streams[i]);
    store_streams(access, op.gradients, t, gradients);
    const std::size_t rows = num_mapping_rows(m);
    store_row(access, row_at(op.projection_gradients, t, rows), of.projection);
  }
}

/// The backward pass of a boundary in one scan. What the next boundary has left: the gradients of
/// the streams behind this one, and of the coefficients that were made of them. The coefficients
/// are made again.
template <class T, class Access = DirectAccess>
void run(const MhcBoundaryBackward<T>& op, Access&& access = {}) {
  const std::size_t m = op.post.num_streams;
  const std::size_t d = op.post.hidden_size;
  for (std::size_t t = 0; t < op.post.num_tokens; ++t) {
    const Rows X = load_streams(access, op.next_streams, t, m, d);
    Rows gradients = load_streams(access, op.post.gradients, t, m, d);
    const Row dx = load_row(access, row_at(op.output_gradient, t, d), d);
    const Row pre = mhc_gates(op.mapping, X, m * m).pre;
    const MhcCoefficients dH{mix_gradients(X, pre, dx, op.norm, op.gain_gradient, gradients),
                             load_row(access, row_at(op.next_post_gradients, t, m), m),
                             load_row(access, row_at(op.next_residual_gradients, t, m * m), m * m)};
    MappingGradients of = mapping_gradients(op.mapping, X, dH, op.into);
    for (std::size_t i = 0; i < m; ++i) add(gradients[i], of.streams[i]);
    const std::size_t rows = num_mapping_rows(m);
    store_row(access, row_at(op.projection_gradients, t, rows), of.projection);
    mhc_post_backward_token(op.post, t, gradients, access);
  }
}

/// The backward pass of HcBoundary in one scan, the streams behind it made again.
template <class T>
struct HcBoundaryBackward {
  HcBoundary<T> forward;               // its streams, f, coefficients and norm
  const T* output_gradient = nullptr;  // dx (T, d)
  const T* next_gradients = nullptr;   // dH' (T, m, d)
  T* gradients = nullptr;              // dH (T, m, d)
  T* layer_gradient = nullptr;         // df (T, d)
  Scalar<T>* residual_gradients = nullptr;
  Scalar<T>* post_gradients = nullptr;
  Scalar<T>* pre_gradients = nullptr;
  Scalar<T>* gain_gradient = nullptr;
};

template <class T, class Access = DirectAccess>
void run(const HcBoundaryBackward<T>& op, Access&& access = {}) {
  const HcBoundary<T>& of = op.forward;
  const std::size_t m = of.num_streams;
  const std::size_t d = of.hidden_size;
  const Row A_r = transposed(of.residual, m);
  const Row beta = parameters(of.post, m);
  for (std::size_t t = 0; t < of.num_tokens; ++t) {
    const Rows H = load_streams(access, of.streams, t, m, d);
    const Row f = load_row(access, row_at(of.layer_output, t, d), d);
    const Row dx = load_row(access, row_at(op.output_gradient, t, d), d);
    Rows next = load_streams(access, op.next_gradients, t, m, d);
    add_parameters(op.pre_gradients,
                   mix_gradients(mhc_next_streams(H, f, beta, A_r), parameters(of.pre, m), dx,
                                 of.norm, op.gain_gradient, next));
    PostGradients gradients = post_gradients(H, f, beta, A_r, next);
    store_streams(access, op.gradients, t, gradients.streams);
    store_row(access, row_at(op.layer_gradient, t, d), gradients.layer_output);
    add_parameters(op.post_gradients, gradients.post);
    add_parameters(op.residual_gradients, transposed(gradients.residual.data(), m));
  }
}

}  // namespace depthcost::reference
