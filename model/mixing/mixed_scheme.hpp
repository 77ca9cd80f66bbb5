// A scheme with its weights, its matrix and the matrix's rank.
#pragma once

#include <string>

#include "model/mixing/mixing.hpp"
#include "model/mixing/semiseparable_rank.hpp"

namespace depthcost {

/// Where a scheme's weights come from.
struct WeightsOrigin {
  std::string file;      // empty: drawn at random
  Count num_tokens = 0;  // whose mean a file's attention is; 0 if it holds the mean
};

/// One scheme and its numbers.
struct MixedScheme {
  const MixingScheme* scheme = nullptr;
  MixingShape shape;
  WeightsOrigin origin;
  MixingWeights weights;
  MixingMatrix matrix;
  SemiseparableRank rank;
};

}  // namespace depthcost
