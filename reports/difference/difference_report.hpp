// Two results held against each other, as text, Markdown and JSON.
#pragma once

#include <string>
#include <string_view>

#include "model/decision/difference.hpp"

namespace depthcost {

/// Where a result came from, and what its scenario's own scheme adds.
struct ComparedResult {
  std::string file;
  std::string scenario;
  std::string program_version;
  std::string path;                // "block_attnres two_phase"; empty if the inputs do not say it
  std::vector<NamedWord> numbers;  // "decode/64, added": "+123 us [106, 165], 1.0 % [0.6, 1.6]"
};

/// `file` is already printable.
ComparedResult compared(const std::string& file, const Result& result);

/// Which moves a terminal shows: those of whole steps, or those of every section.
enum class ShownMoves { steps, all };

struct DifferenceReport {
  ComparedResult before;
  ComparedResult after;
  double tolerance = 0;
  Difference difference;
  Improvements improvements = Improvements::allowed;
  ShownMoves shown = ShownMoves::steps;
};

/// Where a new number lies: "inside", "below" or "above" the old interval; empty without one.
std::string_view name(OldInterval place);

/// Whether it holds, inputs and verdicts that changed, the ten largest moves of whole steps, then
/// of each other section: folded in Markdown. The JSON has all moves.
std::string to_table(const DifferenceReport& report);
std::string to_markdown(const DifferenceReport& report);

/// Everything, in base units; `relative` is null where the old number is zero, `old_interval` where
/// there was none.
std::string to_json(const DifferenceReport& report, const std::string& program_version);

}  // namespace depthcost
