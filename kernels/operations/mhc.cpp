#include "kernels/operations/mhc.hpp"

#include "kernels/operations/region_groups.hpp"

namespace depthcost {

template <class T>
void check(const MhcPre<T>& op) {
  const std::size_t m = op.num_streams;
  Regions regions("mhc_pre");
  check_stream_sizes(regions, op);
  regions.reads("streams", op.streams, {op.num_tokens, m, op.hidden_size});
  reads_mapping(regions, op.mapping, m, op.hidden_size);
  regions.reads_optional("gain", op.norm.gain, {op.hidden_size});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.writes_inner("post", op.post, {op.num_tokens, m});
  regions.writes_inner("residual", op.residual, {op.num_tokens, m, m});
  regions.finish();
}

template <class T>
void check(const MhcPost<T>& op) {
  const std::size_t m = op.num_streams;
  Regions regions("mhc_post");
  adds_stream_update(regions, op);
  regions.reads_inner("post", op.post, {op.num_tokens, m});
  regions.reads_inner("residual", op.residual, {op.num_tokens, m, m});
  regions.finish();
}

template <class T>
void check(const MhcBoundary<T>& op) {
  const std::size_t num_tokens = op.post.num_tokens;
  const std::size_t m = op.post.num_streams;
  Regions regions("mhc_boundary");
  adds_stream_update(regions, op.post);
  reads_mapping(regions, op.mapping, m, op.post.hidden_size);
  regions.reads_optional("gain", op.norm.gain, {op.post.hidden_size});
  if (op.next_post != op.post.post) regions.reads_inner("post", op.post.post, {num_tokens, m});
  if (op.next_residual != op.post.residual)
    regions.reads_inner("residual", op.post.residual, {num_tokens, m, m});
  regions.writes("output", op.output, {num_tokens, op.post.hidden_size});
  regions.writes_inner("next_post", op.next_post, {num_tokens, m});
  regions.writes_inner("next_residual", op.next_residual, {num_tokens, m, m});
  regions.finish();
}

template <class T>
void check(const SinglePassMhc<T>& op) {
  const std::size_t num_tokens = op.num_tokens;
  const std::size_t m = op.num_streams;
  Regions regions("single_pass_mhc");
  adds_stream_update(regions, op);
  reads_mapping(regions, op.mapping, m, op.hidden_size);
  regions.reads_optional("gain", op.norm.gain, {op.hidden_size});
  if (op.next_pre != op.pre) regions.reads_inner("pre", op.pre, {num_tokens, m});
  if (op.next_post != op.post) regions.reads_inner("post", op.post, {num_tokens, m});
  if (op.next_residual != op.residual)
    regions.reads_inner("residual", op.residual, {num_tokens, m, m});
  regions.writes("output", op.output, {num_tokens, op.hidden_size});
  regions.writes_inner("next_pre", op.next_pre, {num_tokens, m});
  regions.writes_inner("next_post", op.next_post, {num_tokens, m});
  regions.writes_inner("next_residual", op.next_residual, {num_tokens, m, m});
  regions.finish();
}

void check(const Sinkhorn& op) {
  Regions regions("sinkhorn");
  regions.at_least_one("num_streams", op.num_streams);
  regions.writes_inner("matrices", op.matrices, {op.count, op.num_streams, op.num_streams});
  regions.finish();
}

template void check(const MhcPre<float>&);
template void check(const MhcPre<Bf16>&);
template void check(const MhcPost<float>&);
template void check(const MhcPost<Bf16>&);
template void check(const MhcBoundary<float>&);
template void check(const MhcBoundary<Bf16>&);
template void check(const SinglePassMhc<float>&);
template void check(const SinglePassMhc<Bf16>&);

}  // namespace depthcost
