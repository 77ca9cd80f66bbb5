// The comparison of measurements with a profile: the same machine must pass, a slower kernel must
// not, and a formula that forgets write-allocate must be noticed.
#include <gtest/gtest.h>

#include "profile/compare.hpp"
#include "profile/profile.hpp"
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

}  // namespace
}  // namespace depthcost::profile::gate_test
