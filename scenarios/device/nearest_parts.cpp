// Reads the shipped parts once per machine.
#include "scenarios/device/nearest_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
using Distance = std::pair<int, bool>;

Distance kinship(const Values& self, std::string_view architecture, std::string_view vendor) {
  return {chip_distance(architecture, text_or_empty(self, "architecture")),
          vendor != text_or_empty(self, "vendor")};
}

/// "hbm" of "hbm3e".
std::string memory_kind(const Values& values) {
  const std::string technology = text_or_empty(values, "memory_technology");
  return technology.substr(0, technology.find_first_of("0123456789"));
}

}  // namespace

const Part& NearestParts::part(std::string_view id, const std::string& wanted) const {
  const auto read = std::find_if(read_.begin(), read_.end(), [&](const ReadPart& known) {
    return known.part.id == id && known.wanted == wanted;
  });
  if (read != read_.end()) return read->part;
  const Values& values = preset_excerpt(id, hardware_reference(), wanted);
  read_.push_back({wanted, Part{std::string(id), values}});
  return read_.back().part;
}

std::vector<const Preset*> NearestParts::that_mention(const std::string& wanted,
                                                      std::string_view mention) const {
  std::vector<const Preset*> found;
  for (const Preset& preset : presets())
    if (preset.kind == "hardware" && preset.text.find(wanted) != std::string_view::npos &&
        preset.text.find(mention) != std::string_view::npos &&
        plain_line(preset.text, "kind") == self_.text("kind"))
      found.push_back(&preset);
  return found;
}

double NearestParts::shipped_bandwidth(const std::string& wanted) const {
  for (const Preset& preset : presets())
    if (preset.kind == "hardware" && self_.has("name") &&
        plain_line(preset.text, "name") == self_.text("name"))
      return nominal_bandwidth(part(preset.id, wanted).values);
  return nominal_bandwidth(self_);
}

std::vector<const Part*> NearestParts::ranked(const std::vector<const Preset*>& presets,
                                              const std::string& wanted) const {
  std::vector<const Part*> parts;
  for (const Preset* preset : presets) {
    const Part& candidate = part(preset->id, wanted);
    if (has(candidate.values, wanted)) parts.push_back(&candidate);
  }
  const double own = shipped_bandwidth(wanted);
  const auto distance = [&](const Part* part) {
    const Values& values = part->values;
    return std::tuple(
        kinship(self_, text_or_empty(values, "architecture"), text_or_empty(values, "vendor")),
        memory_kind(values) != memory_kind(self_),
        std::fabs(std::log(nominal_bandwidth(values) / own)));
  };
  std::stable_sort(parts.begin(), parts.end(),
                   [&](const Part* a, const Part* b) { return distance(a) < distance(b); });
  return parts;
}

std::vector<const Part*> NearestParts::like(const std::string& key,
                                            const std::string& wanted) const {
  std::vector<const Preset*> alike = that_mention(wanted);
  std::erase_if(alike, [&](const Preset* preset) {
    return plain_line(preset->text, key) != text_or_empty(self_, key);
  });
  const auto parts = ranked(alike, wanted);
  return parts.empty() ? any(wanted) : parts;
}

std::vector<const Part*> NearestParts::of_nearest_architecture(const std::string& wanted) const {
  std::map<Distance, std::vector<const Preset*>> by_distance;
  for (const Preset* preset : that_mention(wanted))
    by_distance[kinship(self_, plain_line(preset->text, "architecture"),
                        plain_line(preset->text, "vendor"))]
        .push_back(preset);
  for (const auto& [distance, presets] : by_distance)
    if (auto parts = ranked(presets, wanted); !parts.empty()) return parts;
  return {};
}

const Part* NearestParts::nearest(const std::string& wanted) const {
  const auto parts = of_nearest_architecture(wanted);
  return parts.empty() ? nullptr : parts.front();
}

std::vector<const Part*> NearestParts::any(const std::string& wanted,
                                           std::string_view mention) const {
  return ranked(that_mention(wanted, mention), wanted);
}

std::string_view plain_line(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string_view::npos; at += key.size()) {
    const bool is_first = at == 0 || text[at - 1] == '\n';
    const std::string_view rest = text.substr(at + key.size());
    if (is_first && rest.starts_with(": ")) return rest.substr(2, rest.find('\n') - 2);
  }
  return {};
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
