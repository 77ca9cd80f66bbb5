// The layers of a training step on a GPU: their products, at the shares of the machine's rates that
// whole training steps reach. REFERENCES.md, "training".
#pragma once

#include "model/step/rest_of_step.hpp"

namespace depthcost {

/// Whether those shares hold: they were fitted on GPUs. On a CPU, products run at the rates of
/// model/step/rest_of_step.hpp.
bool has_training_shares(const Machine& machine);

/// The study as it is trained: weights are bf16, whatever the model ships, experts balanced, unless
/// the scenario says how they are chosen, and no decode step drafts tokens.
Study as_trained(Study study);

/// One forward pass of a micro-batch through all layers: training_workload(). Collectives are what
/// tensor ranks exchange, and experts between nodes. What experts exchange inside a node is in
/// their share, and launches hide behind products.
RestOfStep rest_of_training(const Study& study, const Workload& workload);

/// The share of a pass's products that attention's scores and mixes take, in time. Both of their
/// factors are activations, so that their backward pass has gradients of inputs alone.
double core_share(const Study& study, const Work& work);

}  // namespace depthcost
