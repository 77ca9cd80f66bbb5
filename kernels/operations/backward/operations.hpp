// The backward passes that kernels exist for. What kernels/operations/operations.hpp says of
// operations holds for them: rows of T are aligned to 16 bytes unless they may be one row of a
// larger buffer, arithmetic is in float, each stored row is rounded once. A gradient that "is added
// to" is read first. Gradients of parameters are the same bits on each run.
#pragma once

#include "kernels/operations/backward/attnres.hpp"
#include "kernels/operations/backward/mhc.hpp"
#include "kernels/operations/backward/residual.hpp"
#include "kernels/operations/bf16.hpp"

#define DEPTHCOST_BACKWARD_OPERATIONS(X)    \
  DEPTHCOST_RESIDUAL_BACKWARD_OPERATIONS(X) \
  DEPTHCOST_ATTNRES_BACKWARD_OPERATIONS(X)  \
  DEPTHCOST_MHC_BACKWARD_OPERATIONS(X)
