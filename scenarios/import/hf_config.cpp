// A key is looked up in the decoder's section, then at the top of the file, then in the defaults.
#include "scenarios/import/hf_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scenarios/import/hf_keys.hpp"
#include "scenarios/text/json_document.hpp"

namespace depthcost {
namespace {

// Looked for in this order; no file has two.
const Aliases kDecoderSections{"text_config", "language_config", "llm_config"};

bool is_null(const Node& node) {
  const auto* scalar = std::get_if<ScalarNode>(&node.content);
  return scalar != nullptr && scalar->is_null();
}

bool is_equal(const Node& a, const Node& b);

bool is_equal(const Map& a, const Map& b) {
  return a.members.size() == b.members.size() &&
         std::all_of(a.members.begin(), a.members.end(), [&](const Member& member) {
           const Node* other = b.find(member.key);
           return other != nullptr && is_equal(member.value, *other);
         });
}

bool is_equal(const List& a, const List& b) {
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
                    [](const Node& x, const Node& y) { return is_equal(x, y); });
}

bool is_equal(const Node& a, const Node& b) {
  if (a.content.index() != b.content.index()) return false;
  if (const auto* scalar = std::get_if<ScalarNode>(&a.content))
    return scalar->text == std::get<ScalarNode>(b.content).text;
  if (const auto* list = std::get_if<List>(&a.content))
    return is_equal(*list, std::get<List>(b.content));
  return is_equal(std::get<Map>(a.content), std::get<Map>(b.content));
}

/// The decoder's section, if the file has one; two of them would be two models.
std::optional<ConfigSection> nested_section(ConfigSection& top) {
  std::optional<ConfigValue> found;
  for (const std::string_view name : kDecoderSections) {
    const auto here = top.find({name});
    if (!here) continue;
    if (found)
      throw InputError(here->position(), fmt::format("conflicting key '{}' ('{}' is there too)",
                                                     here->path(), found->path()));
    found = here;
  }
  return found ? std::optional(found->section()) : std::nullopt;
}

}  // namespace

void ConfigValue::fail(std::string_view reason) const {
  const std::string quoted = text();
  throw InputError(
      position(),
      fmt::format("invalid {}{} ({})", path_,
                  quoted.empty() ? "" : fmt::format(" '{}'", printable(quoted)), reason));
}

std::string ConfigValue::text() const {
  const auto* scalar = std::get_if<ScalarNode>(&node_->content);
  return scalar == nullptr ? "" : scalar->text;
}

Count ConfigValue::count(Range range) const {
  return parse_count(as_scalar(*node_, path_), position(), path_, range);
}

double ConfigValue::number() const {
  return parse_number(as_scalar(*node_, path_), position(), path_);
}

bool ConfigValue::flag() const {
  const ScalarNode& scalar = as_scalar(*node_, path_);
  if (scalar.quoted || (scalar.text != "true" && scalar.text != "false"))
    fail("must be true or false");
  return scalar.text == "true";
}

const std::string& ConfigValue::word() const {
  if (!as_scalar(*node_, path_).quoted) fail("must be a text");
  return as_text(*node_, path_);
}

std::vector<Count> ConfigValue::counts(Range range) const {
  std::vector<Count> counts;
  for (const Node& item : as_list(*node_, path_).items)
    counts.push_back(ConfigValue(item, path_).count(range));
  return counts;
}

std::vector<std::string> ConfigValue::words() const {
  std::vector<std::string> words;
  for (const Node& item : as_list(*node_, path_).items)
    words.push_back(ConfigValue(item, path_).word());
  return words;
}

ConfigSection ConfigValue::section() const { return {*node_, path_ + "."}; }

ConfigSection::ConfigSection(const Node& node, std::string prefix)
    : map_(&as_map(node, prefix.empty() ? "config" : prefix.substr(0, prefix.size() - 1))),
      position_(node.position),
      prefix_(std::move(prefix)) {}

std::optional<ConfigValue> ConfigSection::find(const Aliases& names) {
  std::optional<ConfigValue> found;
  const Node* first = nullptr;
  for (const std::string_view name : names) {
    asked_for_.emplace(name);
    const Node* node = map_->find(name);
    if (node == nullptr || is_null(*node)) continue;
    ConfigValue value(*node, prefix_ + std::string(name));
    if (!found) {
      found = std::move(value);
      first = node;
      continue;
    }
    if (!is_equal(*node, *first))
      throw InputError(node->position, fmt::format("conflicting key '{}' ('{}' says otherwise)",
                                                   value.path(), found->path()));
  }
  return found;
}

ConfigValue ConfigSection::at(const Aliases& names, std::string_view why) {
  if (const auto value = find(names)) return *value;
  throw InputError(position_, fmt::format("missing key '{}{}' ({})", prefix_,
                                          fmt::join(names, "' or '" + prefix_), why));
}

void ConfigSection::refuse_others() const {
  for (const Member& member : map_->members)
    if (!is_null(member.value) && !is_asked_for(member.key))
      throw InputError(member.position,
                       fmt::format("unknown key '{}{}' (may change what a layer is)", prefix_,
                                   printable(member.key)));
}

HfConfig::HfConfig(const Node& document, std::string label)
    : label_(std::move(label)), top_(document, ""), nested_(nested_section(top_)) {}

void HfConfig::add_defaults(std::string_view model_type, std::string_view json) {
  auto document = std::make_unique<Node>(parse_json(json, label_));
  // What is wrong with a default is reported where the key is absent.
  for (Member& member : std::get<Map>(document->content).members)
    member.value.position = position();
  defaults_.emplace_back(*document, fmt::format("transformers' {}.", model_type));
  default_documents_.push_back(std::move(document));
}

std::optional<ConfigValue> HfConfig::find(const Aliases& names) {
  const auto at_top = top_.find(names);
  const auto nested = nested_ ? nested_->find(names) : std::nullopt;
  if (nested || at_top) return nested ? nested : at_top;
  for (ConfigSection& defaults : defaults_)
    if (const auto fallback = defaults.find(names)) {
      has_used_defaults_ = true;
      return fallback;
    }
  return std::nullopt;
}

ConfigValue HfConfig::at(const Aliases& names, std::string_view why) {
  if (const auto value = find(names)) return *value;
  return (nested_ ? *nested_ : top_).at(names, why);
}

void HfConfig::ignore(const Aliases& names) {
  for (const std::string_view name : names) find({name});
}

std::string HfConfig::cite(const std::vector<std::string>& paths) const {
  std::string text;
  std::string_view last_parent;
  for (const std::string& path : paths) {
    const std::size_t dot = path.rfind('.');
    const std::string_view parent =
        std::string_view(path).substr(0, dot == std::string::npos ? 0 : dot + 1);
    const bool is_sibling = !text.empty() && parent == last_parent;
    text += (text.empty() ? ": " : ", ") + (is_sibling ? path.substr(parent.size()) : path);
    last_parent = parent;
  }
  return label_ + text;
}

void HfConfig::refuse_unknown_structure(std::string_view model_type) const {
  const auto check = [&](const ConfigSection& section) {
    const bool is_composite = nested_ && &section == &top_;
    for (const Member& member : section.members()) {
      if (section.is_asked_for(member.key) || is_null(member.value)) continue;
      if (is_composite && is_of_another_modality(member.key)) continue;
      if (!may_change_structure(member.key, member.value)) continue;
      throw InputError(
          member.position,
          fmt::format("unknown key '{}{}' (may change what a layer is, and is not known of {})",
                      section.prefix(), printable(member.key), model_type));
    }
  };
  if (nested_) check(*nested_);
  check(top_);
}

}  // namespace depthcost
