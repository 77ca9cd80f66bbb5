// The workload section of a scenario, and the steps that the user has measured for it.
#pragma once

#include "model/step/study.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost {

/// Fills in decode, prefill, training and the written terms of their steps; the study's pipeline
/// and model are there. Throws InputError for what contradicts itself.
void read_workloads(const Values& values, Study& study);

/// A baseline step contains the fused standard residual: a shorter one cannot have been measured.
/// Throws InputError; asks nothing without a machine.
void check_baselines(const Values& values, const Study& study);

}  // namespace depthcost
