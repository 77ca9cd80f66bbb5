// The functions of the headers that run an operation. Each hands its struct to call.hpp.
#include "kernels/c/call.hpp"
#include "kernels/c/depthcost_family.h"
#include "kernels/c/depthcost_unfused.h"

using namespace depthcost;

#define DEPTHCOST_DEFINE_FUNCTION(Op, name)                                      \
  depthcost_status depthcost_##name(const depthcost_target* target,              \
                                    const depthcost_##name##_args* args) {       \
    return c::call(#name, target, args, [](const auto& given, const auto& run) { \
      c::with_operation<Op>(#name, given, run);                                  \
    });                                                                          \
  }
DEPTHCOST_OPERATIONS(DEPTHCOST_DEFINE_FUNCTION)
DEPTHCOST_BACKWARD_OPERATIONS(DEPTHCOST_DEFINE_FUNCTION)
DEPTHCOST_PHASE_OPERATIONS(DEPTHCOST_DEFINE_FUNCTION)
DEPTHCOST_DEFINE_FUNCTION(AttnResSinglePass, attnres_variant)

depthcost_status depthcost_sinkhorn(const depthcost_target* target,
                                    const depthcost_sinkhorn_args* args) {
  return c::call("sinkhorn", target, args, [](const auto& given, const auto& run) {
    run(c::operation<Sinkhorn>("sinkhorn", given));
  });
}
