// The operations that every backend implements, as their arguments: what is computed, shapes,
// aliasing. kernels/reference defines the meaning; cpu and cuda compute the same, fast. The symbols
// are the paper's (arXiv:2603.15031v1): T tokens, d hidden size, n bank sources, S queries of a
// block, m streams.
//
// Everything is row-major and contiguous. Buffers of d-vectors are aligned to 16 bytes. These need
// not be, because they may be one row of a larger buffer: b, h, further and stacked sources, and o
// of one query. Parameters and statistics are aligned to their elements.
//
// T is the storage type, float or Bf16; arithmetic is in float. The reference computes in double
// whatever T is, and also takes T = double. Each stored output is rounded once, and later steps of
// the same kernel use the rounded value. Gains of the key norm are folded into the query:
// w . (g * k) = (w * g) . k. No output overlaps an input, unless the operation says otherwise.
//
// check(operation) is what every backend calls before it touches memory: shapes fit together,
// pointers are there and aligned, outputs overlap nothing. It throws std::invalid_argument,
// `operation: problem (what is right)`.
#pragma once

#include "kernels/operations/altup.hpp"
#include "kernels/operations/attnres.hpp"
#include "kernels/operations/bf16.hpp"
#include "kernels/operations/dense_mix.hpp"
#include "kernels/operations/eager.hpp"
#include "kernels/operations/eager_gated.hpp"
#include "kernels/operations/gated_residual.hpp"
#include "kernels/operations/hyper_connections.hpp"
#include "kernels/operations/mhc.hpp"
#include "kernels/operations/residual.hpp"

/// Calls X(type, name) for every operation that has one type parameter; the phases of AttnRes have
/// two, and Sinkhorn has none.
#define DEPTHCOST_OPERATIONS(X)            \
  DEPTHCOST_RESIDUAL_OPERATIONS(X)         \
  DEPTHCOST_ATTNRES_OPERATIONS(X)          \
  DEPTHCOST_MHC_OPERATIONS(X)              \
  DEPTHCOST_HYPER_CONNECTION_OPERATIONS(X) \
  DEPTHCOST_DENSE_MIX_OPERATIONS(X)        \
  DEPTHCOST_GATED_RESIDUAL_OPERATIONS(X)   \
  DEPTHCOST_ALTUP_OPERATIONS(X)            \
  DEPTHCOST_EAGER_OPERATIONS(X)            \
  DEPTHCOST_EAGER_GATED_OPERATIONS(X)
