// The input language: a YAML file becomes a question for the model, with the origin of every value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/resolved_value.hpp"
#include "model/step/study.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost {

struct Scenario {
  Study study;
  std::vector<ResolvedValue>
      values;                     // everything the answer rests on, defaults and fallbacks included
  std::optional<Values> profile;  // that its hardware is, if it is one
};

/// Reads, checks and resolves a scenario file. Throws InputError.
Scenario read_scenario(const std::string& path);

/// As above, from text; `file` labels positions, and references are relative to its folder.
Scenario parse_scenario(std::string_view text, const std::string& file);

/// As above, from a tree; origins of its values are said as `provenance` wants.
Scenario scenario_of(const Node& document, const std::string& file, Provenance provenance);

}  // namespace depthcost
