// Which of a profile's own kernels a report shows beside a scenario's calls.
#include "profile/nearest_kernels.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "profile/profile.hpp"
#include "tests/profile/synthetic.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::profile::nearest_kernels_test {
namespace {

/// A scenario on the synthetic machine whose attnres_single_pass was measured with these numbers of
/// sources.
class NearestKernels : public testing::Test {
 protected:
  std::set<Count> shown_sources(const std::set<int>& measured, int num_blocks) const {
    nlohmann::json samples = nlohmann::json::parse(test::synthetic_samples());
    nlohmann::json kernels = nlohmann::json::array();
    for (nlohmann::json kernel : samples["kernels"]) {
      if (kernel["operation"] != "attnres_single_pass") {
        kernels.push_back(kernel);
        continue;
      }
      const std::string name = kernel["name"];
      const auto end = name.find("attnres_single_pass/") + 20;
      for (const int sources : measured) {
        kernel["sources"] = sources;
        kernel["name"] =
            name.substr(0, end) + "n:" + std::to_string(sources) + "/" + name.substr(end);
        kernels.push_back(kernel);
      }
    }
    samples["kernels"] = kernels;
    folder_.written("p.samples.json", samples.dump());
    folder_.written("p.yaml", to_yaml(fit(read_samples(folder_.path("p.samples.json")))));
    const std::string path = folder_.written(
        "s.yaml",
        "schema: depthcost/1\nmodel: {num_layers: " + std::to_string(4 * num_blocks) +
            ", hidden_size: 4096, dtype: bf16}\nhardware: p.yaml\nresidual: {scheme: "
            "block_attnres, block_size: 4, schedule: single_pass}\nworkload: {prefill: {tokens: "
            "2048}}\n");
    const Scenario scenario = read_scenario(path);
    const auto shown = measured_kernels(scenario, evaluate(scenario.study));
    std::set<Count> sources;
    for (const MeasuredKernel& kernel : shown->kernels)
      if (kernel.call.operation == "attnres_single_pass")
        sources.insert(kernel.call.counts.num_sources);
    return sources;
  }

  const test::TemporaryFolder folder_;
};

/// Early layers have few sources, late ones as many as there are blocks.
TEST_F(NearestKernels, AreThoseThatReadAboutAsMuch) {
  EXPECT_EQ(shown_sources({5, 15}, 6), (std::set<Count>{5}));
  EXPECT_EQ(shown_sources({2, 5, 15}, 6), (std::set<Count>{2, 5}));
  EXPECT_EQ(shown_sources({5, 15}, 20), (std::set<Count>{5, 15}));
}

/// By the logarithm of what a call reads. The last layers of six blocks are nearer to five sources
/// than to eight, those of seven are not.
TEST_F(NearestKernels, CompareRatiosOfRows) {
  EXPECT_EQ(shown_sources({5, 8}, 6), (std::set<Count>{5}));
  EXPECT_EQ(shown_sources({5, 8}, 7), (std::set<Count>{5, 8}));
}

TEST_F(NearestKernels, StandBesideHowWellTheProfilePredicts) {
  const Profile profile =
      fit(read_samples(folder_.written("p.samples.json", test::synthetic_samples())));
  folder_.written("p.yaml", to_yaml(profile));
  const Scenario scenario =
      read_scenario(folder_.written("s.yaml",
                                    "schema: depthcost/1\nmodel: llama_3_1_8b\nhardware: p.yaml\n"
                                    "workload: {prefill: {tokens: 2048}}\n"));
  const auto shown = measured_kernels(scenario, evaluate(scenario.study));
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(shown->coverage_cases, profile.operation_coverage.cases);
  ASSERT_TRUE(shown->coverage.has_value());
  EXPECT_NEAR(shown->coverage->value, profile.operation_coverage.share.value, 1e-3);
  EXPECT_EQ(shown->coverage_warning, coverage_warning(profile.operation_coverage.share));
  EXPECT_EQ(shown->trust.size(), 2U);
}

}  // namespace
}  // namespace depthcost::profile::nearest_kernels_test
