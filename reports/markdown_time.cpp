// What is predicted: each step, what else it consists of, and each operation.
#include <fmt/format.h>

#include <algorithm>

#include "reports/document.hpp"
#include "reports/format.hpp"
#include "reports/markdown_sections.hpp"
#include "reports/table.hpp"

namespace depthcost::markdown_sections {
namespace {

Table operation_table(const Evaluation& e, const std::string& workload) {
  Table table{{{workload},
               {"sources", Align::right},
               {"moves", Align::right},
               {"tokens", Align::right},
               {"calls", Align::right},
               {"predicted"},
               {"bound", Align::right},
               {"critical", Align::right},
               {"from memory", Align::right},
               {"evidence"}},
              {}};
  for (const TimeRow& row : e.time)
    if (row.workload == workload && row.path == &e.paths.front() &&
        row.schedule == e.study.schedule)
      table.rows.push_back(
          {std::string(name(row.operation.id)), std::to_string(row.operation.sources),
           format_d(total_d(traffic(row.operation))), format_count(static_cast<Count>(row.tokens)),
           format_count(static_cast<Count>(row.calls)), format_seconds(row.predicted),
           format_seconds(row.bound), format_seconds(row.critical), format_ratio(row.memory_share),
           std::string(name(row.predicted.evidence))});
  return table;
}

/// What the user has measured as a whole, and what cannot be modelled.
void write_other_baselines(Document& out, const std::vector<std::string>& modelled) {
  const Evaluation& e = out.evaluation();
  for (const std::string& workload : timed_workloads(e))
    if (std::find(modelled.begin(), modelled.end(), workload) == modelled.end())
      out.bullet(fmt::format("{}: {}", workload, baseline_text(e, workload)));
  if (timed_workloads(e).size() > modelled.size()) out.end_list();
  if (const std::string missing = missing_baseline(e); !missing.empty()) out.paragraph(missing);
}

}  // namespace

void write_time(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.step.empty()) return;
  out.heading("What each scheme and schedule adds");
  out.paragraph(
      "`delta`: added to the baseline step. `overhead`: delta over the baseline step, which is "
      "what papers mean. `share`: the whole residual path over the whole step, which is what a "
      "profiler shows; the standard residual has a share, too, but no overhead.");
  for (const std::string& workload : timed_workloads(e)) {
    out.paragraph(fmt::format("**{}**, baseline step {}", workload, baseline_text(e, workload)));
    out.table(step_table(e, workload, StepColumns::with_share));
  }
  if (out.has_plot("overhead.svg")) out.plot("added_time.svg");
}

void write_operations(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.time.empty()) return;
  out.heading("Time by operation");
  out.paragraph(
      "One call of each operation. `bound`: nothing can be faster. `critical`: what the layer "
      "waits for; the rest can be hoisted beside a neighbour that does not use the memory. `from "
      "memory`: share of the bytes that the cache does not serve.");
  out.paragraph(fmt::format("<details><summary>{} as {}, operation by operation</summary>",
                            name(e.study.path.scheme), name(e.study.schedule)));
  for (const std::string& workload : timed_workloads(e))
    if (const Table table = operation_table(e, workload); !table.rows.empty()) out.table(table);
  out.paragraph("</details>");
}

void write_rest(Document& out) {
  const Evaluation& e = out.evaluation();
  const std::vector<std::string> modelled = modelled_workloads(e);
  if (e.step.empty()) return;
  out.heading("The rest of the step");
  out.paragraph(
      "What the per cents are of. No time here enters an added time; bytes do, since what a layer "
      "streams decides what the cache still holds. On the slowest device, for "
      "the whole step: bytes over bandwidth or operations over rate, whichever is longer, layer by "
      "layer; `launches` is what kernels cost before and after their bytes. Each term can be "
      "replaced by a measurement (`step_terms`), or the whole step (`baseline_step`).");
  write_other_baselines(out, modelled);
  for (const std::string& workload : modelled) {
    const std::string what =
        workload == "training"
            ? ": one forward pass of a micro-batch through all layers, without the residual path. "
              "The backward pass does twice the arithmetic and as many collectives, and the "
              "pipeline runs both for every micro-batch."
            : "";
    out.paragraph("**" + workload + "**" + what);
    out.table(rest_table(e, workload));
  }
  if (!modelled.empty())
    out.paragraph(
        "Bytes of `collectives` are sent. The interval holds what the rate of matrix products, the "
        "number of kernels, routing from balanced to skewed, and bandwidths can be; ends are added "
        "up as if all erred the same way.");
}

}  // namespace depthcost::markdown_sections
