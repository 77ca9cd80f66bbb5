// device_operands.hpp for scaled and gated residuals, hyper-connections in one scan and dense
// mixing.
#pragma once

#include "tests/kernels/cuda/device_operands.hpp"

namespace depthcost::test {

template <class T>
ScaledAddRmsNorm<T> on_device(ScaledAddRmsNorm<T> op, DeviceBuffers& buffers) {
  buffers.move(op.hidden_state, op.num_tokens * op.hidden_size);
  buffers.move(op.layer_output, op.num_tokens * op.hidden_size);
  buffers.move(op.scales, op.num_scales);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.output, op.num_tokens * op.hidden_size);
  return op;
}
template <class T>
HighwayRmsNorm<T> on_device(HighwayRmsNorm<T> op, DeviceBuffers& buffers) {
  buffers.move(op.hidden_state, op.num_tokens * op.hidden_size);
  buffers.move(op.layer_output, op.num_tokens * op.hidden_size);
  buffers.move(op.gate_logits, op.num_tokens * op.hidden_size);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.output, op.num_tokens * op.hidden_size);
  return op;
}
template <class T>
HcBoundary<T> on_device(HcBoundary<T> op, DeviceBuffers& buffers) {
  const std::size_t m = op.num_streams;
  buffers.move(op.streams, op.num_tokens * m * op.hidden_size);
  buffers.move(op.layer_output, op.num_tokens * op.hidden_size);
  buffers.move(op.residual, m * m);
  buffers.move(op.post, m);
  buffers.move(op.pre, m);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.next_streams, op.num_tokens * m * op.hidden_size);
  buffers.move(op.output, op.num_tokens * op.hidden_size);
  return op;
}
template <class T>
SinglePassMhc<T> on_device(SinglePassMhc<T> op, DeviceBuffers& buffers) {
  const std::size_t m = op.num_streams;
  buffers.move(op.streams, op.num_tokens * m * op.hidden_size);
  buffers.move(op.layer_output, op.num_tokens * op.hidden_size);
  buffers.move(op.pre, op.num_tokens * m);
  buffers.move(op.post, op.num_tokens * m);
  buffers.move(op.residual, op.num_tokens * m * m);
  move(op.mapping, m, op.hidden_size, buffers);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.next_streams, op.num_tokens * m * op.hidden_size);
  buffers.move(op.output, op.num_tokens * op.hidden_size);
  buffers.move(op.next_pre, op.num_tokens * m);
  buffers.move(op.next_post, op.num_tokens * m);
  buffers.move(op.next_residual, op.num_tokens * m * m);
  return op;
}
template <class T>
DenseMix<T> on_device(DenseMix<T> op, DeviceBuffers& buffers) {
  const std::size_t row_size = op.num_tokens * op.hidden_size;
  buffers.move(op.bank, op.num_bank_rows * row_size);
  buffers.move(op.hidden_state, row_size);
  buffers.move(op.layer_output, row_size);
  buffers.move(op.weights, op.num_bank_sources + 1);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.mixed, row_size);
  buffers.move(op.output, row_size);
  return op;
}

}  // namespace depthcost::test
