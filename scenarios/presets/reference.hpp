// `model:` and `hardware:` name a preset or a file, or hold the values themselves. `base:` in a map
// names one whose values hold where the map has none. A model may be a Hugging Face config.json.
#pragma once

#include <string>

#include "scenarios/keys/values.hpp"

namespace depthcost {

/// A kind of file that a reference may lead to.
struct ReferenceKind {
  const KeyTable& table;
  std::string_view folder;  // where its presets are: "models", "hardware", ...
};

ReferenceKind model_reference();
ReferenceKind hardware_reference();
ReferenceKind published_reference();
ReferenceKind tolerances_reference();
ReferenceKind profile_reference();

/// The kind of the presets in that folder.
ReferenceKind reference_of_folder(std::string_view folder);

/// The values behind a reference that stands in the file `file`; paths are relative to that file's
/// folder. All required keys are there. Throws InputError, also for cycles of `base`.
Values resolve_reference(const Node& node, const ReferenceKind& kind, const std::string& file);

/// The same for a name or a path from the command line.
Values resolve_argument(const std::string& name, const ReferenceKind& kind,
                        const std::string& option);

/// A model or hardware that is only named becomes the `base` of a map, so that a key can stand
/// beside it. A map stays as it is.
void take_as_base(Node& reference);

/// The values of a preset, for as long as the program runs.
const Values& preset_values(std::string_view id, const ReferenceKind& kind);

/// Those of them that stand on the line of their key, and one of the lists: enough of another part
/// where a single list is asked for, in a quarter of the time.
const Values& preset_excerpt(std::string_view id, const ReferenceKind& kind, std::string_view list);

}  // namespace depthcost
