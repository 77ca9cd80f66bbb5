// `model:` and `hardware:` name a preset, a file, or hold the values themselves; `base:` in a map
// lets one stand on another. A model may be a Hugging Face config.json.
#pragma once

#include <string>

#include "scenarios/keys/values.hpp"

namespace depthcost {

/// What a reference may lead to.
struct ReferenceKind {
  const KeyTable& table;
  std::string_view folder;  // of its presets: "models", "hardware", ...
};

ReferenceKind model_reference();
ReferenceKind hardware_reference();
ReferenceKind published_reference();
ReferenceKind tolerances_reference();
ReferenceKind profile_reference();

/// The kind whose presets lie in that folder.
ReferenceKind reference_of_folder(std::string_view folder);

/// The values behind a reference that stands in the file `file`; paths are relative to that file's
/// folder. Complete: required keys are there. Throws InputError, also for cycles of `base`.
Values resolve_reference(const Node& node, const ReferenceKind& kind, const std::string& file);

/// As above, for the name of a preset or a path that the command line gives.
Values resolve_argument(const std::string& name, const ReferenceKind& kind,
                        const std::string& option);

/// The values of a preset.
Values preset_values(std::string_view id, const ReferenceKind& kind);

}  // namespace depthcost
