// Kernels for a terminal: what cases share is a heading, and a row has what differs.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reports/comparison/comparison_report.hpp"

namespace depthcost {

/// Cases that differ in their tokens alone, and their common name:
/// "h100_sxm/mhc_post/m:4/bf16/d:7168/graph/hot".
std::vector<std::pair<std::string, Table>> kernel_tables(std::span<const ComparedCase> cases);

/// The same for the published kernels beside them.
std::vector<std::pair<std::string, Table>> nearest_tables(std::span<const PublishedBeside> nearest);

/// Errors by device, operation and whether launch counts.
Table error_table(std::span<const ComparedCase> cases);

}  // namespace depthcost
