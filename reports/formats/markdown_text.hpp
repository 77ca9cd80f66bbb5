// Plain text inside Markdown.
#pragma once

#include <string>
#include <string_view>

namespace depthcost {

/// `text` with a backslash before every character that would end or restyle what it stands in.
std::string escaped(std::string_view text);

/// A link to a file that lies beside the document. `text` is plain.
std::string link(std::string_view text, const std::string& file_name);

/// A picture that lies beside the document. `caption` is plain text.
std::string picture(std::string_view caption, const std::string& file_name);

}  // namespace depthcost
