// One row for each workload and way to attach.
#include "reports/topics/time/attachment_section.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/schemes/list.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/time/step_section.hpp"

namespace depthcost {
namespace attachment_section {
namespace {

/// The residual path, its difference from the standard residual attached alike, and its per cent.
std::array<NamedQuantity, 9> quantities_of(const AttachmentRow& row) {
  return {{{"residual_seconds", row.residual.value.value, "s"},
           {"residual_low", row.residual.low.value, "s"},
           {"residual_high", row.residual.high.value, "s"},
           {"delta_seconds", row.delta.value.value, "s"},
           {"delta_low", row.delta.low.value, "s"},
           {"delta_high", row.delta.high.value, "s"},
           {"overhead", end_of(row.overhead, IntervalEnd::value), "ratio"},
           {"overhead_low", end_of(row.overhead, IntervalEnd::low), "ratio"},
           {"overhead_high", end_of(row.overhead, IntervalEnd::high), "ratio"}}};
}

bool cannot_run(const Evaluation& e, WorkloadId workload) {
  return std::any_of(e.step.begin(), e.step.end(), [&](const StepRow& row) {
    return row.workload == workload && row.path == &e.paths.front() && does_not_fit(row);
  });
}

/// One way to attach at one workload: the standard residual, and what each scheme adds to it.
std::vector<std::string> cells_of(const Evaluation& e, const AttachmentRow& standard) {
  std::vector<std::string> cells{
      name(standard.workload) + (cannot_run(e, standard.workload) ? " (does not fit)" : ""),
      standard.attachment == Attachment::standalone ? "kernels of its own"
                                                    : "inside the all-reduce"};
  for (const AttachmentRow& row : e.attachments)
    if (row.workload == standard.workload && row.attachment == standard.attachment)
      cells.push_back(&row == &standard ? format_seconds(row.residual)
                                        : format_seconds(row.delta, Sign::always));
  return cells;
}

}  // namespace

void write_json(JsonWriter& json, const Answer& answer) {
  json.objects("attachments", answer.evaluation.attachments, [&](const AttachmentRow& row) {
    json.member("workload", name(row.workload));
    json.member("scheme", name(row.scheme));
    json.member("schedule", name(row.schedule));
    json.member("attachment", name(row.attachment));
    append(json, quantities_of(row));
    json.member("evidence", name(row.delta.evidence));
  });
}

void write_markdown(Document& out) {
  if (out.evaluation().attachments.empty()) return;
  out.paragraph(
      "**Standalone or folded.** Engines fold the standard residual into the all-reduce before "
      "each layer. Folded, a time is what the all-reduce takes longer; AttnRes is held against a "
      "standard residual that is attached alike.");
  out.table(attachment_table(out.evaluation()));
}

}  // namespace attachment_section

using namespace attachment_section;

Table attachment_table(const Evaluation& e) {
  Table table{{"workload", "the residual path is"}};
  for (const AttachmentRow& row : e.attachments) {
    const std::string column = fmt::format("{}, {}{}", name(row.scheme), name(row.schedule),
                                           is_standard(row.scheme) ? "" : ", adds");
    const auto known = std::find_if(table.columns.begin(), table.columns.end(),
                                    [&](const auto& other) { return other.header == column; });
    if (known == table.columns.end()) table.columns.push_back(column);
  }
  for (const WorkloadId workload : timed_workloads(e))
    for (const AttachmentRow& row : e.attachments)
      if (row.workload == workload && is_standard(row.scheme))
        table.rows.push_back(cells_of(e, row));
  return table;
}

}  // namespace depthcost
