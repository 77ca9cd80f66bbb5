// Reads the script of a plot, and checks that its SVG is XML.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace depthcost::test {

using Rows = std::vector<std::vector<double>>;

/// The numbers of a data block; none if there is no such block.
inline Rows rows_of(const std::string& script, const std::string& block) {
  std::istringstream lines{script};
  std::string line;
  while (std::getline(lines, line) && line != block + " << EOD") continue;
  Rows rows;
  while (std::getline(lines, line) && line != "EOD") {
    std::istringstream numbers{line};
    std::vector<double>& row = rows.emplace_back();
    for (double value = 0; numbers >> value;) row.push_back(value);
  }
  return rows;
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// The row whose first column is `key`.
inline std::vector<double> row_at(const Rows& rows, double key) {
  for (const std::vector<double>& row : rows)
    if (row.front() == key) return row;
  return {};
}

/// Expects every tag to be closed in order, and no '&' alone.
inline bool is_well_formed(std::string_view xml) {
  std::vector<std::string_view> open;
  std::size_t at = 0;
  while ((at = xml.find_first_of("<&", at)) != std::string_view::npos) {
    const std::size_t end = xml.find(xml[at] == '&' ? ';' : '>', at);
    if (end == std::string_view::npos) return false;
    const std::string_view inside = xml.substr(at + 1, end - at - 1);
    const bool is_reference = xml[at] == '&';
    at = end + 1;
    if (is_reference) {
      if (inside != "amp" && inside != "lt" && inside != "gt") return false;
    } else if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1)) return false;
      open.pop_back();
    } else if (!inside.starts_with('?') && !inside.ends_with('/')) {
      open.push_back(inside.substr(0, inside.find_first_of(" \n\t")));
    }
  }
  return open.empty();
}

}  // namespace depthcost::test
