// The tables of keys that files may have. The reader, its checks, the JSON Schema and KEYS.md
// follow them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/text/quantity.hpp"

namespace depthcost {

enum class KeyKind {
  text,
  count,       // an integer in plain digits
  counts,      // one, or a list of them
  number,      // a plain decimal number
  choice,      // one of `choices`
  choices,     // a list of those
  quantity,    // a number with a unit of `dimension`
  quantities,  // one, or a list of them
  reference,   // a preset's name, a path, or a map with the keys of another table
  records,     // a list of maps; their keys are written "key[].member"
};

enum class Need { required, optional };

/// Whether a result depends on the key yet. No result depends on keys that are `later`.
enum class Use { now, later };

/// One key. Its path is dotted; the part before a dot is a section.
struct Key {
  std::string_view path;
  KeyKind kind = KeyKind::text;
  std::string_view meaning;
  Need need = Need::optional;
  Dimension dimension = Dimension::bytes;
  Range range = Range::positive;
  std::span<const std::string_view> choices{};
  std::string_view fallback{};         // the default, as a user would write it
  std::string_view fallback_source{};  // why that is the default
  std::string_view instead_of{};  // the key that this one replaces; a file has at most one of them
  Use use = Use::now;
  std::string_view of{};  // a base's value is dropped where this key is written anew
};

/// The keys of one kind of file.
struct KeyTable {
  std::string_view schema;  // what its `schema:` line must say
  std::string_view what;    // "scenario", "model", "hardware", ...
  std::span<const Key> keys;
};

const KeyTable& scenario_keys();
const KeyTable& model_keys();
const KeyTable& hardware_keys();
const KeyTable& published_keys();
const KeyTable& tolerance_keys();
const KeyTable& kernel_name_keys();
const KeyTable& constant_keys();
const KeyTable& profile_keys();

/// The key of that path, or nullptr.
const Key* find_key(const KeyTable& table, std::string_view path);

/// Whether some key stands inside `path`, so that a map is expected there.
bool is_section(const KeyTable& table, std::string_view path);

/// The names that may stand directly inside a section ("" for the top), in table order.
std::vector<std::string> names_inside(const KeyTable& table, std::string_view section);

}  // namespace depthcost
