// The standard residual, and scaled or gated ones.
#include "kernels/c/call.hpp"

namespace depthcost::c {

template <class T>
ResidualAdd<T> operation(Type<T> /*storage*/, const depthcost_residual_add_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .hidden_state = elements<T>(args.hidden_state),
          .layer_output = elements<T>(args.layer_output)};
}

template <class T>
ResidualAddRmsNorm<T> operation(Type<T> /*storage*/,
                                const depthcost_residual_add_rmsnorm_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .hidden_state = elements<T>(args.hidden_state),
          .layer_output = elements<T>(args.layer_output),
          .norm = next_norm(args.norm),
          .output = elements<T>(args.output)};
}

template <class T>
ScaledAddRmsNorm<T> operation(Type<T> /*storage*/, const depthcost_scaled_add_rmsnorm_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .hidden_state = elements<T>(args.hidden_state),
          .layer_output = elements<T>(args.layer_output),
          .num_scales = args.num_scales,
          .scales = args.scales,
          .hidden_scale = args.hidden_scale,
          .norm = next_norm(args.norm),
          .output = elements<T>(args.output)};
}

template <class T>
HighwayRmsNorm<T> operation(Type<T> /*storage*/, const depthcost_highway_rmsnorm_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .hidden_state = elements<T>(args.hidden_state),
          .layer_output = elements<T>(args.layer_output),
          .gate_logits = elements<T>(args.gate_logits),
          .norm = next_norm(args.norm),
          .output = elements<T>(args.output)};
}

}  // namespace depthcost::c

using namespace depthcost;

depthcost_status depthcost_residual_add(const depthcost_target* target,
                                        const depthcost_residual_add_args* args) {
  return c::call("residual_add", target, args);
}

depthcost_status depthcost_residual_add_rmsnorm(const depthcost_target* target,
                                                const depthcost_residual_add_rmsnorm_args* args) {
  return c::call("residual_add_rmsnorm", target, args);
}

depthcost_status depthcost_scaled_add_rmsnorm(const depthcost_target* target,
                                              const depthcost_scaled_add_rmsnorm_args* args) {
  return c::call("scaled_add_rmsnorm", target, args);
}

depthcost_status depthcost_highway_rmsnorm(const depthcost_target* target,
                                           const depthcost_highway_rmsnorm_args* args) {
  return c::call("highway_rmsnorm", target, args);
}
