// Limits as text.
#include "reports/topics/budgets/budget_section.hpp"

#include <gtest/gtest.h>

namespace depthcost::budget_section_test {
namespace {

TEST(FormatBudget, KnowsWhatEachLimitCounts) {
  EXPECT_EQ(format_budget(BudgetKind::decode_overhead, 0.02), "2.0 %");
  EXPECT_EQ(format_budget(BudgetKind::prefill_overhead, 0.02), "2.0 %");
  EXPECT_EQ(format_budget(BudgetKind::training_overhead, 0.02), "2.0 %");
  for (const BudgetKind kind : {BudgetKind::exposed_communication, BudgetKind::added_activations,
                                BudgetKind::pipeline_cache}) {
    EXPECT_EQ(format_budget(kind, 0.01), "1.0 %");
    EXPECT_EQ(unit_of(kind), "ratio");
  }
  EXPECT_EQ(format_budget(BudgetKind::prefill_bank, 2.5e9), "2.500 GB");
  EXPECT_EQ(format_budget(BudgetKind::prefill_peak, 2.5e9), "2.500 GB");
  EXPECT_EQ(format_budget(BudgetKind::pipeline_peak, 114688), "114.7 kB");
  EXPECT_EQ(format_budget(BudgetKind::device_memory, 141e9), "141.0 GB");
  EXPECT_EQ(format_budget(BudgetKind::prefill_bank, 2.5e9, Sign::always), "+2.500 GB");
  EXPECT_EQ(unit_of(BudgetKind::decode_overhead), "ratio");
  EXPECT_EQ(unit_of(BudgetKind::device_memory), "bytes");
}

}  // namespace
}  // namespace depthcost::budget_section_test
