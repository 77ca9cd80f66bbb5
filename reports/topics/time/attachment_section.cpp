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

/// What the row adds to the standard residual, or the time of that one.
std::string cell_of(const AttachmentRow& row) {
  return is_standard(row.scheme) ? format_seconds(row.residual)
                                 : format_seconds(row.delta, Sign::always);
}

/// Today's case, with its per cent: "+112 us [27, 184], +0.87 %".
std::string cell_of_own_kernel(const AttachmentRow& row) {
  const std::string overhead =
      row.overhead ? ", " + format_ratio(row.overhead->value, Sign::always) : "";
  return cell_of(row) + overhead;
}

/// The same scheme in another way.
const AttachmentRow* attached_otherwise(const Evaluation& e, const AttachmentRow& row,
                                        Attachment attachment, Attachment baseline) {
  for (const AttachmentRow& other : e.attachments)
    if (other.workload == row.workload && same_scheme(other.scheme, row.scheme) &&
        other.attachment == attachment && other.baseline == baseline)
      return &other;
  return nullptr;
}

}  // namespace

void write_json(JsonWriter& json, const Answer& answer) {
  json.objects("attachments", answer.evaluation.attachments, [&](const AttachmentRow& row) {
    json.member("workload", name(row.workload));
    json.member("scheme", name(row.scheme));
    json.member("schedule", name(row.schedule));
    json.member("attachment", name(row.attachment));
    json.member("baseline_attachment", name(row.baseline));
    append(json, quantities_of(row));
    json.member("evidence", name(row.delta.evidence));
  });
}

void write_markdown(Document& out) {
  if (out.evaluation().attachments.empty()) return;
  out.paragraph(
      "**Fused with the all-reduce, or in kernels of their own.** The `standard` rows have the time of "
      "the whole standard residual path, the other rows what AttnRes adds to it. In the last column "
      "the standard residual is in the all-reduce and AttnRes is not: that is what you pay until your "
      "engine fuses AttnRes, with its per cent of the standard step.");
  out.table(attachment_table(out.evaluation()));
}

}  // namespace attachment_section

using namespace attachment_section;

Table attachment_table(const Evaluation& e) {
  constexpr Attachment fused = Attachment::all_reduce;
  constexpr Attachment alone = Attachment::standalone;
  Table table{{"workload", "scheme", right("both in the all-reduce"), right("both in own kernels"),
               right("AttnRes in its own kernel")}};
  for (const WorkloadId workload : timed_workloads(e))
    for (const AttachmentRow& row : e.attachments) {
      if (row.workload != workload || row.attachment != fused) continue;
      const AttachmentRow* standalone = attached_otherwise(e, row, alone, alone);
      const AttachmentRow* mixed = attached_otherwise(e, row, alone, fused);
      table.add(name(workload), name(row.scheme), cell_of(row), cell_of(*standalone),
                mixed == nullptr ? std::string(kNothing) : cell_of_own_kernel(*mixed));
    }
  return table;
}

}  // namespace depthcost
