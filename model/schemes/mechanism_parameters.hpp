// The numbers that a residual update mechanism may depend on beside L and d. Each mechanism says
// which of them are its own, with their defaults' sources: model/schemes/mechanism.hpp.
#pragma once

#include "model/base/units.hpp"

namespace depthcost {

struct MechanismParameters {
  Count hidden_size = 0;  // d: a d x d projection costs d in units of d
  Count block_size = 1;   // S of a variant of AttnRes; 1: Full
  Count num_streams = 4;  // m of hyper-connections
  Count value_width = 4;  // d_v of Deep Delta Learning
  Count dilation = 4;     // k of DenseFormer, in decoder layers
  Count period = 5;       // p of DenseFormer, in decoder layers
  Count ways = 4;         // C of MUDDFormer: query, key, value, residual
  Count rank = 4;         // r of LAuReL
  Count history = 4;      // k of LAuReL-PA
  Count window = 8;       // W of sliding-window AttnRes, beside the embedding
  Count heads = 16;       // H of multihead AttnRes
  Count kv_size = 0;      // elements of a value row of Value Residual; 0: d

  friend constexpr bool operator==(const MechanismParameters&,
                                   const MechanismParameters&) = default;
};

}  // namespace depthcost
