// Hyper-connections with static coefficients.
#include "kernels/c/call.hpp"

namespace depthcost::c {

template <class T>
HcBoundary<T> operation(Type<T> /*storage*/, const depthcost_hc_boundary_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_streams = args.num_streams,
          .streams = elements<T>(args.streams),
          .layer_output = elements<T>(args.layer_output),
          .residual = args.residual,
          .post = args.post,
          .pre = args.pre,
          .norm = next_norm(args.norm),
          .next_streams = elements<T>(args.next_streams),
          .output = elements<T>(args.output)};
}

}  // namespace depthcost::c

using namespace depthcost;

depthcost_status depthcost_hc_boundary(const depthcost_target* target,
                                       const depthcost_hc_boundary_args* args) {
  return c::call("hc_boundary", target, args);
}
