// Reading the files of Google Benchmark, and choosing or refusing ceilings.
#include "microbench/results/benchmark_results.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/microbench/results/measured_table.hpp"

namespace depthcost::bench::measurements_test {
namespace {

constexpr const char* kFile = R"({"context": {}, "benchmarks": [
  {"run_name": "cpu/a/iterations:3/repeats:2/manual_time", "run_type": "iteration",
   "real_time": 2000, "time_unit": "us", "bytes": 1e6, "label": "2 1 1"},
  {"run_name": "cpu/b/iterations:3/repeats:2/manual_time", "run_type": "iteration",
   "real_time": 1, "time_unit": "ms"},
  {"run_name": "cpu/a/iterations:3/repeats:2/manual_time", "run_type": "iteration",
   "real_time": 4000, "time_unit": "us", "bytes": 1e6, "label": "2 1 1"},
  {"run_name": "cpu/a/iterations:3/repeats:2/manual_time", "run_type": "aggregate",
   "aggregate_name": "median", "real_time": 3000, "time_unit": "us"}]})";

Measurement ceiling(const std::string& name, Mix mix, double bandwidth) {
  return {.name = name, .seconds = {1}, .bytes = bandwidth, .mix = mix};
}

TEST(Measurements, AreRepetitionsByName) {
  const auto read = read_measurements(nlohmann::json::parse(kFile));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].name, "cpu/a");
  EXPECT_EQ(read[0].seconds, (std::vector<double>{2e-3, 4e-3}));
  EXPECT_EQ(read[0].mix, (Mix{2, 1, 1}));
  EXPECT_DOUBLE_EQ(read[0].median(), 3e-3);
  EXPECT_DOUBLE_EQ(read[0].bandwidth(), 1e6 / 3e-3);
  EXPECT_EQ(read[1].backend(), "cpu");
  EXPECT_EQ(read[1].bytes, 0);
}

TEST(Measurements, LeaveOutWhatWasSkipped) {
  auto json = nlohmann::json::parse(kFile);
  json.at("benchmarks")
      .push_back({{"run_name", "cuda/a"},
                  {"run_type", "iteration"},
                  {"error_occurred", true},
                  {"error_message", "no CUDA device"}});
  EXPECT_EQ(read_measurements(json).size(), 2U);
  EXPECT_EQ(failures_in(json), std::vector<std::string>{});
}

TEST(Measurements, AreInvalidWhereChainsAreNotLinear) {
  auto json = nlohmann::json::parse(kFile);
  EXPECT_TRUE(read_measurements(json)[0].is_valid());
  for (auto& run : json.at("benchmarks")) run["deviation"] = 0.03;
  EXPECT_FALSE(read_measurements(json)[0].is_valid());
}

TEST(Measurements, OfSeveralFilesAreOneAndJudgedTogether) {
  auto json = nlohmann::json::parse(kFile);
  Results results;
  add(results, read_measurements(json));
  for (auto& run : json.at("benchmarks")) run["deviation"] = 0.03;
  for (int round = 0; round < 2; ++round) add(results, read_measurements(json));
  ASSERT_EQ(results.others.size(), 2U);
  EXPECT_EQ(results.others[0].seconds, (std::vector<double>{2e-3, 4e-3, 2e-3, 4e-3, 2e-3, 4e-3}));
  EXPECT_EQ(results.others[0].deviation(), 0.03);
  EXPECT_FALSE(results.others[0].is_valid());
}

TEST(Measurements, OfAFileWhereEverythingFailedAreNone) {
  EXPECT_TRUE(read_measurements(nlohmann::json::parse(R"({"benchmarks": [
                  {"run_name": "cpu/a", "run_type": "iteration",
                   "error_occurred": true, "error_message": "wrong result"}]})"))
                  .empty());
}

TEST(Measurements, LeaveOutWhatFailedAndSayIt) {
  auto json = nlohmann::json::parse(kFile);
  EXPECT_EQ(failures_in(json), std::vector<std::string>{});
  json.at("benchmarks")
      .push_back({{"run_name", "cpu/b/iterations:3"},
                  {"run_type", "iteration"},
                  {"error_occurred", true},
                  {"error_message", "wrong result"}});
  EXPECT_EQ(read_measurements(json).size(), 2U);
  EXPECT_EQ(failures_in(json), std::vector<std::string>{"cpu/b failed (wrong result)"});
}

TEST(Ceilings, AreTheBestVariantOfTheMixOnTheBackend) {
  const Mix mix{2, 1, 1};
  const std::vector<Measurement> ceilings{ceiling("cpu/x", mix, 10), ceiling("cpu/y", mix, 20),
                                          ceiling("cpu/z", {2, 1, 0}, 30),
                                          ceiling("cuda/x", mix, 40)};
  EXPECT_EQ(ceiling_of(ceilings, ceiling("cpu/a", mix, 20))->name, "cpu/y");
  EXPECT_EQ(ceiling_of(ceilings, ceiling("cuda/a", mix, 20))->name, "cuda/x");
  EXPECT_EQ(ceiling_of(ceilings, ceiling("cpu/a", {9, 1, 0}, 20)), nullptr);
}

TEST(Ceilings, OfFewerStreamsInTheSameProportionsCount) {
  const std::vector<Measurement> ceilings{
      ceiling("cpu/copy", {1, 1, 0}, 40), ceiling("cpu/copies", {9, 9, 0}, 30),
      ceiling("cpu/updates", {1, 1, 1}, 50), ceiling("cpu/triad", {2, 1, 0}, 60)};
  EXPECT_EQ(ceiling_of(ceilings, ceiling("cpu/a", {9, 9, 0}, 20))->name, "cpu/copy");
  EXPECT_EQ(ceiling_of(ceilings, ceiling("cpu/a", {8, 4, 0}, 20))->name, "cpu/triad");
  const std::vector<Measurement> slow{ceiling("cpu/copy", {1, 1, 0}, 20), ceilings[1]};
  EXPECT_EQ(ceiling_of(slow, ceiling("cpu/a", {1, 1, 0}, 20))->name, "cpu/copy")
      << "one stream is not several";
  const std::vector<Measurement> writes{ceiling("cpu/writes", {0, 65536, 0}, 40)};
  EXPECT_EQ(ceiling_of(writes, ceiling("cpu/a", {65536, 0, 0}, 20)), nullptr) << "2^32 is not 0";
}

TEST(Ceilings, AreOfTheSizeNearestToTheKernel) {
  const Mix mix{5, 4, 4};
  const auto of_size = [&](const std::string& name, double bytes, double seconds) {
    return Measurement{.name = name, .seconds = {seconds}, .bytes = bytes, .mix = mix};
  };
  const std::vector<Measurement> ceilings{of_size("cuda/small", 1e8, 3e-5),
                                          of_size("cuda/small/best", 1e8, 2.6e-5),
                                          of_size("cuda/large", 1e9, 2.4e-4)};
  EXPECT_EQ(ceiling_of(ceilings, of_size("cuda/a", 1.01e8, 1))->name, "cuda/small/best");
  EXPECT_EQ(ceiling_of(ceilings, of_size("cuda/a", 7e8, 1))->name, "cuda/large");
}

TEST(Ceilings, AreRefusedWhereAPublishedKernelIsFaster) {
  const std::vector<Measurement> weak{ceiling("cuda/w", {5, 4, 4}, 4.1e12),
                                      ceiling("cuda/v", {5, 4, 4}, 4.0e12)};
  const auto weakness_on = [](const std::string& device, std::vector<Measurement> ceilings) {
    Results results;
    results.device = device;
    results.ceilings = std::move(ceilings);
    return weakness(results);
  };
  EXPECT_EQ(weakness_on("NVIDIA H200", weak),
            "cuda/w reaches 4.10 TB/s, a published kernel 4.22 (mHC post of TensorRT-LLM, "
            "T=131072, d=4096)");
  EXPECT_EQ(weakness_on("NVIDIA H100", weak), std::nullopt);
  EXPECT_EQ(weakness_on("NVIDIA H200", {ceiling("cuda/s", {5, 4, 4}, 4.3e12)}), std::nullopt);
  EXPECT_EQ(weakness_on("NVIDIA H200", {ceiling("cpu/s", {5, 4, 4}, 1e10)}), std::nullopt);
}

Measurement kernel(const std::string& name, const Mix& mix, double bytes, double seconds) {
  return {.name = name, .seconds = {seconds}, .bytes = bytes, .mix = mix};
}

Results some_results() {
  const Mix mix{2, 1, 1};
  return {.machine = "CPU, 2 threads",
          .device = "",
          .kernels_hash = "abc",
          .ceilings = {ceiling("cpu/ceiling/r:2/w:1/in_place:1/memory/by_row/cached", mix, 20e9)},
          .skeletons = {ceiling("cpu/skeleton/elementwise", {}, 0)},
          .kernels = {kernel("cpu/add/bf16/T:9000/d:8/cold", mix, 18e9, 1),
                      kernel("cpu/add/bf16/T:4000/d:16/cold", mix, 19e9, 1),
                      kernel("cpu/add/f32/T:9000/d:8/cold", mix, 19e9, 1),
                      kernel("cpu/add/bf16/T:1/d:8/cold", mix, 16, 3e-6),
                      kernel("cpu/add/bf16/T:1/d:8/hot", mix, 16, 2e-6),
                      kernel("cpu/mix/bare/f32/T:9000/d:8/cold", {9, 1, 0}, 5e9, 1)}};
}

/// A kernel that was paired with its ceiling in three rounds.
Results paired_results(const std::vector<double>& of_ceiling) {
  Results results = some_results();
  Measurement& add = results.kernels[0];
  add.seconds = {1, 1, 1};
  add.of_ceiling = of_ceiling;
  return results;
}

TEST(Results, ReadBackWhatWasWritten) {
  const Results results = some_results();
  const std::string json = to_json(results);
  EXPECT_EQ(to_json(results_of(nlohmann::json::parse(json))), json);
  EXPECT_THROW(results_of(nlohmann::json::parse(R"({"schema": "other"})")), std::runtime_error);
}

TEST(Results, TakeTheShareOfPairsBeforeThatOfSeparateRuns) {
  EXPECT_DOUBLE_EQ(*fraction_of_ceiling(paired_results({0.5, 0.9, 0.7}),
                                        paired_results({0.5, 0.9, 0.7}).kernels[0]),
                   0.7);
}

TEST(Results, CountTheSamplesThatWereDisturbedAllTheSame) {
  Results results = some_results();
  EXPECT_EQ(disturbed_percent(results), 0);
  results.kernels[0].disturbed = {0, 1.0 / 3};
  results.cores = {{.name = "cpu/core/add", .seconds = {1}, .disturbed = {0}}};
  EXPECT_NEAR(disturbed_percent(results), 100.0 / 9, 1e-9);
}

TEST(Results, KnowWhatRanWithALowClock) {
  Results results = some_results();
  EXPECT_EQ(throttled_percent(results), 0);
  results.kernels[0].clocks_mhz = {1980, 1980, 1980, 1700};
  EXPECT_EQ(throttled_percent(results), 25);
}

TEST(Results, HaveFractionsWhereOperandsComeFromMemory) {
  const Results results = some_results();
  EXPECT_DOUBLE_EQ(*fraction_of_ceiling(results, results.kernels[0]), 0.9);
  EXPECT_EQ(fraction_of_ceiling(results, results.kernels[3]), std::nullopt);  // too few bytes
  EXPECT_EQ(fraction_of_ceiling(results, results.kernels[5]), std::nullopt);  // no such ceiling
}

TEST(MeasuredTable, TakesGraphsOfAGpuAndItsOwnHash) {
  const Mix mix{2, 1, 1};
  Results results;
  results.machine = "CPU, 2 threads";
  results.device = "NVIDIA H200";
  results.cuda_kernels_hash = "abc";
  results.kernels = {kernel("cuda/add/bf16/T:8192/d:16/graph/cold", mix, 4e9, 1),
                     kernel("cuda/add/bf16/T:1/d:16/graph/cold", mix, 16, 3e-6),
                     kernel("cuda/add/bf16/T:1/d:16/graph_pdl/cold", mix, 16, 2e-6),
                     kernel("cuda/add/bf16/T:1/d:16/graph/hot", mix, 16, 2e-6),
                     kernel("cuda/add/bf16/T:8/d:16/graph/cold", mix, 16, 3e-6),
                     kernel("cuda/add/bf16/T:64/d:16/graph/hot", mix, 16, 2e-6)};
  const std::string table = measured_table(results, "cuda", "abc");
  EXPECT_NE(table.find("NVIDIA H200; kernels abc.\n"), std::string::npos);
  EXPECT_NE(table.find("| `add` | 4.0 GB/s |  | 3 / 2 us | - / 2 us |\n"), std::string::npos)
      << table;
}

TEST(MeasuredTable, HasTheSharesOfPairsAndTheirInterval) {
  EXPECT_NE(measured_table(paired_results({0.80, 0.84, 0.82}), "cpu", "abc")
                .find("18.0 to 19.0 GB/s, 82 to 95 % ± 2; loop 2 % |"),
            std::string::npos);
  EXPECT_NE(measured_table(paired_results({0.60, 1.0, 0.82}), "cpu", "abc")
                .find("18.0 to 19.0 GB/s, 82 to 95 % ± 20, unsteady; loop 2 % |"),
            std::string::npos);
}

TEST(MeasuredTable, HasTheCoresShareWhereItIsKnown) {
  const Results results = some_results();
  const CoreSeconds core{{"cpu/add/bf16/T:9000/d:8/cold", 0.25},
                         {"cpu/add/bf16/T:4000/d:16/cold", 0.30}};
  EXPECT_NE(
      measured_table(results, "cpu", "abc", core)
          .find("18.0 to 19.0 GB/s, 90 to 95 %; core 25 to 30 %; loop 2 % | 19.0 GB/s, 95 % |"),
      std::string::npos);
}

/// What a token takes in caches, over what it takes from memory: of the batch that is best at it.
TEST(MeasuredTable, HasTheShareOfTheKernelsOwnLoop) {
  const Mix mix{2, 1, 1};
  Results results;
  results.machine = "CPU, 1 thread";
  results.kernels = {kernel("cpu/add/bf16/T:1000/d:16/cold", mix, 1e6, 1e-3),
                     kernel("cpu/add/bf16/T:1000/d:8/cold", mix, 1e6, 1e-3),
                     kernel("cpu/add/bf16/T:1/d:16/hot", mix, 16, 0.9e-6),
                     kernel("cpu/add/bf16/T:64/d:16/hot", mix, 16, 64 * 0.8e-6),
                     kernel("cpu/add/f32/T:1000/d:16/cold", mix, 1e6, 1e-3)};
  EXPECT_NE(measured_table(results, "cpu", "abc").find("| 1.0 GB/s; loop 80 % | 1.0 GB/s | "),
            std::string::npos)
      << measured_table(results, "cpu", "abc");
}

TEST(MeasuredTable, MarksTimesThatVary) {
  Results results = some_results();
  results.kernels[3].seconds = {3e-6, 2.4e-6, 3.6e-6};
  EXPECT_NE(measured_table(results, "cpu", "abc").find("| 3 / 2 us ± 20 %, unsteady |"),
            std::string::npos);
}

TEST(MeasuredTable, HasARowForEachOperation) {
  const std::string head =
      "| operation | bf16 from memory, of ceiling | f32 from memory, of ceiling | T = 1, cold / hot "
      "| T = 64, cold / hot |\n| --- | --- | --- | --- | --- |\n"
      "| `add` | 18.0 to 19.0 GB/s, 90 to 95 %; loop 2 % | 19.0 GB/s, 95 % | 3 / 2 us |  |\n"
      "| `mix/bare` |  | 5.0 GB/s |  |  |\n";
  EXPECT_EQ(measured_table(some_results(), "cpu", "abc"),
            "CPU, 2 threads; kernels abc.\n\n" + head);
  EXPECT_EQ(measured_table(some_results(), "cpu", "abd"),
            "CPU, 2 threads; kernels abc, **stale: the sources have changed since**.\n\n" + head);
}

}  // namespace
}  // namespace depthcost::bench::measurements_test
