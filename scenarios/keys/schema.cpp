// Generates scenarios/scenario.schema.json and scenarios/KEYS.md. A test compares them.
#include "scenarios/keys/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "model/base/enum_names.hpp"
#include "model/step/workload_id.hpp"
#include "scenarios/keys/limits.hpp"

namespace depthcost {
namespace {

using Json = nlohmann::ordered_json;

std::string units_of(Dimension dimension) {
  std::vector<std::string> texts;
  for (const Unit& unit : units())
    if (unit.dimension == dimension) texts.emplace_back(unit.text);
  return fmt::format("{}", fmt::join(texts, "|"));
}

Json integer(const Key& key) {
  return {{"type", "integer"},
          {"minimum", key.range == Range::positive ? 1 : 0},
          {"maximum", kMaxCount}};
}

Json quantity(const Key& key) {
  return {{"type", "string"},
          {"pattern", fmt::format("^(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)? *({})$",
                                  units_of(key.dimension))}};
}

/// Any single value but null, since `name: 405` is a number in YAML. Many places refer to this
/// definition.
Json text() { return {{"$ref", "#/$defs/text"}}; }
Json text_definition() { return {{"type", {"string", "number", "boolean"}}}; }

Json one_or_list(const Json& item) {
  return {{"anyOf", {item, {{"type", "array"}, {"items", item}, {"minItems", 1}}}}};
}

Json enumeration(const Key& key) {
  Json values = Json::array();
  for (const auto choice : key.choices) values.push_back(std::string(choice));
  return {{"enum", values}};
}

Json value_schema(const Key& key) {
  switch (key.kind) {
    case KeyKind::text:
      return text();
    case KeyKind::count:
      return integer(key);
    case KeyKind::counts:
      return one_or_list(integer(key));
    case KeyKind::number:
      return {{"type", "number"}, {"exclusiveMinimum", 0}};
    case KeyKind::choice:
      return enumeration(key);
    case KeyKind::choices:
      return one_or_list(enumeration(key));
    case KeyKind::quantity:
      return quantity(key);
    case KeyKind::quantities:
      return one_or_list(quantity(key));
    case KeyKind::reference:
      return {{"anyOf", {{{"type", "string"}}, {{"$ref", fmt::format("#/$defs/{}", key.path)}}}}};
    case KeyKind::records:
      return {{"type", "array"}, {"minItems", 1}};
  }
  return {};
}

/// Every value may say where it comes from.
Json with_source(const Json& value) {
  return {{"anyOf",
           {value,
            {{"type", "object"},
             {"required", {"value"}},
             {"additionalProperties", false},
             {"properties", {{"value", value}, {"source", text()}, {"date", text()}}}}}}};
}

Json object() {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
}

/// The object that holds `path`, created on the way; leaves `path` as the last name.
Json& parent_of(Json& root, std::string& path) {
  Json* at = &root;
  for (auto dot = path.find('.'); dot != std::string::npos; dot = path.find('.')) {
    std::string section = path.substr(0, dot);
    path.erase(0, dot + 1);
    const bool is_record = section.ends_with("[]");
    if (is_record) section.resize(section.size() - 2);
    Json& child = (*at)["properties"][section];
    if (is_record) {
      if (!child.contains("items"))
        child["items"] = {{"type", "object"},
                          {"additionalProperties", false},
                          {"properties", {{"source", text()}, {"date", text()}}}};
      at = &child["items"];
    } else {
      if (child.is_null()) child = object();
      at = &child;
    }
  }
  return *at;
}

bool is_record_member(const Key& key) { return key.path.find('[') != std::string_view::npos; }

Json key_schema(const Key& key, const KeyTable& table) {
  if (key.path == "schema") return {{"const", std::string(table.schema)}};
  const bool is_whole = key.kind == KeyKind::reference || key.kind == KeyKind::records;
  const Json value = value_schema(key);
  Json schema = is_whole || is_record_member(key) ? value : with_source(value);
  schema["description"] = std::string(key.meaning);
  if (key.fallback.empty()) return schema;
  const bool is_number = key.kind == KeyKind::count;
  schema["default"] = is_number ? Json::parse(key.fallback) : Json(std::string(key.fallback));
  return schema;
}

Json table_schema(const KeyTable& table) {
  Json root = object();
  Json required = Json::array();
  for (const Key& key : table.keys) {
    std::string name(key.path);
    Json& parent = parent_of(root, name);
    parent["properties"][name] = key_schema(key, table);
    if (key.need == Need::required)
      (is_record_member(key) ? parent["required"] : required).push_back(name);
    if (!key.instead_of.empty()) {
      const std::string_view other = key.instead_of.substr(key.instead_of.rfind('.') + 1);
      parent["not"] = {{"required", {name, std::string(other)}}};
    }
  }
  // A workload that is named alone: scenarios/read/usual_workload.hpp.
  if (Json& sections = root["properties"]; sections.contains("workload")) {
    Json names = Json::array();
    for (const WorkloadKind kind : kEnumerators<WorkloadKind>) names.push_back(name(kind));
    sections["workload"] = {{"anyOf", {{{"enum", names}}, sections["workload"]}}};
  }
  const Json complete = {{"required", required}};
  const bool may_stand_on_base = find_key(table, "base") != nullptr;
  if (may_stand_on_base)
    root["anyOf"] = {{{"required", {"base"}}}, complete};
  else
    root.update(complete);
  return root;
}

std::string type_name(const Key& key) {
  switch (key.kind) {
    case KeyKind::text:
      return "text";
    case KeyKind::count:
      return "integer";
    case KeyKind::counts:
      return "integer or list";
    case KeyKind::number:
      return "number";
    case KeyKind::choice:
      return fmt::format("{}", fmt::join(key.choices, " \\| "));
    case KeyKind::choices:
      return fmt::format("list of {}", fmt::join(key.choices, ", "));
    case KeyKind::quantity:
    case KeyKind::quantities: {
      const std::string unit = units_of(key.dimension);
      return fmt::format("number with unit, such as {}{}", unit.substr(0, unit.find('|')),
                         key.kind == KeyKind::quantities ? "; or a list" : "");
    }
    case KeyKind::reference:
      return "preset, path or map";
    case KeyKind::records:
      return "list of maps";
  }
  return "";
}

void append_table(std::string& text, const KeyTable& table) {
  text += fmt::format(
      "\n## {} (`schema: {}`)\n\n| key | value | default | meaning |\n|---|---|---|---|\n",
      table.what, table.schema);
  for (const Key& key : table.keys) {
    const std::string fallback = key.need == Need::required ? "required"
                                 : key.fallback.empty()
                                     ? ""
                                     : fmt::format("{} ({})", key.fallback, key.fallback_source);
    text += fmt::format("| `{}` | {} | {} | {}{} |\n", key.path, type_name(key), fallback,
                        key.meaning, key.use == Use::now ? "" : "; no result rests on it yet");
  }
}

}  // namespace

std::string json_schema() {
  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "depthcost scenario"}};
  root.update(table_schema(scenario_keys()));
  root["$defs"] = {{"text", text_definition()},
                   {"model", table_schema(model_keys())},
                   {"hardware", table_schema(hardware_keys())}};
  return root.dump(1) + "\n";
}

std::string key_documentation() {
  std::string text =
      "# Keys\n\n"
      "Generated from the tables in `*keys.cpp` that the reader itself uses. A number with a "
      "dimension\n"
      "carries its unit; `block_size` and `num_layers` count layers (sublayers), of which a "
      "decoder\n"
      "layer has two. Every value may be written as\n"
      "`{value: V, source: \"S\", date: D}`. `A[].b` is key `b` of each map in the list `A`.\n"
      "`workload: decode`, `prefill` or `training` alone stands for its usual values.\n";
  append_table(text, scenario_keys());
  append_table(text, model_keys());
  append_table(text, hardware_keys());
  append_table(text, published_keys());
  append_table(text, tolerance_keys());
  append_table(text, kernel_name_keys());
  append_table(text, constant_keys());
  return text + limits_documentation();
}

}  // namespace depthcost
