// What is printed may hold names and texts of other people's files.
#pragma once

#include <string>
#include <string_view>

namespace depthcost {

/// The text without what a terminal or GitHub's runner would obey, each written as \xNN: control
/// characters, and characters that turn the direction of writing; the first sign of "::" that
/// begins a line, behind blanks too, and the last of "##[". Line ends and tabs stay. actions/runner
/// src/Runner.Common/ActionCommand.cs: TryParseV2 trims the line, TryParse looks anywhere in it.
std::string harmless(std::string_view text);

}  // namespace depthcost
