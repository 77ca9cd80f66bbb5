// The pieces that a framework's eager mode launches.
#pragma once

#include "microbench/cases/hyper_connection_cases.hpp"

namespace depthcost::bench {

template <class T>
UnfusedStack<T> unfused_stack(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t rows = s.num_blocks + 1;
  const T* sources = o.tensor<T>(rows, d);
  return {o.num_tokens(), d, rows, o.row_pointers(sources, rows, d), o.tensor<T>(rows, d)};
}

template <class T>
UnfusedKeyNorm<T> unfused_key_norm(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t rows = s.num_blocks + 1;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_sources = rows,
          .stack = o.tensor<T>(rows, d),
          .keys = o.tensor<T>(rows, d)};
}

template <class T>
UnfusedScores<T> unfused_scores(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t rows = s.num_blocks + 1;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_sources = rows,
          .keys = o.tensor<T>(rows, d),
          .query = o.parameters(d, unit_norm(d)),
          .logits = o.tensor<float>(rows, 1)};
}

template <class T>
UnfusedMix<T> unfused_mix(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t rows = s.num_blocks + 1;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_sources = rows,
          .stack = o.tensor<T>(rows, d),
          .logits = o.tensor<float>(rows, 1),
          .output = o.tensor<T>(1, d)};
}

template <class T>
UnfusedMhcCoefficients<T> unfused_mhc_coefficients(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = o.tensor<T>(1, m * s.hidden_size),
          .mapping = mhc_mapping(s, o),
          .pre = o.tensor<float>(1, m),
          .post = o.tensor<float>(1, m),
          .residual = o.tensor<float>(1, m * m)};
}

template <class T>
UnfusedMhcPre<T> unfused_mhc_pre(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = o.tensor<T>(1, m * s.hidden_size),
          .pre = o.tensor<float>(1, m),
          .output = o.tensor<T>(1, s.hidden_size)};
}

template <class T>
UnfusedMhcPost<T> unfused_mhc_post(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .layer_output = o.tensor<T>(1, s.hidden_size),
          .post = o.tensor<float>(1, m),
          .spread = o.tensor<T>(1, m * s.hidden_size)};
}

template <class T>
UnfusedMhcResidual<T> unfused_mhc_residual(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = o.tensor<T>(1, m * s.hidden_size),
          .residual = o.tensor<float>(1, m * m),
          .mixed = o.tensor<T>(1, m * s.hidden_size)};
}

template <class T>
UnfusedMhcMerge<T> unfused_mhc_merge(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .mixed = o.tensor<T>(1, m * s.hidden_size),
          .spread = o.tensor<T>(1, m * s.hidden_size),
          .next_streams = o.tensor<T>(1, m * s.hidden_size)};
}

}  // namespace depthcost::bench
