// All blocks but the last are alike, so that one size tells.
#include "model/decision/decoder_layer.hpp"

#include "model/schemes/list.hpp"

namespace depthcost {

bool splits_decoder_layer(const Study& study, const Scheme& scheme) {
  constexpr Count kLayersOfDecoderLayer = 2;
  const Partition* blocks = attnres_blocks(scheme);
  return blocks != nullptr && study.model.architecture && blocks->num_blocks > 1 &&
         blocks->block_size % kLayersOfDecoderLayer != 0;
}

}  // namespace depthcost
