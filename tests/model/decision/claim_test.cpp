// Claims against made-up overheads.
#include "model/decision/claim.hpp"

#include <gtest/gtest.h>

#include "tests/studies.hpp"

namespace depthcost::claim_test {
namespace {

struct Point {
  WorkloadId workload;
  Schedule schedule;
  double low;
  double high;
};

ClaimRow claimed(const std::vector<Point>& points) {
  Study study = test::kimi_k3_study();
  study.claim = "under 2 %";
  study.budgets = {{BudgetKind::decode_overhead, 0.02}, {BudgetKind::prefill_bank, 1}};
  std::vector<StepRow> steps;
  for (const Point& point : points) {
    StepRow row{.workload = point.workload, .path = &study.path, .schedule = point.schedule};
    row.delta.high = Seconds{3e-3};
    row.overhead = Estimate<double>{point.low, point.low, point.high, Evidence::assumed};
    steps.push_back(row);
  }
  const std::vector<ClaimRow> rows = claim_rows(study, steps);
  EXPECT_EQ(rows.size(), 1u) << "only an overhead can be claimed";
  return rows.front();
}

using enum Schedule;

TEST(Claim, HoldsWhereTheQuotedScheduleKeepsItEverywhere) {
  const ClaimRow row = claimed({{WorkloadId::decode(1), single_pass, 0.001, 0.02},
                                {WorkloadId::decode(64), single_pass, 0.01, 0.019},
                                {WorkloadId::decode(1), two_phase, 0.03, 0.04},
                                {WorkloadId::prefill(), single_pass, 0.5, 0.6}});
  EXPECT_EQ(row.verdict, ClaimVerdict::holds);
  EXPECT_EQ(row.points.size(), 3u) << "a prefill is not claimed";
}

TEST(Claim, HoldsOnlyIfSomeScheduleKeepsItSomewhere) {
  const ClaimRow row = claimed({{WorkloadId::decode(1), two_phase, 0.001, 0.01},
                                {WorkloadId::decode(1), single_pass, 0.001, 0.01},
                                {WorkloadId::decode(64), single_pass, 0.03, 0.04}});
  EXPECT_EQ(row.verdict, ClaimVerdict::holds_only_if);
  ASSERT_EQ(row.points.size(), 3u);
  EXPECT_EQ(row.points[0].schedule, single_pass) << "the quoted schedule comes first";
  EXPECT_EQ(row.points[0].verdict, Verdict::pass);
  EXPECT_EQ(row.points[1].verdict, Verdict::fail);
  EXPECT_EQ(row.points[2].schedule, two_phase);
}

// 3 ms added at most: surely under 2 % in steps of 150 ms.
TEST(Claim, HoldsOnlyIfTheStepIsLongWhereTheLimitLiesInsideTheInterval) {
  const ClaimRow row = claimed({{WorkloadId::decode(1), single_pass, 0.01, 0.04}});
  EXPECT_EQ(row.verdict, ClaimVerdict::holds_only_if);
  ASSERT_TRUE(row.points[0].least_step);
  EXPECT_DOUBLE_EQ(row.points[0].least_step->value, 0.150);
}

TEST(Claim, DoesNotHoldWhereEveryScheduleBreaksIt) {
  const ClaimRow row = claimed({{WorkloadId::decode(1), single_pass, 0.03, 0.04},
                                {WorkloadId::decode(1), two_phase, 0.021, 0.04}});
  EXPECT_EQ(row.verdict, ClaimVerdict::does_not_hold);
  EXPECT_FALSE(row.points[0].least_step);
}

TEST(Claim, IsUnknownWithoutPerCent) {
  EXPECT_EQ(claimed({}).verdict, ClaimVerdict::unknown);
  Study study = test::kimi_k3_study();
  study.claim = "under 2 %";
  study.budgets = {{BudgetKind::decode_overhead, 0.02}};
  const std::vector<StepRow> steps{{.workload = WorkloadId::decode(1), .path = &study.path}};
  EXPECT_EQ(claim_rows(study, steps).front().verdict, ClaimVerdict::unknown);
  study.claim.clear();
  EXPECT_TRUE(claim_rows(study, steps).empty());
}

}  // namespace
}  // namespace depthcost::claim_test
