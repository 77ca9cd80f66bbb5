// Looks at one character after the other; most texts are copied in one piece.
#include "reports/formats/harmless_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace depthcost {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

/// Bytes of the control or direction character at `i`; 0 if there is none. In UTF-8, C1 is C2 80 to
/// C2 9F; U+2028 to U+202E are E2 80 A8 to AE, U+2066 to U+2069 are E2 81 A6 to A9.
std::size_t control_length(std::string_view text, std::size_t i) {
  const unsigned first = byte_at(text, i);
  if (first < 0x20) return first == '\n' || first == '\t' ? 0 : 1;
  if (first == 0x7F) return 1;
  const unsigned second = byte_at(text, i + 1);
  if (first == 0xC2) return second >= 0x80 && second <= 0x9F ? 2 : 0;
  if (first != 0xE2) return 0;
  const unsigned third = byte_at(text, i + 2);
  const bool is_direction = (second == 0x80 && third >= 0xA8 && third <= 0xAE) ||
                            (second == 0x81 && third >= 0xA6 && third <= 0xA9);
  return is_direction ? 3 : 0;
}

/// Whether only blanks stand between the start of the line and `i`.
bool begins_line(std::string_view text, std::size_t i) {
  while (i > 0 && (text[i - 1] == ' ' || text[i - 1] == '\t')) --i;
  return i == 0 || text[i - 1] == '\n';
}

/// Bytes at `i` that must not stand there.
std::size_t harmful_length(std::string_view text, std::size_t i) {
  if (text[i] == ':') return byte_at(text, i + 1) == ':' && begins_line(text, i) ? 1 : 0;
  if (text[i] == '[') return i >= 2 && text.substr(i - 2, 2) == "##" ? 1 : 0;
  return control_length(text, i);
}

bool is_suspect(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n') || byte == 0x7F || byte == 0xC2 || byte == 0xE2 || c == ':' ||
         c == '[';
}

}  // namespace

std::string harmless(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  std::size_t copied = 0;
  for (auto it = std::find_if(text.begin(), text.end(), is_suspect); it != text.end();
       it = std::find_if(it + 1, text.end(), is_suspect)) {
    const auto i = static_cast<std::size_t>(it - text.begin());
    if (i < copied) continue;
    const std::size_t length = harmful_length(text, i);
    if (length == 0) continue;
    safe += text.substr(copied, i - copied);
    for (std::size_t byte = i; byte < i + length; ++byte)
      safe += fmt::format("\\x{:02X}", byte_at(text, byte));
    copied = i + length;
  }
  return safe.append(text.substr(copied));
}

}  // namespace depthcost
