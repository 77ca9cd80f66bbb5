// The points at which a study is timed: what one forward pass looks like to residual operations and
// to the layers between them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/ledger/path_operations.hpp"
#include "model/machine/time.hpp"
#include "model/step/layer_work.hpp"
#include "model/step/study.hpp"
#include "model/step/workload_id.hpp"

namespace depthcost {

/// Launches of equal size in one forward pass of a workload.
struct Pass {
  Execution execution;
  ForwardPass forward;  // the same, as the layers between see it
  double repeats = 1;   // chunks of a prefill; a decode step is one pass
};

/// A workload point as it is timed. Training is one micro-batch.
struct Workload {
  WorkloadId id;
  std::size_t batch = 0;     // which of a decode workload's
  std::vector<Pass> passes;  // a prefill whose last chunk is shorter has two
  std::optional<Seconds> baseline_step;
  Phase1Order phase1 = Phase1Order::in_order;  // hoisted: a step waits for `critical_time` alone
};

/// Whether nobody can run a schedule in such a step.
bool is_bound_in(WorkloadKind step, const Scheme& scheme, Schedule schedule);

/// Its name there, with a mark where it is a limit.
std::string schedule_label_in(WorkloadKind step, const Scheme& scheme, Schedule schedule);

/// The workload points that the study asks for, for one scheme and schedule.
std::vector<Workload> workloads_of(const Study& study, const ResidualPath& path, Schedule schedule);

}  // namespace depthcost
