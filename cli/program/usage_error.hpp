// What is wrong with a command line, in the form and the words that files are refused with.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace depthcost {

/// "--format:1:1: error: invalid value 'xml' (must be table | json; see depthcost evaluate
/// --help)". Names the word that is wrong, or the command where none is.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace depthcost
