// What others have measured, beside what is predicted.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

/// For each scheme the published kernel that is nearest to its calls, with the prediction of
/// exactly that call.
Table published_table(const Evaluation& evaluation, std::span<const ComparedCase> published);

/// "16 of the 16 nearest published kernels lie inside ..."; empty without such a kernel.
std::string nearest_sentence(const Evaluation& evaluation, std::span<const ComparedCase> published);

/// Measured decode steps of the same model in the same scheme, each beside the step predicted here.
Table published_step_table(const Evaluation& evaluation, std::span<const MeasuredStep> published);

/// "mhc_pre, T = 64, d = 7168, hot, on b300_sxm took 12.0 us (vLLM 0.24.0)".
std::string measurement_text(const ComparedCase& measured);

/// One sentence for each measurement outside the predicted interval.
std::vector<std::string> published_warnings(const Evaluation& evaluation, const ReportParts& parts);

namespace published_section {

/// How many of the nearest kernels the predictions hold, and the steps of this model.
void write_summary(Document& out);

/// The table of nearest kernels.
void write_markdown(Document& out);

}  // namespace published_section
}  // namespace depthcost
