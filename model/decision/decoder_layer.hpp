// Decoder layers of two layers each: what a number of layers is in them.
#pragma once

#include <optional>

#include "model/step/study.hpp"

namespace depthcost {

/// The decoder layers that so many layers are, an attention and an MLP each. None where they end
/// inside a decoder layer, or where the model is given in layers alone.
std::optional<Count> whole_decoder_layers(const Study& study, Count layers);

/// Whether an AttnRes block ends inside a decoder layer, between its attention and its MLP. Engines
/// and checkpoints count blocks in decoder layers, and cannot say such a size. A model that is
/// given in layers alone has no decoder layers to split, and blocks of one layer are those of Full
/// AttnRes.
bool splits_decoder_layer(const Study& study, const Scheme& scheme);

}  // namespace depthcost
