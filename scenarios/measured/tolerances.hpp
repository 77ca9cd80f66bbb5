// What a comparison is held to: rules by pattern, each with its reason. Strict, so that a rule
// that no longer means anything, or a case that nobody thought of, is seen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/machine/comparison.hpp"

namespace depthcost {

/// The rules that are built in: "published" or "measurements".
std::vector<ToleranceRule> shipped_rules(std::string_view id);

/// The rules of a file.
std::vector<ToleranceRule> load_rules(const std::string& path);

/// Gives each case its rule. Throws InputError for a rule that matches nothing, and for a case that
/// is matched by two rules or none.
class RuleBook {
 public:
  explicit RuleBook(std::vector<ToleranceRule> rules);

  /// The one rule that matches.
  const ToleranceRule& rule_for(const std::string& id);
  /// To be called behind the last case.
  void require_all_used() const;

 private:
  std::vector<ToleranceRule> rules_;
  std::vector<bool> used_;
};

/// `*` is any text, also none and slashes; `{a,b}` is a or b; all else is itself.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace depthcost
