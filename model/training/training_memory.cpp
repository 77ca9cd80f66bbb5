// A walk over the order tables.
#include "model/training/training_memory.hpp"

#include <algorithm>
#include <utility>

#include "model/ledger/backward.hpp"
#include "model/training/layer_activations.hpp"
#include "model/training/model_state.hpp"
#include "model/training/training_work.hpp"

namespace depthcost {
namespace {

/// Bytes of one micro-batch.
struct ChunkMemory {
  Bytes kept;
  Bytes received;
  Bytes own_blocks;
  Bytes for_weights;
  Bytes working;
};

std::vector<ChunkMemory> chunk_memories(const Study& study, const ResidualPath& path,
                                        Schedule schedule) {
  const auto in_bytes = [&](const SavedVectors& saved) {
    return training_tokens(study) *
           bytes(saved, as_double(study.model.hidden_size), study.model.dtype);
  };
  const LayerRecomputation recomputation = study.training->layers == LayerActivations::recompute
                                               ? LayerRecomputation::decoder_layer
                                               : LayerRecomputation::none;
  std::vector<ChunkMemory> memories;
  for (const ChunkOfLayers& chunk : chunks_of(layout_of(study))) {
    const ChunkActivations activations =
        chunk_activations(path, chunk,
                          {.policy = path_policy(*study.training),
                           .recompute_layers = recompute_layers(path.scheme, chunk.num_layers),
                           .schedule = schedule,
                           .recomputation = recomputation});
    memories.push_back({in_bytes(activations.kept), in_bytes(activations.received),
                        in_bytes(activations.own_blocks), in_bytes(activations.for_weights),
                        in_bytes(activations.working)});
  }
  return memories;
}

/// Received blocks of a micro-batch by how many chunks it has open: forward passes open them in
/// order, backward passes close the last one first. `stage` is where a micro-batch that begins on
/// the first stage has these chunks.
std::vector<Bytes> received_blocks(const std::vector<ChunkMemory>& chunks, std::size_t stage,
                                   std::size_t num_stages, Cache cache) {
  std::vector<Bytes> held(1);
  Bytes all;
  Bytes history;
  Bytes own_of_others;
  Bytes own;
  for (const std::size_t c : chunks_of_stage(stage, num_stages, chunks.size())) {
    const ChunkMemory& chunk = chunks[c];
    all += chunk.received;
    // A chunk without layers is handed nothing that it keeps.
    if (chunk.received.value > 0) {
      history = chunk.received;
      own_of_others = own;
    }
    own += chunk.own_blocks;
    held.push_back(cache == Cache::none ? all : history - own_of_others);
  }
  return held;
}

/// What is in flight on one stage while its table is walked. In a whole backward pass the weights'
/// task follows at once, so that what waits for it is never at a peak.
class InFlight {
 public:
  InFlight(const std::vector<ChunkMemory>& chunks, const PipelineOrder& order, std::size_t stage,
           Cache cache)
      : chunks_(chunks),
        order_(order),
        received_(received_blocks(chunks, stage, order.stages.size(), cache)),
        reversed_(
            received_blocks(chunks, order.stages.size() - 1 - stage, order.stages.size(), cache)),
        open_(static_cast<std::size_t>(order.num_micro_batches), 0) {}

  void visit(const PipelineTask& task) {
    const ChunkMemory& chunk = chunks_[static_cast<std::size_t>(task.chunk)];
    if (task.kind == TaskKind::forward) {
      now_.activations += chunk.kept;
      open(task, 1);
      note_peak({});
    } else if (task.kind == TaskKind::backward_input) {
      note_peak(chunk.working);
      now_.activations -= chunk.kept;
      now_.activations += chunk.for_weights;
      open(task, -1);
    } else if (task.kind == TaskKind::backward_weight) {
      now_.activations -= chunk.for_weights;
    }
  }

  const StageMemory& peak() const { return peak_; }

 private:
  void open(const PipelineTask& task, int passes) {
    std::size_t& chunks = open_[static_cast<std::size_t>(task.micro_batch)];
    const std::vector<Bytes>& received =
        is_reversed(order_, task.micro_batch) ? reversed_ : received_;
    const Bytes before = received[chunks];
    const Count was_open = chunks > 0 ? 1 : 0;
    chunks += static_cast<std::size_t>(passes);
    now_.blocks += received[chunks];
    now_.blocks -= before;
    now_.micro_batches += (chunks > 0 ? 1 : 0) - was_open;
  }

  void note_peak(Bytes working) {
    const Count most = std::max(peak_.micro_batches, now_.micro_batches);
    if (now_.all() + working > peak_.all()) peak_ = {now_.activations + working, now_.blocks, most};
    peak_.micro_batches = most;
  }

  const std::vector<ChunkMemory>& chunks_;
  const PipelineOrder& order_;
  std::vector<Bytes> received_;    // by a micro-batch that begins on the first stage
  std::vector<Bytes> reversed_;    // on the last
  std::vector<std::size_t> open_;  // chunks of each micro-batch
  StageMemory now_;
  StageMemory peak_;
};

}  // namespace

std::vector<StageMemory> training_memory(const Study& study, const ResidualPath& path,
                                         Schedule schedule, const PipelineOrder& order) {
  const std::vector<ChunkMemory> chunks = chunk_memories(study, path, schedule);
  const std::size_t num_stages = order.stages.size();
  std::vector<StageMemory> stages;
  for (std::size_t stage = 0; stage < num_stages; ++stage) {
    InFlight in_flight(chunks, order, stage, study.training->cache);
    for (const PipelineTask& task : order.stages[stage]) in_flight.visit(task);
    stages.push_back(in_flight.peak());
  }
  return stages;
}

std::size_t fullest_stage(const std::vector<StageMemory>& stages,
                          const std::vector<Bytes>& beside) {
  const auto all = [&](std::size_t stage) {
    return stages[stage].all() + (beside.empty() ? Bytes{} : beside[stage]);
  };
  std::size_t most = 0;
  for (std::size_t stage = 1; stage < stages.size(); ++stage)
    if (all(stage) > all(most)) most = stage;
  return most;
}

StageMemory fullest(const std::vector<StageMemory>& stages) {
  StageMemory most;
  for (const StageMemory& stage : stages)
    if (stage.all() > most.all()) most = stage;
  return most;
}

BesideThePath beside_the_path(const Study& study) {
  BesideThePath beside{training_order(study, study.training->num_micro_batches), {}};
  if (!study.model.architecture) return beside;
  beside.layers = layer_activations(study, beside.order);
  return beside;
}

std::vector<Bytes> beside_by_stage(const Study& study, const ResidualPath& path,
                                   const BesideThePath& beside) {
  std::vector<Bytes> stages = beside.layers;
  for (std::size_t stage = 0; stage < stages.size(); ++stage)
    stages[stage] += model_state(study, path, stage).all();
  return stages;
}

std::vector<MemoryRow> training_memory_rows(const Study& study, const ResidualPath& path,
                                            Schedule schedule) {
  if (!study.training) return {};
  return training_memory_rows(study, beside_the_path(study), path, schedule);
}

std::vector<MemoryRow> training_memory_rows(const Study& study, const BesideThePath& beside,
                                            const ResidualPath& path, Schedule schedule) {
  const std::vector<StageMemory> stages = training_memory(study, path, schedule, beside.order);
  const std::size_t stage = fullest_stage(stages, beside_by_stage(study, path, beside));
  const StageMemory& residual = stages[stage];
  std::vector<MemoryRow> rows;
  const auto push = [&](MemoryItem item, Bytes bytes) {
    if (bytes.value > 0)
      rows.push_back(
          {.workload = WorkloadId::training(), .path = &path, .item = item, .bytes = bytes});
  };
  push(MemoryItem::activations, residual.activations);
  push(MemoryItem::pipeline_blocks, residual.blocks);
  if (!study.model.architecture) return rows;
  const ModelState state = model_state(study, path, stage);
  push(MemoryItem::weights, state.weights);
  push(MemoryItem::gradients, state.gradients);
  push(MemoryItem::optimizer_states, state.optimizer);
  push(MemoryItem::layer_activations, beside.layers[stage]);
  return rows;
}

std::vector<MemoryRow> all_memory_rows(const Study& study, const ResidualPath& path) {
  std::vector<MemoryRow> rows = memory_rows(study, path);
  const std::vector<MemoryRow> training =
      training_memory_rows(study, path, quoted_schedule(study, path));
  rows.insert(rows.end(), training.begin(), training.end());
  return rows;
}

NeededMemory fullest_workload(const Study& study, const ResidualPath& path) {
  return fullest_of(all_memory_rows(study, path), path.scheme).value_or(NeededMemory{});
}

Bytes fullest_memory(const Study& study, const ResidualPath& path) {
  return fullest_workload(study, path).bytes;
}

}  // namespace depthcost
