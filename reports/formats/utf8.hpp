// Characters of UTF-8 text.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

namespace depthcost {

/// Bytes 10xxxxxx go on with a character; all others begin one.
constexpr bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

/// Columns of a terminal: wide characters of East Asia and emoji take two. fmt knows which, but
/// tells it only by how far it pads.
inline std::size_t num_columns(std::string_view text) {
  const std::size_t enough = 2 * text.size();
  return enough - (fmt::formatted_size("{:<{}}", text, enough) - text.size());
}

}  // namespace depthcost
