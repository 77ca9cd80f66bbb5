// What each scheme and schedule adds to a step, in every format.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

/// Workload points whose step is timed, each once, in order.
std::vector<WorkloadId> timed_workloads(const Evaluation& evaluation);

/// Every scheme and schedule of one workload, against the standard residual, `fused`.
Table step_table(const Evaluation& evaluation, WorkloadId workload);

/// Why some workload has no baseline step; empty where all have one.
std::string missing_baseline(const Evaluation& evaluation);

/// "12.0 ms, measured": the baseline step of a workload, which its per cents refer to.
std::string baseline_text(const Evaluation& evaluation, WorkloadId workload);

/// Microseconds that each scheme adds to a decode step, against the batch. None without decode, a
/// machine, or a scheme beside the standard residual.
std::optional<Plot> added_time_plot(const Evaluation& evaluation);

/// The same in per cent of the baseline step. None without one.
std::optional<Plot> overhead_plot(const Evaluation& evaluation);

namespace step_section {

void write_json(JsonWriter& json, const Answer& answer);
void write_csv(CsvLines& csv, const Answer& answer);
void explain(const Evaluation& evaluation, Explanations& out);
void write_markdown(Document& out);
void write_table(std::string& text, const Answer& answer);

}  // namespace step_section
}  // namespace depthcost
