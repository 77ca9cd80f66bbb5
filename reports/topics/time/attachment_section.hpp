// The residual path as kernels of its own, or fused with the all-reduce, in every format.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

/// Standard residual and AttnRes, each as kernels of its own and fused with the all-reduce, at
/// every decode workload. Without rows where there is none to fuse with.
Table attachment_table(const Evaluation& evaluation);

namespace attachment_section {

void write_json(JsonWriter& json, const Answer& answer);
/// A paragraph of the first screen.
void write_markdown(Document& out);

}  // namespace attachment_section
}  // namespace depthcost
