// The residual path in a profiler's trace beside its prediction, as tables and JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/evaluation/traced_step.hpp"

namespace depthcost {

/// The answer of `compare TRACE --scenario S`.
struct TraceReport {
  std::string title;
  std::string scheme;  // of the scenario, as its prediction has it
  TracedStep traced;
  std::vector<std::string> notes;  // what was left out
};

/// For a terminal.
std::string to_table(const TraceReport& report);

/// For a pull request.
std::string to_markdown(const TraceReport& report);

std::string to_json(const TraceReport& report, std::string_view program_version);

}  // namespace depthcost
