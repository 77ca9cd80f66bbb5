// Predicted against measured, as CI systems read it.
#pragma once

#include <vector>

#include "reports/comparison/comparison_report.hpp"
#include "reports/formats/annotations.hpp"
#include "reports/formats/junit.hpp"

namespace depthcost {

/// Cases that block are failures. Other ambiguous cases, and cases that a rule only reports, are
/// skipped.
JunitSuite junit_suite(const ComparisonReport& report);

/// Errors for cases that block, warnings for other ambiguous cases, the worst first. Each stands at
/// the line that a user can mend.
std::vector<Annotation> annotations(const ComparisonReport& report);

}  // namespace depthcost
