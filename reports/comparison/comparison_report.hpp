// Predicted against measured, as tables and text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/evaluation/served_step.hpp"
#include "model/machine/comparison.hpp"
#include "model/step/step_comparison.hpp"
#include "reports/formats/text_table.hpp"
#include "reports/section/plot.hpp"

namespace depthcost {

/// A measured kernel and the published one that is most like it.
struct PublishedBeside {
  ComparedCase ours;
  ComparedCase published;
};

/// The answer of `compare`.
struct ComparisonReport {
  std::string title;
  std::vector<ComparedCase> cases;  // never empty
  std::vector<std::string> notes;   // what was ignored or substituted
  std::string stale = {};           // a sentence where kernels have changed since; else empty
  std::vector<StepComparison> steps = {};
  std::vector<ComparedRun> servings = {};
  std::vector<ComparedRun> trainings = {};
  std::vector<PublishedBeside> nearest = {};  // of cases whose operation somebody has published
  std::optional<Machine> machine = {};        // none where the cases are of several
};

/// One row for each case: the fastest stack's time against the prediction.
Table comparison_table(std::span<const ComparedCase> cases);

/// One row for each measurement, the slower stacks too.
Table stack_table(std::span<const ComparedCase> cases);

/// One row for each of `nearest`: both errors, and whose kernel it is.
Table nearest_table(std::span<const PublishedBeside> nearest);

/// One row for each step: what its scheme adds.
Table step_comparison_table(std::span<const StepComparison> steps);

/// Errors of runs by model and by GPU.
Table run_table(std::span<const ComparedRun> runs);

/// The errors of runs whose constants have not seen their GPU.
std::string unseen_gpu_sentence(std::string_view what, std::span<const ComparedRun> runs);

/// What a peer predicts of the same steps, beside ours; empty where it predicts none.
std::string peer_sentence(std::span<const ComparedRun> servings);

/// The runs that are predicted worst.
Table worst_runs_table(std::span<const ComparedRun> runs);

/// "52 cases: median |error| 9.1 %, 90th percentile 73.4 %, worst +180 %, 44.2 % inside the 90 %
/// interval.", and the same of those in which launch does not count.
std::string error_line(std::span<const ComparedCase> cases);

/// "Gates: 2 of 40 fail, so the exit code is 1. Of 42 kernels: 30 pass, 12 fail."
std::string verdict_line(std::span<const ComparedCase> cases);

/// The difference in the unit of its term: "+1.0 d", "0.87 x bandwidth", "+1.9 us latency".
std::string attribution_text(const Attribution& attribution);

/// "fail", or "fail, reported" where the gate does not ask.
std::string agreement_cell(const ComparedCase& compared);

/// "fail: error +7.1 %, tolerance 5.0 % (REASON)".
std::string verdict_text(const ComparedCase& compared);

/// Everything, for a terminal.
std::string to_table(const ComparisonReport& report);

/// Everything, for a pull request.
std::string to_markdown(const ComparisonReport& report);

std::string to_json(const ComparisonReport& report, std::string_view program_version);

/// Arithmetic rate of every kernel by operations per byte, measured and predicted, under the roof
/// of the datasheet's bandwidth and the vector units. None without a kernel that does arithmetic.
std::optional<Plot> roofline_plot(const Machine& machine, std::span<const ComparedCase> cases);

/// Bandwidth of plain streams by share of reads, and the kernels that were measured from memory.
/// None where there are none. Kernels that have changed since are called `stale`.
std::optional<Plot> roofs_plot(const Machine& machine, std::span<const ComparedCase> cases,
                               std::string_view stale);

/// Error of every prediction against the predicted time, and the interval.
std::optional<Plot> residuals_plot(const Machine& machine, std::span<const ComparedCase> cases,
                                   std::string_view stale);

/// What memory serves, by reuse distance. None without a cache.
std::optional<Plot> transition_plot(const Machine& machine);

}  // namespace depthcost
