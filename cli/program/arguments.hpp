// Every command with its options and examples, as CLI11 reads them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/output/console.hpp"
#include "cli/output/exit_code.hpp"

namespace depthcost {

/// What the command line asks for.
using Command = std::function<ExitCode(Console&)>;

/// Parsing leaves its answer in `chosen` and `verbosity`, which outlive the application's use.
void add_commands(CLI::App& app, Command& chosen, Verbosity& verbosity);

}  // namespace depthcost
