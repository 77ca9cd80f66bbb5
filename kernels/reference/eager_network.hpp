// Block and Full AttnRes in schedule `unfused`: the paper's Fig. 2 as a framework runs it eagerly,
// with the boundaries of Eq. 6.
#pragma once

#include "kernels/operations/eager.hpp"
#include "kernels/reference/network.hpp"

namespace depthcost::reference {

/// Buffers between eager launches, for up to `num_sources` sources.
template <class T>
struct EagerBuffers {
  std::vector<T> stack;           // V (s, T, d)
  std::vector<T> keys;            // K (s, T, d)
  std::vector<Scalar<T>> logits;  // (s, T)
  std::vector<T> mixed;           // h (T, d)

  EagerBuffers(const AttnResNetwork<T>& network, std::size_t num_sources)
      : stack(num_sources * network.row_size(), AttnResBuffers<T>::poison()),
        keys(stack),
        logits(num_sources * network.num_tokens, AttnResBuffers<Scalar<T>>::poison()),
        mixed(network.row_size(), AttnResBuffers<T>::poison()) {}
};

/// The launches before `layer`: its sources are the first `s` rows of the bank.
template <class T, class Run>
void run_unfused_layer_input(const AttnResNetwork<T>& network, AttnResBuffers<T>& buffers,
                             std::size_t layer, std::size_t s, const Run& run) {
  const std::size_t num_tokens = network.num_tokens;
  const std::size_t d = network.hidden_size;
  EagerBuffers<T> eager(network, s);
  std::vector<const T*> sources;
  for (std::size_t row = 0; row < s; ++row) sources.push_back(buffers.bank_row(row));
  const bool has_norm = network.gains != nullptr;
  T* x = buffers.layer_input.data();
  T* h = has_norm ? eager.mixed.data() : x;
  run(UnfusedStack<T>{num_tokens, d, s, sources.data(), eager.stack.data()});
  run(UnfusedKeyNorm<T>{num_tokens, d, s, eager.stack.data(), network.key_eps, eager.keys.data()});
  run(UnfusedScores<T>{num_tokens, d, s, eager.keys.data(), network.query(layer),
                       eager.logits.data()});
  run(UnfusedMix<T>{num_tokens, d, s, eager.stack.data(), eager.logits.data(), h});
  if (has_norm) run(UnfusedRmsNorm<T>{num_tokens, d, h, network.norm(layer), x});
}

/// Leaves the output aggregation in `buffers.layer_input`. The bank needs N + 1 rows; the partial
/// sum of block n grows in row n.
template <class T, class Layer, class Run>
void run_unfused(const AttnResNetwork<T>& network, AttnResBuffers<T>& buffers, const Layer& layer,
                 const Run& run) {
  each_place(network.block_sizes, [&](const LayerPlace& at) {
    const std::size_t s = at.opens_block() ? at.block : at.block + 1;
    run_unfused_layer_input(network, buffers, at.layer, s, run);
    run_layer(network, buffers, at, buffers.bank_row(at.block), SumUpdate::apart, layer, run);
  });
  run_unfused_layer_input(network, buffers, network.num_layers() + 1,
                          network.block_sizes.size() + 1, run);
}

}  // namespace depthcost::reference
