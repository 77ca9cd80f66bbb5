// What the stages of a pipeline send each other in a decode step or a prefill.
#pragma once

#include "model/step/study.hpp"
#include "model/step/workload.hpp"

namespace depthcost {

/// The slowest link between rank i of one stage and rank i of another, for all i. `ranks` of a
/// stage are neighbours: where a node ends inside or between the stages, some rank sends over the
/// network.
TransferScope scope_between_stages(const Study& study, Count ranks, Count from_stage,
                                   Count to_stage);

/// Seconds of all messages of a workload, one after the other: scheme_payload() of each transition.
/// Each tensor rank sends its share of the tokens that all of them have, as vLLM and Megatron-LM
/// do; at the high end it sends all of them. Nothing without a pipeline. A link whose sends the
/// hardware does not know is assumed to take nothing. The study must have a machine.
Estimate<Seconds> send_time(const Study& study, const ResidualPath& path, const Workload& workload);

}  // namespace depthcost
