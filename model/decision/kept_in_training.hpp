// What a scheme keeps in training beside what the standard residual keeps: the numbers of the
// budgets `added_activations` and `pipeline_cache`. Activations of the layers are not counted.
#pragma once

#include <vector>

#include "model/step/study.hpp"

namespace depthcost {

/// On one pipeline stage, when it holds most.
struct KeptOnStage {
  Count stage = 0;  // from 0
  Bytes bytes;      // of the budget: added, or received
  Bytes standard;   // what the standard residual keeps for backward passes

  double share() const { return bytes / standard; }
};

/// The study's scheme in its schedule, on every stage where the standard residual keeps anything.
/// `kind` is one of those budgets. The study must have a training step.
std::vector<KeptOnStage> kept_in_training(const Study& study, BudgetKind kind);

/// The fullest of at least one stage.
KeptOnStage largest_share(const std::vector<KeptOnStage>& stages);

/// What the layers of every stage must keep, too, so that no share is over the limit.
Bytes least_kept_by_layers(const std::vector<KeptOnStage>& stages, double limit);

}  // namespace depthcost
