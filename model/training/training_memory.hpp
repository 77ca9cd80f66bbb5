// What a training step keeps on every stage, with all micro-batches that are in flight at once: the
// residual path, and beside it the layers and the model's own state.
#pragma once

#include <vector>

#include "model/pipeline/pipeline_order.hpp"
#include "model/step/memory.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// When the two together are most.
struct StageMemory {
  Bytes activations;        // made here, or for backward passes that run here
  Bytes blocks;             // received over the pipeline and kept
  Count micro_batches = 0;  // the most in flight

  Bytes all() const { return activations + blocks; }
};

/// One for each stage, by a walk through its order table. A forward pass adds what its chunk keeps.
/// The gradients of the inputs free it, but for what the gradients of the weights still read.
/// Received blocks are kept once for each open chunk of a micro-batch. A stage that caches them
/// keeps them once for the micro-batch: what the last of these chunks was handed, without the
/// blocks that the others completed, which are among their activations.
std::vector<StageMemory> training_memory(const Study& study, const ResidualPath& path,
                                         Schedule schedule, const PipelineOrder& order);

/// The stage that has most of the residual path and of what stands `beside` it (by stage, or empty)
/// together. There must be stages.
std::size_t fullest_stage(const std::vector<StageMemory>& stages, const std::vector<Bytes>& beside);

/// What the stage that holds most of the residual path has; nothing of none.
StageMemory fullest(const std::vector<StageMemory>& stages);

/// What all residual paths of a study have in common: order tables, and what stands beside them.
struct BesideThePath {
  PipelineOrder order;
  std::vector<Bytes> layers;  // activations, by stage; empty without an architecture
};

/// The study must have a training step.
BesideThePath beside_the_path(const Study& study);

/// The layers' activations and the model's state with `path`, by stage; empty without an
/// architecture.
std::vector<Bytes> beside_by_stage(const Study& study, const ResidualPath& path,
                                   const BesideThePath& beside);

/// What a device keeps of a step: the residual path, the layers and the model's state of the stage
/// that has most of all together. Without an architecture it is the residual path alone. Without a
/// training step there are no rows.
std::vector<MemoryRow> training_memory_rows(const Study& study, const ResidualPath& path,
                                            Schedule schedule);
std::vector<MemoryRow> training_memory_rows(const Study& study, const BesideThePath& beside,
                                            const ResidualPath& path, Schedule schedule);

/// memory_rows() and training_memory_rows() of a path in the schedule that it is quoted with.
std::vector<MemoryRow> all_memory_rows(const Study& study, const ResidualPath& path);

/// The workload that takes most of the fullest device's memory; no bytes without a workload.
NeededMemory fullest_workload(const Study& study, const ResidualPath& path);

/// The bytes of that workload.
Bytes fullest_memory(const Study& study, const ResidualPath& path);

}  // namespace depthcost
