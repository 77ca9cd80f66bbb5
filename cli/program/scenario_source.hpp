// A command that asks about a scenario takes a file, or --model and what else there is to say.
#pragma once

#include <CLI/CLI.hpp>

#include "scenarios/read/scenario_options.hpp"

namespace depthcost {

/// Adds --model and its companions. Parsing fails where there is neither `scenario`, the option of
/// the file, nor --model, or both.
void add_scenario_options(CLI::App& command, CLI::Option& scenario, ScenarioOptions& options);

}  // namespace depthcost
