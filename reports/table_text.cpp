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

std::string step_heading(const Evaluation& evaluation, const std::string& workload) {
  return fmt::format("Step {}: added to standard fused; baseline step {}", workload,
                     baseline_text(evaluation, workload));
}

void append_rest(std::string& text, const Evaluation& evaluation) {
  for (const std::string& workload : modelled_workloads(evaluation))
    append(text, rest_heading(workload), rest_table(evaluation, workload));
}

void append_training(std::string& text, const Evaluation& evaluation) {
  append(text, "Training: the residual path on one micro-batch, and the simulated step",
         training_time_table(evaluation));
  append(text, "Training: d-vectors added up, the fullest stage, messages of one micro-batch",
         training_memory_table(evaluation));
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
  if (evaluation.study.decode || evaluation.study.prefill)
    append(text, "Memory of the fullest device", memory_table(evaluation));
  if (evaluation.pipeline) append_pipeline(text, *evaluation.pipeline);
  for (const std::string& workload : timed_workloads(evaluation))
    append(text, step_heading(evaluation, workload), step_table(evaluation, workload));
  if (const std::string missing = missing_baseline(evaluation); !missing.empty())
    text += "\n" + missing + "\n";
  append_rest(text, evaluation);
  if (evaluation.training.work) append_training(text, evaluation);
  if (!evaluation.budgets.empty()) append_budgets(text, evaluation.budgets);
  return text;
}

}  // namespace depthcost
