// One cell of a table with commas.
#pragma once

#include <string>
#include <string_view>

namespace depthcost {

/// `text`, in quotes where it needs them (RFC 4180).
inline std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + "\"";
}

}  // namespace depthcost
