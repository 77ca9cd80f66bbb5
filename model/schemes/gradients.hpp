// What the backward pass of attention over depth moves, and what adding up the gradients of shared
// sources adds to it: every layer that reads a block has a gradient for it. Per token, in
// d-vectors; loose scalars and parameters are not counted. REFERENCES.md, "gradients".
#pragma once

#include <cstdint>

#include "model/base/partition.hpp"
#include "model/base/units.hpp"

namespace depthcost {

/// How the gradients of one source become one.
enum class GradientAccumulation : std::uint8_t {
  autograd,   ///< a kernel for each: reads the sum and the new gradient, writes the sum
  fused,      ///< the backward kernel reads and writes the sums
  per_block,  ///< one kernel adds up what all layers of a block have for the bank, at its end
};

/// `activations` are what the forward pass made, and the gradient that arrives at a layer; they
/// have the model's type. `gradients` are those of the sources, in a type of their own.
struct GradientTraffic {
  double activation_reads_d = 0;
  double gradient_reads_d = 0;
  double gradient_writes_d = 0;

  friend constexpr bool operator==(const GradientTraffic&, const GradientTraffic&) = default;
  friend constexpr GradientTraffic operator+(const GradientTraffic& a, const GradientTraffic& b) {
    return {a.activation_reads_d + b.activation_reads_d, a.gradient_reads_d + b.gradient_reads_d,
            a.gradient_writes_d + b.gradient_writes_d};
  }
  friend constexpr GradientTraffic& operator+=(GradientTraffic& a, const GradientTraffic& b) {
    return a = a + b;
  }
  friend constexpr GradientTraffic operator*(double k, const GradientTraffic& t) {
    return {k * t.activation_reads_d, k * t.gradient_reads_d, k * t.gradient_writes_d};
  }
};

constexpr double total_d(const GradientTraffic& t) {
  return t.activation_reads_d + t.gradient_reads_d + t.gradient_writes_d;
}

/// One layer's backward pass.
struct BackwardLayer {
  GradientTraffic traffic;  // per token
  double kernels = 0;       // launched

  friend constexpr BackwardLayer operator+(const BackwardLayer& a, const BackwardLayer& b) {
    return {a.traffic + b.traffic, a.kernels + b.kernels};
  }
};

/// Bytes per token.
constexpr Bytes bytes(const GradientTraffic& t, double hidden_size, Dtype activations,
                      Dtype gradients) {
  return storage(t.activation_reads_d * hidden_size, activations) +
         storage((t.gradient_reads_d + t.gradient_writes_d) * hidden_size, gradients);
}

/// Backward of y = sum_i a_i v_i over n sources, each read once: sources and dy in, n gradients
/// out.
///   (n + 1) r, n w = (2n + 1) d
/// github.com/sabdulmajid/blackwell-switchyard, docs/third_party.md ("one-read (2N+1)X").
constexpr GradientTraffic one_read_backward(Count num_sources) {
  const double n = static_cast<double>(num_sources);
  return {.activation_reads_d = n + 1, .gradient_writes_d = n};
}

/// Added for sources that have a gradient already, when it is accumulated layer by layer.
///   autograd  2n r, n w        fused  n r
/// [ours]: autograd adds tensors pairwise; a fused kernel writes the sum instead of the gradient.
/// per_block has no traffic of a single layer: use block_backward().
constexpr GradientTraffic accumulation(GradientAccumulation accumulation, Count num_sources) {
  const double n = static_cast<double>(num_sources);
  if (accumulation == GradientAccumulation::autograd)
    return {.gradient_reads_d = 2 * n, .gradient_writes_d = n};
  return {.gradient_reads_d = n};
}

/// Backward of all S layers of a block that attends to `bank_rows` = n blocks (b_0 included), and
/// from its second layer on to its partial sum.
///   autograd, fused   sum over layers of one_read_backward() and accumulation()
///   per_block         n + S r, n r, n w at the block's end; before, from the second layer on,
///                     dy, y and the partial sum r, r and w of its gradient, and w of what the
///                     norm in front of the layer makes of dy: (3n + S) + 6 (S - 1)
/// [ours]: the gradient of source i is a_i dy + a_i (<dy, v_i> - <dy, y>) ds_i/dv_i, so that a
/// partial sum's needs no other source, and nobody needs the bank's before the block ends. Until
/// then every dy of the block is kept.
constexpr GradientTraffic block_backward(GradientAccumulation mode, Count bank_rows,
                                         Count num_layers) {
  const double n = static_cast<double>(bank_rows);
  const double S = static_cast<double>(num_layers);
  if (mode == GradientAccumulation::per_block) {
    const GradientTraffic bank{
        .activation_reads_d = n + S, .gradient_reads_d = n, .gradient_writes_d = n};
    const GradientTraffic partial_sum{
        .activation_reads_d = 3, .gradient_reads_d = 1, .gradient_writes_d = 2};
    return bank + (S - 1) * partial_sum;
  }
  const auto layer = [mode](Count num_sources) {
    return one_read_backward(num_sources) + accumulation(mode, num_sources);
  };
  return layer(bank_rows) + (S - 1) * layer(bank_rows + 1);
}

/// The whole path without accumulation: every layer, and the output aggregation over the N + 1
/// sources.
constexpr GradientTraffic one_read_path(const Partition& blocks) {
  GradientTraffic total = one_read_backward(blocks.num_blocks + 1);
  for (Count block = 1; block <= blocks.num_blocks; ++block) {
    const double S = static_cast<double>(blocks.size(block));
    total += one_read_backward(block);
    total += (S - 1) * one_read_backward(block + 1);
  }
  return total;
}

/// The whole path with it. The output aggregation runs first and finds no gradient to add to; so
/// every layer does. per_block gains nothing over fused in blocks of one layer.
constexpr GradientTraffic backward_traffic(const Partition& blocks, GradientAccumulation mode) {
  GradientTraffic total = one_read_backward(blocks.num_blocks + 1);
  for (Count block = 1; block <= blocks.num_blocks; ++block)
    total += block_backward(mode, block, blocks.size(block));
  return total;
}

/// d-vectors per token that accumulation adds to the one-read backward pass: its own line of the
/// ledger. Negative where per_block saves more by reading the bank once for a whole block.
constexpr double accumulation_d(const Partition& blocks, GradientAccumulation mode) {
  return total_d(backward_traffic(blocks, mode)) - total_d(one_read_path(blocks));
}

}  // namespace depthcost
