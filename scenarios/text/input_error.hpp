// The one exception for a mistake in the user's input, and the printing of the user's text in it.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace depthcost {

/// The name of a file, held once by all places in it: a tree has a place for each of its values.
class FileName {
 public:
  FileName() = default;
  FileName(std::string name) : name_(std::make_shared<const std::string>(std::move(name))) {}
  FileName(const char* name) : FileName(std::string(name)) {}

  operator const std::string&() const { return text(); }
  const std::string& text() const {
    static const std::string kNone;
    return name_ == nullptr ? kNone : *name_;
  }

  friend bool operator==(const FileName& a, const FileName& b) { return a.text() == b.text(); }

 private:
  std::shared_ptr<const std::string> name_;
};

/// A place in an input file. Line and column are one-based; the column counts bytes, as GCC's does.
struct Position {
  FileName file;
  int line = 1;
  int column = 1;
};

/// The user's input is wrong. what() reads "file:line:column: error: message", on one line.
class InputError : public std::runtime_error {
 public:
  InputError(Position position, std::string_view message);

  const Position& position() const { return position_; }
  const std::string& message() const { return message_; }

 private:
  Position position_;
  std::string message_;
};

/// Longest piece of the user's text that a message repeats, in characters.
inline constexpr std::size_t kMaxQuotedCharacters = 60;

/// The text with everything that could disturb a terminal or a log line (control characters, line
/// separators, direction marks, bytes that are not UTF-8) written as \xNN; cut with "..." at
/// the limit.
std::string printable(std::string_view text, std::size_t max_characters = kMaxQuotedCharacters);

/// Whether printable() changes nothing in a text, however long.
bool is_printable(std::string_view text);

/// The system's text for an errno, in lower case.
std::string system_reason(int error_number);

/// Length in bytes of the well-formed UTF-8 character at the start of the text; 0 if none is there.
std::size_t leading_utf8_length(std::string_view text);

}  // namespace depthcost
