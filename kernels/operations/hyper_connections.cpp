#include "kernels/operations/hyper_connections.hpp"

#include "kernels/operations/region_groups.hpp"

namespace depthcost {

template <class T>
void check(const HcBoundary<T>& op) {
  const std::size_t m = op.num_streams;
  Regions regions("hc_boundary");
  adds_stream_update(regions, op);
  regions.reads_inner("residual", op.residual, {m, m});
  regions.reads_inner("post", op.post, {m});
  regions.reads_inner("pre", op.pre, {m});
  regions.reads_optional("gain", op.norm.gain, {op.hidden_size});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template void check(const HcBoundary<float>&);
template void check(const HcBoundary<Bf16>&);

}  // namespace depthcost
