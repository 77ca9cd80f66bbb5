// Escapes and links.
#include "reports/formats/markdown_text.hpp"

#include <fmt/format.h>

namespace depthcost {
namespace {

/// A name with a space or a bracket is a target only between < and >, and other signs of Markdown
/// and line ends are none within it: RFC 3986 writes them as %XX.
std::string link_target(const std::string& name) {
  std::string target;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || std::string_view("<>\\%").find(c) != std::string_view::npos)
      target += fmt::format("%{:02X}", byte);
    else
      target += c;
  }
  return target.find_first_of(" ()") == std::string::npos ? target : "<" + target + ">";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (std::string_view("\\[]`*_<>").find(c) != std::string_view::npos) safe += '\\';
    safe += c == '\n' || c == '\r' ? ' ' : c;
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
