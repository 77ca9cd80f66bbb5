// Sums over layers, in storage types.
#include "model/step/weights_and_cache.hpp"

#include <algorithm>

#include "model/step/layer_work.hpp"

namespace depthcost {
namespace {

Count layers_of_stage(const PipelineLayout& layout, std::size_t stage) {
  const auto num_stages = static_cast<std::size_t>(layout.num_stages);
  Count layers = 0;
  for (const std::size_t chunk : chunks_of_stage(stage, num_stages, layout.chunk_layers.size()))
    layers += layout.chunk_layers[chunk];
  return layers;
}

/// Weights of one decoder layer's attention on one device.
Bytes attention_weights(const Study& study, const Attention& attention) {
  const AttentionCost cost =
      attention_cost(attention, as_double(study.model.hidden_size), {}, study.tensor_parallel_size);
  return {cost.weights * bytes_per_weight(study.model.architecture->weight_dtype)};
}

/// Weights of one decoder layer's MLP on one device. Tensor ranks share what all tokens read.
/// Experts are dealt out whole; if ranks are left over, several share an expert.
Bytes mlp_weights(const Study& study, const Mlp& mlp) {
  const Architecture& architecture = *study.model.architecture;
  const MlpWeights weights = num_weights(mlp, as_double(study.model.hidden_size));
  const Bytes common{weights.common / as_double(study.tensor_parallel_size) *
                     bytes_per_weight(architecture.weight_dtype)};
  const auto* experts = std::get_if<ExpertMlp>(&mlp);
  if (experts == nullptr) return common;
  const Count ranks = study.expert_parallel_size;
  const double on_this_rank = as_double((experts->num_experts + ranks - 1) / ranks);
  const double cut = ranks_per_expert({.tensor = study.tensor_parallel_size, .expert = ranks});
  return common + Bytes{on_this_rank * weights.per_expert / cut *
                        bytes_per_weight(architecture.expert_dtype)};
}

/// Tables beside the embedding, and their projections. Tensor ranks share them out. With a pipeline
/// they are on the fullest stage.
Bytes table_weights(const Study& study) {
  const Architecture& architecture = *study.model.architecture;
  const double elements = num_looked_up(architecture.tables) + num_projections(architecture.tables);
  return {elements / as_double(study.tensor_parallel_size) *
          bytes_per_weight(architecture.weight_dtype)};
}

}  // namespace

Count layers_of_largest_stage(const Study& study) {
  if (!study.pipeline) return study.model.num_layers;
  Count largest = 0;
  for (std::size_t stage = 0; stage < static_cast<std::size_t>(study.pipeline->num_stages); ++stage)
    largest = std::max(largest, layers_of_stage(*study.pipeline, stage));
  return largest;
}

double largest_stage_share(const Study& study) {
  return as_double(layers_of_largest_stage(study)) / as_double(study.model.num_layers);
}

Bytes device_weights(const Study& study) {
  const Architecture& architecture = *study.model.architecture;
  Bytes layers;
  for (const AttentionLayers& a : architecture.attention)
    layers += as_double(a.num_decoder_layers) * attention_weights(study, a.attention);
  for (const MlpLayers& m : architecture.mlp)
    layers += as_double(m.num_decoder_layers) * mlp_weights(study, m.mlp);
  // With a pipeline embedding and head lie on different stages, each with a table even if tied.
  const bool is_on_one_device = !study.pipeline || study.pipeline->num_stages == 1;
  const double matrices = is_on_one_device && architecture.output_head == OutputHead::own ? 2 : 1;
  const double vocabulary = as_double(architecture.vocabulary_size) *
                            as_double(study.model.hidden_size) /
                            as_double(study.tensor_parallel_size);
  return largest_stage_share(study) * layers +
         Bytes{matrices * vocabulary * bytes_per_element(study.model.dtype)} + table_weights(study);
}

Bytes device_cache(const Study& study, double num_sequences, double tokens) {
  const Architecture& architecture = *study.model.architecture;
  Bytes bytes;
  for (const AttentionLayers& a : architecture.attention) {
    const AttentionCost cost =
        attention_cost(a.attention, as_double(study.model.hidden_size),
                       {.first = tokens - 1, .tokens = 1}, study.tensor_parallel_size);
    const Bytes cache = storage(cost.stored_elements / as_double(study.context_parallel_size),
                                architecture.kv_dtype);
    bytes = bytes +
            as_double(a.num_decoder_layers) * (cache + storage(cost.state_elements, Dtype::f32));
  }
  return (largest_stage_share(study) * num_sequences) * bytes;
}

Bytes decode_cache(const Study& study, Count sequences) {
  const Decode& decode = *study.decode;
  const Bytes of_sequences = device_cache(study, as_double(sequences), tokens_in_cache(decode));
  if (!decode.prompt) return of_sequences;
  return of_sequences +
         device_cache(study, 1,
                      as_double(context_of(*decode.prompt, decode) + decode.prompt->tokens));
}

Bytes cache_per_token(const Study& study, double tokens) {
  return device_cache(study, 1, tokens + 1) - device_cache(study, 1, tokens);
}

}  // namespace depthcost
