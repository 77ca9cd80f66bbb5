// The same step with the residual path as kernels of its own and folded into the all-reduce before
// each layer: a folded one is held against a folded standard residual, never against another.
#pragma once

#include <optional>
#include <vector>

#include "model/step/step.hpp"

namespace depthcost {

/// The standard residual, or an AttnRes scheme in its quoted schedule, at one decode workload.
struct AttachmentRow {
  WorkloadId workload;
  Scheme scheme;
  Schedule schedule = Schedule::fused;
  Attachment attachment = Attachment::standalone;
  Attachment baseline = Attachment::standalone;  // of the standard residual that it is held against
  Estimate<Seconds> residual;  // the whole residual path; folded: what the all-reduce takes longer
  Estimate<Seconds> delta;     // against the standard residual attached alike
  std::optional<Estimate<double>> overhead;
};

/// Empty where there is no all-reduce to fold into: one tensor rank, sharded tokens, experts beyond
/// the tensor ranks, or no device.
std::vector<AttachmentRow> attachment_rows(const Study& study);

}  // namespace depthcost
