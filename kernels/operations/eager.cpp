#include "kernels/operations/eager.hpp"

#include "kernels/operations/region_groups.hpp"

namespace depthcost {
namespace {

template <class Op>
void check_stack_sizes(const Regions& regions, const Op& op) {
  regions.at_least_one("hidden_size", op.hidden_size);
  regions.at_least_one("num_sources", op.num_sources);
}

}  // namespace

template <class T>
void check(const UnfusedStack<T>& op) {
  Regions sizes("unfused_stack");
  check_stack_sizes(sizes, op);
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
  check_stack_sizes(regions, op);
  regions.reads("stack", op.stack, {op.num_sources, op.num_tokens, op.hidden_size});
  regions.writes("keys", op.keys, {op.num_sources, op.num_tokens, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const UnfusedScores<T>& op) {
  Regions regions("unfused_scores");
  check_stack_sizes(regions, op);
  regions.reads("keys", op.keys, {op.num_sources, op.num_tokens, op.hidden_size});
  regions.reads_inner("query", op.query, {op.hidden_size});
  regions.writes_inner("logits", op.logits, {op.num_sources, op.num_tokens});
  regions.finish();
}

template <class T>
void check(const UnfusedMix<T>& op) {
  Regions regions("unfused_mix");
  check_stack_sizes(regions, op);
  regions.reads("stack", op.stack, {op.num_sources, op.num_tokens, op.hidden_size});
  regions.reads_inner("logits", op.logits, {op.num_sources, op.num_tokens});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const UnfusedMhcCoefficients<T>& op) {
  const std::size_t m = op.num_streams;
  Regions regions("unfused_mhc_coefficients");
  check_stream_sizes(regions, op);
  regions.reads("streams", op.streams, {op.num_tokens, m, op.hidden_size});
  reads_mapping(regions, op.mapping, m, op.hidden_size);
  regions.writes_inner("pre", op.pre, {op.num_tokens, m});
  regions.writes_inner("post", op.post, {op.num_tokens, m});
  regions.writes_inner("residual", op.residual, {op.num_tokens, m, m});
  regions.finish();
}

template <class T>
void check(const UnfusedMhcPre<T>& op) {
  Regions regions("unfused_mhc_pre");
  check_stream_sizes(regions, op);
  regions.reads("streams", op.streams, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.reads_inner("pre", op.pre, {op.num_tokens, op.num_streams});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const UnfusedMhcPost<T>& op) {
  Regions regions("unfused_mhc_post");
  check_stream_sizes(regions, op);
  regions.reads("layer_output", op.layer_output, {op.num_tokens, op.hidden_size});
  regions.reads_inner("post", op.post, {op.num_tokens, op.num_streams});
  regions.writes("spread", op.spread, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const UnfusedMhcResidual<T>& op) {
  const std::size_t m = op.num_streams;
  Regions regions("unfused_mhc_residual");
  check_stream_sizes(regions, op);
  regions.reads("streams", op.streams, {op.num_tokens, m, op.hidden_size});
  regions.reads_inner("residual", op.residual, {op.num_tokens, m, m});
  regions.writes("mixed", op.mixed, {op.num_tokens, m, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const UnfusedMhcMerge<T>& op) {
  Regions regions("unfused_mhc_merge");
  check_stream_sizes(regions, op);
  regions.reads("mixed", op.mixed, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.reads("spread", op.spread, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.writes("next_streams", op.next_streams, {op.num_tokens, op.num_streams, op.hidden_size});
  regions.finish();
}

template void check(const UnfusedStack<float>&);
template void check(const UnfusedStack<Bf16>&);
template void check(const UnfusedKeyNorm<float>&);
template void check(const UnfusedKeyNorm<Bf16>&);
template void check(const UnfusedScores<float>&);
template void check(const UnfusedScores<Bf16>&);
template void check(const UnfusedMix<float>&);
template void check(const UnfusedMix<Bf16>&);
template void check(const UnfusedMhcCoefficients<float>&);
template void check(const UnfusedMhcCoefficients<Bf16>&);
template void check(const UnfusedMhcPre<float>&);
template void check(const UnfusedMhcPre<Bf16>&);
template void check(const UnfusedMhcPost<float>&);
template void check(const UnfusedMhcPost<Bf16>&);
template void check(const UnfusedMhcResidual<float>&);
template void check(const UnfusedMhcResidual<Bf16>&);
template void check(const UnfusedMhcMerge<float>&);
template void check(const UnfusedMhcMerge<Bf16>&);

}  // namespace depthcost
