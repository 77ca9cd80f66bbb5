// Helpers to read scenarios in tests.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/read/scenario.hpp"
#include "scenarios/text/document.hpp"

namespace depthcost::test {

inline Scenario parse_scenario(std::string_view text, const std::string& file) {
  return scenario_of(parse_document(text, file), file, Provenance::scenario);
}

inline Scenario parsed(const std::string& body) {
  return parse_scenario("schema: depthcost/1\n" + body, "it.yaml");
}

/// "value <- origin", or "" where the key is not listed.
inline std::string listed(const Scenario& scenario, const std::string& key) {
  for (const ResolvedValue& value : scenario.values)
    if (value.key == key) return fmt::format("{} <- {}", value.value, value.origin);
  return "";
}

inline bool is_listed_once(const Scenario& scenario, const std::string& key) {
  return std::count_if(scenario.values.begin(), scenario.values.end(),
                       [&](const ResolvedValue& value) { return value.key == key; }) == 1;
}

inline const Partition& blocks_of(const Scenario& scenario) {
  return scenario.study.path.scheme.parameters.blocks;
}

inline std::vector<std::string> names_of(const std::vector<ResidualPath>& paths) {
  std::vector<std::string> names;
  for (const ResidualPath& path : paths) names.emplace_back(name(path.scheme));
  return names;
}

}  // namespace depthcost::test
