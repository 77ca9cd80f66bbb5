// A fleet's profile: what its intervals hold, and who stands outside. The rules are drawn again
// from random fleets, whose truth is known.
#include "profile/merge.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "profile/profile_file.hpp"
#include "profile/verify.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/profile/synthetic.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::profile::merge_test {
namespace {

using Random = std::mt19937_64;

double normal(Random& random) { return std::normal_distribution<double>()(random); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// How far the furthest node lies from the median, in robust standard deviations.
double furthest(std::size_t num_nodes, Random& random) {
  std::vector<double> speeds(num_nodes);
  for (double& speed : speeds) speed = normal(random);
  const double middle = median(speeds);
  for (double& speed : speeds) speed = std::abs(speed - middle);
  return *std::max_element(speeds.begin(), speeds.end()) / (1.4826 * median(speeds));
}

TEST(Cutoff, NamesANodeOfOneHealthyFleetInAHundred) {
  Random random(7);
  constexpr int kFleets = 8'000;
  for (const std::size_t n : {4U, 5U, 6U, 7U, 8U, 9U, 10U, 12U, 16U, 24U, 32U, 64U, 128U}) {
    int alarms = 0;
    for (int i = 0; i < kFleets; ++i) alarms += furthest(n, random) > cutoff(n) ? 1 : 0;
    const double share = static_cast<double>(alarms) / kFleets;
    EXPECT_LT(share, 0.0135) << n;
    EXPECT_GT(share, 0.002) << n;
  }
}

/// W. S. Gosset's table, 5 % above.
TEST(StudentQuantile, IsThatOfItsTable) {
  for (const auto& [degrees, quantile] : std::vector<std::pair<std::size_t, double>>{{1, 6.314},
                                                                                     {2, 2.920},
                                                                                     {3, 2.353},
                                                                                     {4, 2.132},
                                                                                     {5, 2.015},
                                                                                     {7, 1.895},
                                                                                     {10, 1.812},
                                                                                     {30, 1.697},
                                                                                     {120, 1.658}})
    EXPECT_NEAR(student_quantile(degrees) / quantile, 1, 0.003) << degrees;
}

Estimate<Seconds> measured(double value, double width) {
  return {{value * (1 - width)}, {value}, {value * (1 + width)}, Evidence::calibrated};
}

TEST(FleetEstimate, HoldsTheNextNodeAsOftenAsItSays) {
  Random random(11);
  constexpr int kFleets = 20'000;
  for (const int n : {2, 3, 4, 8, 32}) {
    int inside = 0;
    for (int i = 0; i < kFleets; ++i) {
      const auto speed = [&] { return std::exp(0.02 * normal(random)); };
      std::vector<Estimate<Seconds>> nodes;
      for (int node = 0; node < n; ++node) nodes.push_back(measured(speed(), 0));
      const Estimate<Seconds> fleet = fleet_estimate(nodes);
      const Seconds next{speed()};
      inside += fleet.low <= next && next <= fleet.high ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(inside) / kFleets, 0.90, 0.01) << n;
  }
}

/// The mean of ln 100 and ln 110; their standard deviation is ln 1.1 / sqrt 2, and the next of
/// three is off by sqrt 3/2 of it, 6.3138 times in one of twenty on each side.
TEST(FleetEstimate, IsTheFormula) {
  const Estimate<Seconds> exact = fleet_estimate<Seconds>({measured(100, 0), measured(110, 0)});
  const double spread = 6.313751514675 * std::log(1.1) / std::sqrt(2.0) * std::sqrt(1.5);
  EXPECT_NEAR(exact.value.value, std::sqrt(11'000.0), 1e-9);
  EXPECT_NEAR(exact.high / exact.value, std::exp(spread), 1e-9);
  EXPECT_NEAR(exact.value / exact.low, std::exp(spread), 1e-9);
  const Estimate<Seconds> vague = fleet_estimate<Seconds>({measured(100, 0.1), measured(110, 0.1)});
  EXPECT_NEAR(vague.high / vague.value, std::exp(std::hypot(spread, std::log(1.1))), 1e-9);
  EXPECT_NEAR(vague.value / vague.low, std::exp(std::hypot(spread, -std::log(0.9))), 1e-9);
}

class Merge : public testing::Test {
 protected:
  Merge() {
    folder_.written("s.json", test::synthetic_samples());
    node_ = fit(read_samples(folder_.path("s.json")));
  }

  /// Nodes whose every parameter differs by half a per cent or so, and all of a node by `own`.
  std::vector<NodeProfile> fleet(std::size_t num_nodes, double own, unsigned seed = 3) {
    Random random(seed);
    std::vector<NodeProfile> nodes;
    for (std::size_t i = 0; i < num_nodes; ++i) {
      const std::string name = fmt::format("node{}.yaml", i + 1);
      const double all = std::exp(own * normal(random));
      nodes.push_back({name, name, "", node_});
      const auto vary = [&](auto& estimate, double by) {
        const double factor = by * std::exp(0.005 * normal(random));
        estimate = factor * estimate;
      };
      for (Ceiling& c : nodes.back().profile.ceilings) vary(c.bandwidth, all);
      for (LaunchFloor& f : nodes.back().profile.machine.floors) vary(f.floor, 1 / all);
      for (CoreRate& r : nodes.back().profile.machine.core->rates) vary(r.per_element, 1 / all);
    }
    return nodes;
  }

  static void slow_memory(NodeProfile& node, double factor) {
    for (Ceiling& c : node.profile.ceilings)
      if (c.level == MemoryLevel::memory) c.bandwidth = factor * c.bandwidth;
  }

  const test::TemporaryFolder folder_;
  Profile node_;
};

TEST_F(Merge, NamesASickNodeAndLeavesItOut) {
  std::vector<NodeProfile> nodes = fleet(8, 0.002);
  const Fleet healthy = merge(nodes);
  for (const NodeFinding& finding : healthy.findings) EXPECT_EQ(finding_text(finding), "");
  slow_memory(nodes[2], 0.88);
  const Fleet sick = merge(nodes);
  EXPECT_TRUE(finding_text(sick.findings[2]).starts_with("memory 12 % slower"))
      << finding_text(sick.findings[2]);
  EXPECT_EQ(sick.findings[2].outside, std::vector<Speed>{Speed::memory});
  EXPECT_NE(sick.typical, 2U);
  EXPECT_EQ(sick.profile.nodes[2].outside, finding_text(sick.findings[2]));
  // As if it had not been there, in what it was left out of, which is everything.
  nodes.erase(nodes.begin() + 2);
  const Fleet without = merge(nodes);
  for (std::size_t i = 0; i < without.profile.ceilings.size(); ++i)
    EXPECT_EQ(sick.profile.ceilings[i].bandwidth.low, without.profile.ceilings[i].bandwidth.low);
}

TEST_F(Merge, NamesANodeThatIsFaster) {
  std::vector<NodeProfile> nodes = fleet(8, 0.002);
  slow_memory(nodes[5], 1.12);
  EXPECT_TRUE(finding_text(merge(nodes).findings[5]).starts_with("memory 12 % faster"));
}

/// Both ends are medians over the nodes, wider by what cores differ by; an operation that one node
/// alone has measured keeps its interval.
TEST_F(Merge, HasTheIntervalsOfOperations) {
  std::vector<NodeProfile> nodes = fleet(8, 0.002);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double away = 1 + 0.01 * static_cast<double>(i);
    nodes[i].profile.machine.operation_residuals = {
        {"mhc_post", {0.9 / away, 1, 1.2 * away, Evidence::calibrated}}};
  }
  nodes[0].profile.machine.operation_residuals.push_back(
      {"mhc_pre", {0.8, 1, 2, Evidence::calibrated}});
  const std::vector<OperationResidual> merged = merge(nodes).profile.machine.operation_residuals;
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].operation, "mhc_post");
  EXPECT_NEAR(merged[0].ratio.low, 0.9 / 1.035, 0.01);
  EXPECT_NEAR(merged[0].ratio.high, 1.2 * 1.035, 0.01);
  EXPECT_LE(merged[0].ratio.high, 1.3);
  EXPECT_NEAR(merged[1].ratio.high, 2, 0.01);
}

/// One healthy fleet in a hundred for each of the speeds.
TEST_F(Merge, RarelyNamesAHealthyNode) {
  int alarms = 0;
  constexpr int kFleets = 200;
  for (unsigned seed = 0; seed < kFleets; ++seed)
    for (const NodeFinding& finding : merge(fleet(6, 0.02, seed)).findings)
      alarms += finding.outside.empty() ? 0 : 1;
  EXPECT_LE(alarms, 8);
}

/// Two nodes agree by chance too often.
TEST_F(Merge, NamesNobodyAmongThree) {
  std::vector<NodeProfile> nodes = fleet(3, 0.001);
  slow_memory(nodes[0], 0.5);
  for (const NodeFinding& finding : merge(nodes).findings) EXPECT_TRUE(finding.outside.empty());
}

TEST_F(Merge, CallsNobodySickWhoDiffersLessThanANodeFromItself) {
  std::vector<NodeProfile> nodes = fleet(4, 0);
  for (NodeProfile& node : nodes) {
    node.profile = node_;
    node.profile.noise = 0.02;
  }
  slow_memory(nodes[1], 0.985);
  EXPECT_TRUE(merge(nodes).findings[1].outside.empty());
  slow_memory(nodes[1], 0.985);
  EXPECT_EQ(merge(nodes).findings[1].outside, std::vector<Speed>{Speed::memory});
}

TEST_F(Merge, MakesEveryIntervalWiderByTheSpread) {
  const Fleet narrow = merge(fleet(8, 0));
  const Fleet wide = merge(fleet(8, 0.05));
  for (std::size_t i = 0; i < node_.ceilings.size(); ++i) {
    const auto width = [&](const Profile& of) { return relative_width(of.ceilings[i].bandwidth); };
    EXPECT_GT(width(narrow.profile), width(node_));
    EXPECT_GT(width(wide.profile), width(narrow.profile) + 0.05);
  }
  // The formula takes the rates of a core as they are.
  const auto residual = [](const Fleet& fleet) { return fleet.profile.machine.residual; };
  EXPECT_GT(residual(wide).high, residual(narrow).high + 0.05);
  EXPECT_LT(residual(wide).low, residual(narrow).low - 0.05);
}

TEST_F(Merge, IsReadAgainAndVerifiedButNoNode) {
  std::vector<std::string> paths;
  for (unsigned i = 1; i <= 3; ++i) {
    folder_.written(fmt::format("s{}.json", i), test::synthetic_samples({.seed = i}));
    const Profile one = fit(read_samples(folder_.path(fmt::format("s{}.json", i))));
    paths.push_back(folder_.written(fmt::format("n{}.yaml", i), to_yaml(one)));
  }
  std::vector<NodeProfile> nodes;
  for (const std::string& path : paths) {
    nodes.push_back(read_node(path));
    nodes.back().written_as = std::filesystem::path(path).filename();
  }
  const std::string text = to_yaml(merge(nodes).profile);
  const std::string path = folder_.written("fleet.yaml", text);
  EXPECT_EQ(verify(path), std::vector<std::string>{});
  try {
    read_node(path);
    ADD_FAILURE() << "a merged profile is taken for a node";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), path +
                                ":1:1: error: invalid node (it is itself merged: give the "
                                "profiles of its nodes)");
  }
  folder_.written("n2.yaml", test::content_of(paths[1]) + "# touched\n");
  ASSERT_EQ(verify(path).size(), 1U);
  EXPECT_NE(verify(path)[0].find("nodes[1].hash is "), std::string::npos) << verify(path)[0];
}

}  // namespace
}  // namespace depthcost::profile::merge_test
