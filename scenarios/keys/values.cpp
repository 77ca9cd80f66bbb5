// The generic reader walks a map and its table of keys together.
#include "scenarios/keys/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scenarios/keys/keys.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

std::string join(std::string_view section, std::string_view name) {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

/// "sustained_bandwidth[2].value" -> "sustained_bandwidth[].value": records share their keys.
std::string table_path(std::string_view path) {
  std::string general;
  bool inside = false;
  for (const char c : path) {
    if (c == ']') inside = false;
    if (!inside) general += c;
    if (c == '[') inside = true;
  }
  return general;
}

[[noreturn]] void unknown_key(const Member& member, const KeyTable& table,
                              std::string_view section) {
  const auto names = names_inside(table, section);
  throw InputError(member.position, fmt::format("unknown key '{}'{}", printable(member.key),
                                                meant_or_known(member.key, names)));
}

// Beside a suggestion; without one all are listed.
constexpr std::size_t kMostListedChoices = 8;

std::string choice_text(const ScalarNode& scalar, const Position& position, const Key& key) {
  const auto known = std::find(key.choices.begin(), key.choices.end(), scalar.text);
  if (known != key.choices.end()) return scalar.text;
  const std::vector<std::string> names(key.choices.begin(), key.choices.end());
  const std::string hint = did_you_mean(scalar.text, names);
  if (!hint.empty() && names.size() > kMostListedChoices)
    throw InputError(position,
                     fmt::format("invalid {} '{}'{}", key.path, printable(scalar.text), hint));
  throw InputError(position, fmt::format("invalid {} '{}' (must be {}){}", key.path,
                                         printable(scalar.text), fmt::join(names, " | "), hint));
}

void append_scalar(Value& value, const Node& node, const Key& key) {
  const std::string path(key.path);
  const ScalarNode& scalar = as_scalar(node, path);
  value.texts.push_back(scalar.text);
  value.positions.push_back(node.position);
  switch (key.kind) {
    case KeyKind::count:
    case KeyKind::counts:
      value.numbers.push_back(
          static_cast<double>(parse_count(scalar, node.position, path, key.range)));
      break;
    case KeyKind::number:
      value.numbers.push_back(parse_number(scalar, node.position, path, key.range));
      break;
    case KeyKind::quantity:
    case KeyKind::quantities:
      value.numbers.push_back(
          parse_quantity(scalar, node.position, key.dimension, path, key.range));
      break;
    case KeyKind::choice:
    case KeyKind::choices:
      choice_text(scalar, node.position, key);
      break;
    default:
      as_text(node, path);
  }
}

bool allows_list(KeyKind kind) {
  return kind == KeyKind::counts || kind == KeyKind::quantities || kind == KeyKind::choices;
}

Value read_plain(const Node& node, const Key& key) {
  Value value;
  value.position = node.position;
  const auto* list = std::get_if<List>(&node.content);
  if (list == nullptr || !allows_list(key.kind)) {
    append_scalar(value, node, key);
    return value;
  }
  if (list->items.empty())
    throw InputError(node.position, fmt::format("invalid {} (an empty list)", key.path));
  for (const Node& item : list->items) append_scalar(value, item, key);
  return value;
}

std::string place(const FileReading& reading, const Position& position) {
  if (position.file.text().starts_with("--"))
    return position.file;  // an option of the command line
  switch (reading.provenance) {
    case Provenance::preset:
      return fmt::format("preset {}", reading.label);
    case Provenance::options:
      return position.file;
    case Provenance::scenario:
      break;
  }
  return fmt::format("{}:{}", reading.label, position.line);
}

/// "file:line: source (date)". Sources from an importer have no date.
void cite(Value& value, const Map& map, const FileReading& reading) {
  const Node* source = map.find("source");
  const Node* date = map.find("date");
  const std::string where = source == nullptr ? "" : as_text(*source, "source");
  const std::string when = date == nullptr ? "" : as_text(*date, "date");
  value.has_source = !where.empty() && !when.empty();
  value.origin = place(reading, value.position);
  if (!where.empty())
    value.origin = reading.provenance == Provenance::options ? where : value.origin + ": " + where;
  if (value.has_source) value.origin += fmt::format(" ({})", when);
}

/// Walks one map.
class Walker {
 public:
  Walker(const FileReading& reading, Values& values) : reading_(reading), values_(values) {}

  void walk(const Map& map, const std::string& section) {
    for (const Member& member : map.members) read_member(member, section);
  }

 private:
  void read_member(const Member& member, const std::string& section) {
    // "residual.scheme" is a path of the table, but as a key it would escape the check for
    // duplicate keys.
    if (member.key.find_first_of(".[]") != std::string::npos)
      unknown_key(member, reading_.table, table_path(section));
    const std::string path = join(section, member.key);
    const Key* key = find_key(reading_.table, table_path(path));
    if (key == nullptr) {
      if (!is_section(reading_.table, table_path(path)))
        unknown_key(member, reading_.table, table_path(section));
      walk(as_map(member.value, path), path);
      return;
    }
    if (key->kind == KeyKind::reference) return;
    if (key->kind == KeyKind::records)
      read_records(member.value, path);
    else
      values_.set(path, read_leaf(member.value, *key));
  }

  /// A value, or a map of a value and where it was found.
  Value read_leaf(const Node& node, const Key& key) {
    const auto* map = std::get_if<Map>(&node.content);
    if (map == nullptr) {
      Value value = read_plain(node, key);
      value.origin = place(reading_, value.position);
      return value;
    }
    for (const Member& member : map->members)
      if (member.key != "value" && member.key != "source" && member.key != "date")
        throw InputError(member.position,
                         fmt::format("unknown key '{}' (known here: value, source, date)",
                                     printable(member.key)));
    const Node* written = map->find("value");
    if (written == nullptr)
      throw InputError(node.position, fmt::format("missing key 'value' ({} needs it)", key.path));
    Value value = read_plain(*written, key);
    cite(value, *map, reading_);
    return value;
  }

  void read_records(const Node& node, const std::string& path) {
    const List& list = as_list(node, path);
    if (list.items.empty())
      throw InputError(node.position, fmt::format("invalid {} (an empty list)", path));
    for (std::size_t i = 0; i < list.items.size(); ++i)
      read_record(list.items[i], fmt::format("{}[{}]", path, i));
  }

  void read_record(const Node& node, const std::string& path) {
    const Map& map = as_map(node, table_path(path));
    for (const Member& member : map.members) {
      if (member.key == "source" || member.key == "date") continue;
      const Key* key = find_key(reading_.table, table_path(join(path, member.key)));
      if (key == nullptr) unknown_record_key(member, path);
      Value value = read_plain(member.value, *key);
      cite(value, map, reading_);
      values_.set(join(path, member.key), std::move(value));
    }
    for (const Key& key : reading_.table.keys)
      if (key.need == Need::required && key.path.starts_with(table_path(path) + ".") &&
          map.find(key.path.substr(table_path(path).size() + 1)) == nullptr)
        throw InputError(node.position, fmt::format("missing key '{}' ({} needs it)",
                                                    key.path.substr(table_path(path).size() + 1),
                                                    path.substr(0, path.find('['))));
  }

  [[noreturn]] void unknown_record_key(const Member& member, const std::string& path) {
    std::vector<std::string> names;
    const std::string prefix = table_path(path) + ".";
    for (const Key& key : reading_.table.keys)
      if (key.path.starts_with(prefix)) names.emplace_back(key.path.substr(prefix.size()));
    for (const char* beside : {"source", "date"})
      if (std::find(names.begin(), names.end(), beside) == names.end()) names.emplace_back(beside);
    throw InputError(member.position, fmt::format("unknown key '{}'{}", printable(member.key),
                                                  meant_or_known(member.key, names)));
  }

  const FileReading& reading_;
  Values& values_;
};

/// The other key of a pair of which a file has at most one; "" if `path` is in no pair.
std::string alternative(const KeyTable& table, const std::string& path) {
  for (const Key& key : table.keys) {
    if (key.instead_of.empty()) continue;
    if (key.path == path) return std::string(key.instead_of);
    if (key.instead_of == path) return std::string(key.path);
  }
  return "";
}

/// "sustained_bandwidth[0].value" belongs to "sustained_bandwidth".
std::string owner(const std::string& path) { return path.substr(0, path.find('[')); }

}  // namespace

const Value* Values::find(const std::string& path) const {
  const auto found = values_.find(path);
  return found == values_.end() ? nullptr : &found->second;
}

const Value& Values::at(const std::string& path) const { return values_.at(path); }

std::size_t Values::num_records(const std::string& path) const {
  const auto found = num_records_.find(path);
  return found == num_records_.end() ? 0 : found->second;
}

bool Values::has_records(const std::string& path) const { return num_records(path) > 0; }

void Values::set(const std::string& path, Value value) {
  const std::size_t end = path.find(']');
  if (end != std::string::npos) {
    const std::string record = path.substr(0, end + 1);
    const auto first = values_.lower_bound(record);
    const bool is_known = first != values_.end() && first->first.starts_with(record);
    if (!is_known) ++num_records_[owner(path)];
  }
  values_[path] = std::move(value);
}

void Values::erase_records(const std::string& path) {
  std::erase_if(values_, [&](const auto& entry) { return entry.first.starts_with(path + "["); });
  num_records_.erase(path);
}

void Values::erase_records(const std::string& path, const std::string& key, std::string_view text) {
  const auto record = [&](std::size_t i) { return fmt::format("{}[{}].", path, i); };
  const std::size_t all = num_records(path);
  std::map<std::string, Value> kept;
  std::size_t num_kept = 0;
  for (std::size_t i = 0; i < all; ++i) {
    const Value* of = find(record(i) + key);
    if (of != nullptr && of->texts.size() == 1 && of->texts.front() == text) continue;
    for (auto it = values_.lower_bound(record(i));
         it != values_.end() && it->first.starts_with(record(i)); ++it)
      kept[record(num_kept) + it->first.substr(record(i).size())] = it->second;
    ++num_kept;
  }
  erase_records(path);
  values_.merge(kept);
  if (num_kept > 0) num_records_[path] = num_kept;
}

void Values::erase(const std::string& path) { values_.erase(path); }

void Values::fill_from(const Values& base, const KeyTable& table) {
  std::map<std::string, Value> missing;
  for (const auto& [path, value] : base.values_) {
    const bool is_record = path.find('[') != std::string::npos;
    const bool written_here =
        is_record ? has_records(owner(path)) : has(path) || has(alternative(table, path));
    const Key* key = find_key(table, path);
    const bool is_of_another = key != nullptr && !key->of.empty() && has(std::string(key->of));
    if (!written_here && !is_of_another) missing[path] = value;
  }
  for (auto& [path, value] : missing) set(path, std::move(value));
}

Values read_values(const Map& map, const Position& position, const FileReading& reading) {
  Values values(position);
  Walker(reading, values).walk(map, "");
  for (const Key& key : reading.table.keys) {
    if (key.instead_of.empty() || !values.has(std::string(key.path)) ||
        !values.has(std::string(key.instead_of)))
      continue;
    throw InputError(values.at(std::string(key.path)).position,
                     fmt::format("conflicting key '{}' ('{}' says the same; write one of them)",
                                 key.path, key.instead_of));
  }
  return values;
}

void refuse_orphans(const Values& values, const std::string& prefix, const std::string& needed) {
  for (const auto& [path, value] : values.all())
    if (path.starts_with(prefix) && !value.origin.starts_with("default:"))
      throw InputError(
          value.position,
          fmt::format("missing key '{}' (without it '{}' means nothing)", needed, path));
}

void require_keys(const Values& values, const KeyTable& table) {
  for (const Key& key : table.keys) {
    const bool checked_elsewhere =
        key.kind == KeyKind::reference || key.path.find('[') != std::string_view::npos;
    if (key.need == Need::required && !checked_elsewhere && !values.has(std::string(key.path)))
      throw InputError(values.position(),
                       fmt::format("missing key '{}' ({} needs it)", key.path, table.what));
  }
}

void require_schema(const Map& map, const Position& position, const KeyTable& table) {
  const Node* node = map.find("schema");
  // A model's config.json, which transformers writes with one of these.
  if (node == nullptr &&
      (map.find("model_type") != nullptr || map.find("architectures") != nullptr))
    throw InputError(position,
                     "missing key 'schema' (this is a config.json of a model: --model reads it)");
  if (node == nullptr)
    throw InputError(position, fmt::format("missing key 'schema' (the first line is 'schema: {}')",
                                           table.schema));
  const ScalarNode& scalar = as_scalar(*node, "schema");
  if (scalar.text == table.schema) return;
  const bool is_asked_about =
      table.schema == scenario_keys().schema && scalar.text == model_keys().schema;
  throw InputError(node->position,
                   fmt::format("invalid schema '{}' (must be '{}'{})", printable(scalar.text),
                               table.schema, is_asked_about ? "; did you mean --model?" : ""));
}

}  // namespace depthcost
