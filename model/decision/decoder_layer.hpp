// Do the blocks of a scheme end between decoder layers?
#pragma once

#include "model/step/study.hpp"

namespace depthcost {

/// Whether an AttnRes block ends inside a decoder layer, between its attention and its MLP. Engines
/// and checkpoints count blocks in decoder layers, and cannot say such a size. A model that is
/// given in layers alone has no decoder layers to split.
bool splits_decoder_layer(const Study& study, const Scheme& scheme);

}  // namespace depthcost
