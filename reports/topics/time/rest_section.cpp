// Terms of a step: attention, MLP, head, collectives, launches.
#include "reports/topics/time/rest_section.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/step/step.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/time/step_section.hpp"

namespace depthcost {
namespace rest_section {
namespace {

/// Bytes, operations and launches of a term that the user has written are not known.
std::array<NamedQuantity, 6> quantities_of(const RestRow& row) {
  const auto modelled = [&](double value) -> std::optional<double> {
    if (row.origin == RestOrigin::written) return std::nullopt;
    return value;
  };
  return {{{"seconds", row.time.value.value, "s"},
           {"low", row.time.low.value, "s"},
           {"high", row.time.high.value, "s"},
           {"bytes", modelled(row.bytes.value), "bytes"},
           {"flops", modelled(row.flops.value), "FLOP"},
           {"launches", modelled(row.launches), "launches"}}};
}

template <class Text>
std::string text_or_dash(double value, const Text& text) {
  return value > 0 ? text() : std::string(kNothing);
}

std::vector<std::string> term_cells(const RestRow& row, const std::string& share) {
  return {
      std::string(name(row.term)),
      text_or_dash(row.bytes.value, [&] { return format_bytes(row.bytes); }),
      text_or_dash(row.flops.value, [&] { return format_flops(row.flops); }),
      text_or_dash(row.launches, [&] { return format_count(static_cast<Count>(row.launches)); }),
      time_text(row.time),
      share,
      std::string(name(row.origin))};
}

/// A whole step, or one forward pass of training.
std::string rest_heading(WorkloadId workload) {
  if (workload.kind == WorkloadKind::training)
    return "A forward pass of training: one micro-batch through all layers";
  return fmt::format("The baseline step of {}: its terms on one device", name(workload));
}

/// What the user has measured as a whole, and what cannot be modelled.
void write_other_baselines(Document& out, const std::vector<WorkloadId>& modelled) {
  const Evaluation& e = out.evaluation();
  for (const WorkloadId workload : timed_workloads(e))
    if (std::find(modelled.begin(), modelled.end(), workload) == modelled.end())
      out.bullet(fmt::format("{}: {}", name(workload), baseline_text(e, workload)));
  if (timed_workloads(e).size() > modelled.size()) out.end_list();
  if (const std::string missing = missing_baseline(e); !missing.empty()) out.paragraph(missing);
}

}  // namespace

std::string time_text(const Estimate<Seconds>& time) {
  return time.low == time.high ? format_seconds(time.value) : format_seconds(time);
}

bool is_modelled(const Evaluation& e, WorkloadId workload) {
  return std::any_of(e.rest.begin(), e.rest.end(),
                     [&](const RestRow& row) { return row.workload == workload; });
}

void write_json(JsonWriter& json, const Answer& answer) {
  json.objects("rest", answer.evaluation.rest, [&](const RestRow& row) {
    json.member("workload", name(row.workload));
    json.member("term", name(row.term));
    append(json, quantities_of(row));
    json.member("origin", name(row.origin));
    json.member("evidence", name(row.time.evidence));
  });
}

void write_csv(CsvLines& csv, const Answer& answer) {
  for (const RestRow& row : answer.evaluation.rest) {
    const CsvPlace place{.section = "rest", .workload = row.workload, .operation = name(row.term)};
    csv.add(place, quantities_of(row));
    csv.add(place, "origin", name(row.origin));
    csv.add(place, "evidence", name(row.time.evidence));
  }
}

void write_markdown(Document& out) {
  const Evaluation& e = out.evaluation();
  const std::vector<WorkloadId> modelled = modelled_workloads(e);
  if (e.step.empty()) return;
  out.heading("The rest of the step");
  out.paragraph(
      "Overheads are relative to this step. Added times exclude it. Its bytes matter, since they evict "
      "the cache. On the slowest device, for "
      "the whole step: bytes over bandwidth or operations over rate, whichever is longer, layer by "
      "layer; `launches` is what kernels cost before and after their bytes, and what an engine "
      "may take for each sequence. Each term can be "
      "replaced by a measurement (`step_terms`), or the whole step (`baseline_step`).");
  write_other_baselines(out, modelled);
  const RestTables tables(e);
  for (const WorkloadId workload : modelled) {
    const std::string what =
        workload.kind == WorkloadKind::training
            ? ": one forward pass of a micro-batch through all layers, without the residual path. "
              "The backward pass does twice the arithmetic and as many collectives, and the "
              "pipeline runs both for every micro-batch."
            : "";
    out.paragraph("**" + name(workload) + "**" + what);
    out.table(tables.of(workload));
  }
  if (!modelled.empty())
    out.paragraph(
        "Bytes of `collectives` are sent. The interval holds what the rate of matrix products, the "
        "number of kernels, routing (when serving: from balanced to skewed) and bandwidths can be; its "
        "ends are sums of the terms' ends, as if all erred together.");
}

void write_table(std::string& text, const Answer& answer) {
  const RestTables tables(answer.evaluation);
  for (const WorkloadId workload : modelled_workloads(answer.evaluation))
    append_table(text, rest_heading(workload), tables.of(workload));
}

}  // namespace rest_section

using namespace rest_section;

std::vector<WorkloadId> modelled_workloads(const Evaluation& evaluation) {
  return workloads_of_rows(evaluation.rest);
}

RestTables::RestTables(const Evaluation& evaluation)
    : evaluation_(evaluation),
      standard_(baseline_study(evaluation.study)),
      steps_(step_rows(standard_, standard_.path, standard_.schedule)) {}

Table RestTables::of(WorkloadId workload) const {
  Table table{{"term", right("bytes"), right("operations"), right("launches"), right("time [90 %]"),
               right("of the step"), "origin"}};
  const auto standard = std::find_if(steps_.begin(), steps_.end(),
                                     [&](const StepRow& row) { return row.workload == workload; });
  const bool is_timed = standard != steps_.end();
  RestOfStep rest;
  for (const RestRow& row : evaluation_.rest)
    if (row.workload == workload) rest.rows.push_back(row);
  const bool is_step = is_timed && standard->baseline_step;
  const Estimate<Seconds> step = is_step ? *standard->baseline_step : rest.total();
  // A step that cannot be run has no shares.
  const bool fits = !is_timed || !does_not_fit(*standard);
  const auto share = [&](Seconds time) {
    return fits ? format_ratio(time / step.value) : std::string("does not fit");
  };
  for (const RestRow& row : rest.rows) table.rows.push_back(term_cells(row, share(row.time.value)));
  const auto push = [&](const std::string& what, const Estimate<Seconds>& time) {
    table.add(what, std::string(kNothing), std::string(kNothing), std::string(kNothing),
              time_text(time), share(time.value), "modelled");
  };
  if (is_step) push("standard residual", standard->residual);
  push(is_step ? "baseline step" : "one forward pass", step);
  return table;
}

}  // namespace depthcost
