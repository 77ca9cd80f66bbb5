#include "kernels/operations/dense_mix.hpp"

#include "kernels/operations/region_groups.hpp"

namespace depthcost {
namespace {

template <class T>
void adds_outputs(Regions& regions, const DenseMix<T>& op) {
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  if (op.mixed != nullptr) regions.writes_inner("mixed", op.mixed, {op.num_tokens, op.hidden_size});
}

}  // namespace

template <class T>
void check(const DenseMix<T>& op) {
  const std::size_t num_tokens = op.num_tokens;
  const std::size_t d = op.hidden_size;
  Regions regions("dense_mix");
  regions.at_least_one("hidden_size", d);
  check_num_bank_sources(regions, op);
  if (op.bank_row != kNoRow) check_free_row(regions, op);
  check_outputs_against_bank(regions, op, [&](Regions& outputs) { adds_outputs(outputs, op); });
  regions.reads("bank", op.bank, {op.num_bank_sources, num_tokens, d});
  if (op.bank_row != kNoRow)
    regions.writes_inner("bank_row", op.bank + op.bank_row * num_tokens * d, {num_tokens, d});
  regions.reads_inner("layer_output", op.layer_output, {num_tokens, d});
  if (op.hidden_state != nullptr && op.hidden_state != op.mixed)
    regions.reads_inner("hidden_state", op.hidden_state, {num_tokens, d});
  regions.reads_inner("weights", op.weights, {op.num_bank_sources + 1});
  regions.reads_optional("gain", op.norm.gain, {d});
  adds_outputs(regions, op);
  regions.finish();
}

template void check(const DenseMix<float>&);
template void check(const DenseMix<Bf16>&);

}  // namespace depthcost
