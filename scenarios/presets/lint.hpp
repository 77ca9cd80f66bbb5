// Checks of shipped presets: every value has a source, and values agree with each other.
#pragma once

#include <string>
#include <vector>

#include "scenarios/presets/reference.hpp"

namespace depthcost {

/// One line for each finding, "models/kimi_k3.yaml: hidden_size has no source". Empty: all good.
std::vector<std::string> lint(const Values& values, const ReferenceKind& kind,
                              const std::string& file);

/// The same for a shipped preset.
std::vector<std::string> lint_preset(std::string_view id, const ReferenceKind& kind);

}  // namespace depthcost
