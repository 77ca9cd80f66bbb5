// Chunk by chunk and boundary by boundary.
#include "model/training/training_work.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "model/ledger/backward.hpp"
#include "model/ledger/launches.hpp"
#include "model/step/layer_cost.hpp"
#include "model/step/scheme_payload.hpp"
#include "model/step/stage_sends.hpp"
#include "model/step/weights_and_cache.hpp"
#include "model/training/layer_activations.hpp"
#include "model/training/replicas.hpp"
#include "model/training/rest_of_training.hpp"

namespace depthcost {
namespace {

/// Chunk of each layer 1..L (index 0 is layer 1).
std::vector<std::size_t> chunk_of_layers(const PipelineLayout& layout) {
  std::vector<std::size_t> chunks;
  for (std::size_t chunk = 0; chunk < layout.chunk_layers.size(); ++chunk)
    chunks.insert(chunks.end(), static_cast<std::size_t>(layout.chunk_layers[chunk]), chunk);
  return chunks;
}

/// Equal launches are timed once.
class LaunchTimes {
 public:
  LaunchTimes(const Machine& machine, const Execution& execution, const Corner& corner)
      : machine_(machine), execution_(execution), corner_(corner) {}

  const TimeTerms& operator()(const Operation& operation) {
    const auto [entry, is_new] = known_.try_emplace(operation);
    if (is_new) entry->second = LaunchTime(machine_, operation, execution_).terms(corner_);
    return entry->second;
  }

 private:
  const Machine& machine_;
  const Execution& execution_;
  const Corner& corner_;
  std::map<Operation, TimeTerms> known_;
};

/// What GPUs' backward kernels take over plain streams of their bytes. Nobody has published one of
/// a scheme alone. [ours] Liger takes 1.42 ms forward and back of AttnRes (9 sources, 4,096 tokens,
/// d 8,192, RTX PRO 6000), 1.0 to 1.3 times its bytes; fla reaches 44 % of a B200's bandwidth.
constexpr Estimate<double> kBackwardKernels{1, 1, 2, Evidence::assumed};

TimeTerms backward_terms(const Study& study, const BackwardLayer& layer, const Corner& corner) {
  const double tokens = training_tokens(study);
  const double d = as_double(study.model.hidden_size);
  const GradientTraffic& moved = layer.traffic;
  const Dtype gradients = study.training->gradient_dtype;
  const Bytes reads = tokens * (storage(moved.activation_reads_d * d, study.model.dtype) +
                                storage(moved.gradient_reads_d * d, gradients));
  const Bytes writes = tokens * storage(moved.gradient_writes_d * d, gradients);
  const TimeTerms terms =
      stream_terms(*study.machine, Launch::stream, layer.kernels, reads, writes, corner);
  return study.machine->core ? terms : at(kBackwardKernels, corner.kernels) * terms;
}

void add_forward(std::vector<ResidualWork>& work, const Study& study, const ResidualPath& path,
                 Schedule schedule, const Corner& corner) {
  const std::vector<std::size_t> chunks = chunk_of_layers(layout_of(study));
  Execution execution = training_workload(study).passes.front().execution;
  execution.bank_age = bank_age(path.scheme, schedule);
  execution.parameter_age = as_double(layers_of_largest_stage(study));
  LaunchTimes terms_of(*study.machine, execution, corner);
  each_launch(path, schedule, [&](Count layer, const Operation& operation) {
    // Layer 0 is the output aggregation, which the last chunk runs.
    const std::size_t chunk =
        layer == 0 ? work.size() - 1 : chunks[static_cast<std::size_t>(layer) - 1];
    const TimeTerms& terms = terms_of(operation);
    work[chunk].forward += terms.total();
    work[chunk].terms += terms.binding();
  });
}

void add_backward(std::vector<ResidualWork>& work, const Study& study, const ResidualPath& path,
                  Schedule schedule, const Corner& corner) {
  const std::vector<std::size_t> chunks = chunk_of_layers(layout_of(study));
  const auto layers = backward_layers(path, schedule, study.training->gradient_accumulation);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    ResidualWork& chunk = work[i < chunks.size() ? chunks[i] : work.size() - 1];
    const TimeTerms terms = backward_terms(study, layers[i], corner);
    chunk.backward += terms.total();
    chunk.terms += terms;
  }
}

/// Share of a host link's datasheet rate that copies reach: PCIe packets and pinned buffers leave
/// so much. [ours]
constexpr Estimate<double> kHostLinkShare{0.70, 0.85, 0.95, Evidence::assumed};

/// The share of a row's time that attention's scores and mixes take. Where a step was measured, the
/// row is scaled to it, and its parts are not.
double core_share(const Study& study, const RestRow& row, IntervalEnd end) {
  Seconds core;
  Seconds all;
  for (const RestPart& part : row.parts) {
    const Seconds time = part.calls * at(part.time, end);
    core += core_share(study, part.work) * time;
    all += time;
  }
  return core > Seconds{} ? core / all : 0;
}

/// The share of attention's weights that are multiplied with again before a backward pass.
double share_projected_up(const Study& study) {
  if (study.training->layers != LayerActivations::selective || !study.model.architecture) return 0;
  double again = 0;
  double all = 0;
  for (const auto& [attention, num_decoder_layers] : study.model.architecture->attention) {
    again += as_double(num_decoder_layers) * weights_projecting_up(attention);
    all +=
        as_double(num_decoder_layers) * num_weights(attention, as_double(study.model.hidden_size));
  }
  return again / all;
}

std::vector<Bytes> messages(const Study& study, const ResidualPath& path, Dtype dtype) {
  std::vector<Bytes> bytes;
  const double elements = training_tokens(study) * as_double(study.model.hidden_size);
  for (const Count vectors : payload_vectors(study, path))
    bytes.push_back(storage(as_double(vectors) * elements, dtype));
  return bytes;
}

}  // namespace

PipelineLayout layout_of(const Study& study) {
  return study.pipeline.value_or(PipelineLayout{1, 1, {study.model.num_layers}});
}

std::vector<ChunkOfLayers> chunks_of(const PipelineLayout& layout) {
  std::vector<ChunkOfLayers> chunks;
  Count first_layer = 1;
  for (const Count num_layers : layout.chunk_layers) {
    chunks.push_back({.first_layer = first_layer, .num_layers = num_layers});
    first_layer += num_layers;
  }
  chunks.back().output = OutputAggregation::here;
  return chunks;
}

PipelineOrder training_order(const Study& study, Count num_micro_batches) {
  const PipelineLayout layout = layout_of(study);
  return pipeline_order(
      study.training->schedule, layout.num_stages, layout.num_virtual_stages, num_micro_batches,
      has_recomputation(*study.training) ? Activations::recomputed : Activations::kept);
}

double training_tokens(const Study& study) {
  const Training& training = *study.training;
  return as_double(training.sequence_length) * as_double(training.micro_batch_size) /
         as_double(study.context_parallel_size * residual_shards(study, WorkloadKind::training));
}

Workload training_workload(const Study& study) {
  const Training& training = *study.training;
  const ForwardPass pass{.num_sequences = as_double(training.micro_batch_size) /
                                          as_double(study.context_parallel_size),
                         .sequence = {.first = 0, .tokens = as_double(training.sequence_length)},
                         .launch = Launch::stream};
  const Execution execution{.tokens = training_tokens(study),
                            .launch = Launch::stream,
                            .storage = storage_of(study),
                            .layer_bytes = modelled_layer_bytes(as_trained(study), pass)};
  return {.id = WorkloadId::training(),
          .passes = {{execution, pass, 1}},
          .baseline_step = training.baseline_step};
}

std::vector<ResidualWork> residual_work(const Study& study, const ResidualPath& path,
                                        Schedule schedule, const Corner& corner) {
  std::vector<ResidualWork> work(layout_of(study).chunk_layers.size());
  add_forward(work, study, path, schedule, corner);
  add_backward(work, study, path, schedule, corner);
  return work;
}

std::vector<Seconds> offload_seconds(const Study& study, const ResidualPath& path,
                                     Schedule schedule, IntervalEnd end) {
  const std::vector<ChunkOfLayers> chunks = chunks_of(layout_of(study));
  std::vector<Seconds> seconds(chunks.size());
  if (study.training->activations != ActivationPolicy::offload || !study.machine->host_bandwidth)
    return seconds;
  const IntervalEnd rate = opposite(end);
  const BytesPerSecond bandwidth = at(kHostLinkShare, rate) * *study.machine->host_bandwidth;
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    const ChunkActivations activations = chunk_activations(
        path, chunks[chunk], {.policy = ActivationPolicy::offload, .schedule = schedule});
    seconds[chunk] =
        training_tokens(study) *
        bytes(activations.offloaded, as_double(study.model.hidden_size), study.model.dtype) /
        bandwidth;
  }
  return seconds;
}

std::vector<LayerWork> layer_work(const Study& study, const RestOfStep& rest, IntervalEnd end) {
  const PipelineLayout layout = layout_of(study);
  const double projected_up = share_projected_up(study);
  std::vector<LayerWork> work;
  for (std::size_t chunk = 0; chunk < layout.chunk_layers.size(); ++chunk) {
    const bool is_last = chunk + 1 == layout.chunk_layers.size();
    LayerWork layers;
    for (const RestRow& row : rest.rows) {
      const double spread =
          as_double(layout.chunk_layers[chunk]) / as_double(study.model.num_layers);
      const double share = row.term == RestTerm::head ? (is_last ? 1 : 0) : spread;
      const Seconds forward = share * at(row.time, end);
      // Scores and mixes are two products. Their backward pass makes the scores again, and has four
      // more: gradients of mixes, values, queries and keys. None is for a weight. [flash_attention]
      const Seconds core = core_share(study, row, end) * forward;
      layers.forward += forward;
      // The head's logits are kept.
      const bool is_run_again =
          study.training->layers == LayerActivations::recompute && row.term != RestTerm::head;
      if (is_run_again) layers.recompute += forward;
      if (row.term == RestTerm::attention) layers.recompute += projected_up * (forward - core);
      layers.backward_input += (forward - core) + kCoreBackward * core;
      if (row.term != RestTerm::collectives) layers.backward_weight += forward - core;
    }
    work.push_back(layers);
  }
  return work;
}

std::vector<Count> payload_vectors(const Study& study, const ResidualPath& path) {
  std::vector<Count> vectors;
  for (const Transition& transition :
       scheme_payload(layout_of(study), path, study.training->cache).transitions)
    vectors.push_back(transition.vectors);
  return vectors;
}

std::vector<Bytes> forward_messages(const Study& study, const ResidualPath& path) {
  return messages(study, path, study.training->wire_dtype);
}

std::vector<Bytes> backward_messages(const Study& study, const ResidualPath& path) {
  return messages(study, path, study.training->gradient_dtype);
}

std::optional<std::vector<StageLink>> stage_links(const Study& study,
                                                  const std::vector<Bytes>& messages) {
  const Count P = layout_of(study).num_stages;
  std::vector<StageLink> links;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto chunk = static_cast<Count>(i);
    const TransferScope scope = scope_between_stages(
        study, ranks_per_stage(study), stage_of_chunk(chunk, P), stage_of_chunk(chunk + 1, P));
    const auto time = [&](Bytes size) {
      return transfer_time(*study.machine, TransferKind::send, scope, 2, size);
    };
    const auto latency = time(Bytes{1});
    const auto whole = time(messages[i]);
    if (!latency || !whole) return std::nullopt;
    const Seconds on_the_wire = whole->value - latency->value;
    const double rate = on_the_wire > Seconds{} ? messages[i].value / on_the_wire.value
                                                : std::numeric_limits<double>::infinity();
    links.push_back({latency->value, BytesPerSecond{rate}});
  }
  return links;
}

}  // namespace depthcost
