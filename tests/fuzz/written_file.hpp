// Writes a file with keys of a table, as choices say. Most such files are accepted, so that their
// answers can be checked.
#pragma once

#include <string>

#include "scenarios/keys/keys.hpp"
#include "tests/fuzz/choices.hpp"

namespace depthcost::fuzz {

/// YAML of a map in one line, with the schema of the table. A reference names a preset, or is
/// a small map.
std::string written_file(const KeyTable& table, Choices& choices);

}  // namespace depthcost::fuzz
