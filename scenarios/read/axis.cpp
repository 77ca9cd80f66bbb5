// Keys are looked up in the tables that the reader uses; values are checked as it checks them.
#include "scenarios/read/axis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/base/counted.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kShortSection = "residual.";

[[noreturn]] void fail(const std::string& argument, const std::string& reason) {
  throw InputError(axis_position(),
                   fmt::format("invalid axis '{}' ({})", printable(argument), reason));
}

/// Whether the key has one value that a sweep could vary.
bool can_vary(const Key& key) {
  const bool is_record =
      key.kind == KeyKind::records || key.path.find('[') != std::string_view::npos;
  return !is_record && key.kind != KeyKind::text;
}

struct NamedKey {
  std::string path;
  const Key* key = nullptr;
};

/// Every key that can be an axis; those of a model and of hardware inside their reference.
std::vector<NamedKey> known_keys() {
  std::vector<NamedKey> known;
  for (const auto& [prefix, table] :
       {std::pair{"", &scenario_keys()}, std::pair{"model.", &model_keys()},
        std::pair{"hardware.", &hardware_keys()}})
    for (const Key& key : table->keys)
      if (can_vary(key)) known.push_back({prefix + std::string(key.path), &key});
  return known;
}

NamedKey find_known(const std::string& name) {
  std::vector<std::string> names;
  for (const NamedKey& known : known_keys()) {
    if (known.path == name || known.path == std::string(kShortSection) + name) return known;
    names.push_back(known.path);
    if (known.path.starts_with(kShortSection))
      names.push_back(known.path.substr(kShortSection.size()));
  }
  throw InputError(axis_position(),
                   fmt::format("unknown axis '{}'{}", printable(name), did_you_mean(name, names)));
}

bool is_counted(const Axis& axis) {
  return axis.key->kind == KeyKind::count || axis.key->kind == KeyKind::counts;
}

/// Only keys that count layers have L as an end.
bool counts_layers(const Axis& axis) {
  return axis.path == "residual.block_size" || axis.path == "residual.num_blocks";
}

Count count_of(const Axis& axis, const std::string& text) {
  return parse_count({text, false}, axis_position(), axis.path, axis.key->range);
}

void check_item(const Axis& axis, const std::string& item) {
  const Key& key = *axis.key;
  const ScalarNode scalar{item, false};
  if (item.empty()) fail(axis.argument, "an empty value");
  switch (key.kind) {
    case KeyKind::count:
    case KeyKind::counts:
      count_of(axis, item);
      return;
    case KeyKind::number:
      parse_number(scalar, axis_position(), axis.path, key.range);
      return;
    case KeyKind::quantity:
    case KeyKind::quantities:
      parse_quantity(scalar, axis_position(), key.dimension, axis.path, key.range);
      return;
    case KeyKind::choice:
    case KeyKind::choices: {
      if (std::find(key.choices.begin(), key.choices.end(), item) != key.choices.end()) return;
      const std::vector<std::string> names(key.choices.begin(), key.choices.end());
      throw InputError(axis_position(),
                       fmt::format("invalid {} '{}' (must be {}){}", axis.path, printable(item),
                                   fmt::join(names, " | "), did_you_mean(item, names)));
    }
    default:
      return;
  }
}

/// ":x2", ":+512", or nothing.
void read_step(const Axis& axis, const std::string& text, AxisRange& range) {
  if (text.empty()) return;
  if (text.size() < 2 || (text[0] != 'x' && text[0] != '+'))
    fail(axis.argument, "a step is :xFACTOR or :+DIFFERENCE");
  range.step = text[0] == 'x' ? AxisRange::Step::multiply : AxisRange::Step::add;
  range.by = parse_count({text.substr(1), false}, axis_position(), "step");
  if (range.step == AxisRange::Step::multiply && (range.by < 2 || range.first == 0))
    fail(axis.argument,
         range.first == 0 ? "zero times anything is zero" : "a factor of 1 never ends");
}

AxisRange read_range(const Axis& axis, const std::string& text) {
  if (!is_counted(axis)) fail(axis.argument, "only counts have ranges; write a list");
  const auto dots = text.find("..");
  const auto colon = text.find(':', dots);
  const std::string last =
      text.substr(dots + 2, colon == std::string::npos ? colon : colon - dots - 2);
  AxisRange range{.first = count_of(axis, text.substr(0, dots)), .last = {}};
  if (last == "L" && !counts_layers(axis))
    fail(axis.argument, "L is an end for block_size and num_blocks alone");
  if (last != "L") range.last = count_of(axis, last);
  if (range.last && *range.last < range.first)
    fail(axis.argument, fmt::format("an empty range: {} is above {}", range.first, *range.last));
  read_step(axis, colon == std::string::npos ? "" : text.substr(colon + 1), range);
  return range;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  while (true) {
    const auto comma = text.find(',', begin);
    std::string item = text.substr(begin, comma == std::string::npos ? comma : comma - begin);
    const auto first = item.find_first_not_of(' ');
    const auto last = item.find_last_not_of(' ');
    items.push_back(first == std::string::npos ? "" : item.substr(first, last - first + 1));
    if (comma == std::string::npos) return items;
    begin = comma + 1;
  }
}

}  // namespace

Position axis_position() { return {"--axis", 1, 1}; }

Axis parse_axis(const std::string& argument) {
  const auto equals = argument.find('=');
  if (equals == std::string::npos) fail(argument, "must be KEY=VALUES, such as block_size=1..L");
  const NamedKey known = find_known(argument.substr(0, equals));
  Axis axis{.path = known.path, .key = known.key, .argument = argument, .items = {}, .range = {}};
  const std::string values = argument.substr(equals + 1);
  if (values.empty()) fail(argument, "no values");
  const bool is_reference = axis.key->kind == KeyKind::reference;
  if (!is_reference && values.find("..") != std::string::npos) {
    axis.range = read_range(axis, values);
    return axis;
  }
  std::set<std::string> seen;
  for (const std::string& item : split(values)) {
    check_item(axis, item);
    if (!seen.insert(item).second)
      fail(argument, fmt::format("'{}' is there twice", printable(item)));
    axis.items.push_back(item);
  }
  return axis;
}

std::vector<Axis> parse_axes(const std::vector<std::string>& arguments) {
  std::vector<Axis> axes;
  for (const std::string& argument : arguments) {
    Axis axis = parse_axis(argument);
    for (const Axis& other : axes) {
      if (other.path == axis.path) fail(argument, fmt::format("{} has an axis already", axis.path));
      if (counts_layers(other) && counts_layers(axis))
        fail(argument, fmt::format("{} says the same", other.path));
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

double num_values(const Axis& axis, Count num_layers) {
  if (!axis.range) return static_cast<double>(axis.items.size());
  const auto first = static_cast<double>(axis.range->first);
  const auto last = static_cast<double>(axis.range->last.value_or(num_layers));
  if (last < first) return 0;
  if (axis.range->step == AxisRange::Step::add)
    return std::floor((last - first) / static_cast<double>(axis.range->by)) + 1;
  double values = 0;
  for (double value = first; value <= last; value *= static_cast<double>(axis.range->by)) ++values;
  return values;
}

std::vector<std::string> values_of(const Axis& axis, Count num_layers) {
  if (!axis.range) return axis.items;
  const AxisRange& range = *axis.range;
  const Count last = range.last.value_or(num_layers);
  if (last < range.first)
    fail(axis.argument, fmt::format("an empty range: the model has only {}",
                                    counted(num_layers, "layer", "layers")));
  std::vector<std::string> values;
  for (Count value = range.first;;) {
    values.push_back(std::to_string(value));
    // The product is not formed if it would leave the range, since it could overflow.
    const bool multiplies = range.step == AxisRange::Step::multiply;
    if (multiplies ? value > last / range.by : value > last - range.by) break;
    value = multiplies ? value * range.by : value + range.by;
  }
  return values;
}

}  // namespace depthcost
