// Block and Full AttnRes in schedule `two_phase`: Algorithm 1. O stores Phase 1's outputs.
#pragma once

#include "kernels/operations/attnres.hpp"
#include "kernels/reference/single_pass_network.hpp"

namespace depthcost::reference {

/// Phase 1's results for the queries 2..S of the block at hand.
template <class T, class O>
struct Phase1Buffers {
  std::vector<O> outputs;         // o (S - 1, T, d)
  std::vector<Scalar<T>> maxima;  // m (S - 1, T)
  std::vector<Scalar<T>> sums;    // l (S - 1, T)

  Phase1Buffers(const AttnResNetwork<T>& network, std::size_t num_queries)
      : outputs((num_queries - 1) * network.row_size(), AttnResBuffers<O>::poison()),
        maxima((num_queries - 1) * network.num_tokens, AttnResBuffers<Scalar<T>>::poison()),
        sums(maxima) {}
};

/// Phase 1 at layer `at`, the first of its block, over `num_bank_sources` rows of the bank.
template <class T, class O>
AttnResPhase1<T, O> phase1_operation(const AttnResNetwork<T>& network, AttnResBuffers<T>& buffers,
                                     Phase1Buffers<T, O>& phase1, const LayerPlace& at,
                                     std::size_t num_bank_sources) {
  return {.num_tokens = network.num_tokens,
          .hidden_size = network.hidden_size,
          .num_bank_rows = buffers.bank.size() / network.row_size(),
          .num_bank_sources = num_bank_sources,
          .num_queries = at.size,
          .bank = buffers.bank.data(),
          .queries = network.query(at.layer),
          .key_eps = network.key_eps,
          .norm = network.norm(at.layer),
          .output = buffers.layer_input.data(),
          .outputs = phase1.outputs.data(),
          .maxima = phase1.maxima.data(),
          .sums = phase1.sums.data()};
}

/// Phase 2 at layer `at`, i >= 2, which merges `newest` alone.
template <class T, class O>
AttnResPhase2<T, O> phase2_operation(const AttnResNetwork<T>& network, AttnResBuffers<T>& buffers,
                                     const Phase1Buffers<T, O>& phase1, const LayerPlace& at,
                                     const NewestSource<T>& newest) {
  const std::size_t query = at.index - 2;
  return {.num_tokens = network.num_tokens,
          .hidden_size = network.hidden_size,
          .partial_sum = newest.partial_sum,
          .layer_output = newest.layer_output,
          .phase1_output = phase1.outputs.data() + query * network.row_size(),
          .maximum = phase1.maxima.data() + query * network.num_tokens,
          .sum = phase1.sums.data() + query * network.num_tokens,
          .query = network.query(at.layer),
          .key_eps = network.key_eps,
          .norm = network.norm(at.layer),
          .output = buffers.layer_input.data()};
}

/// Block AttnRes. Leaves the output aggregation in `buffers.layer_input`; the bank needs N + 1
/// rows.
template <class O, class T, class Layer, class Run>
void run_two_phase(const AttnResNetwork<T>& network, AttnResBuffers<T>& buffers, SumUpdate update,
                   const Layer& layer, const Run& run) {
  NewestSource<T> newest;
  Phase1Buffers<T, O> phase1(network, 1);
  each_place(network.block_sizes, [&](const LayerPlace& at) {
    if (at.opens_block()) {
      phase1 = Phase1Buffers<T, O>(network, at.size);
      const bool closes = newest.layer_output != nullptr;
      auto operation =
          phase1_operation(network, buffers, phase1, at, closes ? at.block - 1 : at.block);
      if (closes) {
        operation.partial_sum = newest.partial_sum;
        operation.layer_output = newest.layer_output;
        operation.bank_row = at.block - 1;
      }
      run(operation);
    } else {
      run(phase2_operation(network, buffers, phase1, at, newest));
    }
    newest = run_layer(network, buffers, at, newest.partial_sum, update, layer, run);
  });
  run_output_aggregation(network, buffers, newest, run);
}

/// Full AttnRes: the network's blocks only batch queries. Every layer leaves v_l in row l of the
/// bank, which needs L + 1 rows.
template <class O, class T, class Layer, class Run>
void run_full_two_phase(const AttnResNetwork<T>& network, AttnResBuffers<T>& buffers,
                        const Layer& layer, const Run& run) {
  Phase1Buffers<T, O> phase1(network, 1);
  each_place(network.block_sizes, [&](const LayerPlace& at) {
    if (at.opens_block()) {
      phase1 = Phase1Buffers<T, O>(network, at.size);
      run(phase1_operation(network, buffers, phase1, at, at.layer));
    } else {
      auto operation =
          phase2_operation(network, buffers, phase1, at, {buffers.bank_row(at.layer - 1), nullptr});
      operation.num_further_sources = at.index - 2;
      operation.further_sources = buffers.bank_row(at.layer - (at.index - 1));
      run(operation);
    }
    layer(at.layer, std::as_const(buffers).layer_input.data(), buffers.bank_row(at.layer));
  });
  const std::size_t L = network.num_layers();
  run(single_pass_operation(network, buffers, L + 1, L, {buffers.bank_row(L), nullptr}));
}

}  // namespace depthcost::reference
