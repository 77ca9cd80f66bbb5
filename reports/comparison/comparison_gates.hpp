// Predicted against measured, as CI systems read it.
#pragma once

#include <vector>

#include "reports/formats/annotations.hpp"
#include "reports/comparison/comparison_report.hpp"
#include "reports/formats/junit.hpp"

namespace depthcost {

/// Fails what blocks; skips what else is ambiguous, and what a rule only reports.
JunitSuite junit_suite(const ComparisonReport& report);

/// Errors for what blocks and warnings for what else is ambiguous, worst first, each where a user
/// can mend it.
std::vector<Annotation> annotations(const ComparisonReport& report);

}  // namespace depthcost
