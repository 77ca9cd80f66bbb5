// What is predicted: one launch, one step, and what the budgets make of it.
#include <fmt/format.h>

#include <map>

#include "reports/explain_sections.hpp"
#include "reports/format.hpp"
#include "reports/quantities.hpp"

namespace depthcost::explained {
namespace {

constexpr const char* kLaunchTime =
    "launches x a(launch, level, skeleton) + max(sum over operands and parameters of bytes / "
    "bandwidth, operations / rate, waves x reads of a token / draw of its CTAs + dependent steps)";

std::string microseconds(Seconds seconds) { return fmt::format("{:.6g} us", seconds.value * 1e6); }

std::string microseconds(const Estimate<Seconds>& estimate) {
  return fmt::format("{} [{}, {}]", microseconds(estimate.value), microseconds(estimate.low),
                     microseconds(estimate.high));
}

std::string terms_text(const TimeTerms& terms) {
  const std::string token =
      terms.token.value > 0 ? fmt::format(", {}", microseconds(terms.token)) : "";
  return fmt::format(
      "{} + max({}, {}{}){}", microseconds(terms.floor), microseconds(terms.bytes),
      microseconds(terms.operations), token,
      terms.on_top.value > 0 ? fmt::format(" + {}", microseconds(terms.on_top)) : "");
}

Explanation explain_launch(const TimeRow& row, const VectorStorage& types) {
  return {
      .metric = metric({"time", row.workload, name(row.path->scheme), name(row.schedule),
                        name(row.operation.id), std::to_string(row.kind)}),
      .formula = kLaunchTime,
      .source = "[ours] REFERENCES.md, few tokens",
      .numbers = {fmt::format("per token: {}", operands(row.operation)),
                  fmt::format("T = {:g}, d = {:g}, {}: {:.12g} bytes, {:.12g} of them parameters, "
                              "{:.3g} % from memory",
                              row.tokens, types.hidden_size, name(types.dtype), row.bytes.value,
                              row.parameters.value, 100 * row.memory_share),
                  fmt::format("launched as {}: {} = {}", name(row.launch), terms_text(row.terms),
                              microseconds(row.predicted)),
                  fmt::format("no faster than {}; the layer waits for {}; {:g} calls a workload",
                              microseconds(row.bound), microseconds(row.critical), row.calls)},
      .function =
          "model/machine/time.cpp: LaunchTime::terms, LaunchTime::bound, critical_time; "
          "model/machine/few_tokens.cpp: token_work"};
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
                                microseconds(sums[id].seconds), step.workload,
                                name(step.path->scheme), name(step.schedule), name(id),
                                sums[id].kinds > 1 ? fmt::format(" .. {}", sums[id].kinds) : ""));
  return lines;
}

std::string percent_text(std::string_view what, const Estimate<double>& ratio) {
  return fmt::format("{} = {:.4g} % [{:.4g} %, {:.4g} %]", what, 100 * ratio.value, 100 * ratio.low,
                     100 * ratio.high);
}

/// What the baseline step is made of.
std::vector<std::string> baseline_lines(const Evaluation& e, const StepRow& step) {
  const Attachment attachment = baseline_path(e.study, *step.path).attachment;
  if (!step.baseline_step) return {"no baseline step: " + step.missing};
  std::vector<std::string> terms;
  for (const RestRow& row : e.rest)
    if (row.workload == step.workload)
      terms.push_back(fmt::format("{} {}", rest_metric(row), microseconds(row.time.value)));
  const std::string whole = "baseline step " + microseconds(*step.baseline_step);
  if (terms.empty()) return {whole + ", measured by the user"};
  return {fmt::format("{}, modelled: {}, standard residual {} ({})", whole, fmt::join(terms, ", "),
                      microseconds(step.residual.value - step.delta.value), name(attachment))};
}

}  // namespace

void time(const Evaluation& e, Explanations& out) {
  const VectorStorage types = storage_of(e.study);
  for (const TimeRow& row : e.time) out.push_back(explain_launch(row, types));
}

void step(const Evaluation& e, Explanations& out) {
  for (const StepRow& row : e.step) {
    if (row.workload == "training") {
      out.push_back(training_step(e, row));
      continue;
    }
    Explanation x{
        .metric = metric({"step", row.workload, name(row.path->scheme), name(row.schedule)}),
        .formula = fmt::format("sum over launches of {}, less the same sum of the fused "
                               "standard residual",
                               kLaunchTime),
        .source = "[ours] REFERENCES.md, time",
        .numbers = operation_sums(e, row),
        .function = "model/step/step.cpp: step_times; model/machine/time.cpp: LaunchTime::terms"};
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

void budgets(const Evaluation& e, Explanations& out) {
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.6g}", *value) : "unknown";
  };
  for (const BudgetRow& row : e.budgets) {
    const BudgetNumbers numbers = numbers_of(row);
    out.push_back(
        {.metric = metric({"budgets", name(row.budget.kind)}),
         .formula =
             "pass if the high end keeps the limit, fail if the low end breaks it, else unknown",
         .source = "[ours] REFERENCES.md, budgets",
         .numbers = {fmt::format("limit {} {}, at least {}, at most {}: {}", text(numbers.limit),
                                 unit_of(row.budget.kind), text(numbers.low), text(numbers.high),
                                 name(row.verdict)),
                     row.reason.empty() ? "nothing is missing" : row.reason},
         .function = "model/decision/budget.cpp: budget_rows"});
  }
}

}  // namespace depthcost::explained
