// The report: one Markdown document for a scenario, to be attached to a pull request.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/resolved_value.hpp"
#include "model/evaluation/evaluation.hpp"
#include "model/evaluation/nearest_measurement.hpp"
#include "reports/measured_kernels.hpp"
#include "reports/text_table.hpp"

namespace depthcost {

/// A plot that lies beside the report.
struct PlotFile {
  std::string file_name;
  std::string caption;
};

/// What the report is made of besides the answer.
struct ReportParts {
  std::span<const ResolvedValue> values;
  std::span<const PlotFile> plots;
  std::string missing_plots;  // why there are none, if there are none
  std::string program_version;
  std::optional<MeasuredKernels> measured = {};  // where the hardware is a profile
  std::span<const ComparedCase> published = {};  // kernels of others, each with its prediction
  std::span<const MeasuredStep> published_steps = {};
};

/// Same input, same bytes.
std::string markdown_report(const Evaluation& evaluation, const ReportParts& parts);

/// The table that opens the report: workload by batch, added time of each scheme, memory, payload.
Table decision_table(const Evaluation& evaluation);

/// Standard residual and AttnRes, each as kernels of its own and folded into the all-reduce, at
/// every decode workload. Without rows where there is none to fold into.
Table attachment_table(const Evaluation& evaluation);

/// What others have measured, nearest to the calls behind the first table: each measurement with
/// the prediction of that very call.
Table published_table(const Evaluation& evaluation, std::span<const ComparedCase> published);

/// Measured decode steps of the same model in the same scheme, each beside the step predicted here.
Table published_step_table(const Evaluation& evaluation, std::span<const MeasuredStep> published);

/// One sentence for each measurement that the prediction's interval does not hold.
std::vector<std::string> published_warnings(const Evaluation& evaluation,
                                            std::span<const ComparedCase> published,
                                            std::span<const MeasuredStep> published_steps);

/// What its columns mean.
std::string decision_legend(const Evaluation& evaluation);

/// Which step per cents are of: how the standard residual is attached in it, and whether it is
/// measured or modelled.
std::string baseline_sentence(const Evaluation& evaluation);

/// The verdict: what it costs, what holds, and what the two-phase schedule would change. What the
/// user claims is escaped for Markdown.
std::vector<std::string> verdict_sentences(const Evaluation& evaluation,
                                           TextStyle style = TextStyle::plain);

}  // namespace depthcost
