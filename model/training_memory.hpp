// What a training step keeps of the residual path on every stage, with all micro-batches that are
// in flight at once. Weights, gradients and optimiser states are not counted.
#pragma once

#include <vector>

#include "model/pipeline_order.hpp"
#include "model/study.hpp"

namespace depthcost {

struct StageMemory {
  Bytes activations;        // made here, or for backward passes that run here; at the peak
  Bytes blocks;             // received over the pipeline and kept; at the peak
  Count micro_batches = 0;  // in flight at the peak
};

/// One for each stage: the order tables are walked, a forward pass adds what its chunk keeps, the
/// gradients of its inputs take it away. Blocks are kept once for each micro-batch where the stage
/// caches them (cached_blocks_per_stage), else once for each chunk.
std::vector<StageMemory> training_memory(const Study& study, const ResidualPath& path,
                                         const PipelineOrder& order);

}  // namespace depthcost
