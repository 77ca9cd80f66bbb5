// Checks the brackets of a text before yaml-cpp reads it. yaml-cpp queues everything inside the
// outermost pair before its first event, and needs more than 200 bytes of memory for each mark.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace depthcost {

/// Marks ([]{},:?&*! and quoted texts) inside one outermost pair of brackets.
inline constexpr std::size_t kMaxBracketMarks = 131'072;

/// A place where brackets hold too much: too many marks, or too many levels.
struct BracketExcess {
  std::size_t offset = 0;
  bool is_depth = false;  // nested too deeply; else too many marks
};

/// The first such place. Brackets in quotes, in comments and inside plain texts do not count.
std::optional<BracketExcess> bracket_excess(std::string_view text);

}  // namespace depthcost
