// Rules: what their patterns match, and that unused and missing rules are reported.
#include "scenarios/measured/tolerances.hpp"

#include <gtest/gtest.h>

#include "scenarios/text/input_error.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::tolerances_test {
namespace {

TEST(Pattern, MatchesTextsStarsAndAlternatives) {
  EXPECT_TRUE(matches_pattern("", ""));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("a*c", "abbc"));
  EXPECT_TRUE(matches_pattern("*/T:{1,64}/*", "mhc_post/T:64/d:8"));
  EXPECT_TRUE(matches_pattern("{a,ab}c", "abc"));
  EXPECT_TRUE(matches_pattern("{,x}y", "y"));
  EXPECT_TRUE(matches_pattern("**b*", "ab"));
  EXPECT_TRUE(matches_pattern("{open", "{open"));
  EXPECT_FALSE(matches_pattern("*/T:{1,64}/*", "mhc_post/T:640/d:8"));
  EXPECT_FALSE(matches_pattern("a", "ab"));
  EXPECT_FALSE(matches_pattern("ab", "a"));
  EXPECT_FALSE(matches_pattern("{a,b}", ""));
}

TEST(Pattern, TakesNoTimeForManyStars) {
  std::string stars;
  for (int i = 0; i < 200; ++i) stars += "*a";
  EXPECT_FALSE(matches_pattern(stars + "b", std::string(400, 'a')));
}

std::string rule(const std::string& match, const std::string& rest = "") {
  return "  - {match: \"" + match + "\", relative: 5 %, effect: block, reason: a promise" + rest +
         "}\n";
}

std::string text_of(const std::string& rules) {
  return "schema: depthcost-tolerances/1\nname: mine\nrules:\n" + rules;
}

/// The message behind the file's name, or "" if `use` accepts the rules.
template <class Use>
std::string error_of(const std::string& text, const Use& use) {
  const test::TemporaryFolder folder;
  const std::string path = folder.written("rules.yaml", text);
  try {
    use(load_rules(path));
    return "";
  } catch (const InputError& error) {
    EXPECT_EQ(error.position().file, path);
    return std::string(error.what()).substr(path.size() + 1);
  }
}

/// For the cases a/1, a/2 and b/1.
std::string problem_of(const std::string& rules) {
  return error_of(text_of(rules), [](const std::vector<ToleranceRule>& all) {
    RuleBook book(all);
    for (const std::string id : {"a/1", "a/2", "b/1"}) book.rule_for(id);
    book.require_all_used();
  });
}

TEST(Rules, GiveEachCaseItsOne) {
  EXPECT_EQ(problem_of(rule("a/*") + rule("b/*")), "");
  EXPECT_EQ(problem_of(rule("a/*") + rule("*/1")),
            "5:1: error: second rule for case 'a/1' (line 4 matches it too)");
  EXPECT_EQ(problem_of(rule("a/*")), "1:1: error: no rule for case 'b/1' (each needs one)");
  EXPECT_EQ(problem_of(rule("*") + rule("c/*")),
            "5:1: error: rule 'c/*' matches no case (mend or remove it)");
}

TEST(Rules, AreReadStrictly) {
  EXPECT_EQ(problem_of(rule("*", ", tolerance: 5 %")),
            "4:67: error: unknown key 'tolerance' (known here: match, relative, absolute, "
            "noise_multiple, effect, reason, source, date)");
  EXPECT_EQ(problem_of("  - {match: x, relative: 5 %, effect: block}\n"),
            "4:5: error: missing key 'reason' (rules needs it)");
  EXPECT_EQ(problem_of("  - {match: x, relative: 0.05, effect: block, reason: r}\n"),
            "4:26: error: invalid rules[].relative '0.05' (missing unit; need a percentage, such "
            "as '2 %')");
  EXPECT_EQ(problem_of("  - {match: x, relative: 5 %, effect: blok, reason: r}\n"),
            "4:39: error: invalid rules[].effect 'blok' (must be block | report); did you mean "
            "'block'?");
  EXPECT_EQ(error_of("schema: depthcost-tolerances/1\nname: x\n", [](const auto&) {}),
            "1:1: error: missing key 'rules' (a tolerance file needs one)");
  EXPECT_EQ(error_of("schema: depthcost/1\n", [](const auto&) {}),
            "1:9: error: invalid schema 'depthcost/1' (must be 'depthcost-tolerances/1')");
}

TEST(Rules, KnowTheirLineAndAllTheirNumbers) {
  const test::TemporaryFolder folder;
  const auto rules = load_rules(folder.written(
      "r.yaml", text_of("  - match: x\n    relative: 5 %\n    absolute: 0.5 us\n    "
                        "noise_multiple: 3\n    effect: report\n    reason: why\n")));
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_DOUBLE_EQ(rules[0].tolerance.relative, 0.05);
  EXPECT_DOUBLE_EQ(rules[0].tolerance.absolute.value, 0.5e-6);
  EXPECT_EQ(rules[0].tolerance.noise_multiple, 3);
  EXPECT_FALSE(rules[0].blocks);
  EXPECT_EQ(rules[0].line, 4);
}

TEST(ShippedRules, StandInTheRepository) {
  for (const std::string id :
       {"published", "measurements", "samples", "epyc_turin_vm", "xeon_granite_rapids_vm",
        "xeon_emerald_rapids_vm", "epyc_genoa_vm", "h200_vm"})
    for (const ToleranceRule& rule : shipped_rules(id)) {
      EXPECT_EQ(rule.file, "scenarios/tolerances/" + id + ".yaml");
      EXPECT_FALSE(rule.reason.empty());
    }
}

}  // namespace
}  // namespace depthcost::tolerances_test
