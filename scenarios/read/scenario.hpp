// Reads a scenario: a YAML file becomes a study, with the origin of every value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/partition.hpp"
#include "model/base/resolved_value.hpp"
#include "model/step/study.hpp"
#include "scenarios/device/constants.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost {

struct Scenario {
  Study study;
  std::vector<ResolvedValue> values;       // all values that the answer depends on
  std::optional<Values> profile;           // the hardware, if it is a profile
  Remainder remainder = Remainder::paper;  // of blocks that are written as a number
};

/// A scenario before it is read.
struct UnreadScenario {
  Node document;
  std::string file;  // labels positions; references are relative to its folder
  Provenance provenance = Provenance::scenario;
};

/// Reads, checks and resolves a scenario file. Throws InputError.
Scenario read_scenario(const std::string& path, const Constants& constants = shipped_constants());

/// The same for a parsed document.
Scenario scenario_of(const Node& document, const std::string& file, Provenance provenance,
                     const Constants& constants = shipped_constants());

/// A scenario file, parsed. Throws InputError.
UnreadScenario unread_scenario(const std::string& path);

}  // namespace depthcost
