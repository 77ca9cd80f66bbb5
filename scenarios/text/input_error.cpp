// Makes an error one printable line, whatever the user's file contains.
#include "scenarios/text/input_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <system_error>
#include <utility>

namespace depthcost {
namespace {

constexpr std::size_t kUncut = std::numeric_limits<std::size_t>::max();

unsigned byte_at(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

/// The code point of a well-formed character of the given length.
unsigned code_point(std::string_view character) {
  const std::size_t length = character.size();
  if (length == 1) return byte_at(character, 0);
  unsigned code = byte_at(character, 0) & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte_at(character, i) & 0x3Fu);
  return code;
}

bool is_harmless(std::string_view character) {
  const unsigned code = code_point(character);
  const bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool is_separator_or_direction =
      (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return !is_control && !is_separator_or_direction;
}

std::string escaped(std::string_view bytes) {
  std::string result;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    result += fmt::format("\\x{:02X}", byte_at(bytes, i));
  return result;
}

}  // namespace

InputError::InputError(Position position, std::string_view message)
    : std::runtime_error(fmt::format("{}:{}:{}: error: {}", printable(position.file.text(), kUncut),
                                     position.line, position.column, printable(message, kUncut))),
      position_(std::move(position)),
      message_(printable(message, kUncut)) {}

bool is_printable(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  for (auto odd = std::find_if_not(text.begin(), text.end(), is_plain); odd != text.end();
       odd = std::find_if_not(text.begin(), text.end(), is_plain)) {
    text.remove_prefix(static_cast<std::size_t>(odd - text.begin()));
    const std::size_t length = leading_utf8_length(text);
    if (length == 0 || !is_harmless(text.substr(0, length))) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t max_characters) {
  std::string result;
  std::size_t num_characters = 0;
  while (!text.empty()) {
    const std::size_t length = leading_utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    const bool is_plain = length > 0 && is_harmless(character);
    num_characters += is_plain ? 1 : 4 * character.size();
    if (num_characters > max_characters) return result + "...";
    result += is_plain ? std::string(character) : escaped(character);
    text.remove_prefix(character.size());
  }
  return result;
}

std::string system_reason(int error_number) {
  std::string reason = std::generic_category().message(error_number);
  reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return reason;
}

std::size_t leading_utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte_at(text, i) & 0xC0u) != 0x80u) return 0;
  const unsigned code = code_point(text.substr(0, length));
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return is_overlong || is_surrogate || code > 0x10FFFF ? 0 : length;
}

}  // namespace depthcost
