// What can stand next on a command line. A shell asks the program itself, which answers from its
// own commands, options and presets, so that no list can go stale.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace depthcost {

/// The first word of a question: DEPTHCOST __complete WORD... asks what the last word can become.
inline constexpr const char* kCompleteWord = "__complete";

/// The names of types that are completed: of presets, and of what lies on the disk.
namespace completed {
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kFolder = "FOLDER";
inline constexpr const char* kModel = "MODEL";        // a preset or a file
inline constexpr const char* kHardware = "HARDWARE";  // a preset or a file
inline constexpr const char* kPreset = "PRESET";
}  // namespace completed

/// One line for each word that the last of `words` can become, a tab and what it means behind it;
/// ":files" or ":folders" where a path can stand there.
std::string completions(const CLI::App& app, std::span<const std::string> words);

/// A script that makes a shell ask. `shell`: bash, zsh or fish.
std::string completion_script(const std::string& shell);

}  // namespace depthcost
