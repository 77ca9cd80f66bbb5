// Escapes and links.
#include "reports/document.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace depthcost {
namespace {

/// A name with a space or a bracket is a target only between < and >.
std::string link_target(const std::string& name) {
  return name.find_first_of(" ()") == std::string::npos ? name : "<" + name + ">";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (std::string_view("\\[]`*_<>").find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

bool Document::has_plot(std::string_view name) const {
  return std::any_of(parts_.plots.begin(), parts_.plots.end(),
                     [&](const PlotFile& file) { return file.file_name.ends_with(name); });
}

void Document::plot(std::string_view name) {
  for (const PlotFile& file : parts_.plots)
    if (file.file_name.ends_with(name))
      text_ += fmt::format("![{}]({})\n\n", escaped(file.caption), link_target(file.file_name));
}

}  // namespace depthcost
