// What the ranks of a replica, and the replicas that meet at the experts, send each other in a
// forward pass. REFERENCES.md, "rest of the step".
#pragma once

#include <vector>

#include "model/step/layer_work.hpp"

namespace depthcost {

/// Equal collectives of one pass: bytes as transfer_time() counts them.
struct Collective {
  TransferKind kind = TransferKind::all_reduce;
  Count num_ranks = 1;
  Bytes size;
  double calls = 0;
};

/// Whether experts lie beyond the tensor ranks, so that tokens go to them and come back by
/// all-to-all.
bool experts_are_spread(const Study& study);

/// The type of the rows that go to the experts: what the study says, else fp8 where the experts'
/// weights are, since their activations are cut down before they are sent, else the model's. They
/// come back in the model's.
Dtype dispatch_dtype(const Study& study);

/// So many elements of rows on their way to experts or back, scales of fp8 included.
Bytes sent_rows(double elements, Dtype dtype);

/// Nodes k that the expert ranks fill. The study must have a machine.
double nodes_of_experts(const Study& study);

/// Those of them that have one of a token's a experts, expected, where the token's groups reach r:
///   r (1 - (1 - 1/r)^a)
double nodes_of_token(const Study& study, const ExpertMlp& experts);

/// The collectives of every layer, in order.
std::vector<Collective> collectives_of(const Study& study, WorkloadKind workload,
                                       const ForwardPass& pass);

}  // namespace depthcost
