// Tolerance rules for comparisons: patterns of case ids, each with its reason. Every case needs
// exactly one rule and every rule a case, so that nothing is forgotten.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/machine/comparison.hpp"

namespace depthcost {

/// The built-in rules: "published" or "measurements".
std::vector<ToleranceRule> shipped_rules(std::string_view id);

/// The rules in the text of a file; `file` labels positions. Throws InputError.
std::vector<ToleranceRule> parse_rules(std::string_view text, const std::string& file);

/// The rules of a file.
std::vector<ToleranceRule> load_rules(const std::string& path);

/// Gives each case its rule. Throws InputError for a rule that matches nothing, and for a case that
/// is matched by two rules or none.
class RuleBook {
 public:
  explicit RuleBook(std::vector<ToleranceRule> rules);

  /// The one rule that matches.
  const ToleranceRule& rule_for(const std::string& id);
  /// Call it after the last case. Throws InputError for a rule that matched none.
  void require_all_used() const;

 private:
  std::vector<ToleranceRule> rules_;
  std::vector<bool> used_;
};

/// `*` matches any text, even none and slashes; `{a,b}` matches a or b; other characters match
/// themselves.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace depthcost
