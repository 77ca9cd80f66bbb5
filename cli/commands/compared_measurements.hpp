// The measurements that `compare` compares with predictions: published ones, a table, samples or a
// profile.
#pragma once

#include "cli/commands/commands.hpp"
#include "reports/comparison/comparison_report.hpp"

namespace depthcost {

/// Throws InputError for options that exclude each other and for bad files.
ComparisonReport compared_measurements(const CompareOptions& options);

}  // namespace depthcost
