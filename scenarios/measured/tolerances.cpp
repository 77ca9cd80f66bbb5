// Patterns and rules.
#include "scenarios/measured/tolerances.hpp"

#include <fmt/format.h>

#include "scenarios/presets/presets.hpp"
#include "scenarios/presets/reference.hpp"

namespace depthcost {
namespace {

ToleranceRule rule_of(const Values& values, const std::string& record) {
  const Value& match = values.at(record + "match");
  ToleranceRule rule{.match = match.texts.front(),
                     .tolerance = {.relative = values.number(record + "relative")},
                     .blocks = values.text(record + "effect") == "block",
                     .reason = values.text(record + "reason"),
                     .file = match.position.file,
                     .line = match.position.line};
  if (values.has(record + "absolute"))
    rule.tolerance.absolute = {values.number(record + "absolute")};
  if (values.has(record + "noise_multiple"))
    rule.tolerance.noise_multiple = values.number(record + "noise_multiple");
  return rule;
}

std::vector<ToleranceRule> rules_of(const Node& document, const std::string& file) {
  const KeyTable& table = tolerance_keys();
  const Map& map = root_map(document, table.what);
  require_schema(map, document.position, table);
  const Values values =
      read_values(map, document.position, {table, Provenance::scenario, file_label(file)});
  require_keys(values, table);
  std::vector<ToleranceRule> rules;
  for (std::size_t i = 0; i < values.num_records("rules"); ++i)
    rules.push_back(rule_of(values, fmt::format("rules[{}].", i)));
  if (rules.empty())
    throw InputError(document.position, "missing key 'rules' (a tolerance file needs one)");
  return rules;
}

/// The places in a text that the part of a pattern read so far can reach.
using Reached = std::vector<bool>;

/// The places reached after "{a,b}", where `choices` is "a,b".
Reached behind_choice(const Reached& reached, std::string_view choices, std::string_view text) {
  Reached next(reached.size());
  for (;;) {
    const std::size_t comma = choices.find(',');
    const std::string_view choice = choices.substr(0, comma);
    for (std::size_t at = 0; at < reached.size(); ++at)
      if (reached[at] && text.substr(at).starts_with(choice)) next[at + choice.size()] = true;
    if (comma == std::string_view::npos) return next;
    choices.remove_prefix(comma + 1);
  }
}

Reached behind_any_text(Reached reached) {
  for (std::size_t at = 1; at < reached.size(); ++at)
    if (reached[at - 1]) reached[at] = true;
  return reached;
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) {
  Reached reached(text.size() + 1);
  reached.front() = true;
  while (!pattern.empty()) {
    const std::size_t close = pattern.front() == '{' ? pattern.find('}') : std::string_view::npos;
    const bool is_choice = close != std::string_view::npos;
    if (pattern.front() == '*')
      reached = behind_any_text(std::move(reached));
    else
      reached = behind_choice(
          reached, is_choice ? pattern.substr(1, close - 1) : pattern.substr(0, 1), text);
    pattern.remove_prefix(is_choice ? close + 1 : 1);
  }
  return reached.back();
}

std::vector<ToleranceRule> shipped_rules(std::string_view id) {
  return parse_rules(find_preset("tolerances", id)->text,
                     fmt::format("scenarios/tolerances/{}.yaml", id));
}

std::vector<ToleranceRule> parse_rules(std::string_view text, const std::string& file) {
  return rules_of(parse_document(text, file), file);
}

std::vector<ToleranceRule> load_rules(const std::string& path) {
  return parse_rules(load_text(path), path);
}

RuleBook::RuleBook(std::vector<ToleranceRule> rules)
    : rules_(std::move(rules)), used_(rules_.size()) {}

const ToleranceRule& RuleBook::rule_for(const std::string& id) {
  const ToleranceRule* found = nullptr;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const ToleranceRule& rule = rules_[i];
    if (!matches_pattern(rule.match, id)) continue;
    if (found != nullptr)
      throw InputError({rule.file, rule.line, 1},
                       fmt::format("second rule for case '{}' (line {} matches it too)",
                                   printable(id, 200), found->line));
    found = &rule;
    used_[i] = true;
  }
  if (found == nullptr)
    throw InputError({rules_.front().file, 1, 1},
                     fmt::format("no rule for case '{}' (each needs one)", printable(id, 200)));
  return *found;
}

void RuleBook::require_all_used() const {
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (!used_[i])
      throw InputError({rules_[i].file, rules_[i].line, 1},
                       fmt::format("rule '{}' matches no case (mend or remove it)",
                                   printable(rules_[i].match, 200)));
}

}  // namespace depthcost
