// Sentences of claims.
#include "reports/topics/budgets/claim_section.hpp"

#include <gtest/gtest.h>

namespace depthcost::claim_section_test {
namespace {

ClaimRow only_if(std::vector<ClaimPoint> points) {
  return {BudgetKind::decode_overhead, 0.02, ClaimVerdict::holds_only_if, std::move(points)};
}

TEST(ClaimSentence, SaysWhereItHolds) {
  const ClaimRow claim =
      only_if({{Schedule::single_pass, WorkloadId::decode(1), Verdict::pass, {}},
               {Schedule::single_pass, WorkloadId::decode(8), Verdict::unknown, Seconds{9.1e-3}},
               {Schedule::single_pass, WorkloadId::decode(64), Verdict::fail, {}},
               {Schedule::unfused, WorkloadId::decode(1), Verdict::fail, {}},
               {Schedule::two_phase, WorkloadId::decode(1), Verdict::pass, {}}});
  EXPECT_EQ(claim_sentence("it is cheap ([x] Sec. 1)", claim),
            "Claim: it is cheap ([x] Sec. 1). Held to 2.0 % of `decode_overhead` it holds only if "
            "run as `single_pass` at decode/1, and at decode/8 if the step takes 9.10 ms or more; "
            "run as `two_phase` everywhere.");
}

TEST(ClaimSentence, SaysWhatTheLayersMustKeep) {
  const ClaimRow claim{BudgetKind::pipeline_cache,
                       0.01,
                       ClaimVerdict::holds_only_if,
                       {{.schedule = Schedule::single_pass,
                         .workload = WorkloadId::training(),
                         .verdict = Verdict::unknown,
                         .least_kept = Bytes{40.5e9}}}};
  EXPECT_EQ(claim_sentence("a", claim),
            "Claim: a. Held to 1.0 % of `pipeline_cache` it holds only if run as `single_pass` at "
            "training if the layers of every stage keep 40.50 GB or more.");
}

TEST(ClaimSentence, IsShortWithoutACondition) {
  ClaimRow claim = only_if({{Schedule::single_pass, WorkloadId::decode(1), Verdict::pass, {}}});
  claim.verdict = ClaimVerdict::holds;
  EXPECT_EQ(claim_sentence("a", claim), "Claim: a. Held to 2.0 % of `decode_overhead` it holds.");
  claim.verdict = ClaimVerdict::does_not_hold;
  EXPECT_EQ(claim_sentence("a", claim),
            "Claim: a. Held to 2.0 % of `decode_overhead` it does not hold.");
  claim.verdict = ClaimVerdict::unknown;
  EXPECT_EQ(claim_sentence("a", claim),
            "Claim: a. Held to 2.0 % of `decode_overhead` it is unknown.");
}

}  // namespace
}  // namespace depthcost::claim_section_test
