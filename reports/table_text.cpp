// All sections one below the other, each under a line that says what its numbers are.
#include <fmt/format.h>

#include <algorithm>

#include "reports/format.hpp"
#include "reports/table.hpp"

namespace depthcost {
namespace {

void append(std::string& text, std::string_view heading, const Table& table) {
  text += fmt::format("\n{}\n\n{}", heading, plain_text(table));
}

std::string title(const Study& study) {
  return fmt::format("{}\n{}: {} layers, hidden size {}; {}, {}{}\n", study.name, study.model.name,
                     format_count(study.model.num_layers), format_count(study.model.hidden_size),
                     name(study.path.scheme), name(study.schedule),
                     study.machine ? "; on " + study.machine->name : "");
}

void append_ledger(std::string& text, const Evaluation& evaluation,
                   std::span<const LedgerRow> layers) {
  append(text,
         "Ledger: d-vectors per token, mean over the layers; bytes per token of a forward pass",
         ledger_table(evaluation));
  const bool outside =
      std::any_of(evaluation.ledger.begin(), evaluation.ledger.end(),
                  [](const LedgerRow& row) { return !inside_domain(*row.path, row.counting); });
  if (outside) text += "* outside its domain: the formula takes blocks of equal size\n";
  if (!layers.empty()) append(text, "Layers: per token", layer_table(layers));
}

void append_pipeline(std::string& text, const PipelineAnswer& pipeline) {
  append(text, "Pipeline: d-vectors per token sent across boundaries, with b_0 and partial sums",
         pipeline_table(pipeline));
  if (pipeline.events.empty()) return;  // no bank: Eq. 7 and 8 say nothing
  text += fmt::format("Eq. 7, naive: {}; Eq. 8, cached: {} (aligned blocks, without b_0)\n",
                      format_d(pipeline.naive_d), format_d(pipeline.cached_d));
}

/// A measured one has no interval.
std::string baseline_text(const Estimate<Seconds>& step) {
  return step.low == step.high ? format_seconds(step.value) : format_seconds(step) + ", modelled";
}

/// The baseline is the same in all rows of a workload.
std::string step_heading(const Evaluation& evaluation, const std::string& workload) {
  const auto row = std::find_if(evaluation.step.begin(), evaluation.step.end(),
                                [&](const StepRow& step) { return step.workload == workload; });
  const std::string baseline = row->baseline_step ? baseline_text(*row->baseline_step)
                                                  : fmt::format("not given, and {}", row->missing);
  return fmt::format("Step {}: convention kernel, against standard fused; baseline step {}",
                     workload, baseline);
}

void append_budgets(std::string& text, std::span<const BudgetRow> budgets) {
  append(text, "Budgets", budget_table(budgets));
  for (const std::string& note : budget_notes(budgets)) text += note + "\n";
}

}  // namespace

std::string to_table(const Evaluation& evaluation, std::span<const LedgerRow> layers) {
  std::string text = title(evaluation.study);
  append_ledger(text, evaluation, layers);
  if (evaluation.aggregation.sublayer_calls > 0)
    append(text, "Attention over depth: the pairs include the output",
           aggregation_table(evaluation.aggregation));
  if (!evaluation.prefill.empty())
    append(text, "Prefill: bytes on one device", prefill_table(evaluation));
  if (evaluation.pipeline) append_pipeline(text, *evaluation.pipeline);
  for (const std::string& workload : timed_workloads(evaluation))
    append(text, step_heading(evaluation, workload), step_table(evaluation, workload));
  if (!evaluation.budgets.empty()) append_budgets(text, evaluation.budgets);
  return text;
}

}  // namespace depthcost
