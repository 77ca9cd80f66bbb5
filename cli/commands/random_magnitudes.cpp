// Layers f_l(h) = gain (a x + sqrt(1 - a^2) G_l x), where x is RMSNorm(h), or h itself, and G_l is
// random and keeps magnitudes: an output has magnitude `gain`, and lies along the stream by a.
#include "cli/commands/random_magnitudes.hpp"

#include <cmath>
#include <string>

#include "kernels/reference/network.hpp"
#include "kernels/reference/run.hpp"
#include "kernels/reference/single_pass_network.hpp"
#include "model/base/seeded_random.hpp"

namespace depthcost {
namespace {

using reference::Row;
using Layers = std::vector<Row>;  // G_l, (d, d)

// [ours]: So large that a random vector's magnitude is within a tenth of its mean.
constexpr std::size_t kHiddenSize = 64;
constexpr std::size_t kTokens = 2;
// [ours]: So small that 2048 layers without a norm stay finite: 1.25^(L/2).
constexpr double kGain = 0.5;

struct LayerKind {
  std::string name;
  double along_stream = 0;  // a
  bool is_normalised = true;
};

struct RandomLayers {
  Layers matrices;
  Row queries;  // (L + 1, d), logits of variance one
  Row embedding;

  RandomLayers(Count num_layers, std::uint64_t seed) {
    SeededRandom random(seed);
    const double scale = 1 / std::sqrt(static_cast<double>(kHiddenSize));
    const auto row = [&](std::size_t size, double factor) {
      Row values(size);
      for (double& value : values) value = factor * random.normal();
      return values;
    };
    embedding = row(kTokens * kHiddenSize, 1);
    queries = row(static_cast<std::size_t>(num_layers + 1) * kHiddenSize, scale);
    for (Count l = 0; l < num_layers; ++l)
      matrices.push_back(row(kHiddenSize * kHiddenSize, scale));
  }

  /// f = f_l(h), both (T, d).
  void apply(const LayerKind& kind, std::size_t l, const double* h, double* f) const {
    const double across = std::sqrt(1 - kind.along_stream * kind.along_stream);
    const Row& G = matrices[l - 1];
    for (std::size_t t = 0; t < kTokens; ++t, h += kHiddenSize, f += kHiddenSize) {
      Row x(h, h + kHiddenSize);
      if (kind.is_normalised) x = reference::rms_norm(std::move(x), kNormEps<double>);
      for (std::size_t e = 0; e < kHiddenSize; ++e) {
        double mixed = 0;
        for (std::size_t i = 0; i < kHiddenSize; ++i) mixed += G[e * kHiddenSize + i] * x[i];
        f[e] = kGain * (kind.along_stream * x[e] + across * mixed);
      }
    }
  }
};

double magnitude(const Row& rows) { return reference::root_mean_square(rows, 0); }

MagnitudeSeries series(std::string scheme, const LayerKind& kind, std::string quantity,
                       std::vector<double> magnitudes, Count period) {
  const Growth growth = fitted_growth(magnitudes);
  const auto comes_back = period > 0 ? recurrence(magnitudes, period) : std::nullopt;
  return {std::move(scheme), kind.name, std::move(quantity), std::move(magnitudes), growth, period,
          comes_back};
}

MagnitudeSeries standard_series(const RandomLayers& layers, const LayerKind& kind) {
  Row h = layers.embedding;
  Row f(h.size());
  std::vector<double> inputs;
  for (std::size_t l = 1; l <= layers.matrices.size(); ++l) {
    inputs.push_back(magnitude(h));
    layers.apply(kind, l, h.data(), f.data());
    reference::run(ResidualAdd<double>{kTokens, kHiddenSize, h.data(), f.data()});
  }
  return series("standard", kind, "layer_input", std::move(inputs), 0);
}

/// Magnitudes of what layers read, and of the sums of their blocks after them.
struct AttnResMagnitudes {
  std::vector<double> inputs;
  std::vector<double> partial_sums;
};

AttnResMagnitudes run_attnres(const RandomLayers& layers, const LayerKind& kind,
                              const std::vector<std::size_t>& block_sizes) {
  const reference::AttnResNetwork<double> network{.num_tokens = kTokens,
                                                  .hidden_size = kHiddenSize,
                                                  .block_sizes = block_sizes,
                                                  .queries = layers.queries.data()};
  std::vector<bool> opens_block(network.num_layers() + 1);
  reference::each_place(block_sizes, [&](const reference::LayerPlace& place) {
    opens_block[place.layer] = place.opens_block();
  });
  AttnResMagnitudes seen;
  Row partial_sum;
  const auto layer = [&](std::size_t l, const double* x, double* f) {
    seen.inputs.push_back(magnitude(Row(x, x + network.row_size())));
    layers.apply(kind, l, x, f);
    const Row output(f, f + network.row_size());
    if (opens_block[l])
      partial_sum = output;
    else
      reference::add(partial_sum, output);
    seen.partial_sums.push_back(magnitude(partial_sum));
  };
  reference::AttnResBuffers<double> buffers(network, block_sizes.size() + 1,
                                            layers.embedding.data());
  reference::run_single_pass(network, buffers, reference::SumUpdate::folded, layer,
                             [](const auto& operation) { reference::run(operation); });
  return seen;
}

}  // namespace

std::vector<MagnitudeSeries> random_magnitudes(Count num_layers, const Partition& blocks,
                                               std::uint64_t seed) {
  const RandomLayers layers(num_layers, seed);
  const LayerKind independent{"prenorm", 0};
  const LayerKind aligned{"prenorm_aligned", 0.5};
  const LayerKind unnormalised{"unnormalised", 0, false};
  std::vector<MagnitudeSeries> all;
  for (const LayerKind& kind : {independent, aligned, unnormalised})
    all.push_back(standard_series(layers, kind));
  for (const LayerKind& kind : {independent, aligned}) {
    const std::vector<std::size_t> single(static_cast<std::size_t>(num_layers), 1);
    all.push_back(
        series("full_attnres", kind, "layer_input", run_attnres(layers, kind, single).inputs, 0));
    if (blocks.num_layers == 0) continue;
    const std::vector<Count> sizes = block_sizes(blocks);
    AttnResMagnitudes seen = run_attnres(layers, kind, {sizes.begin(), sizes.end()});
    all.push_back(
        series("block_attnres", kind, "layer_input", std::move(seen.inputs), blocks.block_size));
    all.push_back(series("block_attnres", kind, "partial_sum", std::move(seen.partial_sums),
                         blocks.block_size));
  }
  return all;
}

}  // namespace depthcost
