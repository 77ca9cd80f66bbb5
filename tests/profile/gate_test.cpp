// The comparison of measurements with a profile: the same machine must pass, a slower kernel must
// not, and a formula that forgets write-allocate must be noticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "profile/compare.hpp"
#include "profile/profile.hpp"
#include "profile/profile_file.hpp"
#include "scenarios/device/constants.hpp"
#include "tests/profile/synthetic.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::profile::gate_test {
namespace {

constexpr double kTolerance = 0.05;

class Gate : public testing::Test {
 protected:
  Samples samples(const test::SyntheticRun& run) const {
    return read_samples(folder_.written("s.json", test::synthetic_samples(run)));
  }

  /// Compares `run` with the machine of `profile`.
  std::vector<ComparedCase> judged(const Machine& machine, const test::SyntheticRun& run) const {
    const ToleranceRule rule{.match = "*",
                             .tolerance = {.relative = kTolerance},
                             .blocks = true,
                             .reason = "a promise",
                             .file = "rules.yaml",
                             .line = 1};
    return kernel_cases(samples(run), {"synthetic", machine, {}}, {rule});
  }

  static std::size_t count_blocked(const std::vector<ComparedCase>& cases) {
    return static_cast<std::size_t>(std::count_if(
        cases.begin(), cases.end(), [](const ComparedCase& c) { return c.is_blocked(); }));
  }

  Machine machine() const { return fit(samples({})).machine; }

  const test::TemporaryFolder folder_;
};

TEST_F(Gate, PassesTheSameMachineAgain) {
  const Machine known = machine();
  std::size_t cases = 0;
  std::size_t blocked = 0;
  for (unsigned seed = 2; cases < 200; ++seed) {
    const auto again = judged(known, {.seed = seed});
    cases += again.size();
    blocked += count_blocked(again);
  }
  EXPECT_LE(static_cast<double>(blocked), 0.01 * static_cast<double>(cases));
}

TEST_F(Gate, PointsAtTheSamples) {
  const auto cases = judged(machine(), {});
  EXPECT_EQ(cases.front().file, folder_.path("s.json"));
  EXPECT_EQ(cases.front().line, 1);
}

TEST_F(Gate, FailsEveryKernelThatIsHalfAsSlowAgain) {
  const auto cases = judged(machine(), {.slowdown = 1.5, .seed = 2});
  EXPECT_EQ(count_blocked(cases), cases.size());
}

TEST_F(Gate, LetsThreeTenthsOfTheTolerancePass) {
  EXPECT_EQ(count_blocked(judged(machine(), {.slowdown = 1 + 0.3 * kTolerance, .seed = 2})), 0U);
}

TEST_F(Gate, FindsAFormulaWithoutWriteAllocate) {
  Machine naive = machine();
  // Every byte at the rate at which lines are read, as STREAM counts.
  naive.exact_bandwidth.clear();
  naive.memory_bandwidth = {naive.memory_bandwidth.back()};
  naive.memory_ceiling = naive.memory_bandwidth.back().bandwidth.value;
  std::size_t impossible = 0;
  for (const ComparedCase& c : judged(naive, {.seed = 2}))
    impossible += c.comparison.agreement == Agreement::impossible ? 1 : 0;
  EXPECT_GT(impossible, 0U);
}

/// The samples of a shipped profile against its machine, by its own rules.
class ShippedSamples : public testing::TestWithParam<const char*> {
 protected:
  ShippedSamples()
      : path_(std::string(DEPTHCOST_SOURCE_DIR) + "/scenarios/profiles/" + GetParam() + ".yaml") {}

  /// As if every prediction were `factor` times as long.
  std::vector<ComparedCase> judged(double factor) const {
    Samples scaled = samples_of(path_);
    const auto rules = rules_of(scaled);
    for (KernelSample& kernel : scaled.kernels)
      for (double& seconds : kernel.seconds) seconds /= factor;
    return kernel_cases(
        scaled, device_of(resolve_device(path_, "PROFILE"), GetParam(), shipped_constants()),
        rules);
  }

  /// The rules that are broken. A measurement that is scaled below its bound is far off, too: the
  /// bound of a longer prediction would stay.
  std::set<int> broken(double factor) const {
    std::set<int> lines;
    for (const ComparedCase& it : judged(factor))
      if (it.rule.blocks && is_broken(it.comparison)) lines.insert(it.rule.line);
    return lines;
  }

  static bool is_broken(const Comparison& it) {
    return it.agreement == Agreement::fail || (it.agreement == Agreement::impossible &&
                                               std::abs(it.error) > it.tolerance && !it.is_inside);
  }

  const std::string path_;
};

TEST_P(ShippedSamples, KeepWhatIsPromised) {
  std::size_t held = 0;
  for (const ComparedCase& it : judged(1)) {
    EXPECT_FALSE(it.is_blocked()) << it.id << " " << it.comparison.error;
    if (!it.rule.blocks) continue;
    EXPECT_EQ(it.comparison.agreement, Agreement::pass) << it.id << " " << it.comparison.error;
    ++held;
  }
  const bool is_gpu = load_profile(path_).profile.is_gpu;
  EXPECT_GE(held, is_gpu ? 20U : 150U);
}

// Each promise is broken by a prediction that is wrong by three tenths: one way or the other, since
// its operation may be predicted too long now, and be the better for a shorter time.
TEST_P(ShippedSamples, CatchAPredictionThatIsWorse) {
  std::set<int> caught = broken(1.3);
  EXPECT_FALSE(caught.empty());
  const std::set<int> shorter = broken(1 / 1.3);
  // An interval that holds kernels of many times the prediction holds all that are slower.
  const bool is_open = load_profile(path_).profile.machine.residual.high > 2;
  EXPECT_EQ(shorter.empty(), is_open);
  caught.insert(shorter.begin(), shorter.end());
  for (const ComparedCase& it : judged(1))
    EXPECT_TRUE(!it.rule.blocks || caught.contains(it.rule.line)) << it.rule.match;
}

INSTANTIATE_TEST_SUITE_P(Profiles, ShippedSamples,
                         testing::Values("epyc_turin_vm", "xeon_granite_rapids_vm",
                                         "xeon_emerald_rapids_vm", "epyc_genoa_vm", "h200_vm"),
                         [](const auto& row) { return std::string(row.param); });

// Another machine keeps what it can.
TEST_F(Gate, PromisesNothingOfAUsersOwnSamples) {
  for (const ToleranceRule& rule : rules_of(samples({}))) {
    EXPECT_EQ(rule.file, "scenarios/tolerances/samples.yaml");
    EXPECT_FALSE(rule.blocks);
  }
}

}  // namespace
}  // namespace depthcost::profile::gate_test
