// Walks down a key's path and makes the maps that are missing.
#include "scenarios/read/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenarios/presets/reference.hpp"
#include "scenarios/read/usual_workload.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

const char* const kSetOption = "--set";
/// Sections of what the user has measured, workload by workload.
constexpr std::array kMeasured{"baseline_step", "step_terms"};

std::string path_of(const std::string& setting) { return setting.substr(0, setting.find('=')); }

/// Whether a key lies inside another one: "a.b" in "a".
bool is_below(std::string_view inner, std::string_view outer) {
  return inner.size() > outer.size() && inner.starts_with(outer) && inner[outer.size()] == '.';
}

[[noreturn]] void refuse_setting(const std::string& setting, const std::string& why) {
  throw InputError({kSetOption, 1, 1},
                   fmt::format("invalid setting '{}' ({})", printable(setting), why));
}

std::vector<std::string> keys_of(const std::string& setting, const std::string& path) {
  std::vector<std::string> keys;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    if (end == begin) refuse_setting(setting, "must be KEY=VALUE, as residual.attach=standalone");
    keys.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return keys;
}

/// The member of a map, made if it is missing. What stands at `node` must not be a value.
Node& member(Node& node, const std::string& key, const std::string& above,
             const std::string& setting) {
  if (const auto* scalar = std::get_if<ScalarNode>(&node.content)) {
    if (!scalar->is_null())
      refuse_setting(setting,
                     fmt::format("{} is '{}', which has no keys", above, printable(scalar->text)));
    node.content = Map{};
  }
  auto* map = std::get_if<Map>(&node.content);
  if (map == nullptr)
    refuse_setting(setting, fmt::format("{} is a list, which has no keys", above));
  for (Member& it : map->members)
    if (it.key == key) return it.value;
  const Position position{kSetOption, 1, 1};
  map->members.push_back({key, position, {position, ScalarNode{}}});
  return map->members.back().value;
}

/// What says the same as `key` of a residual path in another way.
std::vector<std::string_view> replaced_by(std::string_view key) {
  if (key == "block_size") return {"num_blocks", "remainder"};
  if (key == "num_blocks") return {"block_size"};
  return {};
}

void erase_replaced(Node& residual, std::string_view key) {
  for (const std::string_view replaced : replaced_by(key))
    if (auto* map = std::get_if<Map>(&residual.content))
      std::erase_if(map->members, [&](const Member& member) { return member.key == replaced; });
}

void apply_setting(const std::string& setting, Node& document) {
  const std::size_t sign = setting.find('=');
  if (sign == std::string::npos || sign == 0)
    refuse_setting(setting, "must be KEY=VALUE, as residual.attach=standalone");
  const std::vector<std::string> keys = keys_of(setting, setting.substr(0, sign));
  if (keys.front() == "workload" && keys.size() > 1)
    document = with_usual_workload(std::move(document));
  Node* node = &document;
  std::string above = "the scenario";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (above == "residual" && keys.size() == 2) erase_replaced(*node, keys[i]);
    if (i == 1 && (above == "model" || above == "hardware")) take_as_base(*node);
    node = &member(*node, keys[i], above, setting);
    above = keys[i];
  }
  *node = parse_document(setting.substr(sign + 1), kSetOption);
}

bool has_member(const Node& document, const char* section, const char* key) {
  const auto* map = std::get_if<Map>(&document.content);
  const Node* node = map == nullptr ? nullptr : map->find(section);
  const auto* members = node == nullptr ? nullptr : std::get_if<Map>(&node->content);
  return members != nullptr && members->find(key) != nullptr;
}

}  // namespace

std::vector<std::string> measurements_of(const Node& document, std::string_view path) {
  const auto is_changed = [&](std::string_view key) {
    return path == key || is_below(path, key) || is_below(key, path);
  };
  const bool is_of_all = is_changed("hardware") || is_changed("model") || is_changed("parallelism");
  std::vector<std::string> keys;
  const auto add = [&](const char* workload, bool is_wrong) {
    if (!is_wrong) return;
    for (const char* section : kMeasured)
      if (has_member(document, section, workload))
        keys.push_back(fmt::format("{}.{}", section, workload));
  };
  add("decode", is_of_all || is_changed("workload.decode.sequences") ||
                    is_changed("workload.decode.context"));
  add("prefill", is_of_all || is_changed("workload.prefill.tokens"));
  add("training", is_of_all || is_changed("workload.training"));
  return keys;
}

void apply_settings(const std::vector<std::string>& settings, Node& document) {
  const auto is_measured_anew = [&](const std::string& key) {
    return std::any_of(settings.begin(), settings.end(), [&](const std::string& setting) {
      const std::string path = path_of(setting);
      return path == key || is_below(key, path);
    });
  };
  for (const std::string& setting : settings)
    for (const std::string& key : measurements_of(document, path_of(setting)))
      if (!is_measured_anew(key))
        refuse_setting(
            setting,
            fmt::format("{0} was measured with the scenario's own value; set {0}, too", key));
  for (const std::string& setting : settings) apply_setting(setting, document);
}

}  // namespace depthcost
