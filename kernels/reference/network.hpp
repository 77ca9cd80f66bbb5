// AttnRes networks: how the operations are chained, through bank, partial sum and block boundaries.
// Operations go to `run`, a callable that takes any of them, so that each backend can be chained by
// this code; layers to `layer(l, x, f)`, l = 1..L, which computes f = f_l(x), both (T, d).
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/operations/residual.hpp"
#include "kernels/reference/rounding.hpp"

namespace depthcost::reference {

/// AttnRes around L layers in blocks; Full AttnRes is blocks of one layer each.
template <class T>
struct AttnResNetwork {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::vector<std::size_t> block_sizes;
  const Scalar<T>* queries = nullptr;  // (L + 1, d), the last of the output aggregation
  Scalar<T> key_eps = kNormEps<Scalar<T>>;
  const Scalar<T>* gains = nullptr;  // (L + 1, d) of the norms behind the mix, or null: no norms
  Scalar<T> norm_eps = kNormEps<Scalar<T>>;

  std::size_t row_size() const { return num_tokens * hidden_size; }
  std::size_t num_layers() const {
    return std::accumulate(block_sizes.begin(), block_sizes.end(), std::size_t{0});
  }
  const Scalar<T>* query(std::size_t layer) const { return queries + (layer - 1) * hidden_size; }
  BasicNextNorm<Scalar<T>> norm(std::size_t layer) const {
    if (gains == nullptr) return {};
    return {gains + (layer - 1) * hidden_size, norm_eps};
  }
};

/// What a forward pass keeps between kernels. All but the embedding starts as NaN.
template <class T>
struct AttnResBuffers {
  std::vector<T> bank;          // (B, T, d), row 0 the embedding b_0
  std::vector<T> partial_sum;   // (T, d), b_n^i
  std::vector<T> layer_output;  // (T, d), f
  std::vector<T> layer_input;   // (T, d), x; behind the last layer the output aggregation

  AttnResBuffers(const AttnResNetwork<T>& network, std::size_t num_bank_rows, const T* embedding)
      : bank(num_bank_rows * network.row_size(), poison()),
        partial_sum(network.row_size(), poison()),
        layer_output(network.row_size(), poison()),
        layer_input(network.row_size(), poison()) {
    std::copy_n(embedding, network.row_size(), bank.begin());
  }

  static T poison() { return round_to<T>(std::numeric_limits<double>::quiet_NaN()); }
  T* bank_row(std::size_t row) { return bank.data() + row * layer_output.size(); }
};

/// Layer i (`index`) of block n (`block`), all 1-based.
struct LayerPlace {
  std::size_t layer = 0;
  std::size_t block = 0;
  std::size_t index = 0;
  std::size_t size = 0;  // layers in this block

  bool opens_block() const { return index == 1; }
  bool closes_block() const { return index == size; }
};

/// Calls `visit(place)` for layers 1..L.
template <class Visit>
void each_place(const std::vector<std::size_t>& block_sizes, const Visit& visit) {
  LayerPlace at;
  for (at.block = 1; at.block <= block_sizes.size(); ++at.block) {
    at.size = block_sizes[at.block - 1];
    for (at.index = 1; at.index <= at.size; ++at.index) {
      ++at.layer;
      visit(at);
    }
  }
}

/// Which kernel executes b_n^i = b_n^{i-1} + f_l(h_l). The names in quotes are the ledger's.
enum class SumUpdate {
  folded,         // `kernel`: the next kernel that reads b, which also closes blocks
  closing_apart,  // `physical`: as folded, but the last of a block is a kernel of its own
  apart,          // `physical_unfused`: a kernel of its own
};

/// The newest source: b_n^i, and f unless it has been added already.
template <class T>
struct NewestSource {
  T* partial_sum = nullptr;
  const T* layer_output = nullptr;
};

/// Runs layer `at`, and then adds its output to the partial sum unless a later kernel does. The
/// first layer of a block writes the partial sum itself. It is in the bank from the start where no
/// later kernel would write it there.
template <class T, class Layer, class Run>
NewestSource<T> run_layer(const AttnResNetwork<T>& network, AttnResBuffers<T>& buffers,
                          const LayerPlace& at, T* partial_sum, SumUpdate update,
                          const Layer& layer, const Run& run) {
  if (at.opens_block()) {
    const bool carried = update == SumUpdate::folded && at.size > 1;
    T* b = carried ? buffers.partial_sum.data() : buffers.bank_row(at.block);
    layer(at.layer, std::as_const(buffers).layer_input.data(), b);
    return {b, nullptr};
  }
  T* f = buffers.layer_output.data();
  layer(at.layer, std::as_const(buffers).layer_input.data(), f);
  const bool later =
      update == SumUpdate::folded || (update == SumUpdate::closing_apart && !at.closes_block());
  if (later) return {partial_sum, f};
  run(ResidualAdd<T>{network.num_tokens, network.hidden_size, partial_sum, f});
  return {partial_sum, nullptr};
}

}  // namespace depthcost::reference
