// What a training step keeps of the residual path on every stage, with all micro-batches that are
// in flight at once. Weights, gradients and optimiser states are not counted.
#pragma once

#include <vector>

#include "model/pipeline/pipeline_order.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// When the two together are most.
struct StageMemory {
  Bytes activations;        // made here, or for backward passes that run here
  Bytes blocks;             // received over the pipeline and kept
  Count micro_batches = 0;  // the most in flight

  Bytes all() const { return activations + blocks; }
};

/// One for each stage: the order tables are walked, a forward pass adds what its chunk keeps, the
/// gradients of its inputs take it away, but for what those of the layers' weights read. Received
/// blocks are kept once for each open chunk of a micro-batch, or where the stage caches them once
/// for the micro-batch: the history that the last of these chunks was handed, but for what the
/// others had completed, which is among their activations.
std::vector<StageMemory> training_memory(const Study& study, const ResidualPath& path,
                                         Schedule schedule, const PipelineOrder& order);

/// The stage that holds most; nothing of none.
StageMemory fullest(const std::vector<StageMemory>& stages);

}  // namespace depthcost
