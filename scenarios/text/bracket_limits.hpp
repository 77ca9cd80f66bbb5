// A look at a text's brackets before yaml-cpp sees it: it queues everything inside the outermost
// pair before it hands out the first event, at more than 200 bytes of memory for each mark.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace depthcost {

/// Marks ([]{},:?&*! and quoted texts) inside one outermost pair of brackets.
inline constexpr std::size_t kMaxBracketMarks = 131'072;

/// A place where the brackets hold more than any file needs, and what is too much there.
struct BracketExcess {
  std::size_t offset = 0;
  bool is_depth = false;  // nested too deeply; else too many marks
};

/// The first of them. Brackets in quotes, in comments and amid plain texts are none.
std::optional<BracketExcess> bracket_excess(std::string_view text);

}  // namespace depthcost
