// Names and small derivations of a question.
#include "model/step/study.hpp"

#include "model/schemes/list.hpp"
#include "model/step/collectives.hpp"

namespace depthcost {
namespace {

/// Whether a decode step takes along so much of a prompt that tensor ranks share it out.
bool shares_prompt(const Study& study) {
  if (!study.decode || !study.decode->prompt) return false;
  const double num_elements = static_cast<double>(study.decode->prompt->tokens) *
                              static_cast<double>(study.model.hidden_size);
  return storage(num_elements, study.model.dtype) >=
         static_cast<double>(study.tensor_parallel_size) * kLeastShare;
}

}  // namespace

Count ranks_per_stage(const Study& study) {
  return study.tensor_parallel_size * study.context_parallel_size * study.data_parallel_size;
}

Count num_devices(const Study& study) {
  return ranks_per_stage(study) * (study.pipeline ? study.pipeline->num_stages : 1);
}

bool is_measured(const Study& study, WorkloadKind workload) {
  switch (workload) {
    case WorkloadKind::decode:
      return study.decode && !study.decode->baseline_steps.empty();
    case WorkloadKind::prefill:
      return study.prefill && study.prefill->baseline_step;
    case WorkloadKind::training:
      return study.training && study.training->baseline_step;
  }
  return false;
}

std::vector<ResidualPath> paths_of(const Study& study) {
  std::vector<ResidualPath> paths{study.path};
  paths.insert(paths.end(), study.compare.begin(), study.compare.end());
  return paths;
}

bool is_folded_by_engines(const Scheme& scheme) {
  return is_standard(scheme) || blocks_of(scheme) != nullptr;
}

bool has_all_reduce(const Study& study) {
  return study.machine && !study.machine->core && study.tensor_parallel_size > 1 &&
         token_layout(study, WorkloadKind::decode) == Layout::replicated &&
         !experts_are_spread(study);
}

ResidualPath attached_path(const Study& study, ResidualPath path, Schedule schedule,
                           WorkloadKind workload) {
  if (study.attachment) return path;
  const bool is_folded = workload == WorkloadKind::decode && schedule != Schedule::unfused &&
                         has_all_reduce(study) && is_folded_by_engines(path.scheme);
  path.attachment = is_folded ? Attachment::all_reduce : Attachment::standalone;
  return path;
}

ResidualPath baseline_path(const Study& study, const ResidualPath& path, WorkloadKind workload) {
  ResidualPath standard{Scheme{schemes::kStandard}, path.num_layers, path.attachment};
  if (study.baseline_attachment) {
    standard.attachment = *study.baseline_attachment;
    return standard;
  }
  return attached_path(study, standard, Schedule::fused, workload);
}

Study baseline_study(Study study) {
  if (study.baseline_attachment) study.attachment = study.baseline_attachment;
  study.path = {Scheme{schemes::kStandard}, study.model.num_layers,
                study.attachment.value_or(Attachment::standalone)};
  study.schedule = Schedule::fused;
  study.compare.clear();
  return study;
}

Layout token_layout(const Study& study, WorkloadKind workload) {
  if (study.layout) return *study.layout;
  const bool is_shared = workload == WorkloadKind::training ||
                         (workload == WorkloadKind::decode && shares_prompt(study));
  return is_shared ? Layout::sequence_sharded : Layout::replicated;
}

Count residual_shards(const Study& study, WorkloadKind workload) {
  if (workload == WorkloadKind::prefill) return study.prefill->sequence_shards;
  return token_layout(study, workload) == Layout::sequence_sharded ? study.tensor_parallel_size : 1;
}

VectorStorage storage_of(const Study& study) {
  return {.hidden_size = static_cast<double>(study.model.hidden_size),
          .dtype = study.model.dtype,
          .phase1_dtype = study.phase1_dtype,
          .bytes_per_weight = study.residual_weight_dtype
                                  ? std::optional(bytes_per_weight(*study.residual_weight_dtype))
                                  : std::nullopt};
}

Schedule quoted_schedule(const Study& study, const ResidualPath& path) {
  if (same_scheme(path.scheme, study.path.scheme)) return study.schedule;
  // AttnRes schemes are quoted alike, so that a comparison does not change the schedule too. A
  // framework runs every scheme unfused that can be.
  const bool is_eager = study.implementation == Implementation::eager;
  const auto is_limit = study.training ? is_training_bound : is_bound;
  for (const Schedule schedule : path.scheme.rule->schedules)
    if (schedule == study.schedule && (is_eager || schedule != Schedule::unfused) &&
        !is_limit(path.scheme, schedule))
      return schedule;
  return shipped_schedule(path.scheme);
}

}  // namespace depthcost
