// Block and Full AttnRes in schedule `single_pass`: one kernel per layer (Eq. 6).
#pragma once

#include "kernels/operations/attnres.hpp"
#include "kernels/reference/network.hpp"

namespace depthcost::reference {

/// The kernel before `layer`, whose sources are the first `num_bank_sources` rows and `newest`.
template <class T>
AttnResSinglePass<T> single_pass_operation(const AttnResNetwork<T>& network,
                                           AttnResBuffers<T>& buffers, std::size_t layer,
                                           std::size_t num_bank_sources,
                                           const NewestSource<T>& newest) {
  return {.num_tokens = network.num_tokens,
          .hidden_size = network.hidden_size,
          .num_bank_rows = buffers.bank.size() / network.row_size(),
          .num_bank_sources = num_bank_sources,
          .bank = buffers.bank.data(),
          .partial_sum = newest.partial_sum,
          .layer_output = newest.layer_output,
          .query = network.query(layer),
          .key_eps = network.key_eps,
          .norm = network.norm(layer),
          .output = buffers.layer_input.data()};
}

/// The aggregation of b_0 .. b_N behind the last layer. Block N is closed on chip, and forgotten.
template <class T, class Run>
void run_output_aggregation(const AttnResNetwork<T>& network, AttnResBuffers<T>& buffers,
                            const NewestSource<T>& newest, const Run& run) {
  auto operation = single_pass_operation(network, buffers, network.num_layers() + 1,
                                         network.block_sizes.size(), newest);
  operation.store = SumStore::nowhere;
  run(operation);
}

/// Leaves the output aggregation in `buffers.layer_input`. The bank needs N + 1 rows.
template <class T, class Layer, class Run>
void run_single_pass(const AttnResNetwork<T>& network, AttnResBuffers<T>& buffers, SumUpdate update,
                     const Layer& layer, const Run& run) {
  NewestSource<T> newest;
  each_place(network.block_sizes, [&](const LayerPlace& at) {
    // At the first layer of block n >= 2 the newest source is block n - 1.
    const std::size_t newest_block = at.opens_block() && at.block > 1 ? at.block - 1 : at.block;
    auto operation = single_pass_operation(network, buffers, at.layer, newest_block, newest);
    if (at.opens_block() && newest.layer_output != nullptr) {
      operation.store = SumStore::bank_row;
      operation.bank_row = newest_block;
    }
    run(operation);
    newest = run_layer(network, buffers, at, newest.partial_sum, update, layer, run);
  });
  run_output_aggregation(network, buffers, newest, run);
}

}  // namespace depthcost::reference
