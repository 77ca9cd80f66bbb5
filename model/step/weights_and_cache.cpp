// Sums over layers, in storage types.
#include "model/step/weights_and_cache.hpp"

#include <algorithm>

#include "model/step/draft.hpp"
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

/// Routed experts of one decoder layer on one device. They are dealt out whole; if ranks are left
/// over, several share an expert.
double expert_elements(const Study& study, const Mlp& mlp) {
  const auto* experts = std::get_if<ExpertMlp>(&mlp);
  if (experts == nullptr) return 0;
  const Count ranks = study.expert_parallel_size;
  const double on_this_rank = as_double(divided_up(experts->num_experts, ranks));
  const double cut = ranks_per_expert({.tensor = study.tensor_parallel_size, .expert = ranks});
  return on_this_rank * num_weights(mlp, as_double(study.model.hidden_size)).per_expert / cut;
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

DeviceParameters device_parameters(const Study& study) {
  const Architecture& architecture = *study.model.architecture;
  const double d = as_double(study.model.hidden_size);
  const double tensor = as_double(study.tensor_parallel_size);
  DeviceParameters parameters;
  for (const AttentionLayers& a : architecture.attention)
    parameters.layers += as_double(a.num_decoder_layers) *
                         attention_cost(a.attention, d, {}, study.tensor_parallel_size).weights;
  for (const MlpLayers& m : architecture.mlp) {
    const double layers = as_double(m.num_decoder_layers);
    parameters.layers += layers * num_weights(m.mlp, d).common / tensor;
    parameters.experts += layers * expert_elements(study, m.mlp);
  }
  parameters.layers *= largest_stage_share(study);
  parameters.experts *= largest_stage_share(study);
  // They lie with the head, on one stage.
  if (const DraftLayers* draft = draft_of(study)) {
    const double layers = as_double(draft->num_layers);
    parameters.layers +=
        layers * attention_cost(draft->attention, d, {}, study.tensor_parallel_size).weights +
        (layers * num_weights(draft->mlp, d).common + as_double(draft->projections)) / tensor;
    parameters.experts += layers * expert_elements(study, draft->mlp);
  }
  // With a pipeline embedding and head lie on different stages, each with a table even if tied.
  const bool is_on_one_device = !study.pipeline || study.pipeline->num_stages == 1;
  const double matrices = is_on_one_device && architecture.output_head == OutputHead::own ? 2 : 1;
  parameters.vocabulary = matrices * as_double(architecture.vocabulary_size) * d / tensor;
  const double looked_up =
      study.tables == TablePlacement::device ? num_looked_up(architecture.tables) : 0;
  // With a pipeline they are on the fullest stage.
  parameters.tables = (looked_up + num_projections(architecture.tables)) / tensor;
  return parameters;
}

Bytes device_weights(const Study& study) {
  const Architecture& architecture = *study.model.architecture;
  const DeviceParameters parameters = device_parameters(study);
  return Bytes{(parameters.layers + parameters.tables) *
                   bytes_per_weight(architecture.weight_dtype) +
               parameters.experts * bytes_per_weight(architecture.expert_dtype) +
               parameters.vocabulary * bytes_per_element(study.model.dtype)};
}

Bytes device_cache(const Study& study, double num_sequences, const CachedSequence& sequence) {
  const auto of_layers = [&](const Attention& attention, Count layers) {
    const AttentionCost cost =
        attention_cost(attention, as_double(study.model.hidden_size),
                       {.first = sequence.tokens - 1, .tokens = 1}, study.tensor_parallel_size);
    const Bytes cache = storage(cost.stored_elements / as_double(study.context_parallel_size),
                                study.model.architecture->kv_dtype);
    return as_double(layers) * (cache + storage(sequence.states * cost.state_elements, Dtype::f32));
  };
  Bytes bytes;
  for (const AttentionLayers& a : study.model.architecture->attention)
    bytes = bytes + of_layers(a.attention, a.num_decoder_layers);
  bytes = largest_stage_share(study) * bytes;
  if (const DraftLayers* draft = draft_of(study))
    bytes = bytes + of_layers(draft->attention, draft->num_layers);
  return num_sequences * bytes;
}

Bytes decode_cache(const Study& study, Count sequences) {
  const Decode& decode = *study.decode;
  const Bytes of_sequences = device_cache(
      study, as_double(sequences),
      {.tokens = tokens_in_cache(decode), .states = as_double(decode.speculation.tokens)});
  if (!decode.prompt) return of_sequences;
  return of_sequences +
         device_cache(study, 1,
                      {as_double(context_of(*decode.prompt, decode) + decode.prompt->tokens)});
}

Bytes cache_per_token(const Study& study, double tokens) {
  return device_cache(study, 1, {tokens + 1}) - device_cache(study, 1, {tokens});
}

}  // namespace depthcost
