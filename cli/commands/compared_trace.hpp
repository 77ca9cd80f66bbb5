// A profiler's trace of a step that a scenario describes.
#pragma once

#include "cli/commands/commands.hpp"
#include "reports/comparison/trace_report.hpp"

namespace depthcost {

/// Throws InputError for options that a trace does not have and for bad files.
TraceReport compared_trace(const CompareOptions& options);

}  // namespace depthcost
