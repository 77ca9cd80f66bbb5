// A site of Gated Residual as eager mode runs it, piece by piece.
#pragma once

#include "kernels/operations/operations.hpp"

namespace depthcost::test {

/// The operands of a site, and what the pieces leave between them.
template <class T>
struct EagerSite {
  std::size_t num_tokens, hidden_size, num_streams, rank;
  const T *streams, *layer_output;
  const Scalar<T>* inject;
  const T *gain, *down, *inject_weights, *up;
  T *terms, *next_streams, *normed;
  Scalar<T>*projected, *activation, *projected_inject, *next_inject;
  T *logits, *gates, *gated, *output;
};

/// run(operation) of each piece, in order.
template <class T, class Run>
void run_pieces(const EagerSite<T>& s, const Run& run) {
  const std::size_t num_tokens = s.num_tokens;
  const std::size_t d = s.hidden_size;
  const std::size_t n = s.num_streams;
  run(UnfusedMhcPost<T>{num_tokens, d, n, s.layer_output, s.inject, s.terms});
  run(UnfusedMhcMerge<T>{num_tokens, d, n, s.streams, s.terms, s.next_streams});
  run(UnfusedGatedNorm<T>{.num_tokens = num_tokens,
                          .hidden_size = d,
                          .num_streams = n,
                          .streams = s.next_streams,
                          .gain = s.gain,
                          .output = s.normed});
  run(UnfusedGateDown<T>{num_tokens, d, n, s.rank, s.normed, s.down, s.projected});
  run(UnfusedActivation<Scalar<T>>{num_tokens, s.rank, 1, GateFunction::silu, s.projected,
                                   s.activation});
  run(UnfusedGateDown<T>{num_tokens, d, n, n, s.normed, s.inject_weights, s.projected_inject});
  run(UnfusedActivation<Scalar<T>>{num_tokens, n, 1, GateFunction::twice_sigmoid,
                                   s.projected_inject, s.next_inject});
  run(UnfusedGateUp<T>{num_tokens, d, n, s.rank, s.activation, s.up, s.logits});
  run(UnfusedActivation<T>{num_tokens, d, n, GateFunction::sigmoid, s.logits, s.gates});
  run(UnfusedGateProduct<T>{num_tokens, d, n, s.gates, s.normed, s.gated});
  run(UnfusedStreamMean<T>{num_tokens, d, n, s.gated, s.output});
}

}  // namespace depthcost::test
