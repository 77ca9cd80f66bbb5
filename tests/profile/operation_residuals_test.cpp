// The interval of an operation's own kernels against a dull loop, and on kernels that were held
// out.
#include "profile/operation_residuals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "profile/measured_shapes.hpp"
#include "profile/profile_file.hpp"
#include "tests/profile/synthetic.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::profile::operation_residuals_test {
namespace {

/// The predicted time, as the middle of a comparison has it.
double ratio(const Machine& machine, const KernelSample& kernel) {
  return 1 + compared(machine, kernel, {}).error;
}

std::string operation_of(const KernelSample& kernel) {
  return std::string(name(find_operation(kernel.call)->id));
}

class OperationResiduals : public testing::Test {
 protected:
  /// Kernels of `operation` take `times` as long.
  Samples samples(const std::string& operation = "", double times = 1) const {
    Samples all = read_samples(folder_.written("s.json", test::synthetic_samples()));
    for (KernelSample& kernel : all.kernels)
      if (kernel.call.operation == operation)
        for (double& seconds : kernel.seconds) seconds *= times;
    return all;
  }

  const test::TemporaryFolder folder_;
};

TEST_F(OperationResiduals, AreThoseOfADullLoop) {
  const Samples all = samples("mhc_post", 1.5);
  const Machine machine = fit(all).machine;
  struct Kernel {
    std::string operation;
    Count width;
    double ratio;
  };
  std::vector<Kernel> kernels;
  for (const KernelSample& kernel : all.kernels)
    if (!kernel.is_again && cases_of(kernel) != Cases::held_out)
      kernels.push_back({operation_of(kernel), kernel.call.hidden_size, ratio(machine, kernel)});
  ASSERT_EQ(kernels.size(), 30U);
  // By which factor each lies outside the range of its operation's other widths.
  std::vector<double> factors;
  std::map<std::string, std::pair<double, double>> ranges;
  for (const Kernel& left_out : kernels) {
    double low = 1;
    double high = 1;
    for (const Kernel& other : kernels)
      if (other.operation == left_out.operation && other.width != left_out.width) {
        low = std::min(low, other.ratio);
        high = std::max(high, other.ratio);
      }
    factors.push_back(std::max({1.0, low / left_out.ratio, left_out.ratio / high}));
    auto& [least, most] = ranges.try_emplace(left_out.operation, 1, 1).first->second;
    least = std::min(least, left_out.ratio);
    most = std::max(most, left_out.ratio);
  }
  // 90 % of 31 ranks is 27.9: between the 27th and the 28th of 30, counted from one.
  std::sort(factors.begin(), factors.end());
  const double factor = std::exp(0.1 * std::log(factors[26]) + 0.9 * std::log(factors[27]));
  ASSERT_EQ(machine.operation_residuals.size(), 5U);
  for (const OperationResidual& own : machine.operation_residuals) {
    EXPECT_NEAR(own.ratio.low, ranges.at(own.operation).first / factor, 1e-6) << own.operation;
    EXPECT_NEAR(own.ratio.high, ranges.at(own.operation).second * factor, 1e-6) << own.operation;
    EXPECT_EQ(own.ratio.value, 1);
  }
}

TEST_F(OperationResiduals, LeaveTheOtherOperationsAsTheyAre) {
  const Machine machine = fit(samples("mhc_post", 1.5)).machine;
  EXPECT_GT(residual_of(machine, {"mhc_post"}).high, 1.45);
  EXPECT_LT(residual_of(machine, {"residual_add"}).high, 1.05);
  // One that was not measured has the interval of all.
  EXPECT_EQ(residual_of(machine, {"mhc_pre"}).high, machine.residual.high);
  EXPECT_GT(machine.residual.high, 1.4);
}

TEST_F(OperationResiduals, AreInTheIntervalOfAPrediction) {
  const Machine machine = fit(samples("mhc_post", 1.5)).machine;
  const auto share = [&](const std::string& operation) {
    const StandaloneCall call{.operation = operation,
                              .counts = {.num_sources = 8, .num_queries = 24, .num_streams = 4},
                              .num_tokens = 2048,
                              .hidden_size = 3072};
    const Operation measured = *find_operation(call);
    const Execution execution = execution_of(call);
    const LaunchTime time(machine, measured, execution);
    Corner slow;
    slow.bandwidth = IntervalEnd::high;
    return time.terms(slow).total() / time.terms({}).total();
  };
  EXPECT_GT(share("mhc_post"), 1.45);
  EXPECT_LT(share("residual_add"), 1.1);
}

/// A sigmoid in place of the softmax is other code, and has no interval.
TEST_F(OperationResiduals, LeaveAblationsOut) {
  Samples all = samples();
  const OperationIntervals without = operation_intervals(fit(all).machine, all);
  for (KernelSample kernel : std::vector<KernelSample>(all.kernels)) {
    if (kernel.call.operation != "attnres_single_pass") continue;
    kernel.call.operation = "attnres_single_pass/sigmoid";
    for (double& seconds : kernel.seconds) seconds *= 3;
    all.kernels.push_back(kernel);
  }
  const OperationIntervals with = operation_intervals(fit(all).machine, all);
  ASSERT_EQ(with.residuals.size(), without.residuals.size());
  for (std::size_t i = 0; i < with.residuals.size(); ++i)
    EXPECT_EQ(with.residuals[i].ratio.high, without.residuals[i].ratio.high);
  // The form without an update and a norm is the same code.
  all.kernels.back().call.operation = "attnres_single_pass/bare";
  for (const OperationResidual& own : operation_intervals(fit(all).machine, all).residuals)
    EXPECT_EQ(own.operation == "attnres_single_pass", own.ratio.high > 2) << own.operation;
}

TEST_F(OperationResiduals, NeedASecondShape) {
  Samples all = samples();
  std::erase_if(all.kernels, [](const KernelSample& kernel) {
    return kernel.call.operation == "mhc_post" && kernel.call.hidden_size != 4096;
  });
  const Machine machine = fit(all).machine;
  EXPECT_EQ(machine.operation_residuals.size(), 4U);
  EXPECT_EQ(residual_of(machine, {"mhc_post"}).high, machine.residual.high);
}

/// They were made from other shapes.
class HeldOutKernels : public testing::TestWithParam<const char*> {};

TEST_P(HeldOutKernels, LieInTheIntervalsOfTheirOperations) {
  const LoadedProfile loaded = load_profile(std::string(DEPTHCOST_SOURCE_DIR) +
                                            "/scenarios/profiles/" + GetParam() + ".yaml");
  const Machine& machine = loaded.profile.machine;
  ASSERT_FALSE(machine.operation_residuals.empty());
  std::size_t inside = 0;
  std::size_t cases = 0;
  for (const KernelSample& kernel : loaded.samples.kernels) {
    if (kernel.is_again || cases_of(kernel) != Cases::held_out) continue;
    const Estimate<double>& own = residual_of(machine, find_operation(kernel.call)->id);
    const double measured = ratio(machine, kernel);
    ++cases;
    if (own.low <= measured && measured <= own.high) ++inside;
  }
  EXPECT_GE(cases, 200U);
  EXPECT_GE(static_cast<double>(inside), 0.9 * static_cast<double>(cases));
}

INSTANTIATE_TEST_SUITE_P(Profiles, HeldOutKernels,
                         testing::Values("epyc_turin_vm", "xeon_granite_rapids_vm",
                                         "xeon_emerald_rapids_vm", "epyc_genoa_vm"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace depthcost::profile::operation_residuals_test
