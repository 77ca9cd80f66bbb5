// The gate that needs no hardware: what was changed by hand or by a formula is found.
#include "profile/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "profile/profile.hpp"
#include "scenarios/input_error.hpp"
#include "tests/marked_block.hpp"
#include "tests/profile/synthetic.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::profile {
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

TEST_F(Verify, FindsPredictionsThatHaveBecomeWorse) {
  const auto at = text_.find("median: ", text_.find("accuracy:"));
  const auto end = text_.find(" %", at);
  const auto findings = findings_with(text_.substr(at, end - at), "median: 0.0001");
  EXPECT_TRUE(findings.empty()) << findings[0];  // half a per cent is as good
  folder_.written("s.json", test::synthetic_samples({.slowdown = 1.2}));
  EXPECT_TRUE(is_found("with today's formulas", verify(folder_.written("p.yaml", text_))));
}

/// UPDATE_GOLDEN=1 writes the synthetic one again; the others come from machines.
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
}  // namespace depthcost::profile
