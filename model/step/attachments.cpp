// A study for each way to attach.
#include "model/step/attachments.hpp"

#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

struct Way {
  Attachment path;
  Attachment baseline;
};

/// Folded both, alone both, and what a server runs whose AttnRes kernel is not folded yet.
constexpr Way kWays[] = {{Attachment::all_reduce, Attachment::all_reduce},
                         {Attachment::standalone, Attachment::standalone},
                         {Attachment::standalone, Attachment::all_reduce}};

/// The study's schemes that are folded, behind the standard residual where it is no baseline alone.
std::vector<ResidualPath> attached_paths(const Study& study, const Way& way) {
  const ResidualPath standard{Scheme{schemes::kStandard}, study.model.num_layers, way.path};
  std::vector<ResidualPath> paths;
  if (way.path == way.baseline) paths.push_back(standard);
  for (ResidualPath path : paths_of(study)) {
    if (!is_folded_by_engines(path.scheme) || is_standard(path.scheme)) continue;
    path.attachment = way.path;
    paths.push_back(path);
  }
  return paths;
}

}  // namespace

std::vector<AttachmentRow> attachment_rows(const Study& study) {
  std::vector<AttachmentRow> rows;
  if (!study.decode || !has_all_reduce(study)) return rows;
  for (const Way& way : kWays) {
    Study attached = study;
    attached.prefill.reset();
    attached.attachment = way.path;
    attached.baseline_attachment = way.baseline;
    StepTimer timer(attached);
    for (const ResidualPath& path : attached_paths(study, way)) {
      const Schedule schedule =
          is_standard(path.scheme) ? Schedule::fused : quoted_schedule(study, path);
      for (const StepRow& step : timer.times(path, schedule).step)
        rows.push_back({step.workload, path.scheme, schedule, way.path, way.baseline, step.residual,
                        step.delta, step.overhead});
    }
  }
  return rows;
}

}  // namespace depthcost
