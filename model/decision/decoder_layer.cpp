// All blocks but the last are alike, so that one size tells.
#include "model/decision/decoder_layer.hpp"

#include "model/schemes/list.hpp"

namespace depthcost {

std::optional<Count> whole_decoder_layers(const Study& study, Count layers) {
  constexpr Count kLayersOfDecoderLayer = 2;
  if (!study.model.architecture || layers % kLayersOfDecoderLayer != 0) return std::nullopt;
  return layers / kLayersOfDecoderLayer;
}

bool splits_decoder_layer(const Study& study, const Scheme& scheme) {
  const Partition* blocks = attnres_blocks(scheme);
  return blocks != nullptr && study.model.architecture && blocks->num_blocks > 1 &&
         blocks->block_size > 1 && !whole_decoder_layers(study, blocks->block_size);
}

}  // namespace depthcost
