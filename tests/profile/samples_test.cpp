// What a file of samples may not be: one line each, with its place.
#include "profile/samples.hpp"

#include <gtest/gtest.h>

#include "scenarios/input_error.hpp"
#include "tests/profile/synthetic.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::profile::samples_test {
namespace {

class BadSamples : public testing::Test {
 protected:
  /// The message for synthetic samples in which the first `old_text` is `new_text`.
  std::string error_with(const std::string& old_text, const std::string& new_text) const {
    std::string text = test::synthetic_samples();
    const auto at = text.find(old_text);
    EXPECT_NE(at, std::string::npos) << old_text;
    text.replace(at, old_text.size(), new_text);
    return error_of(text);
  }

  std::string error_of(const std::string& text) const {
    const std::string path = folder_.written("s.json", text);
    try {
      read_samples(path);
      return "nothing";
    } catch (const InputError& error) {
      const std::string line = error.what();
      return line.substr(folder_.path().size() + 1);
    }
  }

  const test::TemporaryFolder folder_;
};

TEST_F(BadSamples, AreRefusedInOneLine) {
  EXPECT_EQ(error_with("depthcost-samples/1", "depthcost-samples/2"),
            "s.json:2:12: error: invalid schema 'depthcost-samples/2' (must be "
            "depthcost-samples/1: what scripts/measure writes)");
  EXPECT_EQ(error_with("\"threads\"", "\"treads\""), "s.json:1:1: error: missing key 'threads'");
  EXPECT_EQ(error_with("\"device\": \"\",", "\"device\": \"\", \"extra\": 1,"),
            "s.json:4:16: error: unknown key 'extra'");
  EXPECT_EQ(error_with("\"threads\": 1", "\"threads\": 0"),
            "s.json:6:13: error: invalid threads '0' (must be a positive integer)");
  EXPECT_EQ(error_with("\"dtype\":\"bf16\"", "\"dtype\":\"bf61\"").substr(0, 7), "s.json:");
}

TEST_F(BadSamples, MayNotBeCutOff) {
  const std::string text = test::synthetic_samples();
  const std::string error = error_of(text.substr(0, text.size() / 2));
  EXPECT_NE(error.find(": error: "), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

TEST_F(BadSamples, MayNotTakeNoTimeOrLess) {
  const std::string text = test::synthetic_samples();
  const auto at = text.find("\"seconds\":[") + 11;
  const auto end = text.find(',', at);
  for (const char* seconds : {"0", "-1e-3", "NaN", "1e999"}) {
    std::string changed = text;
    changed.replace(at, end - at, seconds);
    EXPECT_NE(error_of(changed).find(": error: invalid seconds '"), std::string::npos) << seconds;
  }
}

TEST_F(BadSamples, MayNotBeTooFew) {
  const std::string error = error_of(test::synthetic_samples({.rounds = 2}));
  EXPECT_NE(error.find("too few samples (2 of at least 3)"), std::string::npos) << error;
}

TEST_F(BadSamples, MayNotCountWhatNobodyHas) {
  EXPECT_NE(error_with("\"tokens\":2048", "\"tokens\":1e19").find("invalid tokens '1e19'"),
            std::string::npos);
  EXPECT_NE(error_with("\"mix\":[2,1,1]", "\"mix\":[2,1,3]")
                .find("invalid mix (more in place than are read and written)"),
            std::string::npos);
}

TEST_F(BadSamples, OfAnUnknownOperationNameTheNearest) {
  const std::string error = error_with("\"operation\":\"mhc_post\"", "\"operation\":\"mhc_pots\"");
  EXPECT_NE(error.find("unknown operation 'mhc_pots'; did you mean 'mhc_post'?"), std::string::npos)
      << error;
}

TEST(Samples, KnowTheirShapes) {
  const test::TemporaryFolder folder;
  const Samples samples = read_samples(folder.written("s.json", test::synthetic_samples()));
  EXPECT_FALSE(samples.is_gpu());
  EXPECT_EQ(samples.problem(), "");
  EXPECT_EQ(samples.ceilings.size(), 40U);
  EXPECT_EQ(samples.cores.size(), 30U);
  EXPECT_EQ(samples.kernels.size(), 50U);
  EXPECT_EQ(samples.kernels.front().call.counts.num_sources, 8);
}

}  // namespace
}  // namespace depthcost::profile::samples_test
