// Manifold-constrained hyper-connections.
#include "kernels/c/call.hpp"

namespace depthcost::c {

template <class T>
MhcPre<T> operation(Type<T> /*storage*/, const depthcost_mhc_pre_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_streams = args.num_streams,
          .streams = elements<T>(args.streams),
          .mapping = mhc_mapping("mhc_pre", args.mapping),
          .norm = next_norm(args.norm),
          .output = elements<T>(args.output),
          .post = args.post,
          .residual = args.residual};
}

template <class T>
MhcPost<T> operation(Type<T> /*storage*/, const depthcost_mhc_post_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_streams = args.num_streams,
          .streams = elements<T>(args.streams),
          .layer_output = elements<T>(args.layer_output),
          .post = args.post,
          .residual = args.residual,
          .next_streams = elements<T>(args.next_streams)};
}

template <class T>
MhcBoundary<T> operation(Type<T> storage, const depthcost_mhc_boundary_args& args) {
  return {.post = operation(storage, args.post),
          .mapping = mhc_mapping("mhc_boundary", args.mapping),
          .norm = next_norm(args.norm),
          .output = elements<T>(args.output),
          .next_post = args.next_post,
          .next_residual = args.next_residual};
}

template <class P>
BasicSinkhorn<P> operation(Type<P> /*elements*/, const depthcost_sinkhorn_args& args) {
  return {.count = args.count,
          .num_streams = args.num_streams,
          .matrices = args.matrices,
          .iterations = args.iterations,
          .order = sinkhorn_order("sinkhorn", args.order)};
}

template <class T>
SinglePassMhc<T> operation(Type<T> /*storage*/, const depthcost_single_pass_mhc_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_streams = args.num_streams,
          .streams = elements<T>(args.streams),
          .layer_output = elements<T>(args.layer_output),
          .pre = args.pre,
          .post = args.post,
          .residual = args.residual,
          .mapping = mhc_mapping("single_pass_mhc", args.mapping),
          .norm = next_norm(args.norm),
          .next_streams = elements<T>(args.next_streams),
          .output = elements<T>(args.output),
          .next_pre = args.next_pre,
          .next_post = args.next_post,
          .next_residual = args.next_residual};
}

}  // namespace depthcost::c

using namespace depthcost;

depthcost_status depthcost_mhc_pre(const depthcost_target* target,
                                   const depthcost_mhc_pre_args* args) {
  return c::call("mhc_pre", target, args);
}

depthcost_status depthcost_mhc_post(const depthcost_target* target,
                                    const depthcost_mhc_post_args* args) {
  return c::call("mhc_post", target, args);
}

depthcost_status depthcost_mhc_boundary(const depthcost_target* target,
                                        const depthcost_mhc_boundary_args* args) {
  return c::call("mhc_boundary", target, args);
}

depthcost_status depthcost_sinkhorn(const depthcost_target* target,
                                    const depthcost_sinkhorn_args* args) {
  return c::call("sinkhorn", target, args);
}

depthcost_status depthcost_single_pass_mhc(const depthcost_target* target,
                                           const depthcost_single_pass_mhc_args* args) {
  return c::call("single_pass_mhc", target, args);
}
