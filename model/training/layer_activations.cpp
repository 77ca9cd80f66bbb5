// One visitor for each kind of layer, and a walk over the order tables.
#include "model/training/layer_activations.hpp"

#include <algorithm>

#include "model/step/layer_cost.hpp"
#include "model/training/training_work.hpp"

namespace depthcost {
namespace {

double gate_of(OutputGate gate, double width) { return gate == OutputGate::present ? width : 0; }

/// What is made again comes from what is kept: in MLA heads from the compressed vectors.
struct KeptByAttention {
  Count tensor;
  LayerActivations layers;

  /// Queries, keys, values, the output, and its gate.
  double operator()(const GroupedAttention& a) const {
    const double h = as_double(a.head_dim);
    const double width = dealt_out(a.num_heads, tensor) * h;
    const double own = a.key_values == KeyValues::shared ? 0 : 1;
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
    const bool is_selective = layers == LayerActivations::selective;
    const double query = is_selective && a.q_rank ? 0 : key;
    const double key_and_value = is_selective ? 0 : key + value;
    return compressed + heads * (query + key_and_value + value) +
           gate_of(a.output_gate, heads * value) + a.indexer.queries() + as_double(a.indexer.dim);
  }

  /// Queries, keys and values before and behind the convolution, decay, output, its norm, its gate.
  double operator()(const LinearAttention& a) const {
    const double h = as_double(a.head_dim);
    const double heads = dealt_out(a.num_heads, tensor);
    const double width = heads * h;
    const double key = as_double(a.key_size());
    const double keys = dealt_out(a.key_heads.value_or(a.num_heads), tensor) * key;
    const double decay = a.decay == Decay::per_channel ? h + heads * key : heads;
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
  LayerActivations layers;

  /// Gate, up and their product, which is made again of both.
  KeptElements gated(double width) const {
    if (layers == LayerActivations::selective) return {.in_precision = 2 * width / tensor};
    return {.in_precision = width / tensor, .in_dtype = 2 * width / tensor};
  }

  KeptElements operator()(const DenseMlp& m) const { return gated(as_double(m.width)); }

  /// The router's logits; of each expert of a token its row, gate, up and product.
  KeptElements operator()(const ExpertMlp& m) const {
    const double row = m.latent_width ? as_double(*m.latent_width) : d;
    KeptElements kept = gated(as_double((m.num_shared + m.num_active) * m.width));
    kept.in_precision += as_double(m.num_active) * row / tensor;
    kept.in_dtype += as_double(m.num_experts) / tensor;
    return kept;
  }
};

Bytes bytes_of(const KeptElements& kept, const Study& study) {
  const Dtype precision =
      study.training->precision == Precision::fp8 ? Dtype::fp8 : study.model.dtype;
  return storage(kept.in_precision, precision) + storage(kept.in_dtype, study.model.dtype);
}

double tokens_of_device(const Study& study) {
  const Training& training = *study.training;
  return as_double(training.sequence_length) * as_double(training.micro_batch_size) /
         as_double(study.context_parallel_size);
}

/// What a sublayer keeps of one micro-batch, as the mean over all.
Bytes kept_by_layer(const Study& study, LayerActivations policy) {
  const double d = as_double(study.model.hidden_size);
  const Count tensor = study.tensor_parallel_size;
  Bytes all;
  for (const auto& [attention, num_layers] : study.model.architecture->attention)
    all += as_double(num_layers) * bytes_of(kept_elements(attention, tensor, policy), study);
  for (const auto& [mlp, num_layers] : study.model.architecture->mlp)
    all += as_double(num_layers) * bytes_of(kept_elements(mlp, d, tensor, policy), study);
  return (tokens_of_device(study) / as_double(study.model.num_layers)) * all;
}

/// What one decoder layer makes again: the attention and the MLP that make most.
Bytes recomputed(const Study& study) {
  const LayerActivations policy = study.training->layers;
  const double d = as_double(study.model.hidden_size);
  const Count tensor = study.tensor_parallel_size;
  Bytes attentions;
  Bytes mlps;
  for (const auto& [attention, num_layers] : study.model.architecture->attention)
    attentions = std::max(
        attentions, bytes_of(kept_elements(attention, tensor, LayerActivations::keep), study) -
                        bytes_of(kept_elements(attention, tensor, policy), study));
  for (const auto& [mlp, num_layers] : study.model.architecture->mlp)
    mlps = std::max(mlps, bytes_of(kept_elements(mlp, d, tensor, LayerActivations::keep), study) -
                              bytes_of(kept_elements(mlp, d, tensor, policy), study));
  return tokens_of_device(study) * (attentions + mlps);
}

Bytes bytes_of(const LayersInFlight& layers, const KeptOfLayers& kept) {
  return as_double(layers.kept) * kept.of_layer +
         as_double(layers.recomputed) * kept.recomputed_of_layer;
}

Bytes logits_of(const Study& study) {
  return storage(tokens_of_device(study) * as_double(study.model.architecture->vocabulary_size) /
                     as_double(study.tensor_parallel_size),
                 Dtype::f32);
}

/// A whole backward pass makes the rest again decoder layer by decoder layer. A split one makes a
/// chunk's for the gradients of its inputs, and needs it until those of its weights.
LayersInFlight peak_of(const std::vector<PipelineTask>& tasks,
                       const std::vector<Count>& layers_of_chunk, const KeptOfLayers& kept) {
  LayersInFlight now;
  LayersInFlight peak;
  for (const PipelineTask& task : tasks) {
    const Count layers = layers_of_chunk[static_cast<std::size_t>(task.chunk)];
    const bool is_split = task.backward == BackwardPass::split;
    if (task.kind == TaskKind::forward) now.kept += layers;
    if (task.kind == TaskKind::backward_input && is_split) now.recomputed += layers;
    if (bytes_of(now, kept) > bytes_of(peak, kept)) peak = now;
    if (task.kind != TaskKind::backward_weight) continue;
    now.kept -= layers;
    if (is_split) now.recomputed -= layers;
  }
  return peak;
}

}  // namespace

KeptElements kept_elements(const Attention& attention, Count tensor, LayerActivations layers) {
  if (layers == LayerActivations::recompute) return {};
  return {.in_dtype = std::visit(KeptByAttention{tensor, layers}, attention)};
}

KeptElements kept_elements(const Mlp& mlp, double hidden_size, Count tensor,
                           LayerActivations layers) {
  if (layers == LayerActivations::recompute) return {};
  return std::visit(KeptByMlp{hidden_size, as_double(tensor), layers}, mlp);
}

double weights_projecting_up(const Attention& attention) {
  const auto* a = std::get_if<LatentAttention>(&attention);
  if (a == nullptr) return 0;
  const double query = as_double(a->q_rank.value_or(0)) * as_double(a->nope_dim + a->rope_dim);
  const double key_and_value = as_double(a->kv_rank) * as_double(a->nope_dim + a->value_dim);
  return as_double(a->num_heads) * (query + key_and_value);
}

KeptOfLayers kept_of_layers(const Study& study) {
  const Bytes of_layer = kept_by_layer(study, study.training->layers);
  return {.of_layer = of_layer,
          .recomputed_of_layer = kept_by_layer(study, LayerActivations::keep) - of_layer,
          .recomputed = recomputed(study),
          .logits = logits_of(study)};
}

std::vector<LayersInFlight> layers_in_flight(const Study& study, const PipelineOrder& order) {
  const KeptOfLayers kept = kept_of_layers(study);
  const std::vector<Count> layers = layout_of(study).chunk_layers;
  std::vector<LayersInFlight> stages;
  for (const std::vector<PipelineTask>& tasks : order.stages)
    stages.push_back(peak_of(tasks, layers, kept));
  return stages;
}

std::vector<Bytes> layer_activations(const Study& study, const PipelineOrder& order) {
  const KeptOfLayers kept = kept_of_layers(study);
  std::vector<Bytes> stages;
  for (const LayersInFlight& layers : layers_in_flight(study, order)) {
    // A decoder layer that is made again at once is part of those that wait for their weights.
    const Bytes at_once = layers.recomputed > 0 ? Bytes{} : kept.recomputed;
    stages.push_back(bytes_of(layers, kept) + at_once);
  }
  stages.back() += kept.logits;
  return stages;
}

}  // namespace depthcost
