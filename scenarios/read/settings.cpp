// Walks down a key's path and makes the maps that are missing.
#include "scenarios/read/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/presets/reference.hpp"
#include "scenarios/read/usual_workload.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

const char* const kSetOption = "--set";
constexpr std::string_view kBaselineStep = "baseline_step";

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
    document = with_named_workload(std::move(document));
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

}  // namespace

bool has_measured_step_of(const Node& document, std::string_view path) {
  const auto* map = std::get_if<Map>(&document.content);
  const Node* steps = map == nullptr ? nullptr : map->find(kBaselineStep);
  const auto* measured = steps == nullptr ? nullptr : std::get_if<Map>(&steps->content);
  if (measured == nullptr) return false;
  const auto is_at = [&](std::string_view key) {
    return path == key || (path.starts_with(key) && path[key.size()] == '.');
  };
  if (is_at("hardware") || is_at("model") || is_at("parallelism")) return true;
  if (is_at("workload.decode.sequences") || is_at("workload.decode.context"))
    return measured->find("decode") != nullptr;
  if (is_at("workload.prefill.tokens")) return measured->find("prefill") != nullptr;
  return is_at("workload.training") && measured->find("training") != nullptr;
}

void apply_settings(const std::vector<std::string>& settings, Node& document) {
  const bool is_measured_anew =
      std::any_of(settings.begin(), settings.end(),
                  [](const std::string& setting) { return setting.starts_with(kBaselineStep); });
  for (const std::string& setting : settings)
    if (!is_measured_anew && has_measured_step_of(document, setting.substr(0, setting.find('='))))
      refuse_setting(setting,
                     "baseline_step was measured without it; set baseline_step, too, as "
                     "baseline_step.decode=20 ms");
  for (const std::string& setting : settings) apply_setting(setting, document);
}

}  // namespace depthcost
