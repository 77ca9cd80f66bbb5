// Elements of two groups, each shared out over its own replicas.
#include "model/training/model_state.hpp"

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

}  // namespace

double path_parameters(const Study& study, const ResidualPath& path) {
  const double all = parameters(path, as_double(study.model.hidden_size)).total;
  return largest_stage_share(study) * all / as_double(path.scheme.parameters.weight_shards);
}

ModelState model_state(const Study& study, const ResidualPath& path) {
  const Training& training = *study.training;
  const DeviceParameters parameters = device_parameters(as_trained(study));
  const double optimizer = training.optimizer == Optimizer::muon ? kMuonBytes : kAdamwBytes;
  const Count replicas = dense_replicas(study).replicas;
  const double copies = as_double(num_copies(training.schedule));
  ModelState state;
  add(state, training, copies * parameters.layers, optimizer, replicas);
  add(state, training, copies * parameters.experts, optimizer, expert_replicas(study).replicas);
  add(state, training,
      copies * (parameters.vocabulary + parameters.tables + path_parameters(study, path)),
      kAdamwBytes, replicas);
  return state;
}

}  // namespace depthcost
