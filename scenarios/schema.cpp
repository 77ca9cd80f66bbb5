// Generates; scenarios/scenario.schema.json and scenarios/KEYS.md are its output, held by a test.
#include "scenarios/schema.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

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
  return {{"type", "integer"}, {"minimum", key.range == Range::positive ? 1 : 0}};
}

Json quantity(const Key& key) {
  return {{"type", "string"},
          {"pattern", fmt::format("^[0-9.eE+-]+ ?({})$", units_of(key.dimension))}};
}

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
      return {{"type", "string"}};
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

/// Presets may say where a value comes from.
Json with_source(const Json& value) {
  return {{"anyOf",
           {value,
            {{"type", "object"},
             {"required", {"value"}},
             {"additionalProperties", false},
             {"properties", {{"value", value}, {"source", {{"type", "string"}}}, {"date", {}}}}}}}};
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
        child["items"] = {
            {"type", "object"},
            {"additionalProperties", false},
            {"properties", {{"source", {{"type", "string"}}}, {"date", Json::object()}}}};
      at = &child["items"];
    } else {
      if (child.is_null()) child = object();
      at = &child;
    }
  }
  return *at;
}

Json table_schema(const KeyTable& table) {
  Json root = object();
  for (const Key& key : table.keys) {
    std::string name(key.path);
    Json& parent = parent_of(root, name);
    const bool cites = &table != &scenario_keys() && key.path.find('.') == std::string_view::npos &&
                       key.kind != KeyKind::records && key.path != "schema";
    Json schema = cites ? with_source(value_schema(key)) : value_schema(key);
    if (key.path == "schema") schema = {{"const", std::string(table.schema)}};
    schema["description"] = std::string(key.meaning);
    if (!key.fallback.empty()) schema["default"] = std::string(key.fallback);
    parent["properties"][name] = schema;
    if (key.need == Need::required && &table == &scenario_keys())
      parent["required"].push_back(name);
  }
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
    text +=
        fmt::format("| `{}` | {} | {} | {} |\n", key.path, type_name(key), fallback, key.meaning);
  }
}

}  // namespace

std::string json_schema() {
  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "depthcost scenario"}};
  root.update(table_schema(scenario_keys()));
  root["$defs"] = {{"model", table_schema(model_keys())},
                   {"hardware", table_schema(hardware_keys())}};
  return root.dump(1) + "\n";
}

std::string key_documentation() {
  std::string text =
      "# Keys\n\n"
      "Generated from the table in `keys.cpp` that the reader itself uses. A number with a "
      "dimension\n"
      "carries its unit; `block_size` and `num_layers` count layers (sublayers), of which a "
      "decoder\n"
      "layer has two. In model and hardware files every value may be written as\n"
      "`{value: V, source: \"S\", date: D}`. `A[].b` is key `b` of each map in the list `A`.\n";
  append_table(text, scenario_keys());
  append_table(text, model_keys());
  append_table(text, hardware_keys());
  return text;
}

}  // namespace depthcost
