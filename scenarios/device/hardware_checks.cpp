// Compares records with each other and with the datasheet.
#include "scenarios/device/hardware_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "scenarios/device/nearest_parts.hpp"

namespace depthcost {
namespace {

std::string record_of(const std::string& key, std::size_t index) {
  return fmt::format("{}[{}]", key, index);
}

/// The circumstances that a record was measured in. 3r1w and 6r2w are the same mix.
std::string circumstances(const Values& values, const std::string& key, const std::string& record) {
  if (key == "launch_floor")
    return fmt::format("{} {} {}", values.text(record + ".launch"), values.text(record + ".level"),
                       values.text(record + ".skeleton"));
  if (key == "cache_transition") return fmt::format("{}", values.number(record + ".footprint"));
  const double reads = values.number(record + ".reads");
  return fmt::format("{}", reads / (reads + values.number(record + ".writes")));
}

void check_repetitions(const Values& values, const std::string& key, const std::string& member) {
  std::map<std::string, std::string> seen;
  for (std::size_t i = 0; i < values.num_records(key); ++i) {
    const std::string record = record_of(key, i);
    const auto [first, is_new] = seen.emplace(circumstances(values, key, record), record);
    if (is_new) continue;
    throw InputError(values.at(record + "." + member).position,
                     fmt::format("conflicting {} (says something else of the same as {})", record,
                                 first->second));
  }
}

void check_transition(const Values& values) {
  std::map<double, std::string> by_footprint;
  for (std::size_t i = 0; i < values.num_records("cache_transition"); ++i) {
    const std::string record = record_of("cache_transition", i);
    by_footprint.emplace(values.number(record + ".footprint"), record);
  }
  double weight = 0;
  for (const auto& [footprint, record] : by_footprint) {
    const Value& here = values.at(record + ".memory_weight");
    if (here.numbers.front() < weight)
      throw InputError(
          here.position,
          fmt::format("invalid {}.memory_weight '{}' (falls while the footprint grows)", record,
                      here.texts.front()));
    weight = here.numbers.front();
  }
}

/// The fastest of `key`'s records, if it has any.
std::optional<double> fastest(const Values& values, const std::string& key) {
  std::optional<double> most;
  for (std::size_t i = 0; i < values.num_records(key); ++i)
    most = std::max(most.value_or(0), values.number(record_of(key, i) + ".value"));
  return most;
}

void check_bandwidths(const Values& values) {
  for (std::size_t i = 0; i < values.num_records("sustained_bandwidth"); ++i) {
    const std::string record = record_of("sustained_bandwidth", i);
    const Value& rate = values.at(record + ".value");
    if (rate.numbers.front() > nominal_bandwidth(values))
      throw InputError(rate.position,
                       fmt::format("invalid {}.value '{}' (more than memory_bandwidth '{}')",
                                   record, rate.texts.front(), values.text("memory_bandwidth")));
  }
  const auto memory = fastest(values, "sustained_bandwidth");
  const auto cache = fastest(values, "cache_bandwidth");
  if (memory && cache && *cache < *memory)
    throw InputError(values.at("cache_bandwidth[0].value").position,
                     "invalid cache_bandwidth (slower than sustained_bandwidth)");
}

// A part that is sold with 80 GB may have 80 GiB, which is 7 % more.
constexpr double kMostVisible = 1.1;

void check_capacity(const Values& values) {
  if (!values.has("visible_memory") || !values.has("memory_capacity")) return;
  if (values.number("visible_memory") <= kMostVisible * values.number("memory_capacity")) return;
  throw InputError(values.at("visible_memory").position,
                   fmt::format("invalid visible_memory '{}' (more than memory_capacity '{}')",
                               values.text("visible_memory"), values.text("memory_capacity")));
}

}  // namespace

void check_hardware(const Values& values) {
  check_repetitions(values, "launch_floor", "value");
  check_repetitions(values, "sustained_bandwidth", "value");
  check_repetitions(values, "cache_bandwidth", "value");
  check_repetitions(values, "cache_transition", "memory_weight");
  check_transition(values);
  check_bandwidths(values);
  check_capacity(values);
}

}  // namespace depthcost
