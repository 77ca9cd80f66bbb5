// The workload section of a scenario, and the steps that the user has measured for it.
#pragma once

#include "model/step/study.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost {

/// Reads decode, prefill, training and the written terms of their steps into the study, which has
/// its pipeline and model already. Throws InputError for contradictions.
void read_workloads(const Values& values, Study& study);

/// Throws InputError for more than the program answers in little time and memory, before it
/// computes anything. `model` is where the model stands.
void check_work(const Values& values, const Study& study, const Position& model);

/// A baseline step contains the fused standard residual: a shorter one cannot have been measured.
/// Throws InputError; checks nothing without a machine.
void check_baselines(const Values& values, const Study& study);

/// Whether the user has measured a decode or a prefill step.
bool has_forward_baseline(const Study& study);

}  // namespace depthcost
