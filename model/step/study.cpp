// Names and small derivations of a question.
#include "model/step/study.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {

std::vector<ResidualPath> paths_of(const Study& study) {
  std::vector<ResidualPath> paths{study.path};
  paths.insert(paths.end(), study.compare.begin(), study.compare.end());
  return paths;
}

ResidualPath baseline_path(const Study& study, const ResidualPath& path) {
  return {Scheme{schemes::kStandard}, path.num_layers,
          study.baseline_attachment.value_or(path.attachment)};
}

Layout token_layout(const Study& study, WorkloadKind workload) {
  if (study.layout) return *study.layout;
  return workload == WorkloadKind::training ? Layout::sequence_sharded : Layout::replicated;
}

Count residual_shards(const Study& study, WorkloadKind workload) {
  if (workload == WorkloadKind::prefill) return study.prefill->sequence_shards;
  return token_layout(study, workload) == Layout::sequence_sharded ? study.tensor_parallel_size : 1;
}

VectorStorage storage_of(const Study& study) {
  return {.hidden_size = static_cast<double>(study.model.hidden_size),
          .dtype = study.model.dtype,
          .phase1_dtype = study.phase1_dtype};
}

Schedule quoted_schedule(const Study& study, const ResidualPath& path) {
  if (same_scheme(path.scheme, study.path.scheme)) return study.schedule;
  const auto schedules = path.scheme.rule->schedules;
  if (study.implementation == Implementation::eager) return study.schedule;
  // AttnRes schemes are quoted alike, so that a comparison does not change the schedule too.
  for (const Schedule schedule : schedules)
    if (schedule == study.schedule && schedule != Schedule::unfused) return schedule;
  return shipped_schedule(path.scheme);
}

}  // namespace depthcost
