// The options of a command that asks about a scenario: a file, or --model and its companions.
#pragma once

#include <CLI/CLI.hpp>

#include "scenarios/read/scenario_options.hpp"

namespace depthcost {

/// Adds --model and its companions. Parsing fails unless exactly one of --model and `scenario`, the
/// option of the file, is given.
void add_scenario_options(CLI::App& command, CLI::Option& scenario, ScenarioOptions& options);

}  // namespace depthcost
