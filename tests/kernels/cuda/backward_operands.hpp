// Moves the operands of backward operations to the device, as device_operands.hpp does for others.
#pragma once

#include "kernels/operations/backward/operations.hpp"
#include "tests/kernels/cuda/device_operands.hpp"

namespace depthcost::test {

template <class Op>
void move_slices(Op& op, DeviceBuffers& buffers) {
  buffers.move(op.slices.sums, op.slices.count * num_parameters(op));
}

template <class T>
AttnResSinglePassBackward<T> on_device(AttnResSinglePassBackward<T> op, DeviceBuffers& buffers) {
  const std::size_t rows = op.num_tokens * op.hidden_size;
  move_slices(op, buffers);
  buffers.move(op.bank, op.num_bank_sources * rows);
  buffers.move(op.partial_sum, rows);
  buffers.move(op.output_gradient, rows);
  buffers.move(op.query, op.hidden_size);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.bank_gradients, op.num_bank_sources * rows);
  buffers.move(op.partial_gradient, rows);
  buffers.move(op.query_gradient, op.hidden_size);
  buffers.move(op.gain_gradient, op.hidden_size);
  return op;
}

template <class T>
AttnResPhase2Backward<T> on_device(AttnResPhase2Backward<T> op, DeviceBuffers& buffers) {
  const std::size_t rows = op.num_tokens * op.hidden_size;
  move_slices(op, buffers);
  buffers.move(op.partial_sum, rows);
  buffers.move(op.mix, rows);
  buffers.move(op.log_sum, op.num_tokens);
  buffers.move(op.query, op.hidden_size);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.mix_gradient, rows);
  buffers.move(op.partial_gradient, rows);
  buffers.move(op.product, op.num_tokens);
  buffers.move(op.query_gradient, op.hidden_size);
  buffers.move(op.gain_gradient, op.hidden_size);
  return op;
}

template <class T>
AttnResPhase1Backward<T> on_device(AttnResPhase1Backward<T> op, DeviceBuffers& buffers) {
  const std::size_t rows = op.num_tokens * op.hidden_size;
  move_slices(op, buffers);
  buffers.move(op.bank, op.num_bank_sources * rows);
  buffers.move(op.mix_gradients, op.num_queries * rows);
  buffers.move(op.log_sums, op.num_queries * op.num_tokens);
  buffers.move(op.products, (op.num_queries - 1) * op.num_tokens);
  buffers.move(op.queries, op.num_queries * op.hidden_size);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.bank_gradients, op.num_bank_sources * rows);
  buffers.move(op.query_gradients, op.num_queries * op.hidden_size);
  buffers.move(op.gain_gradient, op.hidden_size);
  return op;
}

template <class T>
MhcPostBackward<T> on_device(MhcPostBackward<T> op, DeviceBuffers& buffers) {
  const std::size_t m = op.num_streams;
  const std::size_t rows = op.num_tokens * op.hidden_size;
  buffers.move(op.streams, m * rows);
  buffers.move(op.layer_output, rows);
  buffers.move(op.post, op.num_tokens * m);
  buffers.move(op.residual, op.num_tokens * m * m);
  buffers.move(op.gradients, m * rows);
  buffers.move(op.layer_gradient, rows);
  buffers.move(op.post_gradients, op.num_tokens * m);
  buffers.move(op.residual_gradients, op.num_tokens * m * m);
  return op;
}

template <class T>
MhcPreBackward<T> on_device(MhcPreBackward<T> op, DeviceBuffers& buffers) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  const std::size_t phi_rows = num_mapping_rows(m);
  move_slices(op, buffers);
  buffers.move(op.streams, op.num_tokens * m * d);
  buffers.move(op.output_gradient, op.num_tokens * d);
  buffers.move(op.post_gradients, op.num_tokens * m);
  buffers.move(op.residual_gradients, op.num_tokens * m * m);
  move(op.mapping, m, d, buffers);
  move(op.norm, d, buffers);
  buffers.move(op.gradients, op.num_tokens * m * d);
  buffers.move(op.projection_gradients, op.num_tokens * phi_rows);
  buffers.move(op.into.phi, phi_rows * m * d);
  buffers.move(op.into.bias, phi_rows);
  buffers.move(op.into.scales, 3);
  buffers.move(op.gain_gradient, d);
  return op;
}

template <class T>
MhcBoundaryBackward<T> on_device(MhcBoundaryBackward<T> op, DeviceBuffers& buffers) {
  const MhcPreBackward<T> before = pre_backward_of(op);
  const MhcPreBackward<T> pre = on_device(before, buffers);
  op.post = on_device(op.post, buffers);
  op.next_streams = pre.streams;
  op.output_gradient = pre.output_gradient;
  op.next_post_gradients = pre.post_gradients;
  op.next_residual_gradients = pre.residual_gradients;
  op.mapping = pre.mapping;
  op.norm = pre.norm;
  op.projection_gradients = pre.projection_gradients;
  op.into = pre.into;
  op.gain_gradient = pre.gain_gradient;
  op.slices = pre.slices;
  return op;
}

}  // namespace depthcost::test
