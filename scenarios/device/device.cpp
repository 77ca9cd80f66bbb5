// The schema line of a file says which kind it is. A name of both kinds means the hardware preset.
#include "scenarios/device/device.hpp"

#include <filesystem>

#include "scenarios/device/hardware.hpp"
#include "scenarios/device/profile.hpp"
#include "scenarios/device/transfers.hpp"
#include "scenarios/presets/presets.hpp"

namespace depthcost {
namespace {

bool says_profile(const Node& document) {
  const auto* map = std::get_if<Map>(&document.content);
  const Node* schema = map == nullptr ? nullptr : map->find("schema");
  const auto* text = schema == nullptr ? nullptr : std::get_if<ScalarNode>(&schema->content);
  return text != nullptr && text->text == profile_keys().schema;
}

bool names_profile(const std::string& name, const std::string& file) {
  if (find_preset("hardware", name) != nullptr) return false;
  if (find_preset("profiles", name) != nullptr) return true;
  const auto path = std::filesystem::path(file).parent_path() / name;
  std::error_code ignored;
  // A name that is no file is reported where it is resolved.
  return std::filesystem::is_regular_file(path, ignored) &&
         says_profile(load_document(path.string()));
}

}  // namespace

bool is_profile(const DeviceValues& device) { return &device.kind.table == &profile_keys(); }

DeviceValues resolve_device(const Node& node, const std::string& file) {
  const auto* name = std::get_if<ScalarNode>(&node.content);
  const bool says_so = name == nullptr ? says_profile(node) : names_profile(name->text, file);
  const ReferenceKind kind = says_so ? profile_reference() : hardware_reference();
  return {resolve_reference(node, kind, file), kind};
}

DeviceValues resolve_device(const std::string& name, const std::string& option) {
  const ReferenceKind kind = names_profile(name, "") ? profile_reference() : hardware_reference();
  return {resolve_argument(name, kind, option), kind};
}

Machine machine_from(const DeviceValues& device, std::vector<ResolvedValue>& notes,
                     const Constants& constants) {
  return is_profile(device) ? machine_from_profile(device.values, notes, constants)
                            : machine_from(device.values, notes, constants);
}

void borrow_transfers(const DeviceValues& device, Machine& machine,
                      std::vector<ResolvedValue>& notes) {
  if (!is_profile(device))
    borrow_transfers(device.values, machine, notes);
  else if (device.values.has("part"))
    borrow_transfers(preset_values(device.values.text("part"), hardware_reference()), machine,
                     notes);
}

}  // namespace depthcost
