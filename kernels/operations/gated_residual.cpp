#include "kernels/operations/gated_residual.hpp"

#include "kernels/operations/region_groups.hpp"

namespace depthcost {

template <class T>
void check(const GatedApplyDown<T>& op) {
  const std::size_t n = op.num_streams;
  Regions regions("gated_residual_apply_down");
  adds_stream_update(regions, op);
  regions.at_least_one("rank", op.rank);
  if ((op.inject_weights == nullptr) != (op.next_inject == nullptr))
    regions.fail("inject_weights and next_inject are not both null (only the exit has neither)");
  if (op.next_inject != op.inject) regions.reads_inner("inject", op.inject, {op.num_tokens, n});
  regions.reads("gain", op.gain, {n, op.hidden_size});
  regions.reads("down", op.down, {op.rank, n, op.hidden_size});
  regions.reads_optional("inject_weights", op.inject_weights, {n, n, op.hidden_size});
  regions.writes_inner("inverse_rms", op.inverse_rms, {op.num_tokens, n});
  regions.writes_inner("activation", op.activation, {op.num_tokens, op.rank});
  if (op.next_inject != nullptr)
    regions.writes_inner("next_inject", op.next_inject, {op.num_tokens, n});
  regions.finish();
}

template <class T>
void check(const GatedUpMix<T>& op) {
  const std::size_t n = op.num_streams;
  Regions regions("gated_residual_up_mix");
  check_stream_sizes(regions, op);
  regions.at_least_one("rank", op.rank);
  regions.reads("streams", op.streams, {op.num_tokens, n, op.hidden_size});
  regions.reads_inner("inverse_rms", op.inverse_rms, {op.num_tokens, n});
  regions.reads("gain", op.gain, {n, op.hidden_size});
  regions.reads("up", op.up, {n, op.hidden_size, op.rank});
  regions.reads_inner("activation", op.activation, {op.num_tokens, op.rank});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template void check(const GatedApplyDown<float>&);
template void check(const GatedApplyDown<Bf16>&);
template void check(const GatedUpMix<float>&);
template void check(const GatedUpMix<Bf16>&);

}  // namespace depthcost
