// Text as a terminal shows it: lines that fit into its width, and what matters in colour.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace depthcost {

enum class Colours { none, ansi };

struct TerminalStyle {
  std::size_t width = std::numeric_limits<std::size_t>::max();  // places in a line
  Colours colours = Colours::none;
};

/// `text` with its tables, as plain_text() writes them, cut between columns where they are too
/// wide: parts one below the other, each beginning with the columns that tell the rows apart. No
/// column itself is cut. Other lines break between words. Headers are bold; verdicts are green,
/// yellow or red. In the plainest style the text itself.
std::string for_terminal(std::string_view text, const TerminalStyle& style);

/// `text` in red and bold, if the style has colours.
std::string as_error(std::string_view text, const TerminalStyle& style);

}  // namespace depthcost
