// The first screen of a report: the verdict, one small table, and a few sentences.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

/// What the times of the first table are.
std::string cost_legend(const Evaluation& evaluation);

/// What per cents refer to: how the standard residual is attached in the baseline step, and whether
/// that step is measured or modelled.
std::string baseline_sentence(const Evaluation& evaluation);

/// What is said below the first table: budgets, batches, what the two-phase schedule would change.
/// What the user claims is escaped for Markdown.
std::vector<std::string> more_sentences(const Evaluation& evaluation,
                                        TextStyle style = TextStyle::plain);

/// The first screen for a terminal.
std::string decision_text(const Evaluation& evaluation, const ReportParts& parts);

namespace decision_section {

void write_markdown(Document& out);
/// The title of the tables.
void write_table(std::string& text, const Answer& answer);

}  // namespace decision_section
}  // namespace depthcost
