// Separators, margins and escapes.
#include "reports/formats/json_writer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace {

/// Printable ASCII without quote or backslash: nearly every key and name.
bool needs_no_escape(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

void append_quoted(std::string& out, std::string_view text) {
  if (needs_no_escape(text))
    out.append(1, '"').append(text).append(1, '"');
  else
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// An answer with every operation of Full AttnRes timed has 2.4 MB, and moving a growing text costs
// as much as writing it. Pages that are never touched are free.
constexpr std::size_t kRoom = 4 << 20;

}  // namespace

JsonWriter::JsonWriter() { text_.reserve(kRoom); }

void JsonWriter::begin_element() {
  if (after_ != After::key) {
    text_ += after_ == After::element ? ",\n" : "\n";
    text_.append(2 * depth_, ' ');
  }
  after_ = After::element;
}

void JsonWriter::open(char bracket) {
  begin_element();
  text_ += bracket;
  ++depth_;
  after_ = After::opening;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (after_ == After::element) text_.append(1, '\n').append(2 * depth_, ' ');
  text_ += bracket;
  after_ = After::element;
}

void JsonWriter::key(std::string_view name) {
  begin_element();
  append_quoted(text_, name);
  text_ += ": ";
  after_ = After::key;
}

void JsonWriter::plain(std::string_view text) {
  begin_element();
  text_ += text;
}

void JsonWriter::value(std::string_view text) {
  begin_element();
  append_quoted(text_, text);
}

void JsonWriter::value(std::optional<double> number) {
  const std::string text = number ? number_text(*number) : "";
  plain(text.empty() ? "null" : text);
}

void JsonWriter::text_or_null(std::string_view name, std::string_view text) {
  key(name);
  if (text.empty())
    plain("null");
  else
    value(text);
}

void JsonWriter::list(std::string_view name, std::span<const Count> values) {
  key(name);
  begin_element();
  text_ += '[';
  std::string_view separator;
  for (const Count element : values) {
    text_.append(separator).append(std::to_string(element));
    separator = ", ";
  }
  text_ += ']';
}

void JsonWriter::texts(std::string_view name, std::span<const std::string> values) {
  array(name, [&] {
    for (const std::string& each : values) value(each);
  });
}

void JsonWriter::numbers(std::string_view name, std::span<const double> values) {
  key(name);
  numbers(values);
}

void JsonWriter::numbers(std::span<const double> values) {
  begin_element();
  text_ += '[';
  std::string_view separator;
  for (const double element : values) {
    const std::string text = number_text(element);
    text_.append(separator).append(text.empty() ? "null" : text);
    separator = ", ";
  }
  text_ += ']';
}

}  // namespace depthcost
