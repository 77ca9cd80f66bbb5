// The first screen of a report: one table, and the verdict in a few sentences.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

/// Workload by batch: added time of each scheme, memory, payload.
Table decision_table(const Evaluation& evaluation);

/// What its columns mean.
std::string decision_legend(const Evaluation& evaluation);

/// What per cents refer to: how the standard residual is attached in the baseline step, and whether
/// that step is measured or modelled.
std::string baseline_sentence(const Evaluation& evaluation);

/// The verdict: what it costs, what holds, and what the two-phase schedule would change. What the
/// user claims is escaped for Markdown.
std::vector<std::string> verdict_sentences(const Evaluation& evaluation,
                                           TextStyle style = TextStyle::plain);

/// The first screen for a terminal.
std::string decision_text(const Evaluation& evaluation, const ReportParts& parts);

namespace decision_section {

void write_markdown(Document& out);
/// The title of the tables.
void write_table(std::string& text, const Answer& answer);

}  // namespace decision_section
}  // namespace depthcost
