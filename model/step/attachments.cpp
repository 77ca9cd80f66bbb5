// A study for each attachment.
#include "model/step/attachments.hpp"

#include "model/schemes/list.hpp"
#include "model/step/collectives.hpp"

namespace depthcost {
namespace {

/// mHC's kernels are not folded by anybody.
bool is_folded_by_engines(const Scheme& scheme) {
  return is_standard(scheme) || blocks_of(scheme) != nullptr;
}

/// The study's schemes that are folded, the standard residual first.
std::vector<ResidualPath> attached_paths(const Study& study, Attachment attachment) {
  std::vector<ResidualPath> paths{{Scheme{schemes::kStandard}, study.model.num_layers, attachment}};
  for (ResidualPath path : paths_of(study)) {
    if (!is_folded_by_engines(path.scheme) || same_scheme(path.scheme, Scheme{schemes::kStandard}))
      continue;
    path.attachment = attachment;
    paths.push_back(path);
  }
  return paths;
}

}  // namespace

std::vector<AttachmentRow> attachment_rows(const Study& study) {
  std::vector<AttachmentRow> rows;
  if (!study.machine || study.machine->core || !study.decode || study.tensor_parallel_size == 1 ||
      token_layout(study, WorkloadKind::decode) != Layout::replicated || experts_are_spread(study))
    return rows;
  for (const Attachment attachment : {Attachment::standalone, Attachment::all_reduce}) {
    Study attached = study;
    attached.prefill.reset();
    attached.baseline_attachment.reset();
    StepTimer timer(attached);
    for (const ResidualPath& path : attached_paths(study, attachment)) {
      const Schedule schedule =
          is_standard(path.scheme) ? Schedule::fused : quoted_schedule(study, path);
      for (const StepRow& step : timer.times(path, schedule).step)
        rows.push_back({step.workload, path.scheme, schedule, attachment, step.residual, step.delta,
                        step.overhead});
    }
  }
  return rows;
}

}  // namespace depthcost
