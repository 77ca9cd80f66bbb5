#include "kernels/operations/eager_gated.hpp"

#include "kernels/operations/region_groups.hpp"

namespace depthcost {

template <class T>
void check(const UnfusedGatedNorm<T>& op) {
  Regions regions("unfused_gated_norm");
  check_stream_sizes(regions, op);
  regions.reads("streams", op.streams, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.reads("gain", op.gain, {op.num_streams, op.hidden_size});
  regions.writes("output", op.output, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const UnfusedGateDown<T>& op) {
  Regions regions("unfused_gate_down");
  check_stream_sizes(regions, op);
  regions.at_least_one("num_outputs", op.num_outputs);
  regions.reads("input", op.input, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.reads("weights", op.weights, {op.num_outputs, op.num_streams, op.hidden_size});
  regions.writes_inner("output", op.output, {op.num_tokens, op.num_outputs});
  regions.finish();
}

template <class T>
void check(const UnfusedGateUp<T>& op) {
  Regions regions("unfused_gate_up");
  check_stream_sizes(regions, op);
  regions.at_least_one("rank", op.rank);
  regions.reads_inner("activation", op.activation, {op.num_tokens, op.rank});
  regions.reads("up", op.up, {op.num_streams, op.hidden_size, op.rank});
  regions.writes("output", op.output, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const UnfusedActivation<T>& op) {
  Regions regions("unfused_activation");
  check_stream_sizes(regions, op);
  regions.reads_inner("input", op.input, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.writes_inner("output", op.output, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const UnfusedGateProduct<T>& op) {
  Regions regions("unfused_gate_product");
  check_stream_sizes(regions, op);
  regions.reads("gates", op.gates, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.reads("input", op.input, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.writes("output", op.output, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const UnfusedStreamMean<T>& op) {
  Regions regions("unfused_stream_mean");
  check_stream_sizes(regions, op);
  regions.reads("streams", op.streams, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template void check(const UnfusedGatedNorm<float>&);
template void check(const UnfusedGatedNorm<Bf16>&);
template void check(const UnfusedGateDown<float>&);
template void check(const UnfusedGateDown<Bf16>&);
template void check(const UnfusedGateUp<float>&);
template void check(const UnfusedGateUp<Bf16>&);
template void check(const UnfusedActivation<float>&);
template void check(const UnfusedActivation<Bf16>&);
template void check(const UnfusedGateProduct<float>&);
template void check(const UnfusedGateProduct<Bf16>&);
template void check(const UnfusedStreamMean<float>&);
template void check(const UnfusedStreamMean<Bf16>&);

}  // namespace depthcost
