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

/// The same from a tree. `file` labels positions, and references are relative to its folder.
/// `provenance` says what the origins of values are called.
Scenario scenario_of(const Node& document, const std::string& file, Provenance provenance);

}  // namespace depthcost
