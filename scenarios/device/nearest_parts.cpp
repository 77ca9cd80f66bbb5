// Reads the shipped parts once per machine.
#include "scenarios/device/nearest_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "model/machine/chip.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/presets/reference.hpp"

namespace depthcost {

namespace {

bool has(const Values& values, const std::string& wanted) {
  return values.has(wanted) || values.has_records(wanted);
}

/// Years between two architectures, and where one is not known, whether the vendors differ.
std::pair<int, bool> kinship(const Values& one, const Values& other) {
  return {chip_distance(text_or_empty(one, "architecture"), text_or_empty(other, "architecture")),
          text_or_empty(one, "vendor") != text_or_empty(other, "vendor")};
}

/// "hbm" of "hbm3e".
std::string memory_kind(const Values& values) {
  const std::string technology = text_or_empty(values, "memory_technology");
  return technology.substr(0, technology.find_first_of("0123456789"));
}

}  // namespace

const Part& NearestParts::part(std::string_view id) const {
  const auto known = read_.find(id);
  if (known != read_.end()) return known->second;
  const std::string name(id);
  return read_.emplace(name, Part{name, preset_values(id, hardware_reference())}).first->second;
}

std::vector<const Part*> NearestParts::like(const std::string& key,
                                            const std::string& wanted) const {
  auto alike = any(wanted);
  const auto differs = [&](const Part* part) {
    return text_or_empty(part->values, key) != text_or_empty(self_, key);
  };
  alike.erase(std::remove_if(alike.begin(), alike.end(), differs), alike.end());
  return alike.empty() ? any(wanted) : alike;
}

std::vector<const Part*> NearestParts::of_nearest_architecture(const std::string& wanted) const {
  auto kin = any(wanted);
  if (kin.empty()) return kin;
  const auto distance = [&](const Part* part) { return kinship(part->values, self_); };
  const auto nearest = distance(kin.front());
  std::erase_if(kin, [&](const Part* part) { return distance(part) != nearest; });
  return kin;
}

std::vector<const Part*> NearestParts::any(const std::string& wanted,
                                           std::string_view mention) const {
  std::vector<const Part*> found;
  for (const Preset& preset : presets()) {
    // Most files do not contain the words that are looked for.
    if (preset.kind != "hardware" || preset.text.find(wanted) == std::string_view::npos ||
        preset.text.find(mention) == std::string_view::npos)
      continue;
    const Part& candidate = part(preset.id);
    if (candidate.values.text("kind") == self_.text("kind") && has(candidate.values, wanted))
      found.push_back(&candidate);
  }
  const auto distance = [&](const Part* part) {
    const Values& values = part->values;
    return std::tuple(kinship(values, self_), memory_kind(values) != memory_kind(self_),
                      std::fabs(std::log(nominal_bandwidth(values) / nominal_bandwidth(self_))));
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Part* a, const Part* b) { return distance(a) < distance(b); });
  return found;
}

std::string ids_of(const std::vector<const Part*>& parts) {
  std::vector<std::string> ids;
  for (const Part* part : parts) ids.push_back(part->id);
  return fmt::format("{}", fmt::join(ids, ", "));
}

double nominal_bandwidth(const Values& values) { return values.number("memory_bandwidth"); }

Evidence evidence_of(const Value& value) {
  return value.has_source ? Evidence::published : Evidence::assumed;
}

std::string text_or_empty(const Values& values, const std::string& key) {
  return values.has(key) ? values.text(key) : "";
}

}  // namespace depthcost
