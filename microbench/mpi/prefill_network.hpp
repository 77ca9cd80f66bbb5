// A small network to prefill, in float64: Block AttnRes of kernels/reference around layers whose
// work is split over tensor-parallel ranks, and in which a token sees all tokens before it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/reference/network.hpp"

namespace depthcost::bench {

/// Reproducible and of no meaning, in [-1, 1). SplitMix64: Steele, Lea, Flood, OOPSLA 2014.
inline double weight(std::size_t a, std::size_t b, std::size_t c) {
  std::uint64_t x = (a << 42U ^ b << 21U ^ c) + 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return static_cast<double>((x ^ (x >> 31U)) >> 11U) * 0x1p-52 - 1;
}

struct PrefillNetwork {
  std::size_t hidden_size = 0;
  std::vector<std::size_t> block_sizes;
  std::size_t num_units = 0;    // of each layer, shared out among the ranks
  std::vector<double> queries;  // (L + 1, d)
  std::vector<double> gains;    // (L + 1, d)

  PrefillNetwork(std::size_t hidden, std::vector<std::size_t> blocks, std::size_t units)
      : hidden_size(hidden), block_sizes(std::move(blocks)), num_units(units) {
    for (std::size_t i = 0; i < (num_layers() + 1) * hidden_size; ++i) {
      queries.push_back(weight(1, 0, i));
      gains.push_back(1 + 0.25 * weight(2, 0, i));
    }
  }

  std::size_t num_layers() const {
    return std::accumulate(block_sizes.begin(), block_sizes.end(), std::size_t{0});
  }

  /// With room for `num_tokens`.
  reference::AttnResNetwork<double> attnres(std::size_t num_tokens) const {
    return {.num_tokens = num_tokens,
            .hidden_size = hidden_size,
            .block_sizes = block_sizes,
            .queries = queries.data(),
            .gains = gains.data()};
  }

  /// b_0 of tokens first .. first + count, and zeros up to `padded` tokens.
  std::vector<double> embedding(std::size_t first, std::size_t count, std::size_t padded) const {
    std::vector<double> rows(padded * hidden_size);
    for (std::size_t i = 0; i < count * hidden_size; ++i)
      rows[i] = weight(3, 0, first * hidden_size + i);
    return rows;
  }
};

/// The units first, first + stride, ... of every layer:
///   f(t) = sum_k v_k tanh(u_k . x(t) + mean_{t' <= t} u_k . x(t'))
class LayerUnits {
 public:
  LayerUnits(const PrefillNetwork& network, std::size_t first, std::size_t stride)
      : network_(network),
        first_(first),
        stride_(stride),
        sums_((network.num_layers() + 1) * network.num_units),
        num_before_(network.num_layers() + 1) {}

  /// f (tokens, d) = these units' part of layer `layer` on x (tokens, d), which follow the tokens
  /// of the calls before.
  void run(std::size_t layer, const double* x, std::size_t num_tokens, double* f) {
    const std::size_t d = network_.hidden_size;
    std::fill_n(f, num_tokens * d, 0.0);
    for (std::size_t k = first_; k < network_.num_units; k += stride_) {
      double& sum = sums_[layer * network_.num_units + k];
      for (std::size_t t = 0; t < num_tokens; ++t) {
        double score = 0;
        for (std::size_t i = 0; i < d; ++i) score += weight(4 + layer, k, i) * x[t * d + i];
        sum += score;
        const double seen = static_cast<double>(num_before_[layer] + t + 1);
        const double unit = std::tanh((score + sum / seen) / std::sqrt(static_cast<double>(d)));
        for (std::size_t i = 0; i < d; ++i) f[t * d + i] += weight(4 + layer, k, d + i) * unit;
      }
    }
    num_before_[layer] += num_tokens;
  }

 private:
  const PrefillNetwork& network_;
  std::size_t first_;
  std::size_t stride_;
  std::vector<double> sums_;             // of u . x over the tokens so far, by layer and unit
  std::vector<std::size_t> num_before_;  // tokens, by layer
};

}  // namespace depthcost::bench
