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

/// What lies on a device: layers, and what stands at the ends of the model.
struct Place {
  double share = 1;         // of all layers
  double vocabularies = 0;  // embedding and head, each a matrix
  bool has_tables = false;
};

/// Adds the weights of a share of all layers on one rank.
void add_layers(const Study& study, double share, DeviceParameters& parameters) {
  const Architecture& architecture = *study.model.architecture;
  const double d = as_double(study.model.hidden_size);
  const double tensor = as_double(study.tensor_parallel_size);
  for (const AttentionLayers& a : architecture.attention)
    parameters.layers += share * as_double(a.num_decoder_layers) *
                         attention_cost(a.attention, d, {}, study.tensor_parallel_size).weights;
  for (const MlpLayers& m : architecture.mlp) {
    const double layers = share * as_double(m.num_decoder_layers);
    const MlpWeights weights = num_weights(m.mlp, d);
    parameters.layers += layers * weights.common / tensor;
    parameters.routers += layers * weights.on_every_rank;
    parameters.experts += layers * expert_elements(study, m.mlp);
  }
}

DeviceParameters parameters_at(const Study& study, const Place& place) {
  const Architecture& architecture = *study.model.architecture;
  const double tensor = as_double(study.tensor_parallel_size);
  DeviceParameters parameters;
  add_layers(study, place.share, parameters);
  parameters.vocabulary = place.vocabularies * vocabulary_matrix(study);
  if (!place.has_tables) return parameters;
  parameters.tables = num_projections(architecture.tables) / tensor;
  if (study.tables == TablePlacement::device)
    parameters.rows = num_looked_up(architecture.tables) / tensor;
  return parameters;
}

std::size_t num_stages(const Study& study) {
  return study.pipeline ? static_cast<std::size_t>(study.pipeline->num_stages) : 1;
}

/// The stages whose chunks lie on one.
std::vector<std::size_t> held_stages(const Study& study, std::size_t stage) {
  const bool has_two_directions =
      study.training && num_copies(study.training->schedule) == 2 && study.pipeline;
  if (!has_two_directions) return {stage};
  return {stage, num_stages(study) - 1 - stage};
}

}  // namespace

Count layers_of_largest_stage(const Study& study) {
  if (!study.pipeline) return study.model.num_layers;
  Count largest = 0;
  for (std::size_t stage = 0; stage < num_stages(study); ++stage)
    largest = std::max(largest, layers_of_stage(*study.pipeline, stage));
  return largest;
}

double largest_stage_share(const Study& study) {
  return as_double(layers_of_largest_stage(study)) / as_double(study.model.num_layers);
}

double stage_share(const Study& study, std::size_t stage) {
  if (!study.pipeline) return 1;
  Count layers = 0;
  for (const std::size_t held : held_stages(study, stage))
    layers += layers_of_stage(*study.pipeline, held);
  return as_double(layers) / as_double(study.model.num_layers);
}

DeviceParameters stage_parameters(const Study& study, std::size_t stage) {
  const std::size_t last = num_stages(study) - 1;
  Place place{.share = stage_share(study, stage)};
  for (const std::size_t held : held_stages(study, stage)) {
    if (held == 0) place.has_tables = true;
    if (held == 0) ++place.vocabularies;
    const bool has_own_head = last > 0 || study.model.architecture->output_head == OutputHead::own;
    if (held == last && has_own_head) ++place.vocabularies;
  }
  return parameters_at(study, place);
}

DeviceParameters device_parameters(const Study& study) {
  const Architecture& architecture = *study.model.architecture;
  const double d = as_double(study.model.hidden_size);
  const double tensor = as_double(study.tensor_parallel_size);
  // With a pipeline embedding and head lie on different stages, each with a table even if tied.
  const bool is_on_one_device = num_stages(study) == 1;
  const double matrices = is_on_one_device && architecture.output_head == OutputHead::own ? 2 : 1;
  DeviceParameters parameters = parameters_at(
      study, {.share = largest_stage_share(study), .vocabularies = matrices, .has_tables = true});
  // They lie with the head, on one stage.
  if (const DraftLayers* draft = draft_of(study)) {
    const double layers = as_double(draft->num_layers);
    const MlpWeights weights = num_weights(draft->mlp, d);
    parameters.layers +=
        layers * attention_cost(draft->attention, d, {}, study.tensor_parallel_size).weights +
        (layers * weights.common + as_double(draft->projections)) / tensor;
    parameters.routers += layers * weights.on_every_rank;
    parameters.experts += layers * expert_elements(study, draft->mlp);
  }
  return parameters;
}

double vocabulary_matrix(const Study& study) {
  return as_double(study.model.architecture->vocabulary_size) * as_double(study.model.hidden_size) /
         as_double(study.tensor_parallel_size);
}

Bytes device_weights(const Study& study) {
  const Architecture& architecture = *study.model.architecture;
  const DeviceParameters parameters = device_parameters(study);
  const double row_bytes = parameters.rows == 0 ? 0 : bytes_of_rows(architecture).value;
  return Bytes{(parameters.layers + parameters.tables) *
                   bytes_per_weight(architecture.weight_dtype) +
               parameters.experts * bytes_per_weight(architecture.expert_dtype) +
               (parameters.routers + parameters.vocabulary) * bytes_per_element(study.model.dtype) +
               row_bytes / as_double(study.tensor_parallel_size)};
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
