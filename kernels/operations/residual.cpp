#include "kernels/operations/residual.hpp"

#include "kernels/operations/region_groups.hpp"

namespace depthcost {
namespace {

/// A hidden state that takes in a layer's output and is normalised.
template <class Op>
void adds_normed_update(Regions& regions, const Op& op) {
  regions.at_least_one("hidden_size", op.hidden_size);
  regions.reads("layer_output", op.layer_output, {op.num_tokens, op.hidden_size});
  regions.reads_inner("gain", op.norm.gain, {op.hidden_size});
  regions.writes_inner("hidden_state", op.hidden_state, {op.num_tokens, op.hidden_size});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
}

}  // namespace

template <class T>
void check(const ResidualAdd<T>& op) {
  Regions regions("residual_add");
  regions.at_least_one("hidden_size", op.hidden_size);
  regions.reads("layer_output", op.layer_output, {op.num_tokens, op.hidden_size});
  regions.writes_inner("hidden_state", op.hidden_state, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const ResidualAddRmsNorm<T>& op) {
  Regions regions("residual_add_rmsnorm");
  adds_normed_update(regions, op);
  regions.finish();
}

template <class T>
void check(const ScaledAddRmsNorm<T>& op) {
  Regions regions("scaled_add_rmsnorm");
  adds_normed_update(regions, op);
  if (op.num_scales != 1 && op.num_scales != op.hidden_size)
    regions.fail("num_scales is " + std::to_string(op.num_scales) + " (must be 1 or hidden_size, " +
                 std::to_string(op.hidden_size) + ")");
  regions.reads_inner("scales", op.scales, {op.num_scales});
  regions.finish();
}

template <class T>
void check(const HighwayRmsNorm<T>& op) {
  Regions regions("highway_rmsnorm");
  adds_normed_update(regions, op);
  regions.reads("gate_logits", op.gate_logits, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template void check(const ResidualAdd<float>&);
template void check(const ResidualAdd<Bf16>&);
template void check(const ResidualAddRmsNorm<float>&);
template void check(const ResidualAddRmsNorm<Bf16>&);
template void check(const ScaledAddRmsNorm<float>&);
template void check(const ScaledAddRmsNorm<Bf16>&);
template void check(const HighwayRmsNorm<float>&);
template void check(const HighwayRmsNorm<Bf16>&);

}  // namespace depthcost
