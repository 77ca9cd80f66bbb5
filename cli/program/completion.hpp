// Completes command lines. A shell asks the program itself, which knows its commands, options and
// presets, so that no list can go stale.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace depthcost {

/// The first word of a question: "depthcost __complete WORD..." asks what the last word can become.
inline constexpr const char* kCompleteWord = "__complete";

/// The names of types that are completed: presets and files.
namespace completed {
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kFolder = "FOLDER";
inline constexpr const char* kModel = "MODEL";        // a preset or a file
inline constexpr const char* kHardware = "HARDWARE";  // a preset or a file
inline constexpr const char* kPreset = "PRESET";
}  // namespace completed

/// One line for each word that the last of `words` can become: the word, a tab and its meaning.
/// ":files" or ":folders" if it can be a path.
std::string completions(const CLI::App& app, std::span<const std::string> words);

/// A script that makes a shell ask. `shell`: bash, zsh or fish.
std::string completion_script(const std::string& shell);

}  // namespace depthcost
