// One visitor for each kind of layer, and a walk over the order tables.
#include "model/training/layer_activations.hpp"

#include <algorithm>

#include "model/step/layer_cost.hpp"
#include "model/training/training_work.hpp"

namespace depthcost {
namespace {

double gate_of(OutputGate gate, double width) { return gate == OutputGate::present ? width : 0; }

struct KeptByAttention {
  Count tensor;

  /// Queries, keys, values, the output, and its gate.
  double operator()(const GroupedAttention& a) const {
    const double h = as_double(a.head_dim);
    const double width = dealt_out(a.num_heads, tensor) * h;
    const double own = a.key_values == KeyValues::own ? 1 : 0;
    return 2 * width + own * 2 * dealt_out(a.num_kv_heads, tensor) * h +
           gate_of(a.output_gate, width) + a.indexer.queries() + as_double(a.indexer.dim);
  }

  /// The compressed vectors, which every rank has, and what heads make of them.
  double operator()(const LatentAttention& a) const {
    const double heads = dealt_out(a.num_heads, tensor);
    const double key = as_double(a.nope_dim + a.rope_dim);
    const double value = as_double(a.value_dim);
    const double compressed =
        as_double(a.q_rank.value_or(0)) + as_double(a.kv_rank) + as_double(a.rope_dim);
    return compressed + heads * (2 * key + 2 * value) + gate_of(a.output_gate, heads * value) +
           a.indexer.queries() + as_double(a.indexer.dim);
  }

  /// Queries, keys and values before and behind the convolution, decay, output, its norm, its gate.
  double operator()(const LinearAttention& a) const {
    const double h = as_double(a.head_dim);
    const double width = dealt_out(a.num_heads, tensor) * h;
    const double keys = dealt_out(a.key_heads.value_or(a.num_heads), tensor) * h;
    const double decay = a.decay == Decay::per_channel ? h + width : width / h;
    return 2 * (width + 2 * keys) + decay + 3 * width;
  }

  double operator()(const CompressedAttention& a) const {
    const double h = as_double(a.head_dim);
    const double width = dealt_out(a.num_heads, tensor) * h;
    const double output = dealt_out(a.output_groups, tensor) * as_double(a.output_rank);
    return as_double(a.q_rank) + 2 * width + h + output + a.indexer.queries() +
           as_double(a.indexer.dim);
  }
};

struct KeptByMlp {
  double d;
  double tensor;

  /// Gate, up and their product.
  double operator()(const DenseMlp& m) const { return 3 * as_double(m.width) / tensor; }

  /// The router's logits; of each expert of a token its row, gate, up and product.
  double operator()(const ExpertMlp& m) const {
    const double width = as_double(m.width);
    const double row = m.latent_width ? as_double(*m.latent_width) : d;
    return (as_double(m.num_experts) + as_double(m.num_shared) * 3 * width +
            as_double(m.num_active) * (row + 3 * width)) /
           tensor;
  }
};

/// What the layers keep of one micro-batch.
struct KeptByLayers {
  Bytes layer;          // a sublayer, as the mean over all
  Bytes decoder_layer;  // the largest attention and the largest MLP
  Bytes logits;
};

KeptByLayers kept_by_layers(const Study& study) {
  const Architecture& architecture = *study.model.architecture;
  const Training& training = *study.training;
  const double d = as_double(study.model.hidden_size);
  const Count tensor = study.tensor_parallel_size;
  const double tokens = as_double(training.sequence_length) * as_double(training.micro_batch_size) /
                        as_double(study.context_parallel_size);
  double all = 0;
  double attention = 0;
  double mlp = 0;
  for (const AttentionLayers& layers : architecture.attention) {
    const double kept = kept_elements(layers.attention, tensor);
    all += as_double(layers.num_decoder_layers) * kept;
    attention = std::max(attention, kept);
  }
  for (const MlpLayers& layers : architecture.mlp) {
    const double kept = kept_elements(layers.mlp, d, tensor);
    all += as_double(layers.num_decoder_layers) * kept;
    mlp = std::max(mlp, kept);
  }
  const Dtype dtype = study.model.dtype;
  return {
      storage(tokens * all / as_double(study.model.num_layers), dtype),
      storage(tokens * (attention + mlp), dtype),
      storage(tokens * as_double(architecture.vocabulary_size) / as_double(tensor), Dtype::f32)};
}

/// A forward pass adds its chunk, the gradients of its weights take it away.
Bytes peak_of_kept(const std::vector<PipelineTask>& tasks, const std::vector<Bytes>& chunks) {
  Bytes now;
  Bytes peak;
  for (const PipelineTask& task : tasks) {
    const Bytes bytes = chunks[static_cast<std::size_t>(task.chunk)];
    if (task.kind == TaskKind::forward) now += bytes;
    if (task.kind == TaskKind::backward_weight) now -= bytes;
    peak = std::max(peak, now);
  }
  return peak;
}

/// A whole backward pass goes from decoder layer to decoder layer. A split one makes a chunk's
/// activations for the gradients of its inputs, and needs them until those of its weights.
Bytes peak_of_recomputed(const std::vector<PipelineTask>& tasks, const std::vector<Bytes>& chunks,
                         Bytes decoder_layer) {
  Bytes now;
  Bytes peak = decoder_layer;
  for (const PipelineTask& task : tasks) {
    const bool is_split = task.backward == BackwardPass::split;
    const Bytes bytes = is_split ? chunks[static_cast<std::size_t>(task.chunk)] : Bytes{};
    if (task.kind == TaskKind::backward_input) now += bytes;
    peak = std::max(peak, is_split ? now : now + decoder_layer);
    if (task.kind == TaskKind::backward_weight) now -= bytes;
  }
  return peak;
}

}  // namespace

double kept_elements(const Attention& attention, Count tensor) {
  return std::visit(KeptByAttention{tensor}, attention);
}

double kept_elements(const Mlp& mlp, double hidden_size, Count tensor) {
  return std::visit(KeptByMlp{hidden_size, as_double(tensor)}, mlp);
}

std::vector<Bytes> layer_activations(const Study& study, const PipelineOrder& order) {
  const KeptByLayers kept = kept_by_layers(study);
  std::vector<Bytes> chunks;
  for (const Count layers : layout_of(study).chunk_layers)
    chunks.push_back(as_double(layers) * kept.layer);
  std::vector<Bytes> stages;
  for (const std::vector<PipelineTask>& tasks : order.stages)
    stages.push_back(recomputes_layers(*study.training)
                         ? peak_of_recomputed(tasks, chunks, kept.decoder_layer)
                         : peak_of_kept(tasks, chunks));
  stages.back() += kept.logits;
  return stages;
}

}  // namespace depthcost
