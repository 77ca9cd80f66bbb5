// A walk over the order tables.
#include "model/training_memory.hpp"

#include <algorithm>

#include "model/activation_memory.hpp"
#include "model/scheme_payload.hpp"
#include "model/training_work.hpp"

namespace depthcost {
namespace {

/// Bytes of one micro-batch.
struct ChunkMemory {
  Bytes kept;
  Bytes received;
  Bytes working;
};

std::vector<ChunkMemory> chunk_memories(const Study& study, const ResidualPath& path) {
  // Other schemes recompute layer by layer.
  const Count m =
      std::holds_alternative<Mhc>(path.scheme) ? std::get<Mhc>(path.scheme).num_streams : 1;
  const auto in_bytes = [&](const SavedVectors& saved) {
    return training_tokens(study) *
           bytes(saved, as_double(study.model.hidden_size), study.model.dtype);
  };
  std::vector<ChunkMemory> memories;
  for (const ChunkOfLayers& chunk : chunks_of(layout_of(study))) {
    const ChunkActivations activations = chunk_activations(
        path, chunk, {study.training->activations, best_mhc_recomputation(m, chunk.num_layers)});
    memories.push_back({in_bytes(activations.kept), in_bytes(activations.received),
                        in_bytes(activations.working)});
  }
  return memories;
}

/// d-vectors per token that a stage keeps once for each micro-batch.
std::vector<Count> cached_blocks(const Study& study, const ResidualPath& path) {
  const PipelineLayout layout = layout_of(study);
  const auto num_stages = static_cast<std::size_t>(layout.num_stages);
  const std::vector<Count> sizes = bank_block_sizes(path.scheme);
  if (sizes.empty()) return std::vector<Count>(num_stages, 0);
  return cached_blocks_per_stage(layout, sizes);
}

/// What is in flight on one stage while its table is walked.
class InFlight {
 public:
  InFlight(const std::vector<ChunkMemory>& chunks, Bytes blocks_of_micro_batch, Cache cache,
           Count num_micro_batches)
      : chunks_(chunks),
        blocks_(blocks_of_micro_batch),
        cache_(cache),
        open_(static_cast<std::size_t>(num_micro_batches), 0) {}

  void visit(const PipelineTask& task) {
    if (task.kind == TaskKind::forward) add(task, 1);
    if (task.kind == TaskKind::backward_input) {
      note_peak(chunks_[static_cast<std::size_t>(task.chunk)].working);
      add(task, -1);
    }
  }

  const StageMemory& peak() const { return peak_; }

 private:
  void add(const PipelineTask& task, Count passes) {
    const ChunkMemory& chunk = chunks_[static_cast<std::size_t>(task.chunk)];
    Count& open = open_[static_cast<std::size_t>(task.micro_batch)];
    const bool was_open = open > 0;
    open += passes;
    const Count opened = (open > 0 ? 1 : 0) - (was_open ? 1 : 0);
    now_.micro_batches += opened;
    now_.activations = now_.activations + as_double(passes) * chunk.kept;
    now_.blocks = now_.blocks + (cache_ == Cache::none ? as_double(passes) * chunk.received
                                                       : as_double(opened) * blocks_);
    note_peak({});
  }

  /// Each item has its own peak: they need not fall together.
  void note_peak(Bytes working) {
    peak_.activations = std::max(peak_.activations, now_.activations + working);
    peak_.blocks = std::max(peak_.blocks, now_.blocks);
    peak_.micro_batches = std::max(peak_.micro_batches, now_.micro_batches);
  }

  const std::vector<ChunkMemory>& chunks_;
  Bytes blocks_;
  Cache cache_;
  std::vector<Count> open_;  // chunks of each micro-batch
  StageMemory now_;
  StageMemory peak_;
};

}  // namespace

std::vector<StageMemory> training_memory(const Study& study, const ResidualPath& path,
                                         const PipelineOrder& order) {
  const std::vector<ChunkMemory> chunks = chunk_memories(study, path);
  const std::vector<Count> blocks = cached_blocks(study, path);
  const double elements = training_tokens(study) * as_double(study.model.hidden_size);
  std::vector<StageMemory> stages;
  for (std::size_t stage = 0; stage < order.stages.size(); ++stage) {
    InFlight in_flight(chunks, storage(as_double(blocks[stage]) * elements, study.model.dtype),
                       study.training->cache, order.num_micro_batches);
    for (const PipelineTask& task : order.stages[stage]) in_flight.visit(task);
    stages.push_back(in_flight.peak());
  }
  return stages;
}

}  // namespace depthcost
