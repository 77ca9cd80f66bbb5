// Hyper-connections (HC and mHC): m residual streams a token.
#pragma once

#include <string>
#include <string_view>

#include "kernels/operations/operations.hpp"
#include "microbench/cases/case_shape.hpp"

namespace depthcost::bench {

/// Where the residual streams of a token are when mHC needs them for the second time.
enum class StreamsAgain { on_chip, from_memory };

/// The catalogue entry of an operation of mHC.
inline std::string mhc_entry(std::string_view operation, StreamsAgain again) {
  return std::string(operation) + (again == StreamsAgain::on_chip ? "/on_chip" : "");
}

inline MhcMapping mhc_mapping(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  const std::size_t inputs = m * s.hidden_size;
  const std::size_t coefficients = m * m + 2 * m;
  return {.phi = o.parameters(coefficients * inputs, unit_norm(inputs)),
          .bias = o.parameters(coefficients, {}),
          .scales = {1, 1, 1}};
}

template <class T>
MhcPre<T> mhc_pre(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = o.tensor<T>(1, m * s.hidden_size),
          .mapping = mhc_mapping(s, o),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, s.hidden_size),
          .post = o.tensor<float>(1, m),
          .residual = o.tensor<float>(1, m * m)};
}

/// In place, as a layer runs it.
template <class T>
MhcPost<T> mhc_post(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  T* streams = o.tensor<T>(1, m * s.hidden_size);
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = streams,
          .layer_output = o.tensor<T>(1, s.hidden_size),
          .post = o.tensor<float>(1, m),
          .residual = o.tensor<float>(1, m * m, mean_of(m)),
          .next_streams = streams};
}

template <class T>
MhcBoundary<T> mhc_boundary(const Shape& s, Operands& o) {
  MhcBoundary<T> op{.post = mhc_post<T>(s, o),
                    .mapping = mhc_mapping(s, o),
                    .norm = next_norm(s, o),
                    .output = o.tensor<T>(1, s.hidden_size)};
  op.next_post = const_cast<float*>(op.post.post);
  op.next_residual = const_cast<float*>(op.post.residual);
  return op;
}

/// In place, as a layer runs it.
template <class T>
HcBoundary<T> hc_boundary(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  T* streams = o.tensor<T>(1, m * s.hidden_size);
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = streams,
          .layer_output = o.tensor<T>(1, s.hidden_size),
          .residual = o.parameters(m * m, mean_of(m)),
          .post = o.parameters(m, kNearOne),
          .pre = o.parameters(m, mean_of(m)),
          .norm = next_norm(s, o),
          .next_streams = streams,
          .output = o.tensor<T>(1, s.hidden_size)};
}

template <class T>
SinglePassMhc<T> single_pass_mhc(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  T* streams = o.tensor<T>(1, m * s.hidden_size);
  float* pre = o.tensor<float>(1, m, mean_of(m));
  float* post = o.tensor<float>(1, m);
  float* residual = o.tensor<float>(1, m * m, mean_of(m));
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = streams,
          .layer_output = o.tensor<T>(1, s.hidden_size),
          .pre = pre,
          .post = post,
          .residual = residual,
          .mapping = mhc_mapping(s, o),
          .norm = next_norm(s, o),
          .next_streams = streams,
          .output = o.tensor<T>(1, s.hidden_size),
          .next_pre = pre,
          .next_post = post,
          .next_residual = residual};
}

}  // namespace depthcost::bench
