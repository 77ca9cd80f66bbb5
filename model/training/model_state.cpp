// Elements of two groups, each shared out over its own replicas.
#include "model/training/model_state.hpp"

#include <algorithm>

#include "model/ledger/arithmetic.hpp"
#include "model/step/weights_and_cache.hpp"
#include "model/training/replicas.hpp"
#include "model/training/rest_of_training.hpp"

namespace depthcost {
namespace {

/// Adds `elements` weights that `replicas` devices hold.
void add(ModelState& state, const Training& training, double elements, double optimizer_bytes,
         Count replicas) {
  const auto shared_from = [&](StateSharding first) {
    return training.sharding >= first ? elements / as_double(replicas) : elements;
  };
  state.weights += Bytes{kWeightBytes * shared_from(StateSharding::weights)};
  state.gradients += storage(shared_from(StateSharding::gradients), training.main_gradients);
  state.optimizer += Bytes{optimizer_bytes * shared_from(StateSharding::optimizer)};
}

/// What is whole for a moment of that which replicas share out: of layers in the mean, or one
/// vocabulary matrix where that is larger.
void add_gathered(ModelState& state, const Study& study, const DeviceParameters& parameters,
                  std::size_t stage) {
  const double decoder_layers = stage_share(study, stage) * as_double(study.model.num_layers) / 2;
  const auto shared = [](double elements, Count replicas) { return replicas > 1 ? elements : 0; };
  const Count dense = dense_replicas(study).replicas;
  const double of_layers = shared(parameters.dense_layers(), dense) +
                           shared(parameters.experts, expert_replicas(study).replicas);
  const double matrix = parameters.vocabulary > 0 ? shared(vocabulary_matrix(study), dense) : 0;
  const auto whole = [&](double layers) {
    const double at_once = std::min(layers, decoder_layers);
    const double elements = decoder_layers > 0 ? at_once / decoder_layers * of_layers : 0;
    return Bytes{kWeightBytes * std::max(elements, matrix)};
  };
  if (study.training->sharding >= StateSharding::gradients) state.whole_gradients = whole(1);
  if (study.training->sharding == StateSharding::weights)
    state.whole_weights = whole(kGatheredLayers);
  state.gradients += state.whole_gradients;
  state.weights += state.whole_weights;
}

}  // namespace

double path_parameters(const Study& study, const ResidualPath& path) {
  return parameters(path, as_double(study.model.hidden_size)).total /
         as_double(path.scheme.parameters.weight_shards);
}

ModelState model_state(const Study& study, const ResidualPath& path, std::size_t stage) {
  const Training& training = *study.training;
  const DeviceParameters parameters = stage_parameters(as_trained(study), stage);
  const double optimizer = training.optimizer == Optimizer::muon ? kMuonBytes : kAdamwBytes;
  const Count replicas = dense_replicas(study).replicas;
  ModelState state;
  add(state, training, parameters.dense_layers(), optimizer, replicas);
  add(state, training, parameters.experts, optimizer, expert_replicas(study).replicas);
  const double of_path = stage_share(study, stage) * path_parameters(study, path);
  add(state, training, parameters.vocabulary + parameters.tables + parameters.rows + of_path,
      kAdamwBytes, replicas);
  add_gathered(state, study, parameters, stage);
  return state;
}

}  // namespace depthcost
