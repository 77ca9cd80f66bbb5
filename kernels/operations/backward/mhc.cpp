#include "kernels/operations/backward/mhc.hpp"

#include "kernels/operations/backward/region_groups.hpp"

namespace depthcost {
namespace {

template <class T>
void maps_stream_gradients(Regions& regions, const MhcPostBackward<T>& op) {
  const std::size_t tokens = op.num_tokens;
  const std::size_t m = op.num_streams;
  check_stream_sizes(regions, op);
  regions.reads("streams", op.streams, {tokens, m, op.hidden_size});
  regions.reads("layer_output", op.layer_output, {tokens, op.hidden_size});
  regions.reads_inner("post", op.post, {tokens, m});
  regions.reads_inner("residual", op.residual, {tokens, m, m});
  regions.writes("gradients", op.gradients, {tokens, m, op.hidden_size});
  regions.writes("layer_gradient", op.layer_gradient, {tokens, op.hidden_size});
  regions.writes_inner("post_gradients", op.post_gradients, {tokens, m});
  regions.writes_inner("residual_gradients", op.residual_gradients, {tokens, m, m});
}

/// What both ends of the mapping have: dz / R, and gradients of parameters.
template <class T>
void updates_mapping(Regions& regions, const MhcPreBackward<T>& op) {
  const std::size_t rows = num_mapping_rows(op.num_streams);
  reads_mapping(regions, op.mapping, op.num_streams, op.hidden_size);
  regions.writes_inner("projection_gradients", op.projection_gradients, {op.num_tokens, rows});
  regions.writes_inner("into.phi", op.into.phi, {rows, op.num_streams, op.hidden_size});
  regions.writes_inner("into.bias", op.into.bias, {rows});
  regions.writes_inner("into.scales", op.into.scales, {3});
  updates_norm_gain(regions, op);
  writes_slices(regions, op);
}

}  // namespace

template <class T>
void check(const MhcPostBackward<T>& op) {
  Regions regions("mhc_post_backward");
  maps_stream_gradients(regions, op);
  regions.finish();
}

template <class T>
void check(const MhcPreBackward<T>& op) {
  const std::size_t tokens = op.num_tokens;
  const std::size_t m = op.num_streams;
  Regions regions("mhc_pre_backward");
  check_stream_sizes(regions, op);
  regions.reads("streams", op.streams, {tokens, m, op.hidden_size});
  regions.reads("output_gradient", op.output_gradient, {tokens, op.hidden_size});
  regions.reads_inner("post_gradients", op.post_gradients, {tokens, m});
  regions.reads_inner("residual_gradients", op.residual_gradients, {tokens, m, m});
  regions.writes("gradients", op.gradients, {tokens, m, op.hidden_size});
  updates_mapping(regions, op);
  regions.finish();
}

template <class T>
void check(const MhcBoundaryBackward<T>& op) {
  const std::size_t tokens = op.post.num_tokens;
  const std::size_t m = op.post.num_streams;
  Regions regions("mhc_boundary_backward");
  maps_stream_gradients(regions, op.post);
  regions.reads("next_streams", op.next_streams, {tokens, m, op.post.hidden_size});
  regions.reads("output_gradient", op.output_gradient, {tokens, op.post.hidden_size});
  regions.reads_inner("next_post_gradients", op.next_post_gradients, {tokens, m});
  regions.reads_inner("next_residual_gradients", op.next_residual_gradients, {tokens, m, m});
  updates_mapping(regions, pre_backward_of(op));
  regions.finish();
}

#define DEPTHCOST_DEFINE_CHECK(Op, name) \
  template void check(const Op<float>&); \
  template void check(const Op<Bf16>&);
DEPTHCOST_MHC_BACKWARD_OPERATIONS(DEPTHCOST_DEFINE_CHECK)
#undef DEPTHCOST_DEFINE_CHECK

}  // namespace depthcost
