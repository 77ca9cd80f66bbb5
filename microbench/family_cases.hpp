// As cases.hpp, for the operations of kernels/operations/operations.hpp.
#pragma once

#include "kernels/operations/operations.hpp"
#include "microbench/cases.hpp"

namespace depthcost::bench {

/// A layer's output is added as it is, or nearly: streams neither grow nor vanish.
inline constexpr Range kNearOne{0.9F, 1.1F};

/// LayerScale: a lambda for each element.
template <class T>
ScaledAddRmsNorm<T> scaled_add_rmsnorm(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .hidden_state = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .num_scales = d,
          .scales = o.parameters(d, kNearOne),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

template <class T>
HighwayRmsNorm<T> highway_rmsnorm(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .hidden_state = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .gate_logits = o.tensor<T>(1, d, {-4, 4}),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
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

/// n bank rows and f; only x is written.
template <class T>
DenseMix<T> dense_mix(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t n = s.num_blocks;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_bank_rows = n,
          .num_bank_sources = n,
          .bank = o.tensor<T>(n, d),
          .layer_output = o.tensor<T>(1, d),
          .weights = o.parameters(n + 1, mean_of(n + 1)),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

/// DenseFormer behind a Transformer block.
template <class T>
DenseMix<T> dense_stream_mix(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t n = s.num_blocks;
  T* hidden_state = o.tensor<T>(1, d);
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_bank_rows = n + 1,
          .num_bank_sources = n,
          .bank = o.tensor<T>(n + 1, d),
          .hidden_state = hidden_state,
          .layer_output = o.tensor<T>(1, d),
          .bank_row = n,
          .weights = o.parameters(n + 1, mean_of(n + 1)),
          .norm = next_norm(s, o),
          .mixed = hidden_state,
          .output = o.tensor<T>(1, d)};
}

/// As each_fused_case.
template <class T, class Visit>
void each_family_case(const Shape& s, const Visit& visit) {
  const auto visit_it = [&](std::string_view name, auto make) {
    visit(name, catalogue_row(name, counts_of(s)), make);
  };
  visit_it("scaled_add_rmsnorm", scaled_add_rmsnorm<T>);
  visit_it("highway_rmsnorm", highway_rmsnorm<T>);
  visit_it("hc_boundary", hc_boundary<T>);
  visit_it("single_pass_mhc", single_pass_mhc<T>);
  visit_it("dense_mix", dense_mix<T>);
  visit_it("dense_mix/stream", dense_stream_mix<T>);
}

}  // namespace depthcost::bench
