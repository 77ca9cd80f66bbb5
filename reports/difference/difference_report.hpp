// Two results held against each other, as text, Markdown and JSON.
#pragma once

#include <string>
#include <string_view>

#include "model/decision/difference.hpp"

namespace depthcost {

/// Where a result came from.
struct ComparedResult {
  std::string file;
  std::string scenario;
  std::string program_version;
};

struct DifferenceReport {
  ComparedResult before;
  ComparedResult after;
  double tolerance = 0;
  Difference difference;
};

/// Where a new number lies: "inside", "below" or "above" the old interval; empty without one.
std::string_view name(OldInterval place);

/// Counts, words that changed, and the ten largest moves of each section. The JSON has all moves.
std::string to_table(const DifferenceReport& report);
std::string to_markdown(const DifferenceReport& report);

/// Everything, in base units; `relative` is null where the old number is zero, `old_interval` where
/// there was none.
std::string to_json(const DifferenceReport& report, const std::string& program_version);

}  // namespace depthcost
