// The sections of the report in order, its opening and its end.
#include "reports/markdown_report.hpp"

#include <fmt/format.h>

#include "reports/document.hpp"
#include "reports/format.hpp"
#include "reports/markdown_sections.hpp"
#include "reports/table.hpp"

namespace depthcost {
namespace {

void write_attachments(Document& out) {
  if (out.evaluation().attachments.empty()) return;
  out.paragraph(
      "**Standalone or folded.** Engines fold the standard residual into the all-reduce before "
      "each layer. Folded, a time is what the all-reduce takes longer; AttnRes is held against a "
      "standard residual that is attached alike.");
  out.table(attachment_table(out.evaluation()));
}

void write_published(Document& out) {
  const Table kernels = published_table(out.evaluation(), out.parts().published);
  const Table steps = published_step_table(out.evaluation(), out.parts().published_steps);
  if (!kernels.rows.empty() || !steps.rows.empty())
    out.paragraph(
        "**Beside what others measured.** All times above are modelled. Here is the nearest "
        "published kernel to each, with the prediction of that very call, and published steps of "
        "this model, each predicted on the device that was measured. The constants of few tokens were fitted on tables that hold some of these "
        "rows.");
  if (!kernels.rows.empty()) out.table(kernels);
  if (!steps.rows.empty()) out.table(steps);
}

void write_opening(Document& out) {
  const Study& study = out.evaluation().study;
  out.paragraph(fmt::format("# {}", escaped(study.name)));
  out.paragraph(fmt::format(
      "What {} ({} layers, d = {}, {}) pays for carrying its residual stream as `{}`{}. A layer is "
      "one sublayer, attention or MLP.",
      escaped(study.model.name), study.model.num_layers, format_count(study.model.hidden_size),
      name(study.model.dtype), name(study.path.scheme),
      study.machine ? fmt::format(", on {}", escaped(study.machine->name)) : ""));
  if (!out.evaluation().memory.empty()) {
    out.table(decision_table(out.evaluation()));
    out.paragraph(decision_legend(out.evaluation()));
  }
  out.paragraph("**Verdict**");
  for (const std::string& sentence : verdict_sentences(out.evaluation(), TextStyle::markdown))
    out.bullet(sentence);
  for (const std::string& warning :
       published_warnings(out.evaluation(), out.parts().published, out.parts().published_steps))
    out.bullet(escaped(warning));
  out.end_list();
  write_attachments(out);
  write_published(out);
  if (!out.parts().missing_plots.empty()) out.paragraph("*" + out.parts().missing_plots + "*");
  out.plot(out.has_plot("overhead.svg") ? "overhead.svg" : "added_time.svg");
}

/// What the user wrote, what was assumed, and what stands in for a value without a source.
void write_assumptions(Document& out) {
  out.heading("Assumptions and their origin");
  out.paragraph(fmt::format("<details><summary>{} values, each with where it comes from</summary>",
                            out.parts().values.size()));
  Table table{{{"key"}, {"value"}, {"origin"}}, {}};
  for (const ResolvedValue& value : out.parts().values)
    table.rows.push_back({fmt::format("`{}`", value.key), value.value, value.origin});
  out.table(table);
  out.paragraph("</details>");
}

void write_budgets(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.budgets.empty()) return;
  out.heading("Budgets");
  out.table(budget_table(e.budgets));
  for (const std::string& note : budget_notes(e.budgets)) out.bullet(note);
  out.end_list();
}

void write_closing(Document& out) {
  out.heading("What is not modelled");
  for (const std::string text :
       {"activations and workspaces of attention, MLP and head: `device_memory` leaves a tenth of "
        "the device for them",
        "overlap of the terms of a step with one another",
        "the time of messages between pipeline stages at decode and prefill: their bytes are "
        "counted, a step sums its stages without them",
        "what context ranks exchange of keys, values and attention, in any workload",
        "in training the optimiser, gradients of weights and the reduction over replicas; backward "
        "kernels have not been measured, times of them are assumed",
        "the expansion of mHC's streams behind the embedding and their collapse before the head",
        "losses: nothing here says that two schemes are equally good"})
    out.bullet(text);
  out.end_list();
  out.heading("Sources");
  for (const std::string text :
       {"[attnres] Attention Residuals, arXiv:2603.15031v1: Table 1, Eq. 1-8, Algorithm 1, Sec. 4, "
        "Appendix B",
        "[mhc] Manifold-Constrained Hyper-Connections, arXiv:2512.24880v2: Table 2, Sec. 4.3",
        "[ours] derived in model/REFERENCES.md; values and their sources stand under Assumptions"})
    out.bullet(text);
  out.end_list();
  out.paragraph(fmt::format("depthcost {}. Any number here: `depthcost explain SCENARIO METRIC`.",
                            out.parts().program_version));
}

}  // namespace

std::string markdown_report(const Evaluation& evaluation, const ReportParts& parts) {
  using namespace markdown_sections;
  Document out(evaluation, parts);
  write_opening(out);
  write_assumptions(out);
  write_ledger(out);
  write_arithmetic(out);
  write_time(out);
  write_rest(out);
  write_operations(out);
  write_measured(out);
  write_memory(out);
  write_prefill(out);
  write_pipeline(out);
  write_training(out);
  write_family(out);
  write_budgets(out);
  write_closing(out);
  return out.take();
}

}  // namespace depthcost
