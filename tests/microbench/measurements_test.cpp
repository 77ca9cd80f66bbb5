// Files of Google Benchmark's, read back; ceilings chosen and refused.
#include "microbench/measurements.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace depthcost::bench {
namespace {

constexpr const char* kFile = R"({"context": {}, "benchmarks": [
  {"run_name": "cpu/a/iterations:3/repeats:2/manual_time", "run_type": "iteration",
   "real_time": 2000, "time_unit": "us", "bytes": 1e6, "reads": 2, "writes": 1, "in_place": 1},
  {"run_name": "cpu/b/iterations:3/repeats:2/manual_time", "run_type": "iteration",
   "real_time": 1, "time_unit": "ms"},
  {"run_name": "cpu/a/iterations:3/repeats:2/manual_time", "run_type": "iteration",
   "real_time": 4000, "time_unit": "us", "bytes": 1e6, "reads": 2, "writes": 1, "in_place": 1},
  {"run_name": "cpu/a/iterations:3/repeats:2/manual_time", "run_type": "aggregate",
   "aggregate_name": "median", "real_time": 3000, "time_unit": "us"}]})";

std::string error_of(const std::string& text) {
  try {
    read_measurements("k.json", nlohmann::json::parse(text));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

Measurement ceiling(const std::string& name, Mix mix, double bandwidth) {
  return {.name = name, .seconds = {1}, .bytes = bandwidth, .mix = mix};
}

TEST(Measurements, AreRepetitionsByName) {
  const auto read = read_measurements("k.json", nlohmann::json::parse(kFile));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].name, "cpu/a");
  EXPECT_EQ(read[0].seconds, (std::vector<double>{2e-3, 4e-3}));
  EXPECT_EQ(read[0].mix, (Mix{2, 1, 1}));
  EXPECT_DOUBLE_EQ(read[0].median(), 3e-3);
  EXPECT_DOUBLE_EQ(read[0].bandwidth(), 1e6 / 3e-3);
  EXPECT_EQ(read[1].backend(), "cpu");
  EXPECT_EQ(read[1].bytes, 0);
}

TEST(Measurements, AreRefusedWhereOneFailedOrNoneWasMade) {
  EXPECT_EQ(error_of(R"({"benchmarks": []})"), "k.json: nothing was measured");
  EXPECT_EQ(error_of(R"({"benchmarks": [{"run_name": "cpu/a", "run_type": "iteration",
                         "error_occurred": true, "error_message": "wrong result"}]})"),
            "k.json: cpu/a failed (wrong result)");
}

TEST(Ceilings, AreTheBestVariantOfTheMixOnTheBackend) {
  const Mix mix{2, 1, 1};
  const std::vector<Measurement> ceilings{ceiling("cpu/x", mix, 10), ceiling("cpu/y", mix, 20),
                                          ceiling("cpu/z", {2, 1, 0}, 30),
                                          ceiling("cuda/x", mix, 40)};
  EXPECT_EQ(ceiling_of(ceilings, "cpu", mix)->name, "cpu/y");
  EXPECT_EQ(ceiling_of(ceilings, "cuda", mix)->name, "cuda/x");
  EXPECT_EQ(ceiling_of(ceilings, "cpu", {9, 1, 0}), nullptr);
}

TEST(Ceilings, AreRefusedWhereAPublishedKernelIsFaster) {
  const std::vector<Measurement> weak{ceiling("cuda/w", {5, 4, 4}, 4.1e12),
                                      ceiling("cuda/v", {5, 4, 4}, 4.0e12)};
  EXPECT_EQ(weakness(weak, "NVIDIA H200"),
            "cuda/w reaches 4.10 TB/s, a published kernel 4.22 (mHC post of TensorRT-LLM, "
            "T=131072, d=4096)");
  EXPECT_EQ(weakness(weak, "NVIDIA H100"), std::nullopt);
  EXPECT_EQ(weakness({ceiling("cuda/s", {5, 4, 4}, 4.3e12)}, "NVIDIA H200"), std::nullopt);
  EXPECT_EQ(weakness({ceiling("cpu/s", {5, 4, 4}, 1e10)}, "NVIDIA H200"), std::nullopt);
}

}  // namespace
}  // namespace depthcost::bench
