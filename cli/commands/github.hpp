// What a command leaves for GitHub beside its answer.
#pragma once

#include <string>

#include "reports/check/check_report.hpp"

namespace depthcost {

/// Annotations stand behind the text on stdout: throws InputError for JSON.
void require_text_for_github(const std::string& command, const std::string& format);

/// Appends to $GITHUB_STEP_SUMMARY, behind what other commands of the step have written there;
/// nothing where it is not set, or full.
void append_step_summary(const CheckReport& report);

}  // namespace depthcost
