#include "tests/fuzz/written_file.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <vector>

#include "scenarios/presets/presets.hpp"
#include "scenarios/text/quantity.hpp"

namespace depthcost::fuzz {
namespace {

/// A map of YAML whose members are texts or maps.
struct Section {
  std::map<std::string, std::string> values;
  std::map<std::string, Section> sections;
};

std::string text_of(const Section& section) {
  std::string members;
  const auto append = [&](const std::string& name, const std::string& value) {
    members += fmt::format("{}{}: {}", members.empty() ? "" : ", ", name, value);
  };
  for (const auto& [name, value] : section.values) append(name, value);
  for (const auto& [name, inner] : section.sections) append(name, text_of(inner));
  return fmt::format("{{{}}}", members);
}

void place(Section& top, std::string_view path, std::string value) {
  Section* section = &top;
  for (std::size_t dot; (dot = path.find('.')) != std::string_view::npos;
       path.remove_prefix(dot + 1))
    section = &section->sections[std::string(path.substr(0, dot))];
  section->values[std::string(path)] = std::move(value);
}

// Usual sizes first: most files should describe something that exists.
constexpr std::array<Count, 24> kCounts{1,    2,    4,    8,    3,      16,  24,    32,
                                        64,   5,    7,    128,  12,     186, 256,   1000,
                                        1024, 4096, 7168, 8192, 131072, 0,   65536, 9};
constexpr std::array<std::string_view, 10> kNumbers{"1",     "0.5", "2",    "0.01", "100",
                                                    "0.999", "1e3", "1e-3", "0",    "1e9"};

std::string count(Choices& choices) {
  if (choices.happens(8)) return std::to_string(choices.below(65536) * choices.below(65536));
  return std::to_string(choices.one_of<Count>(kCounts));
}

std::string quantity(Dimension dimension, Choices& choices) {
  std::vector<std::string_view> matching;
  for (const Unit& unit : units())
    if (unit.dimension == dimension) matching.push_back(unit.text);
  return fmt::format("{} {}", choices.one_of<std::string_view>(kNumbers),
                     choices.one_of<std::string_view>(matching));
}

std::string list_of(Choices& choices, const auto& item) {
  std::string items = item();
  while (choices.happens(128) && items.size() < 60) items += ", " + item();
  return fmt::format("[{}]", items);
}

std::string reference(std::string_view path, Choices& choices) {
  if (path == "model" && choices.happens(64))
    return fmt::format("{{num_layers: {}, hidden_size: {}, dtype: bf16}}", count(choices),
                       count(choices));
  const std::vector<std::string> ids = preset_ids(path == "model" ? "models" : "hardware");
  return choices.one_of<std::string>(ids);
}

std::string value_of(const Key& key, Choices& choices) {
  switch (key.kind) {
    case KeyKind::count:
      return count(choices);
    case KeyKind::counts:
      return list_of(choices, [&] { return count(choices); });
    case KeyKind::number:
      return std::string(choices.one_of<std::string_view>(kNumbers));
    case KeyKind::choice:
      return std::string(choices.one_of(key.choices));
    case KeyKind::choices:
      return list_of(choices, [&] { return std::string(choices.one_of(key.choices)); });
    case KeyKind::quantity:
      return quantity(key.dimension, choices);
    case KeyKind::quantities:
      return list_of(choices, [&] { return quantity(key.dimension, choices); });
    case KeyKind::reference:
      return reference(key.path, choices);
    case KeyKind::text:
      return "text";
    case KeyKind::records:
      return "[]";
  }
  return "";
}

bool is_in_a_record(const Key& key) { return key.path.find('[') != std::string_view::npos; }

bool is_chosen(const Key& key, Choices& choices) {
  return key.need == Need::required || choices.happens(40);
}

}  // namespace

std::string written_file(const KeyTable& table, Choices& choices) {
  Section file;
  for (const Key& key : table.keys)
    if (!is_in_a_record(key) && key.kind != KeyKind::records && is_chosen(key, choices))
      place(file, key.path, value_of(key, choices));
  file.values["schema"] = std::string(table.schema);
  return text_of(file);
}

}  // namespace depthcost::fuzz
