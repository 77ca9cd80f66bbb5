// One site of Gated Residual against the only published times, which no constant has seen.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "model/schemes/list.hpp"
#include "model/step/step.hpp"
#include "tests/scenarios/read/parsed.hpp"

namespace depthcost::gated_residual_times_test {
namespace {

/// sgl-project/sglang PR 40552 (2026-09-21, open), GB300, one module.
struct Published {
  Count tokens = 0;
  Schedule schedule = Schedule::fused;
  double microseconds = 0;
};

// Three kernels up to 24 tokens and five beyond, whose products are a library's; and before the
// change, five with a product of another tile.
constexpr std::array kPublished{
    Published{1, Schedule::folded_norm, 15.504},  Published{2, Schedule::folded_norm, 15.600},
    Published{4, Schedule::folded_norm, 15.620},  Published{8, Schedule::folded_norm, 15.788},
    Published{10, Schedule::folded_norm, 18.116}, Published{16, Schedule::folded_norm, 18.212},
    Published{24, Schedule::folded_norm, 21.304}, Published{32, Schedule::fused, 22.508},
    Published{80, Schedule::fused, 25.020},       Published{1, Schedule::fused, 21.416},
    Published{8, Schedule::fused, 22.452}};

/// One of the 97 sites of Qwen3.8-Flash-Next.
Estimate<Seconds> site_time(const Published& published) {
  const Scenario scenario = test::parse_scenario(
      fmt::format("schema: depthcost/1\nname: n\n"
                  "model: {{name: m, num_layers: 96, hidden_size: 2560, dtype: bf16}}\n"
                  "hardware: b300_sxm\nresidual: {{scheme: gated_residual}}\n"
                  "workload: {{decode: {{sequences: [{}], launch: graph}}}}\n",
                  published.tokens),
      "it.yaml");
  const StepRow row = step_rows(scenario.study, scenario.study.path, published.schedule).front();
  return (1.0 / 97) * row.residual;
}

// No constant was fitted on these times, and no other count than the tiles of the kernels that were
// measured.
TEST(GatedResidual, IsPredictedWithinAQuarter) {
  for (const Published& published : kPublished) {
    SCOPED_TRACE(fmt::format("{} tokens, {}", published.tokens, name(published.schedule)));
    const Estimate<Seconds> time = site_time(published);
    EXPECT_NEAR(published.microseconds * 1e-6 / time.value.value, 1, 0.25);
    EXPECT_LE(published.microseconds * 1e-6, time.high.value);
    EXPECT_GE(published.microseconds * 1e-6, time.low.value);
  }
}

// A second wave of clusters at nine tokens, as it was measured.
TEST(GatedResidual, TakesLongerWhereMoreCtasThanMultiprocessorsAreNeeded) {
  const auto time = [](Count tokens) {
    return site_time({tokens, Schedule::folded_norm, 0}).value.value;
  };
  const double jump = time(10) - time(8);
  EXPECT_NEAR(jump, 18.116e-6 - 15.788e-6, 0.25e-6);
  EXPECT_LT(time(8) - time(1), 0.2 * jump);
  EXPECT_LT(time(16) - time(10), 0.2 * jump);
}

}  // namespace
}  // namespace depthcost::gated_residual_times_test
