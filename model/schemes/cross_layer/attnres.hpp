// The launches of attention over depth, for the schemes that share them.
#pragma once

#include "model/schemes/scheme.hpp"

namespace depthcost::scheme_parts {

/// Eager AttnRes over `sources` rows, up to the normalised layer input: (6 s + 3) d.
Launches eager_attnres(Count sources);

/// Block AttnRes at a place of its partition, and behind the last layer.
Launches block_attnres(const LayerPosition& at, Schedule schedule);
Launches block_attnres_output(const Partition& blocks, Schedule schedule);

/// Backward of eager AttnRes over `sources` rows, of which `sums` have a gradient already: each
/// kernel's own, and autograd's addition for each of these.
///   norm 2 r, 1 w; mix s + 1 r, s w; scores s r, s w; key norm 2s r, s w; their sum 2s r, s w;
///   unstack s r, s w; additions 2s r, s w
/// [ours]
BackwardLayer eager_attnres_backward(Count sources, double sums);

/// Backward of one layer of Block AttnRes, and of the output aggregation, which runs first and
/// finds no gradient to add to.
BackwardLayer block_attnres_backward(const LayerPosition& at, Schedule schedule,
                                     GradientAccumulation accumulation);
BackwardLayer attnres_output_backward(Count sources, Schedule schedule);

/// What a mix keeps beside its sources, its result and the normalised input.
struct MixCopies {
  Count eager_per_source = 2;     // the stack and its keys
  double scalars_per_source = 2;  // weight and norm
  Count per_mix = 0;              // a query of the token
};

/// Every block that is a source here, once; the partial sum of each layer that attends to one;
/// the mix, which is the norm's input; and as scalars weight and norm of each source. The mix and
/// all behind it can be made again; a partial sum only from as many layer outputs, or by running
/// the layers. Eager code keeps the stack V and the keys K of every mix in place of the sources.
ChunkActivations attnres_activations(const Partition& bank, const ChunkOfLayers& chunk,
                                     const ActivationPlan& plan, const MixCopies& kept_of_mix = {});

/// Rows that a layer of Block AttnRes attends to: the bank and, inside a block, its partial sum.
constexpr Count block_sources(const LayerPosition& at) {
  return at.index == 1 ? at.block : at.block + 1;
}

}  // namespace depthcost::scheme_parts
