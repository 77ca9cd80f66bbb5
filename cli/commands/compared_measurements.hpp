// The measurements that `compare` compares with predictions: published ones, a table, samples or a
// profile.
#pragma once

#include <string>
#include <string_view>

#include "cli/commands/commands.hpp"
#include "reports/comparison/comparison_report.hpp"

namespace depthcost {

/// Throws InputError for how `compare` was called.
[[noreturn]] void refuse_call(std::string_view problem);

/// Throws InputError for options that exclude each other.
void require_no_conflicts(const CompareOptions& options);

/// The file that is named; else the profile that scripts/measure writes. Throws InputError where
/// there is neither.
std::string compared_file(const CompareOptions& options);

/// A table without rows: each column explained in a comment, then the header.
std::string table_template();

/// Throws InputError for bad files.
ComparisonReport compared_measurements(const CompareOptions& options);

}  // namespace depthcost
