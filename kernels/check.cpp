// Demands on the standard residual and on the unfused pieces of AttnRes.
#include "kernels/check.hpp"

#include "kernels/bf16.hpp"
#include "kernels/regions.hpp"

namespace depthcost {
namespace {

template <class Op>
void check_sizes(Regions& regions, const Op& op) {
  regions.at_least_one("hidden_size", op.hidden_size);
  regions.at_least_one("num_sources", op.num_sources);
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
  regions.at_least_one("hidden_size", op.hidden_size);
  regions.reads("layer_output", op.layer_output, {op.num_tokens, op.hidden_size});
  regions.reads_inner("gain", op.norm.gain, {op.hidden_size});
  regions.writes_inner("hidden_state", op.hidden_state, {op.num_tokens, op.hidden_size});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const UnfusedRmsNorm<T>& op) {
  Regions regions("unfused_rmsnorm");
  regions.at_least_one("hidden_size", op.hidden_size);
  regions.reads_inner("input", op.input, {op.num_tokens, op.hidden_size});
  regions.reads_inner("gain", op.norm.gain, {op.hidden_size});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const UnfusedStack<T>& op) {
  Regions sizes("unfused_stack");
  check_sizes(sizes, op);
  if (op.sources == nullptr)
    sizes.fail("sources is null (must be " + std::to_string(op.num_sources) + " pointers)");
  for (std::size_t s = 0; s < op.num_sources; ++s) {
    const std::string name = "sources[" + std::to_string(s) + "]";
    Regions regions("unfused_stack");
    regions.reads_inner(name.c_str(), op.sources[s], {op.num_tokens, op.hidden_size});
    regions.writes("stack", op.stack, {op.num_sources, op.num_tokens, op.hidden_size});
    regions.finish();
  }
}

template <class T>
void check(const UnfusedKeyNorm<T>& op) {
  Regions regions("unfused_key_norm");
  check_sizes(regions, op);
  regions.reads("stack", op.stack, {op.num_sources, op.num_tokens, op.hidden_size});
  regions.writes("keys", op.keys, {op.num_sources, op.num_tokens, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const UnfusedScores<T>& op) {
  Regions regions("unfused_scores");
  check_sizes(regions, op);
  regions.reads("keys", op.keys, {op.num_sources, op.num_tokens, op.hidden_size});
  regions.reads_inner("query", op.query, {op.hidden_size});
  regions.writes_inner("logits", op.logits, {op.num_sources, op.num_tokens});
  regions.finish();
}

template <class T>
void check(const UnfusedMix<T>& op) {
  Regions regions("unfused_mix");
  check_sizes(regions, op);
  regions.reads("stack", op.stack, {op.num_sources, op.num_tokens, op.hidden_size});
  regions.reads_inner("logits", op.logits, {op.num_sources, op.num_tokens});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template void check(const ResidualAdd<float>&);
template void check(const ResidualAdd<Bf16>&);
template void check(const ResidualAddRmsNorm<float>&);
template void check(const ResidualAddRmsNorm<Bf16>&);
template void check(const UnfusedRmsNorm<float>&);
template void check(const UnfusedRmsNorm<Bf16>&);
template void check(const UnfusedStack<float>&);
template void check(const UnfusedStack<Bf16>&);
template void check(const UnfusedKeyNorm<float>&);
template void check(const UnfusedKeyNorm<Bf16>&);
template void check(const UnfusedScores<float>&);
template void check(const UnfusedScores<Bf16>&);
template void check(const UnfusedMix<float>&);
template void check(const UnfusedMix<Bf16>&);

}  // namespace depthcost
