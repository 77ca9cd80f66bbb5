// Mixing over depth with weights that do not depend on the input.
#include "kernels/c/call.hpp"

namespace depthcost::c {

template <class T>
DenseMix<T> operation(Type<T> /*storage*/, const depthcost_dense_mix_args& args) {
  return {.num_tokens = args.num_tokens,
          .hidden_size = args.hidden_size,
          .num_bank_rows = args.num_bank_rows,
          .num_bank_sources = args.num_bank_sources,
          .bank = elements<T>(args.bank),
          .hidden_state = elements<T>(args.hidden_state),
          .layer_output = elements<T>(args.layer_output),
          .bank_row = args.bank_row,
          .weights = args.weights,
          .norm = next_norm(args.norm),
          .mixed = elements<T>(args.mixed),
          .output = elements<T>(args.output)};
}

}  // namespace depthcost::c

using namespace depthcost;

depthcost_status depthcost_dense_mix(const depthcost_target* target,
                                     const depthcost_dense_mix_args* args) {
  return c::call("dense_mix", target, args);
}
