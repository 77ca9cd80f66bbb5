// The variants of static hyper-connections.
#pragma once

#include "kernels/cuda/descriptor.hpp"
#include "kernels/operations/hyper_connections.hpp"

namespace depthcost::cuda {

template <class T>
constexpr Descriptor descriptor(const HcBoundary<T>& op) {
  const double m = count(op.num_streams);
  Descriptor it = combined_row(
      "hc_boundary", op.num_streams > kHcVectorStreams ? 0 : vectors_of<T>(op.hidden_size),
      op.num_streams + 1);
  if (op.num_streams > kHcFewStreams && it.variant != name(RowVariant::scalar))
    it.variant = name(RowVariant::streamed);
  it.operands = {{{"layer_output", 1, 0}, {"streams", m, m}, {"layer_input", 0, 1}}};
  return it;
}

}  // namespace depthcost::cuda
