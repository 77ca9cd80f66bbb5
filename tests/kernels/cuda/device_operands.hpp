// Moves the operands of operations to the device. Each overload names the pointers of an operation
// and their sizes. If one buffer may be a row of another, the larger one comes first.
#pragma once

#include "kernels/operations/operations.hpp"
#include "tests/kernels/cuda/device_buffers.hpp"

namespace depthcost::test {

template <class P>
void move(BasicNextNorm<P>& norm, std::size_t hidden_size, DeviceBuffers& buffers) {
  buffers.move(norm.gain, hidden_size);
}
template <class P>
void move(BasicMhcMapping<P>& mapping, std::size_t m, std::size_t d, DeviceBuffers& buffers) {
  buffers.move(mapping.phi, (m * m + 2 * m) * m * d);
  buffers.move(mapping.bias, m * m + 2 * m);
}

template <RowOperation Op>
Op on_device(Op op, DeviceBuffers& buffers) {
  each_operand(op, [&](auto*& operand, OperandShape shape) {
    std::size_t count = 1;
    for (const std::size_t extent : shape) count *= extent;
    buffers.move(operand, count);
  });
  return op;
}

template <class T>
AttnResSinglePass<T> on_device(AttnResSinglePass<T> op, DeviceBuffers& buffers) {
  const std::size_t row_size = op.num_tokens * op.hidden_size;
  buffers.move(op.bank, op.num_bank_rows * row_size);
  buffers.move(op.partial_sum, row_size);
  buffers.move(op.layer_output, row_size);
  buffers.move(op.query, op.hidden_size);
  buffers.move(op.variant.token_queries, row_size);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.output, row_size);
  return op;
}
template <class T, class O>
AttnResPhase1<T, O> on_device(AttnResPhase1<T, O> op, DeviceBuffers& buffers) {
  const std::size_t row_size = op.num_tokens * op.hidden_size;
  buffers.move(op.bank, op.num_bank_rows * row_size);
  buffers.move(op.partial_sum, row_size);
  buffers.move(op.layer_output, row_size);
  buffers.move(op.queries, op.num_queries * op.hidden_size);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.output, row_size);
  buffers.move(op.outputs, (op.num_queries - 1) * row_size);
  buffers.move(op.maxima, (op.num_queries - 1) * op.num_tokens);
  buffers.move(op.sums, (op.num_queries - 1) * op.num_tokens);
  return op;
}
template <class T, class O>
AttnResPhase2<T, O> on_device(AttnResPhase2<T, O> op, DeviceBuffers& buffers) {
  const std::size_t row_size = op.num_tokens * op.hidden_size;
  buffers.move(op.further_sources, op.num_further_sources * row_size);
  buffers.move(op.partial_sum, row_size);
  buffers.move(op.layer_output, row_size);
  buffers.move(op.phase1_output, row_size);
  buffers.move(op.maximum, op.num_tokens);
  buffers.move(op.sum, op.num_tokens);
  buffers.move(op.query, op.hidden_size);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.output, row_size);
  return op;
}

template <class T>
MhcPre<T> on_device(MhcPre<T> op, DeviceBuffers& buffers) {
  const std::size_t m = op.num_streams;
  buffers.move(op.streams, op.num_tokens * m * op.hidden_size);
  move(op.mapping, m, op.hidden_size, buffers);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.output, op.num_tokens * op.hidden_size);
  buffers.move(op.post, op.num_tokens * m);
  buffers.move(op.residual, op.num_tokens * m * m);
  return op;
}
template <class T>
MhcPost<T> on_device(MhcPost<T> op, DeviceBuffers& buffers) {
  const std::size_t m = op.num_streams;
  buffers.move(op.streams, op.num_tokens * m * op.hidden_size);
  buffers.move(op.layer_output, op.num_tokens * op.hidden_size);
  buffers.move(op.post, op.num_tokens * m);
  buffers.move(op.residual, op.num_tokens * m * m);
  buffers.move(op.next_streams, op.num_tokens * m * op.hidden_size);
  return op;
}
template <class T>
MhcBoundary<T> on_device(MhcBoundary<T> op, DeviceBuffers& buffers) {
  const std::size_t m = op.post.num_streams;
  const std::size_t num_tokens = op.post.num_tokens;
  const std::size_t hidden_size = op.post.hidden_size;
  op.post = on_device(op.post, buffers);
  move(op.mapping, m, hidden_size, buffers);
  move(op.norm, hidden_size, buffers);
  buffers.move(op.output, num_tokens * hidden_size);
  buffers.move(op.next_post, num_tokens * m);
  buffers.move(op.next_residual, num_tokens * m * m);
  return op;
}
inline Sinkhorn on_device(Sinkhorn op, DeviceBuffers& buffers) {
  buffers.move(op.matrices, op.count * op.num_streams * op.num_streams);
  return op;
}

template <class T>
UnfusedKeyNorm<T> on_device(UnfusedKeyNorm<T> op, DeviceBuffers& buffers) {
  buffers.move(op.stack, op.num_sources * op.num_tokens * op.hidden_size);
  buffers.move(op.keys, op.num_sources * op.num_tokens * op.hidden_size);
  return op;
}
template <class T>
UnfusedScores<T> on_device(UnfusedScores<T> op, DeviceBuffers& buffers) {
  buffers.move(op.keys, op.num_sources * op.num_tokens * op.hidden_size);
  buffers.move(op.query, op.hidden_size);
  buffers.move(op.logits, op.num_sources * op.num_tokens);
  return op;
}
template <class T>
UnfusedMix<T> on_device(UnfusedMix<T> op, DeviceBuffers& buffers) {
  buffers.move(op.stack, op.num_sources * op.num_tokens * op.hidden_size);
  buffers.move(op.logits, op.num_sources * op.num_tokens);
  buffers.move(op.output, op.num_tokens * op.hidden_size);
  return op;
}

template <class T>
UnfusedMhcCoefficients<T> on_device(UnfusedMhcCoefficients<T> op, DeviceBuffers& buffers) {
  const std::size_t m = op.num_streams;
  buffers.move(op.streams, op.num_tokens * m * op.hidden_size);
  move(op.mapping, m, op.hidden_size, buffers);
  buffers.move(op.pre, op.num_tokens * m);
  buffers.move(op.post, op.num_tokens * m);
  buffers.move(op.residual, op.num_tokens * m * m);
  return op;
}
template <class T>
UnfusedMhcPre<T> on_device(UnfusedMhcPre<T> op, DeviceBuffers& buffers) {
  buffers.move(op.streams, op.num_tokens * op.num_streams * op.hidden_size);
  buffers.move(op.pre, op.num_tokens * op.num_streams);
  buffers.move(op.output, op.num_tokens * op.hidden_size);
  return op;
}
template <class T>
UnfusedMhcPost<T> on_device(UnfusedMhcPost<T> op, DeviceBuffers& buffers) {
  buffers.move(op.layer_output, op.num_tokens * op.hidden_size);
  buffers.move(op.post, op.num_tokens * op.num_streams);
  buffers.move(op.spread, op.num_tokens * op.num_streams * op.hidden_size);
  return op;
}
template <class T>
UnfusedMhcResidual<T> on_device(UnfusedMhcResidual<T> op, DeviceBuffers& buffers) {
  const std::size_t m = op.num_streams;
  buffers.move(op.streams, op.num_tokens * m * op.hidden_size);
  buffers.move(op.residual, op.num_tokens * m * m);
  buffers.move(op.mixed, op.num_tokens * m * op.hidden_size);
  return op;
}
template <class T>
UnfusedMhcMerge<T> on_device(UnfusedMhcMerge<T> op, DeviceBuffers& buffers) {
  const std::size_t count = op.num_tokens * op.num_streams * op.hidden_size;
  buffers.move(op.mixed, count);
  buffers.move(op.spread, count);
  buffers.move(op.next_streams, count);
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
inline void move(BasicAltupRouter<float>& router, std::size_t num_copies, std::size_t hidden_size,
                 DeviceBuffers& buffers) {
  buffers.move(router.matrix, num_copies * hidden_size);
  move(router.norm, hidden_size, buffers);
}
template <class T>
AltupPredict<T> on_device(AltupPredict<T> op, DeviceBuffers& buffers) {
  const std::size_t A = op.num_copies;
  buffers.move(op.copies, op.num_tokens * A * op.hidden_size);
  move(op.router, A, op.hidden_size, buffers);
  buffers.move(op.coefficients, A * A * A);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.output, op.num_tokens * op.hidden_size);
  return op;
}
template <class T>
AltupLaurel<T> on_device(AltupLaurel<T> op, DeviceBuffers& buffers) {
  buffers.move(op.input, op.num_tokens * op.hidden_size);
  buffers.move(op.down, op.rank * op.hidden_size);
  buffers.move(op.up, op.hidden_size * op.rank);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.output, op.num_tokens * op.hidden_size);
  return op;
}
template <class T>
AltupMiddle<T> on_device(AltupMiddle<T> op, DeviceBuffers& buffers) {
  const std::size_t row_size = op.num_tokens * op.hidden_size;
  buffers.move(op.copies, op.num_copies * row_size);
  buffers.move(op.layer_output, row_size);
  buffers.move(op.laurel, row_size);
  move(op.output_norm, op.hidden_size, buffers);
  move(op.norm, op.hidden_size, buffers);
  buffers.move(op.output, row_size);
  return op;
}
template <class T>
AltupCorrect<T> on_device(AltupCorrect<T> op, DeviceBuffers& buffers) {
  const std::size_t row_size = op.num_tokens * op.hidden_size;
  buffers.move(op.copies, op.num_copies * row_size);
  buffers.move(op.layer_output, row_size);
  buffers.move(op.middle, row_size);
  move(op.output_norm, op.hidden_size, buffers);
  move(op.router, op.num_copies, op.hidden_size, buffers);
  buffers.move(op.coefficients, op.num_copies * op.num_copies);
  return op;
}
template <class T>
GatedApplyDown<T> on_device(GatedApplyDown<T> op, DeviceBuffers& buffers) {
  const std::size_t n = op.num_streams;
  const std::size_t size = n * op.hidden_size;
  buffers.move(op.streams, op.num_tokens * size);
  buffers.move(op.layer_output, op.num_tokens * op.hidden_size);
  buffers.move(op.inject, op.num_tokens * n);
  buffers.move(op.gain, size);
  buffers.move(op.down, op.rank * size);
  buffers.move(op.inject_weights, n * size);
  buffers.move(op.next_streams, op.num_tokens * size);
  buffers.move(op.inverse_rms, op.num_tokens * n);
  buffers.move(op.activation, op.num_tokens * op.rank);
  buffers.move(op.next_inject, op.num_tokens * n);
  return op;
}
template <class T>
GatedUpMix<T> on_device(GatedUpMix<T> op, DeviceBuffers& buffers) {
  const std::size_t n = op.num_streams;
  buffers.move(op.streams, op.num_tokens * n * op.hidden_size);
  buffers.move(op.inverse_rms, op.num_tokens * n);
  buffers.move(op.gain, n * op.hidden_size);
  buffers.move(op.up, n * op.hidden_size * op.rank);
  buffers.move(op.activation, op.num_tokens * op.rank);
  buffers.move(op.output, op.num_tokens * op.hidden_size);
  return op;
}
template <class T>
UnfusedGatedNorm<T> on_device(UnfusedGatedNorm<T> op, DeviceBuffers& buffers) {
  const std::size_t size = op.num_streams * op.hidden_size;
  buffers.move(op.streams, op.num_tokens * size);
  buffers.move(op.gain, size);
  buffers.move(op.output, op.num_tokens * size);
  return op;
}
template <class T>
UnfusedGateDown<T> on_device(UnfusedGateDown<T> op, DeviceBuffers& buffers) {
  const std::size_t size = op.num_streams * op.hidden_size;
  buffers.move(op.input, op.num_tokens * size);
  buffers.move(op.weights, op.num_outputs * size);
  buffers.move(op.output, op.num_tokens * op.num_outputs);
  return op;
}
template <class T>
UnfusedGateUp<T> on_device(UnfusedGateUp<T> op, DeviceBuffers& buffers) {
  const std::size_t size = op.num_streams * op.hidden_size;
  buffers.move(op.activation, op.num_tokens * op.rank);
  buffers.move(op.up, size * op.rank);
  buffers.move(op.output, op.num_tokens * size);
  return op;
}
template <class T>
UnfusedActivation<T> on_device(UnfusedActivation<T> op, DeviceBuffers& buffers) {
  const std::size_t count = op.num_tokens * op.num_streams * op.hidden_size;
  buffers.move(op.input, count);
  buffers.move(op.output, count);
  return op;
}
template <class T>
UnfusedGateProduct<T> on_device(UnfusedGateProduct<T> op, DeviceBuffers& buffers) {
  const std::size_t count = op.num_tokens * op.num_streams * op.hidden_size;
  buffers.move(op.gates, count);
  buffers.move(op.input, count);
  buffers.move(op.output, count);
  return op;
}
template <class T>
UnfusedStreamMean<T> on_device(UnfusedStreamMean<T> op, DeviceBuffers& buffers) {
  buffers.move(op.streams, op.num_tokens * op.num_streams * op.hidden_size);
  buffers.move(op.output, op.num_tokens * op.hidden_size);
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
