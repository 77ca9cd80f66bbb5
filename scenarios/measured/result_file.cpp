// Walks the document once. Objects in lists become rows, and numbers their quantities.
#include "scenarios/measured/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "model/base/decimal.hpp"
#include "scenarios/text/json_document.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kWhatItIs = "a result of 'depthcost evaluate --format json' has it";

// The keys that identify a row, in the order in which they make its name.
constexpr auto kIdentities = std::to_array<std::string_view>(
    {"workload", "scheme", "schedule", "convention", "operation", "name", "item", "term", "cache",
     "embedding", "partial", "layer", "sources", "tokens", "launch", "attachment",
     "baseline_attachment"});

// These are no predictions: limits are the user's, margins follow from limits, and a plan repeats
// other rows. Shares, bubbles and rates follow from times, and grow where everything else becomes
// faster. A kind only numbers like rows.
constexpr auto kNoPredictions = std::to_array<std::string_view>(
    {"schema_version", "program_version", "scenario", "need", "limit", "margin", "shortfall",
     "plan", "kind", "share", "share_low", "share_high", "bubble", "bytes_per_second",
     "tokens_per_second", "tokens_per_second_and_device", "model_flops_per_second_and_device",
     "mfu"});

/// A value and the ends of its interval.
struct IntervalKeys {
  std::string_view value;
  std::string_view low;
  std::string_view high;
};

constexpr auto kIntervals = std::to_array<IntervalKeys>({
    {"seconds", "low", "high"},
    {"delta_seconds", "delta_low", "delta_high"},
    {"overhead", "overhead_low", "overhead_high"},
    {"residual_seconds", "residual_low", "residual_high"},
    {"baseline_seconds", "baseline_low", "baseline_high"},
    {"predicted_seconds", "low_seconds", "high_seconds"},
});

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const ScalarNode* scalar_of(const Node& node) { return std::get_if<ScalarNode>(&node.content); }

/// Returns nothing if the node is no number.
std::optional<double> number_of(const Node& node) {
  const ScalarNode* scalar = scalar_of(node);
  if (scalar == nullptr || scalar->quoted) return std::nullopt;
  return decimal_value(scalar->text);
}

std::optional<double> number_at(const Map& map, std::string_view key) {
  const Node* node = map.find(key);
  return node == nullptr ? std::nullopt : number_of(*node);
}

std::string word_at(const Map& map, std::string_view key) {
  const Node* node = map.find(key);
  const ScalarNode* scalar = node == nullptr ? nullptr : scalar_of(*node);
  return scalar == nullptr || scalar->is_null() ? "" : printable(scalar->text);
}

/// The unit that the row gives, or that the name of the quantity implies.
PredictedUnit unit_of(const Map& row, std::string_view quantity) {
  using enum PredictedUnit;
  if (quantity.ends_with("seconds")) return seconds;
  if (quantity.ends_with("_d")) return d_vectors;
  if (quantity.starts_with("have_")) return word_at(row, "unit") == "ratio" ? ratio : bytes;
  if (quantity == "overhead") return ratio;
  const bool is_of_bytes = quantity.ends_with("bytes") || quantity.ends_with("bytes_per_device");
  return is_of_bytes ? bytes : plain;
}

/// "decode/64 block_attnres single_pass"; empty if no key identifies the row.
std::string identity_of(const Map& row) {
  std::string identity;
  for (const std::string_view key : kIdentities) {
    const Node* node = row.find(key);
    const ScalarNode* scalar = node == nullptr ? nullptr : scalar_of(*node);
    if (scalar == nullptr || scalar->is_null()) continue;
    if (!identity.empty()) identity += ' ';
    if (!scalar->quoted) identity += fmt::format("{} ", key);
    identity += printable(scalar->text);
  }
  return identity;
}

class ResultReader {
 public:
  explicit ResultReader(Result& result) : result_(result) {}

  void read_section(const Member& member) {
    if (contains(kNoPredictions, member.key)) return;
    section_ = printable(member.key);
    if (const Map* map = std::get_if<Map>(&member.value.content)) read_object("", *map, {});
    if (const List* list = std::get_if<List>(&member.value.content)) read_rows("", *list);
  }

 private:
  enum class Origin { alone, row };

  /// Appends the numbers of the object, then those of the objects inside it.
  void read_object(const std::string& name, const Map& map, Origin origin) {
    const std::size_t index = result_.rows.size();
    result_.rows.push_back({section_, unused(name), {}});
    for (const Member& member : map.members) {
      if (contains(kNoPredictions, member.key)) continue;
      if (origin == Origin::row && contains(kIdentities, member.key)) continue;
      read_member(name, map, member, index);
    }
    // A fate says what is likely where a verdict is unknown.
    const char* word = map.find("fate") != nullptr ? "fate" : "verdict";
    if (origin == Origin::row && map.find(word) != nullptr)
      result_.verdicts.push_back({section_ + "." + name, word_at(map, word)});
    // Whether the scenario's own step fits is a verdict, too.
    const std::string memory = word_at(map, "memory");
    const std::string workload =
        section_ == "step" ? workload_of_path(name, result_.path) : std::string();
    if (!workload.empty() && !memory.empty())
      result_.verdicts.push_back({"memory of " + workload, memory});
  }

  void read_member(const std::string& name, const Map& map, const Member& member,
                   std::size_t index) {
    const std::string key = printable(member.key);
    const std::string inner = name.empty() ? key : name + "." + key;
    if (const auto* inner_map = std::get_if<Map>(&member.value.content))
      return read_object(inner, *inner_map, Origin::alone);
    if (const auto* list = std::get_if<List>(&member.value.content)) {
      read_numbers(key, *list, index);
      return read_rows(inner, *list);
    }
    if (is_end(map, member.key)) return;
    if (const auto number = number_of(member.value))
      result_.rows[index].quantities.push_back(quantity_of(map, key, *number));
  }

  /// Whether the key is an end of an interval whose value stands beside it.
  static bool is_end(const Map& map, std::string_view key) {
    return std::any_of(kIntervals.begin(), kIntervals.end(), [&](const IntervalKeys& keys) {
      return (key == keys.low || key == keys.high) && number_at(map, keys.value);
    });
  }

  static PredictedQuantity quantity_of(const Map& map, const std::string& key, double number) {
    PredictedQuantity quantity{.name = key, .unit = unit_of(map, key), .value = number};
    for (const IntervalKeys& keys : kIntervals) {
      if (key != keys.value) continue;
      const auto low = number_at(map, keys.low);
      const auto high = number_at(map, keys.high);
      if (!low || !high) continue;
      quantity.low = low;
      quantity.high = high;
    }
    return quantity;
  }

  /// Plain numbers of a list, as quantities of the row that has it.
  void read_numbers(const std::string& key, const List& list, std::size_t index) {
    for (std::size_t i = 0; i < list.items.size(); ++i)
      if (const auto number = number_of(list.items[i]))
        result_.rows[index].quantities.push_back(
            {.name = fmt::format("{}[{}]", key, i), .unit = unit_of({}, key), .value = *number});
  }

  void read_rows(const std::string& name, const List& list) {
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      const auto* map = std::get_if<Map>(&list.items[i].content);
      if (map == nullptr) continue;
      const std::string identity = identity_of(*map);
      const std::string own = identity.empty() ? fmt::format("{}", i) : identity;
      read_object(name.empty() ? own : fmt::format("{}[{}]", name, own), *map, Origin::row);
    }
  }

  /// The name, numbered where another row of the section has it.
  std::string unused(const std::string& name) {
    const int number = ++num_named_[section_ + "\n" + name];
    return number == 1 ? name : fmt::format("{} #{}", name, number);
  }

  Result& result_;
  std::string section_;
  std::unordered_map<std::string, int> num_named_;
};

const Node& required(const Map& map, const Position& position, std::string_view key) {
  if (const Node* node = map.find(key)) return *node;
  throw InputError(position, fmt::format("missing key '{}' ({})", key, kWhatItIs));
}

void require_version(const Node& node, int schema_version) {
  const ScalarNode& scalar = as_scalar(node, "schema_version");
  if (scalar.quoted || scalar.text != fmt::format("{}", schema_version))
    throw InputError(node.position,
                     fmt::format("invalid schema_version '{}' (this program reads {}; evaluate the "
                                 "scenario again)",
                                 printable(scalar.text), schema_version));
}

void read_scenario(const Map& scenario, const Position& position, Result& result) {
  result.scenario =
      printable(as_scalar(required(scenario, position, "name"), "scenario.name").text);
  const Node& values = required(scenario, position, "values");
  for (const Member& member : as_map(values, "scenario.values").members) {
    const Map& value = as_map(member.value, "scenario.values");
    result.inputs.push_back({printable(member.key), word_at(value, "value")});
    if (word_at(value, "origin").starts_with("default:"))
      result.defaults.push_back(result.inputs.back().name);
  }
  const auto input = [&](std::string_view name) {
    for (const NamedWord& it : result.inputs)
      if (it.name == name) return it.word;
    return std::string();
  };
  // What the scenario writes replaces what the model ships.
  const std::string written = input("residual.scheme");
  const std::string scheme = written.empty() ? input("model.residual.scheme") : written;
  const std::string schedule = input("residual.schedule");
  if (!scheme.empty() && !schedule.empty()) result.path = scheme + " " + schedule;
}

}  // namespace

Result parse_result(std::string_view text, const std::string& file, int schema_version) {
  const Node document = parse_json(text, file, kMaxResultBytes);
  const Map& map = root_map(document, "result");
  require_version(required(map, document.position, "schema_version"), schema_version);
  as_list(required(map, document.position, "ledger"), "ledger");
  Result result;
  const Node& version = required(map, document.position, "program_version");
  result.program_version = printable(as_scalar(version, "program_version").text);
  const Node& scenario = required(map, document.position, "scenario");
  read_scenario(as_map(scenario, "scenario"), scenario.position, result);
  ResultReader reader(result);
  for (const Member& member : map.members) reader.read_section(member);
  std::erase_if(result.rows, [](const PredictedRow& row) { return row.quantities.empty(); });
  if (result.rows.empty())
    throw InputError(document.position,
                     fmt::format("missing predictions (the file has no number; {})", kWhatItIs));
  return result;
}

Result load_result(const std::string& path, int schema_version) {
  if (path.ends_with(".yaml") || path.ends_with(".yml"))
    throw InputError(
        {path, 1, 1},
        "invalid result (must be what 'depthcost evaluate --format json' prints, not a "
        "scenario)");
  return parse_result(load_text(path, kMaxResultBytes), path, schema_version);
}

}  // namespace depthcost
