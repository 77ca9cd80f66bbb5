// verify finds values that were changed by hand, and predictions that a formula has changed.
#include "profile/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "profile/profile.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/marked_block.hpp"
#include "tests/profile/synthetic.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::profile::verify_test {
namespace {

const std::string kProfiles = std::string(DEPTHCOST_SOURCE_DIR) + "/scenarios/profiles/";

bool is_found(const std::string& part, const std::vector<std::string>& findings) {
  return std::any_of(findings.begin(), findings.end(), [&](const std::string& finding) {
    return finding.find(part) != std::string::npos;
  });
}

class Verify : public testing::Test {
 protected:
  void SetUp() override {
    folder_.written("s.json", test::synthetic_samples());
    text_ = to_yaml(fit(read_samples(folder_.path("s.json"))));
  }

  std::vector<std::string> findings_with(const std::string& old_text, const std::string& new_text) {
    std::string changed = text_;
    const auto at = changed.find(old_text);
    EXPECT_NE(at, std::string::npos) << old_text;
    changed.replace(at, old_text.size(), new_text);
    return verify(folder_.written("p.yaml", changed));
  }

  const test::TemporaryFolder folder_;
  std::string text_;
};

TEST_F(Verify, HoldsWhereNothingHasChanged) {
  EXPECT_EQ(verify(folder_.written("p.yaml", text_)), std::vector<std::string>{});
}

TEST_F(Verify, FindsANumberThatTheSamplesDoNotGive) {
  const auto findings = findings_with("threads: 1\n", "threads: 2\n");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].find("threads is 2, the samples give 1"), std::string::npos);
}

TEST_F(Verify, FindsThatItsErrorsWereTakenOut) {
  const std::string without = text_.substr(0, text_.find("accuracy:"));
  EXPECT_TRUE(
      is_found("accuracy[0].median is missing", verify(folder_.written("p.yaml", without))));
  EXPECT_TRUE(is_found("accuracy[0].count is 1", findings_with("cases: calibration, count: 30",
                                                               "cases: calibration, count: 1")));
}

TEST_F(Verify, FindsOtherSamples) {
  folder_.written("s.json", test::synthetic_samples({.seed = 2}));
  EXPECT_TRUE(is_found("samples.hash is ", verify(folder_.written("p.yaml", text_))));
}

TEST_F(Verify, FindsThatOtherSamplesArePredictedOtherwise) {
  folder_.written("s.json", test::synthetic_samples({.slowdown = 1.2}));
  EXPECT_TRUE(is_found("with today's formulas", verify(folder_.written("p.yaml", text_))));
}

/// Changes one number or word of the synthetic profile: `was`, which stands after `anchor`.
struct Alteration {
  std::string anchor;
  std::string was;
  std::string is;
  std::string finding;  // behind the file and its line
};

TEST_F(Verify, FindsEveryPublishedNumberThatWasAltered) {
  const std::vector<Alteration> alterations{
      {"core_form:", "passes", "max", "core_form is max, the samples give passes"},
      {"residual:", "0.992133", "0.999",
       "residual.low is 0.999, the samples give 0.992134 with today's formulas"},
      {"coverage:", "92.5 %", "92.6 %",
       "coverage.share is 92.6 %, the samples give 92.5 % with today's formulas"},
      {"coverage:", "92.5 %", "5 %",
       "coverage.share is 5 %, the samples give 92.5 % with today's formulas"},
      {"coverage:", "count: 40", "count: 41", "coverage.count is 41, the samples give 40"},
      {"form: sum", "median: 12.583 %", "median: 12.6 %",
       "form_error[1].median is 12.6 %, the samples give 12.583 % with today's formulas"},
      {"accuracy:", "worst: 0.870117 %", "worst: 0.1 %",
       "accuracy[0].worst is 0.1 %, the samples give 0.869972 % with today's formulas"},
      {"accuracy:", "median: 0.318963 %", "median: 50 %",
       "accuracy[0].median is 50 %, the samples give 0.318962 % with today's formulas"},
  };
  for (const Alteration& it : alterations) {
    std::string altered = text_;
    const auto at = altered.find(it.was, altered.find(it.anchor));
    ASSERT_NE(at, std::string::npos) << it.was;
    altered.replace(at, it.was.size(), it.is);
    const auto line = 1 + std::count(text_.data(), text_.data() + at, '\n');
    const std::string path = folder_.written("p.yaml", altered);
    EXPECT_EQ(verify(path),
              std::vector<std::string>{fmt::format("{}:{}: {}", path, line, it.finding)});
  }
}

/// Six digits of an error of 9900 % are no ten thousandth.
TEST_F(Verify, HoldsWhateverTheErrorsAre) {
  folder_.written("s.json", test::synthetic_samples({.slowdown = 100}));
  const std::string text = to_yaml(fit(read_samples(folder_.path("s.json"))));
  EXPECT_EQ(verify(folder_.written("p.yaml", text)), std::vector<std::string>{});
}

TEST_F(Verify, PredictsWithTheMachineThatIsStored) {
  const std::string was = "exposed: 20.7133 %";  // half a per cent is as good, what it predicts not
  const auto findings = findings_with(was, "exposed: 20.63 %");
  ASSERT_FALSE(findings.empty());
  for (const std::string& finding : findings)
    EXPECT_NE(finding.find("with today's formulas"), std::string::npos) << finding;
}

TEST_F(Verify, HoldsInAnotherFolderThanItsSamples) {
  std::filesystem::create_directory(folder_.path("sub"));
  const auto at = text_.find("s.json");
  text_.replace(at, 6, "../s.json");
  EXPECT_EQ(verify(folder_.written("sub/p.yaml", text_)), std::vector<std::string>{});
}

Profile with_ceilings(double near, double far) {
  return {.ceilings = {{MemoryLevel::L3, 0, {1, 1, 0}, "", {0, near, 0}},
                       {MemoryLevel::memory, 0, {1, 0, 0}, "", {0, far, 0}}}};
}

TEST(Invariants, HoldThatANearerLevelIsNotSlower) {
  EXPECT_EQ(broken_invariants(with_ceilings(20e9, 20e9)), std::vector<std::string>{});
  EXPECT_EQ(broken_invariants(with_ceilings(19.5e9, 20e9)), std::vector<std::string>{});  // noise
  EXPECT_EQ(broken_invariants(with_ceilings(19e9, 20e9)),
            std::vector<std::string>{"L3 moves 19 GB/s, memory 20: nearer is not faster"});
  EXPECT_EQ(broken_invariants(with_ceilings(0, 20e9)), std::vector<std::string>{});  // not measured
  Profile of_a_core = with_ceilings(20e9, 20e9);
  of_a_core.ceilings.push_back({MemoryLevel::L1, 0, {1, 0, 0}, "", {0, 70e9, 0}});
  EXPECT_EQ(broken_invariants(of_a_core), std::vector<std::string>{});
  of_a_core.ceilings.push_back({MemoryLevel::L2, 0, {1, 0, 0}, "", {0, 135e9, 0}});
  EXPECT_EQ(broken_invariants(of_a_core),
            std::vector<std::string>{"L1 moves 70 GB/s, L2 135: nearer is not faster"});
  Profile other_threads = with_ceilings(19e9, 20e9);
  other_threads.ceilings[1].threads = 2;
  EXPECT_EQ(broken_invariants(other_threads), std::vector<std::string>{});
}

TEST(Invariants, HoldThatAPassInL1IsNotMuchSlowerThanInL2) {
  const auto findings = [](double near, double far) {
    Profile profile;
    profile.machine.core = Core{};
    for (const auto& [level, seconds] : {std::pair{CoreLevel::L1, near}, {CoreLevel::L2, far}})
      profile.machine.core->rates.push_back(
          {Primitive::score, Dtype::bf16, level, {{seconds}, {seconds}, {seconds}}});
    return broken_invariants(profile);
  };
  EXPECT_EQ(findings(35.4e-12, 28.1e-12), std::vector<std::string>{});  // short rows
  EXPECT_EQ(findings(354e-12, 28.1e-12),
            std::vector<std::string>{
                "score of bf16 takes 354 ps an element in L1, 28.1 in L2: nearer is not faster"});
}

TEST(Invariants, HoldThatALaunchInAGraphIsNotSlower) {
  const auto with_floors = [](double stream, double graph, Level level_of_graph) {
    Profile profile;
    const auto add = [&](Launch launch, Level level, double seconds) {
      profile.machine.floors.push_back(
          {launch, level, Skeleton::elementwise, {{seconds}, {seconds}, {seconds}}});
    };
    add(Launch::stream, Level::memory, stream);
    add(Launch::graph, level_of_graph, graph);
    return broken_invariants(profile);
  };
  EXPECT_EQ(with_floors(3e-6, 2e-6, Level::memory), std::vector<std::string>{});
  EXPECT_EQ(
      with_floors(2e-6, 3e-6, Level::memory),
      std::vector<std::string>{"elementwise of memory takes 2 us in a stream, 3 in a graph: a "
                               "graph is not faster"});
  EXPECT_EQ(with_floors(2e-6, 3e-6, Level::cache), std::vector<std::string>{});  // another start
}

TEST(Invariants, HoldThatStoresReadTheirLinesFirstOrDoNot) {
  const auto findings = [](double ratio) {
    return broken_invariants(Profile{.write_allocate = ratio}).size();
  };
  for (const double ratio : {0.0, 0.91, 1.0, 1.09, 1.36, 1.5, 1.64})
    EXPECT_EQ(findings(ratio), 0U) << ratio;
  for (const double ratio : {0.5, 0.89, 1.2, 1.3, 1.7}) EXPECT_EQ(findings(ratio), 1U) << ratio;
}

/// UPDATE_GOLDEN=1 writes the synthetic profile again. The others come from machines.
TEST(ShippedProfiles, Hold) {
  const std::string samples = test::synthetic_samples();
  if (test::is_updating_golden()) {
    std::ofstream(kProfiles + "synthetic.samples.json") << samples;
    std::ofstream(kProfiles + "synthetic.yaml")
        << to_yaml(fit(read_samples(kProfiles + "synthetic.samples.json")));
  }
  EXPECT_EQ(test::file_text(kProfiles + "synthetic.samples.json"), samples);
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(kProfiles)) {
    if (file.path().extension() != ".yaml") continue;
    ++count;
    for (const std::string& finding : verify(file.path())) ADD_FAILURE() << finding;
  }
  EXPECT_GE(count, 1U);
}

}  // namespace
}  // namespace depthcost::profile::verify_test
