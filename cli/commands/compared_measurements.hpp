// What `compare` holds against predictions: published measurements, a table, samples or a profile.
#pragma once

#include "cli/commands/commands.hpp"
#include "reports/comparison/comparison_report.hpp"

namespace depthcost {

/// Throws InputError for options that exclude each other and for files that are wrong.
ComparisonReport compared_measurements(const CompareOptions& options);

}  // namespace depthcost
