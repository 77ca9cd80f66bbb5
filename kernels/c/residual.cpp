// The standard residual.
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

}  // namespace depthcost::c

using namespace depthcost;

depthcost_status depthcost_residual_add(const depthcost_target* target,
                                        const depthcost_residual_add_args* args) {
  return c::call("residual_add", target, args,
                 [](const auto& op, const auto& options) { cuda::residual_add(op, options); });
}

depthcost_status depthcost_residual_add_rmsnorm(const depthcost_target* target,
                                                const depthcost_residual_add_rmsnorm_args* args) {
  return c::call("residual_add_rmsnorm", target, args, [](const auto& op, const auto& options) {
    cuda::residual_add_rmsnorm(op, options);
  });
}
