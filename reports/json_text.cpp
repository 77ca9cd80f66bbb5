// JSON as text, every number in its shortest form.
#include <algorithm>
#include <cstdint>
#include <string>

#include "reports/format.hpp"
#include "reports/json.hpp"

namespace depthcost {
namespace {

using Json = nlohmann::ordered_json;

/// Printable ASCII without quote or backslash: nearly every key and name.
bool needs_no_escape(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

/// Quoted and escaped; bytes that are no UTF-8 become U+FFFD instead of an exception.
std::string string_text(const std::string& text) {
  if (needs_no_escape(text)) return '"' + text + '"';
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string scalar_text(const Json& json) {
  if (json.is_string()) return string_text(json.get_ref<const std::string&>());
  if (json.is_number_unsigned()) return std::to_string(json.get<std::uint64_t>());
  if (json.is_number_integer()) return std::to_string(json.get<std::int64_t>());
  if (!json.is_number_float()) return json.dump();
  const std::string text = number_text(json.get<double>());
  return text.empty() ? "null" : text;
}

bool is_flat_list(const Json& json) {
  return json.is_array() &&
         std::none_of(json.begin(), json.end(), [](const Json& e) { return e.is_structured(); });
}

void append(std::string& text, const Json& json, std::size_t indent);

void append_flat_list(std::string& text, const Json& json) {
  text += '[';
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (i > 0) text += ", ";
    text += scalar_text(json[i]);
  }
  text += ']';
}

void append_members(std::string& text, const Json& json, std::size_t indent) {
  const std::string margin(indent + 2, ' ');
  text += json.is_object() ? "{" : "[";
  std::string_view separator = "\n";
  for (const auto& [key, value] : json.items()) {
    text += separator;
    text += margin;
    if (json.is_object()) text += string_text(key) + ": ";
    append(text, value, indent + 2);
    separator = ",\n";
  }
  text += "\n" + std::string(indent, ' ') + (json.is_object() ? "}" : "]");
}

void append(std::string& text, const Json& json, std::size_t indent) {
  if (is_flat_list(json))
    append_flat_list(text, json);
  else if (json.is_structured() && !json.empty())
    append_members(text, json, indent);
  else
    text += scalar_text(json);
}

}  // namespace

std::string json_text(const Json& json) {
  std::string text;
  append(text, json, 0);
  return text + "\n";
}

}  // namespace depthcost
