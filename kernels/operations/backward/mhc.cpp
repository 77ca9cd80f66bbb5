#include "kernels/operations/backward/mhc.hpp"

#include "kernels/operations/backward/region_groups.hpp"

namespace depthcost {

template <class T>
void check(const MhcPostBackward<T>& op) {
  const std::size_t tokens = op.num_tokens;
  const std::size_t m = op.num_streams;
  Regions regions("mhc_post_backward");
  check_stream_sizes(regions, op);
  regions.reads("streams", op.streams, {tokens, m, op.hidden_size});
  regions.reads("layer_output", op.layer_output, {tokens, op.hidden_size});
  regions.reads_inner("post", op.post, {tokens, m});
  regions.reads_inner("residual", op.residual, {tokens, m, m});
  regions.writes("gradients", op.gradients, {tokens, m, op.hidden_size});
  regions.writes("layer_gradient", op.layer_gradient, {tokens, op.hidden_size});
  regions.writes_inner("post_gradients", op.post_gradients, {tokens, m});
  regions.writes_inner("residual_gradients", op.residual_gradients, {tokens, m, m});
  regions.finish();
}

template <class T>
void check(const MhcPreBackward<T>& op) {
  const std::size_t tokens = op.num_tokens;
  const std::size_t m = op.num_streams;
  const std::size_t rows = num_mapping_rows(m);
  Regions regions("mhc_pre_backward");
  check_stream_sizes(regions, op);
  regions.reads("streams", op.streams, {tokens, m, op.hidden_size});
  regions.reads("output_gradient", op.output_gradient, {tokens, op.hidden_size});
  regions.reads_inner("post_gradients", op.post_gradients, {tokens, m});
  regions.reads_inner("residual_gradients", op.residual_gradients, {tokens, m, m});
  reads_mapping(regions, op.mapping, m, op.hidden_size);
  regions.writes("gradients", op.gradients, {tokens, m, op.hidden_size});
  regions.writes_inner("projection_gradients", op.projection_gradients, {tokens, rows});
  regions.writes_inner("into.phi", op.into.phi, {rows, m, op.hidden_size});
  regions.writes_inner("into.bias", op.into.bias, {rows});
  regions.writes_inner("into.scales", op.into.scales, {3});
  updates_norm_gain(regions, op);
  writes_slices(regions, op);
  regions.finish();
}

#define DEPTHCOST_DEFINE_CHECK(Op, name) \
  template void check(const Op<float>&); \
  template void check(const Op<Bf16>&);
DEPTHCOST_MHC_BACKWARD_OPERATIONS(DEPTHCOST_DEFINE_CHECK)
#undef DEPTHCOST_DEFINE_CHECK

}  // namespace depthcost
