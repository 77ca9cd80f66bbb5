// A JSON file as the same tree as a YAML file, each node with its place in the file.
#pragma once

#include <string>
#include <string_view>

#include "scenarios/text/document.hpp"

namespace depthcost {

/// The most values of a file, arrays and objects too. Files of ours have 16 bytes a value and more:
/// those of 64 MB pass. A value takes 72 bytes, a member of an object 128. [ours]
inline constexpr std::size_t kMaxJsonValues = 4'000'000;

/// The tree of the one value in the text: strict JSON, no key twice in an object, nothing nested
/// deeper than kMaxNestingDepth, at most kMaxJsonValues. Texts are quoted scalars; numbers, true
/// and false stand as they are written, unquoted; null is a null scalar. The file name only labels
/// positions. Throws InputError, and nothing else that the text could cause.
Node parse_json(std::string_view text, const std::string& file,
                std::size_t max_bytes = kMaxFileBytes);

/// "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while parsing
/// value - invalid literal; last read: 'N'" -> "invalid literal". What was read is not quoted: a
/// file that is no JSON may be none of ours.
std::string json_problem(std::string_view what);

}  // namespace depthcost
