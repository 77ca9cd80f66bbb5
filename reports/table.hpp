// The answer as tables: each section as rows of text, and all of them for a terminal. The Markdown
// report renders the same tables.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/evaluation.hpp"
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

/// Every scheme and schedule of one workload, against the standard residual, `fused`.
Table step_table(const Evaluation& evaluation, std::string_view workload);

Table budget_table(std::span<const BudgetRow> budgets);

/// "NAME: why it is unknown" or "NAME: what would work", for budgets that have either.
std::vector<std::string> budget_notes(std::span<const BudgetRow> budgets);

/// All sections that the study asks for, within 100 columns.
std::string to_table(const Evaluation& evaluation, std::span<const LedgerRow> layers = {});

}  // namespace depthcost
