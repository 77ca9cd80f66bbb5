// Annotations and summaries that a command writes for GitHub.
#pragma once

#include <string>

#include "cli/output/format.hpp"
#include "reports/check/check_report.hpp"

namespace depthcost {

/// Annotations follow the text on stdout. Throws InputError for JSON, which must stay alone.
void require_text_for_github(const std::string& command, Format format);

/// Appends to the file $GITHUB_STEP_SUMMARY, after the summaries of other commands. Does nothing if
/// it is not set or full.
void append_step_summary(const CheckReport& report);

}  // namespace depthcost
