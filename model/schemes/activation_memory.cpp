// What each scheme's backward pass reads. See activation_memory.hpp.
#include "model/schemes/activation_memory.hpp"

#include <algorithm>
#include <cassert>

#include "model/schemes/mechanism.hpp"

namespace depthcost {
namespace {

/// The next norm saves its input, its output, which the layer's own backward pass reads, and one
/// statistic.
constexpr SavedVectors kNormInput{.vectors = 1, .scalars = 0};
constexpr SavedVectors kNormOutput{.vectors = 1, .scalars = 1};

/// The stack of the sources, and their keys.
constexpr Count kEagerCopies = 2;

/// Two layers' worth is on the device: one in use, one on its way.
constexpr double kOffloadBuffers = 2;

constexpr SavedVectors vectors(Count num_vectors) {
  return {.vectors = static_cast<double>(num_vectors), .scalars = 0};
}

class ActivationsOf {
 public:
  ActivationsOf(const ChunkOfLayers& chunk, const ActivationPlan& plan)
      : chunk_(chunk), plan_(plan) {}

  /// h_l and the normalised input of every layer. A sum's own backward pass reads nothing, and h_l
  /// follows from no fewer vectors than itself.
  ChunkActivations operator()(const Standard&) const {
    const double num_layers = static_cast<double>(chunk_.num_layers);
    if (chunk_.num_layers == 0) return {};
    if (plan_.policy == ActivationPolicy::recompute)
      return {.kept = num_layers * kNormInput,
              .for_weights = vectors(chunk_.num_layers),
              .working = kNormOutput};
    return placed(chunk_.num_layers, num_layers * (kNormInput + kNormOutput),
                  kNormInput + kNormOutput, {});
  }

  /// Every layer saves its m streams, their mix (the norm's input), its normalised input, its
  /// output f, and as scalars the m^2 + 2m unactivated coefficients and the streams' norm: f and
  /// the streams for the gradients of the coefficients. [mhc] Table 3. Eager code, whose projection
  /// is a matrix product of its own, keeps the normalised streams too.
  ChunkActivations operator()(const Mhc& scheme) const {
    if (chunk_.num_layers == 0) return {};
    const Count m = scheme.num_streams;
    const SavedVectors output = vectors(1);
    const SavedVectors coefficients{.vectors = 0,
                                    .scalars = static_cast<double>(m * m + 2 * m + 1)};
    const SavedVectors normalised = vectors(is_unfused() ? m : 0);
    const SavedVectors remade = vectors(m) + normalised + kNormInput + kNormOutput + coefficients;
    const auto num_layers = static_cast<double>(chunk_.num_layers);
    if (plan_.policy != ActivationPolicy::recompute)
      return placed(chunk_.num_layers, num_layers * (remade + output), remade + output, {});
    assert(plan_.recompute_layers >= 1);
    const Count at_once = std::min(plan_.recompute_layers, chunk_.num_layers);
    const Count num_states = (chunk_.num_layers + at_once - 1) / at_once;
    return {.kept = vectors(num_states * m) + num_layers * output,
            .for_weights = vectors(chunk_.num_layers),
            .working = static_cast<double>(at_once) * remade};
  }

  ChunkActivations operator()(const MechanismScheme& scheme) const { refuse_training(scheme); }

  ChunkActivations operator()(const FullAttnRes& scheme) const {
    return (*this)(blocks_of_one_layer(scheme));
  }

  /// Every block that is a source here, once; the partial sum of each layer that attends to one;
  /// the mix, which is the norm's input; and as scalars weight and norm of each source. The mix and
  /// all behind it can be made again; a partial sum only from as many layer outputs, or by running
  /// the layers. Eager code keeps the stack V and the keys K of every mix in place of the sources.
  ChunkActivations operator()(const BlockAttnRes& scheme) const {
    const Sources sources = sources_of(scheme.blocks);
    if (sources.num_mixes == 0) return {};
    const SavedVectors received = vectors(sources.blocks_received);
    const SavedVectors blocks = vectors(sources.blocks_completed);
    const SavedVectors partials = vectors(sources.partials);
    const SavedVectors mix = kNormInput + kNormOutput;
    const double scalars_per_source = 2;
    const SavedVectors scalars{.vectors = 0,
                               .scalars = scalars_per_source * static_cast<double>(sources.total)};
    const SavedVectors most_scalars{
        .vectors = 0, .scalars = scalars_per_source * static_cast<double>(sources.most)};
    const SavedVectors copies = vectors(is_unfused() ? kEagerCopies * sources.most : 0);
    if (plan_.policy == ActivationPolicy::recompute)
      return {.received = received,
              .kept = blocks + partials,
              .own_blocks = blocks,
              .for_weights = vectors(sources.num_mixes),
              .working = mix + most_scalars + copies};
    const SavedVectors mixes = static_cast<double>(sources.num_mixes) * mix + scalars;
    ChunkActivations all;
    if (is_unfused()) {
      all = placed(sources.num_mixes, mixes + vectors(kEagerCopies * sources.total),
                   mix + most_scalars + copies, {});
    } else {
      const SavedVectors largest = mix + most_scalars + vectors(sources.partials > 0 ? 1 : 0);
      all = placed(sources.num_mixes, blocks + partials + mixes, largest, blocks);
      if (plan_.policy == ActivationPolicy::keep) all.own_blocks = blocks;
    }
    all.received = received;
    return all;
  }

 private:
  struct Sources {
    Count num_mixes = 0;         // layers, and the output aggregation
    Count blocks_received = 0;   // ids 0 .. blocks_received - 1
    Count blocks_completed = 0;  // here, and read here
    Count partials = 0;
    Count total = 0;  // over all mixes
    Count most = 0;   // of one mix
  };

  /// The output aggregation stands where the first layer of one more block would.
  Sources sources_of(const Partition& blocks) const {
    Sources sources;
    const auto add = [&](Count block, Count partials) {
      if (sources.num_mixes++ == 0) sources.blocks_received = block;
      sources.blocks_completed = block - sources.blocks_received;
      sources.partials += partials;
      sources.total += block + partials;
      sources.most = std::max(sources.most, block + partials);
    };
    for (Count i = 0; i < chunk_.num_layers; ++i) {
      const LayerPosition at = position_of_layer(blocks, chunk_.first_layer + i);
      add(at.block, at.index > 1 ? 1 : 0);
    }
    if (chunk_.output == OutputAggregation::here) add(blocks.num_blocks + 1, 0);
    return sources;
  }

  bool is_unfused() const { return plan_.schedule == Schedule::unfused; }

  /// `shared` is read by every layer of the chunk, and stays throughout its backward pass. What is
  /// in host memory waits there for the gradients of weights too.
  ChunkActivations placed(Count num_inputs, const SavedVectors& all, const SavedVectors& layer,
                          const SavedVectors& shared) const {
    if (plan_.policy == ActivationPolicy::keep)
      return {.kept = all, .for_weights = vectors(num_inputs)};
    return {.offloaded = all, .working = kOffloadBuffers * layer + shared};
  }

  ChunkOfLayers chunk_;
  ActivationPlan plan_;
};

}  // namespace

ChunkActivations chunk_activations(const ResidualPath& path, const ChunkOfLayers& chunk,
                                   const ActivationPlan& plan) {
  assert(chunk.first_layer >= 1 && chunk.first_layer + chunk.num_layers - 1 <= path.num_layers);
  return std::visit(ActivationsOf(chunk, plan), path.scheme);
}

}  // namespace depthcost
