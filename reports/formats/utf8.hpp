// Characters of UTF-8 text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace depthcost {

/// Bytes 10xxxxxx go on with a character; all others begin one.
constexpr bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

/// Code points.
inline std::size_t num_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

}  // namespace depthcost
