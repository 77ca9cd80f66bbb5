// What every operation of AttnRes reads for its newest source.
#pragma once

#include "kernels/cuda/descriptor.hpp"

namespace depthcost::cuda {

/// b without f is the buffer of the layer's output itself.
struct NewestTraffic {
  OperandTraffic partial_sum{"partial_sum", 0, 0};
  OperandTraffic layer_output{"layer_output", 0, 0};
};
constexpr NewestTraffic newest_traffic(bool has_partial_sum, bool has_layer_output) {
  NewestTraffic newest;
  newest.layer_output.reads_d = has_partial_sum || has_layer_output ? 1 : 0;
  newest.partial_sum.reads_d = has_layer_output ? 1 : 0;
  return newest;
}

}  // namespace depthcost::cuda
