// Escapes and links.
#include "reports/formats/markdown_text.hpp"

#include <fmt/format.h>

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

std::string link(std::string_view text, const std::string& file_name) {
  return fmt::format("[{}]({})", escaped(text), link_target(file_name));
}

std::string picture(std::string_view caption, const std::string& file_name) {
  return fmt::format("![{}]({})\n\n", escaped(caption), link_target(file_name));
}

}  // namespace depthcost
