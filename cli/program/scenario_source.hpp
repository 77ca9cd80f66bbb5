// The options of a command that asks about a scenario: a file, or --model and its companions.
#pragma once

#include <CLI/CLI.hpp>

#include "scenarios/read/scenario_options.hpp"

namespace depthcost {

/// Adds --model and its companions; returns --model.
CLI::Option& add_model_options(CLI::App& command, ScenarioOptions& options);

/// The same. Parsing fails unless exactly one of --model and `scenario`, the option of the file, is
/// given.
void add_scenario_options(CLI::App& command, CLI::Option& scenario, ScenarioOptions& options);

/// The error of a command that got neither.
CLI::RequiredError no_scenario();

}  // namespace depthcost
