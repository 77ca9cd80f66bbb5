// Every operation on the CPU: SIMD for what the machine has, chosen at run time; threads over
// tokens; rows stay in L1 and L2 between the passes of a norm or a softmax. T is float or Bf16; O
// is T or float. Arguments are checked first (kernels/operations/operations.hpp).
#pragma once

#include "kernels/operations/backward/operations.hpp"
#include "kernels/operations/operations.hpp"

namespace depthcost::cpu {

#define DEPTHCOST_DECLARE_RUN(Op, name) \
  template <class T>                    \
  void run(const Op<T>& op);
DEPTHCOST_OPERATIONS(DEPTHCOST_DECLARE_RUN)
DEPTHCOST_BACKWARD_OPERATIONS(DEPTHCOST_DECLARE_RUN)
#undef DEPTHCOST_DECLARE_RUN

#define DEPTHCOST_DECLARE_RUN(Op, name) \
  template <class T, class O>           \
  void run(const Op<T, O>& op);
DEPTHCOST_PHASE_OPERATIONS(DEPTHCOST_DECLARE_RUN)
#undef DEPTHCOST_DECLARE_RUN

void run(const Sinkhorn& op);

}  // namespace depthcost::cpu
