// Every command with its options and examples, for CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/output/console.hpp"
#include "cli/output/exit_code.hpp"

namespace depthcost {

/// The command that a command line asks for.
using Command = std::function<ExitCode(Console&)>;

/// Parsing sets `chosen` and `verbosity`, which must outlive `app`.
void add_commands(CLI::App& app, Command& chosen, Verbosity& verbosity);

}  // namespace depthcost
