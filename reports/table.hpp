// The answer as tables: each section as rows of text, and all of them for a terminal. The Markdown
// report renders the same tables.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/evaluation/evaluation.hpp"
#include "reports/text_table.hpp"

namespace depthcost {

/// d-vectors per token as the mean over layers, the output aggregation, and bytes per token of a
/// forward pass with both. A convention outside its domain bears a `*`.
Table ledger_table(const Evaluation& evaluation);

/// One line per layer or operation: the rows of `--layers`.
Table layer_table(std::span<const LedgerRow> layers);

/// Attention over depth, of the study's scheme.
Table aggregation_table(const Aggregation& aggregation);

/// Bytes on one device, scheme by scheme.
Table prefill_table(const Evaluation& evaluation);

/// d-vectors per token that cross pipeline boundaries: all transitions, and the largest one.
Table pipeline_table(const PipelineAnswer& pipeline);

/// Workload points that have been timed, each once, in order.
std::vector<std::string> timed_workloads(const Evaluation& evaluation);

/// `with_share` is too wide for a terminal.
enum class StepColumns { overhead, with_share };

/// Every scheme and schedule of one workload, against the standard residual, `fused`.
Table step_table(const Evaluation& evaluation, std::string_view workload,
                 StepColumns columns = StepColumns::overhead);

/// Why a workload has no baseline step; empty where all have one.
std::string missing_baseline(const Evaluation& evaluation);

/// "12.0 ms, measured": the step that per cents of one workload are of.
std::string baseline_text(const Evaluation& evaluation, std::string_view workload);

/// Workload points whose step is modelled, each once, in order.
std::vector<std::string> modelled_workloads(const Evaluation& evaluation);

/// What rest_table() is of: a whole step, but of training one forward pass.
std::string rest_heading(std::string_view workload);

/// The terms of one workload's baseline step with the standard residual, and their sum; of training
/// those of the layers alone.
Table rest_table(const Evaluation& evaluation, std::string_view workload);

/// What the fullest device holds at each workload point under the study's scheme; a prefill with
/// and without sequence shards.
Table memory_table(const Evaluation& evaluation);

/// A training step with one scheme and schedule; nothing without one.
const TrainingRun* training_run(const Evaluation& evaluation, const ResidualPath& path,
                                Schedule schedule);

/// Every scheme and schedule: the residual path on one micro-batch, and the simulated step.
Table training_time_table(const Evaluation& evaluation);

/// Every scheme as it is quoted: gradient accumulation, the fullest stage, and what is sent.
Table training_memory_table(const Evaluation& evaluation);

/// Stages and chunks of the study's scheme. The evaluation must have a training step.
Table stage_table(const Evaluation& evaluation);
Table chunk_table(const Evaluation& evaluation);

/// Need is the limit, have what is predicted, shortfall what surely is too much, margin what is
/// left at the high end.
Table budget_table(std::span<const BudgetRow> budgets);

/// "NAME: why it is unknown" or "NAME: what would work", for budgets that have either.
std::vector<std::string> budget_notes(std::span<const BudgetRow> budgets);

/// All sections that the study asks for, within 100 columns.
std::string to_table(const Evaluation& evaluation, std::span<const LedgerRow> layers = {});

}  // namespace depthcost
