// JSON front to back, without a document in memory: an answer has up to a hundred thousand values.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/base/units.hpp"

namespace depthcost {

/// The version of every JSON document that we write. Keys may be added; none is renamed.
inline constexpr int kJsonSchemaVersion = 1;

/// Indented by two, lists of plain values on one line. An integer that is exact is a JSON integer,
/// every other number has 12 significant digits, what is not known or not finite is null. Bytes
/// that are no UTF-8 become U+FFFD.
class JsonWriter {
 public:
  /// `members` writes what has a name.
  template <std::invocable Members>
  void object(const Members& members) {
    open('{');
    members();
    close('}');
  }

  /// `elements` writes values, objects or arrays.
  template <std::invocable Elements>
  void array(const Elements& elements) {
    open('[');
    elements();
    close(']');
  }

  template <std::invocable Members>
  void object(std::string_view name, const Members& members) {
    key(name);
    object(members);
  }

  template <std::invocable Elements>
  void array(std::string_view name, const Elements& elements) {
    key(name);
    array(elements);
  }

  /// One object for each row; `members(row)` writes what it has.
  template <class Rows, class Members>
  void objects(std::string_view name, const Rows& rows, const Members& members) {
    array(name, [&] {
      for (const auto& row : rows) object([&] { members(row); });
    });
  }

  void value(std::string_view text);
  void value(std::optional<double> number);
  void value(std::same_as<bool> auto truth) { plain(truth ? "true" : "false"); }

  template <class Value>
  void member(std::string_view name, const Value& content) {
    key(name);
    value(content);
  }

  /// Null if empty.
  void text_or_null(std::string_view name, std::string_view text);

  void list(std::string_view name, std::span<const Count> values);
  void texts(std::string_view name, std::span<const std::string> values);
  /// Numbers that need not be whole.
  void numbers(std::string_view name, std::span<const double> values);
  void numbers(std::span<const double> values);

  JsonWriter();

  /// What has been written, with a line feed at its end.
  std::string text() && { return std::move(text_.append(1, '\n')); }

 private:
  /// Writes a name; the next value belongs to it.
  void key(std::string_view name);
  void open(char bracket);
  void close(char bracket);
  void begin_element();
  void plain(std::string_view text);

  std::string text_;
  std::size_t depth_ = 0;
  enum class After { opening, element, key } after_ = After::key;
};

/// A whole document: the versions, then what `members(json)` writes.
template <class Members>
std::string json_document(std::string_view program_version, const Members& members) {
  JsonWriter json;
  json.object([&] {
    json.member("schema_version", kJsonSchemaVersion);
    json.member("program_version", program_version);
    members(json);
  });
  return std::move(json).text();
}

}  // namespace depthcost
