// Look-ups in the embedded files.
#include "scenarios/presets/presets.hpp"

#include <algorithm>

namespace depthcost {

const Preset* find_preset(std::string_view kind, std::string_view id) {
  const auto all = presets();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Preset& preset) {
    return preset.kind == kind && preset.id == id;
  });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> preset_ids(std::string_view kind) {
  std::vector<std::string> ids;
  for (const Preset& preset : presets())
    if (preset.kind == kind) ids.emplace_back(preset.id);
  return ids;
}

std::string_view shipped_table(std::string_view id) {
  for (const Preset& data : shipped_data())
    if (data.kind == "tables" && data.id == id) return data.text;
  return {};
}

}  // namespace depthcost
