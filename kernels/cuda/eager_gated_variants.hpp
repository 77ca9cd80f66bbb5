// The variants of what a framework launches one by one for Gated Residual.
#pragma once

#include "kernels/cuda/descriptor.hpp"
#include "kernels/operations/eager_gated.hpp"

namespace depthcost::cuda {

/// Threads of a CTA that normalises a stream of `vectors`, or of `elements` where there are none.
constexpr unsigned gated_norm_threads(std::size_t vectors, std::size_t elements) {
  return token_plan(vectors > 0 ? vectors : elements).threads_per_token;
}

/// Bytes on their way to a CTA of a kernel on the elements of `num_inputs` tensors.
constexpr std::size_t elementwise_bytes_in_flight(std::size_t num_inputs) {
  return std::size_t{kEagerThreads} * kElementwiseVectors * num_inputs * 16;
}

template <class T>
constexpr Descriptor descriptor(const UnfusedGatedNorm<T>& op) {
  const double n = count(op.num_streams);
  const std::size_t vectors = vectors_of<T>(op.hidden_size);
  return {.operation = "unfused_gated_norm",
          .variant = vectors > 0 ? "streamed" : "scalar",
          .operands = {{{"recent", n, n}}},
          .bytes_in_flight_per_cta = std::size_t{gated_norm_threads(vectors, op.hidden_size)} *
                                     (vectors > 0 ? 16 : sizeof(T))};
}

/// Rows of `size` elements meet tokens on tensor cores.
template <class T>
constexpr bool has_product_tile(std::size_t size) {
  return tile_vectors_of<T>(size) > 0;
}
template <class T>
constexpr std::string_view product_variant(std::size_t size) {
  return has_product_tile<T>(size) ? "tile" : "scalar";
}
template <class T>
constexpr std::size_t product_bytes_in_flight(std::size_t size) {
  return has_product_tile<T>(size) ? std::size_t{kProductTokens} * kProductPiece * sizeof(T)
                                   : kScalarThreads * sizeof(T);
}

template <class T>
constexpr Descriptor descriptor(const UnfusedGateDown<T>& op) {
  const std::size_t size = op.num_streams * op.hidden_size;
  return {.operation = "unfused_gate_down",
          .variant = product_variant<T>(size),
          .operands = {{{"recent", count(op.num_streams), 0}}},
          .writes_scalars = count(op.num_outputs),
          .bytes_in_flight_per_cta = product_bytes_in_flight<T>(size)};
}

template <class T>
constexpr Descriptor descriptor(const UnfusedGateUp<T>& op) {
  return {.operation = "unfused_gate_up",
          .variant = product_variant<T>(op.rank),
          .operands = {{{"recent", 0, count(op.num_streams)}}},
          .reads_scalars = count(op.rank),
          .bytes_in_flight_per_cta = product_bytes_in_flight<T>(op.rank)};
}

template <class T>
constexpr Descriptor descriptor(const UnfusedActivation<T>& op) {
  const double n = count(op.num_streams);
  return {.operation = "unfused_activation",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"recent", n, n}}},
          .bytes_in_flight_per_cta = elementwise_bytes_in_flight(1)};
}

template <class T>
constexpr Descriptor descriptor(const UnfusedGateProduct<T>& op) {
  const double n = count(op.num_streams);
  return {.operation = "unfused_gate_product",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"recent", 2 * n, n}}},
          .bytes_in_flight_per_cta = elementwise_bytes_in_flight(2)};
}

template <class T>
constexpr Descriptor descriptor(const UnfusedStreamMean<T>& op) {
  const double n = count(op.num_streams);
  return {.operation = "unfused_stream_mean",
          .variant = vectors_of<T>(op.hidden_size) > 0 ? "vectors" : "scalar",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"recent", n, 0}, {"layer_input", 0, 1}}},
          .bytes_in_flight_per_cta = std::size_t{kEagerThreads} * op.num_streams * 16};
}

}  // namespace depthcost::cuda
