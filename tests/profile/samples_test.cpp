// Mistakes in a file of samples are reported in one line, with their place.
#include "profile/samples.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "scenarios/text/input_error.hpp"
#include "scenarios/text/input_text.hpp"
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
  EXPECT_EQ(error_with("\"threads\"", "\"treads\""),
            "s.json:1:1: error: missing key 'threads' (this record needs it)");
  EXPECT_EQ(
      error_with("\"device\": \"\",", "\"device\": \"\", \"extra\": 1,"),
      "s.json:4:16: error: unknown key 'extra' (known here: schema, machine, device, date, threads, rotation_bytes, first_level_bytes, huge_pages, disturbed_percent, throttled_percent, kernels_hash, cuda_kernels_hash, rounds, rounds_wanted, ceilings, cores, curves, skeletons, kernels, steps, others)");
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
  for (const auto& [seconds, problem] :
       {std::pair{"0", "invalid seconds '0'"}, std::pair{"-1e-3", "invalid seconds '-1e-3'"},
        std::pair{"NaN", "malformed JSON ('NaN' is no number of JSON)"},
        std::pair{"1e999", "malformed JSON (number overflow parsing '1e999')"}}) {
    std::string changed = text;
    changed.replace(at, end - at, seconds);
    EXPECT_NE(error_of(changed).find(std::string(": error: ") + problem), std::string::npos)
        << error_of(changed);
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
  EXPECT_NE(error_with("\"mix\":[2,1,1]", "\"mix\":[0,0,0]")
                .find("invalid mix (nothing is read or written)"),
            std::string::npos);
  EXPECT_NE(error_with("\"mix\":[2,1,1]", "\"mix\":[2000000,1,1]")
                .find("invalid mix '2000000' (more than 1048576)"),
            std::string::npos);
  EXPECT_EQ(error_with("\"threads\": 1", "\"threads\": 2000000"),
            "s.json:6:13: error: invalid threads '2000000' (more than 1048576)");
  EXPECT_NE(error_with("\"rounds\": ", "\"rounds\": 1000").find(" (more than 999)"),
            std::string::npos);
}

/// A row of 48 layers.
std::string step_row(const std::string& name, const std::string& block_size) {
  return R"({"name":")" + name +
         R"(","backend":"cpu","scheme":"block_attnres","schedule":"two_phase","dtype":"bf16",)"
         R"("tokens":8,"hidden_size":2304,"layers":48,"block_size":)" +
         block_size + R"(,"streams":4,"weight_bytes":8e6,"launch":"stream","seconds":[1,1,1]})";
}

TEST_F(BadSamples, MayNotBeThereTwice) {
  for (const std::string list : {"ceilings", "cores", "skeletons", "kernels", "steps"}) {
    std::string text = test::synthetic_samples();
    if (list == "steps")
      text.replace(text.find("\"steps\": [") + 10, 0, "\n  " + step_row("s", "8"));
    const auto at = text.find("\"" + list + "\": [\n") + list.size() + 6;
    const std::string row = text.substr(at, text.find("]}", at) + 2 - at) + ",\n";
    const std::string name = row.substr(11, row.find('"', 11) - 11);
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
    EXPECT_EQ(error_of(std::string(text).insert(at, row)),
              fmt::format("s.json:{}:3: error: duplicate sample '{}' (first at line {})", line + 1,
                          name, line));
    // Under another name: the variants of a ceiling differ by nothing else.
    const std::string renamed = std::string(row).insert(11, "x");
    const bool may_be = list == "ceilings";
    EXPECT_EQ(error_of(std::string(text).insert(at, renamed)),
              may_be ? "nothing"
                     : fmt::format("s.json:{}:3: error: duplicate sample '{}' (first at line {})",
                                   line + 1, name, line));
  }
}

TEST_F(BadSamples, MayNotHaveStepsOfLargerBlocksThanLayers) {
  EXPECT_EQ(error_with("\"steps\": [", "\"steps\": [" + step_row("s", "48")), "nothing");
  const std::string error = error_with("\"steps\": [", "\"steps\": [" + step_row("s", "49"));
  EXPECT_EQ(error.substr(error.find(": error")),
            ": error: invalid block_size '49' (the step has only 48 layers)");
}

TEST_F(BadSamples, MayHaveStepsOfAsManyLayersAsAreWalked) {
  const auto error_of_layers = [this](const std::string& layers) {
    std::string row = step_row("s", "8");
    row.replace(row.find("\"layers\":48"), 11, "\"layers\":" + layers);
    return error_with("\"steps\": [", "\"steps\": [" + row);
  };
  EXPECT_EQ(error_of_layers("16384"), "nothing");
  const std::string error = error_of_layers("16385");
  EXPECT_EQ(error.substr(error.find(": error")),
            ": error: invalid layers '16385' (more than 16384)");
}

TEST_F(BadSamples, MayBeLargeButNotWithoutEnd) {
  const std::string text = test::synthetic_samples();
  EXPECT_EQ(error_of(text + std::string(2'000'000, ' ')), "nothing");
  std::filesystem::resize_file(folder_.written("large.json", text), kMaxMeasuredBytes + 1);
  try {
    read_samples(folder_.path("large.json"));
    FAIL() << "nothing was refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(), "file too large (at most 64 MB)");
  }
}

TEST_F(BadSamples, OfAnUnknownOperationNameTheNearest) {
  const std::string error = error_with("\"operation\":\"mhc_post\"", "\"operation\":\"mhc_pots\"");
  EXPECT_NE(error.find("unknown operation 'mhc_pots'; did you mean 'mhc_post'?"), std::string::npos)
      << error;
}

TEST(Samples, OfTwoBackendsAreReadApart) {
  const test::TemporaryFolder folder;
  std::string text = test::synthetic_samples();
  text.replace(text.find("\"device\": \"\""), 12, "\"device\": \"GPU\"");
  const std::string path = folder.written("s.json", text);
  EXPECT_THROW(read_samples(path), InputError);
  const Samples cpu = read_samples(path, Backend::cpu);
  EXPECT_FALSE(cpu.is_gpu());
  EXPECT_EQ(cpu.kernels_hash, "synthetic");
  EXPECT_EQ(cpu.kernels.size(), 50U);
  EXPECT_EQ(cpu.left_out(), "");
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
