// Weights of an MLP with its routed experts, as papers count parameters.
#pragma once

#include "model/step/layer_cost.hpp"

namespace depthcost::test {

inline double with_experts(const Mlp& mlp, double hidden_size, Count ExpertMlp::*num_experts) {
  const MlpWeights weights = num_weights(mlp, hidden_size);
  const auto* experts = std::get_if<ExpertMlp>(&mlp);
  return weights.of_all_tokens() +
         (experts ? as_double(experts->*num_experts) * weights.per_expert : 0);
}

/// The weights in a checkpoint.
inline double num_all_weights(const Mlp& mlp, double hidden_size) {
  return with_experts(mlp, hidden_size, &ExpertMlp::num_experts);
}

/// The weights that one token is multiplied with.
inline double num_active_weights(const Mlp& mlp, double hidden_size) {
  return with_experts(mlp, hidden_size, &ExpertMlp::num_active);
}

}  // namespace depthcost::test
