// The escapes of actions/toolkit packages/core/src/command.ts.
#include "reports/formats/annotations.hpp"

#include <fmt/format.h>

#include <array>

#include "reports/formats/utf8.hpp"

namespace depthcost {
namespace {

std::string percent_escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) == std::string_view::npos)
      result += c;
    else
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

/// Whole characters alone.
std::string cut(std::string_view text, std::size_t max_bytes) {
  constexpr std::string_view kEllipsis = "...";
  if (text.size() <= max_bytes) return std::string(text);
  std::size_t end = max_bytes - kEllipsis.size();
  while (end > 0 && !begins_character(text[end])) --end;
  return std::string(text.substr(0, end)).append(kEllipsis);
}

std::string message_text(std::string_view text) {
  return percent_escaped(cut(text, kMostMessageBytes), "%\r\n");
}
std::string property_text(std::string_view text) { return percent_escaped(text, "%\r\n:,"); }

}  // namespace

std::string to_annotations(std::span<const Annotation> annotations) {
  std::string text;
  std::array<std::size_t, 2> written{};
  for (const Annotation& it : annotations) {
    if (++written[static_cast<std::size_t>(it.level)] > kMostAnnotations) continue;
    text += fmt::format("::{} file={},line={},title={}::{}\n",
                        it.level == AnnotationLevel::error ? "error" : "warning",
                        property_text(it.file), it.line,
                        property_text(cut(it.title, kMostTitleBytes)), message_text(it.message));
  }
  return text;
}

}  // namespace depthcost
