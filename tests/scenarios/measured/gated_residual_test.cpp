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

// Three kernels up to 24 tokens, five beyond; and five before the change.
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

// What is known to be wrong stands here: from ten tokens on a site takes 1.3 to 1.5 times what is
// predicted. The products of its kernels are tuned for few tokens.
TEST(GatedResidual, IsPredictedWithinAQuarterForFewTokensAndTooShortForMore) {
  std::size_t inside = 0;
  for (const Published& published : kPublished) {
    SCOPED_TRACE(published.tokens);
    const Estimate<Seconds> time = site_time(published);
    const double ratio = published.microseconds * 1e-6 / time.value.value;
    if (published.schedule == Schedule::folded_norm && published.tokens <= 8) {
      EXPECT_NEAR(ratio, 1, 0.25);
    }
    EXPECT_GT(ratio, 1);
    EXPECT_LT(ratio, 1.6);
    if (published.microseconds * 1e-6 <= time.high.value) ++inside;
  }
  EXPECT_EQ(inside, 9U) << "of 11; those of 24 and 80 tokens lie above the interval";
}

}  // namespace
}  // namespace depthcost::gated_residual_times_test
