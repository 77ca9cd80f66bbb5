// The step with each scheme against the step with the standard residual.
#include "reports/topics/time/step_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "model/step/workload.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/time/launch_section.hpp"
#include "reports/topics/time/rest_section.hpp"
#include "reports/topics/training/training_section.hpp"

namespace depthcost {
namespace step_section {
namespace {

constexpr std::string_view kShareColumn = "share [90 %]";  // too much for a terminal

using explained::microseconds;
using explained::percent_text;

/// The step, its difference from the standard residual, overhead and share. The step itself and
/// both ratios need a baseline.
std::array<NamedQuantity, 12> quantities_of(const StepRow& row) {
  const auto step = [&](IntervalEnd end) -> std::optional<double> {
    if (!row.baseline_step) return std::nullopt;
    return at(whole_step(row), end).value;
  };
  return {{{"seconds", step(IntervalEnd::value), "s"},
           {"low", step(IntervalEnd::low), "s"},
           {"high", step(IntervalEnd::high), "s"},
           {"delta_seconds", row.delta.value.value, "s"},
           {"delta_low", row.delta.low.value, "s"},
           {"delta_high", row.delta.high.value, "s"},
           {"overhead", end_of(row.overhead, IntervalEnd::value), "ratio"},
           {"overhead_low", end_of(row.overhead, IntervalEnd::low), "ratio"},
           {"overhead_high", end_of(row.overhead, IntervalEnd::high), "ratio"},
           {"share", end_of(row.share, IntervalEnd::value), "ratio"},
           {"share_low", end_of(row.share, IntervalEnd::low), "ratio"},
           {"share_high", end_of(row.share, IntervalEnd::high), "ratio"}}};
}

/// The whole residual path of the step.
std::array<NamedQuantity, 3> residual_of(const StepRow& row) {
  return {{{"residual_seconds", row.residual.value.value, "s"},
           {"residual_low", row.residual.low.value, "s"},
           {"residual_high", row.residual.high.value, "s"}}};
}

/// The whole step with the fused standard residual.
std::array<NamedQuantity, 3> baseline_of(const StepRow& row) {
  return {{{"baseline_seconds", end_of(row.baseline_step, IntervalEnd::value), "s"},
           {"baseline_low", end_of(row.baseline_step, IntervalEnd::low), "s"},
           {"baseline_high", end_of(row.baseline_step, IntervalEnd::high), "s"}}};
}

std::string overhead_text(const Evaluation& evaluation, const StepRow& row) {
  if (row.overhead) return format_ratio(*row.overhead, Sign::always);
  return is_too_large(evaluation.study, evaluation.memory, row.workload, row.path->scheme)
             ? "does not fit"
             : std::string(kNothing);
}

/// One operation of a step: all launches of the same name.
struct OperationTime {
  double calls = 0;
  Count kinds = 0;
  Seconds seconds;
};

std::vector<std::string> operation_sums(const Evaluation& e, const StepRow& step) {
  std::map<OperationId, OperationTime> sums;
  std::vector<OperationId> order;
  for (const TimeRow& row : e.time) {
    if (row.path != step.path || row.schedule != step.schedule || row.workload != step.workload)
      continue;
    if (!sums.contains(row.operation.id)) order.push_back(row.operation.id);
    OperationTime& sum = sums[row.operation.id];
    sum.calls += row.calls;
    sum.kinds = row.kind;
    sum.seconds = sum.seconds + row.calls * row.predicted.value;
  }
  std::vector<std::string> lines;
  for (const OperationId id : order)
    lines.push_back(fmt::format("{:g} x {}: {} (time.{}.{}.{}.{}.1{})", sums[id].calls, name(id),
                                microseconds(sums[id].seconds), name(step.workload),
                                name(step.path->scheme), name(step.schedule), name(id),
                                sums[id].kinds > 1 ? fmt::format(" .. {}", sums[id].kinds) : ""));
  return lines;
}

/// What the baseline step is made of.
std::vector<std::string> baseline_lines(const Evaluation& e, const StepRow& step) {
  const Attachment attachment = baseline_path(e.study, *step.path, step.workload.kind).attachment;
  if (!step.baseline_step) return {"no baseline step: " + step.missing};
  std::vector<std::string> terms;
  for (const RestRow& row : e.rest)
    if (row.workload == step.workload)
      terms.push_back(
          fmt::format("{} {}", rest_section::metric_of(row), microseconds(row.time.value)));
  const std::string whole = "baseline step " + microseconds(*step.baseline_step);
  if (terms.empty()) return {whole + ", measured by the user"};
  return {fmt::format("{}, modelled: {}, standard residual {} ({})", whole, fmt::join(terms, ", "),
                      microseconds(step.residual.value - step.delta.value), name(attachment))};
}

/// As budgets.device_memory has it. Empty where nobody knows what a device holds, and of a measured
/// step, which did run.
std::string_view memory_word(const Evaluation& e, const StepRow& row) {
  if (!e.study.machine || !e.study.model.architecture || is_measured(e.study, row.workload.kind))
    return "";
  const Bytes need = memory_of(e.memory, row.workload, row.path->scheme);
  const Decision decision = decided_memory({.kind = BudgetKind::device_memory}, e.study, need);
  if (!decision.high) return "";
  if (decision.verdict == Verdict::unknown) return name(Fate::may_not_fit);
  return decision.verdict == Verdict::fail ? name(Fate::does_not_fit) : kMemoryFits;
}

}  // namespace

void write_json(JsonWriter& json, const Answer& answer) {
  json.objects("step", answer.evaluation.step, [&](const StepRow& row) {
    json.member("workload", name(row.workload));
    json.member("scheme", name(row.path->scheme));
    json.member("schedule", name(row.schedule));
    append(json, quantities_of(row));
    json.member("dominant", name(row.dominant));
    json.member("evidence", name(row.delta.evidence));
    append(json, residual_of(row));
    append(json, baseline_of(row));
    json.text_or_null("baseline_evidence",
                      row.baseline_step ? name(row.baseline_step->evidence) : "");
    json.text_or_null("missing", row.missing);
    json.text_or_null("memory", memory_word(answer.evaluation, row));
  });
}

void write_csv(CsvLines& csv, const Answer& answer) {
  for (const StepRow& row : answer.evaluation.step) {
    const CsvPlace place{.section = "step",
                         .workload = row.workload,
                         .scheme = name(row.path->scheme),
                         .schedule = name(row.schedule)};
    csv.add(place, quantities_of(row));
    csv.add(place, residual_of(row));
    csv.add(place, baseline_of(row));
    csv.add(place, "baseline_evidence", row.baseline_step ? name(row.baseline_step->evidence) : "");
    csv.add(place, "dominant", name(row.dominant));
    csv.add(place, "evidence", name(row.delta.evidence));
  }
}

void explain(const Evaluation& e, Explanations& out) {
  for (const StepRow& row : e.step) {
    if (row.workload.kind == WorkloadKind::training) {
      out.push_back(training_section::explain_step(e, row));
      continue;
    }
    Explanation x{
        .metric = explained::metric(
            {"step", name(row.workload), name(row.path->scheme), name(row.schedule)}),
        .formula = fmt::format("sum over launches of {}, less the same sum of the fused "
                               "standard residual",
                               kLaunchTime),
        .source = "[ours] REFERENCES.md, time",
        .numbers = operation_sums(e, row),
        .function = "model/step/step.cpp: step_times; model/machine/time.cpp: LaunchTime::terms"};
    if (row.sends.value > Seconds{})
      x.numbers.push_back(
          fmt::format("messages between pipeline stages: {} "
                      "(model/step/stage_sends.cpp: send_time)",
                      microseconds(row.sends)));
    x.numbers.push_back("residual path " + microseconds(row.residual));
    x.numbers.push_back(
        fmt::format("added {}; mostly {}", microseconds(row.delta), name(row.dominant)));
    for (std::string& line : baseline_lines(e, row)) x.numbers.push_back(std::move(line));
    if (row.overhead)
      x.numbers.push_back(percent_text("overhead: added / baseline step", *row.overhead));
    if (row.share)
      x.numbers.push_back(
          percent_text("share: residual path / (baseline step + added)", *row.share));
    out.push_back(std::move(x));
  }
}

void write_markdown(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.step.empty()) return;
  out.heading("What each scheme and schedule adds");
  out.paragraph(
      "`delta`: added to the baseline step. `overhead`: delta over the baseline step, which is "
      "what papers mean. `share`: the whole residual path over the whole step, which is what a "
      "profiler shows; in training its kernels alone, without messages between stages. The standard "
      "residual has a share, too, but no overhead.");
  for (const WorkloadId workload : timed_workloads(e)) {
    out.paragraph(
        fmt::format("**{}**, baseline step {}", name(workload), baseline_text(e, workload)));
    out.table(step_table(e, workload));
  }
  if (out.has_plot("overhead.svg")) out.plot("added_time.svg");
}

void write_table(std::string& text, const Answer& answer) {
  const Evaluation& evaluation = answer.evaluation;
  for (const WorkloadId workload : timed_workloads(evaluation))
    append_table(text,
                 fmt::format("Step {}: added to standard fused; baseline step {}", name(workload),
                             baseline_text(evaluation, workload)),
                 without_column(step_table(evaluation, workload), kShareColumn));
  if (const std::string missing = missing_baseline(evaluation); !missing.empty())
    text += "\n" + missing + "\n";
}

}  // namespace step_section

using namespace step_section;

std::vector<WorkloadId> timed_workloads(const Evaluation& evaluation) {
  return workloads_of_rows(evaluation.step);
}

Table step_table(const Evaluation& evaluation, WorkloadId workload) {
  Table table{{"scheme", "schedule", right("delta [90 %]"), right("overhead [90 %]"),
               right(std::string(kShareColumn)), "dominant", "evidence"}};
  for (const StepRow& row : evaluation.step)
    if (row.workload == workload)
      table.add(name(row.path->scheme),
                schedule_label_in(workload.kind, row.path->scheme, row.schedule),
                format_seconds(row.delta, Sign::always), overhead_text(evaluation, row),
                row.share ? format_ratio(*row.share) : std::string(kNothing), name(row.dominant),
                name(row.delta.evidence));
  return table;
}

std::string missing_baseline(const Evaluation& evaluation) {
  for (const StepRow& row : evaluation.step)
    if (!row.baseline_step)
      return fmt::format("The percentage is not known: {}. Write `baseline_step`.", row.missing);
  return "";
}

std::string baseline_text(const Evaluation& evaluation, WorkloadId workload) {
  for (const StepRow& row : evaluation.step) {
    if (row.workload != workload) continue;
    if (!row.baseline_step) return "not known";
    return rest_section::time_text(*row.baseline_step) +
           (rest_section::is_modelled(evaluation, workload) ? ", modelled" : ", measured");
  }
  return "no hardware";
}

}  // namespace depthcost
