// A GPU's benchmarks become a file of samples, and that becomes a machine of the time formula.
#include <gtest/gtest.h>

#include "microbench/results/benchmark_results.hpp"
#include "profile/measured_steps.hpp"
#include "profile/profile.hpp"
#include "profile/verify.hpp"
#include "reports/comparison/comparison_report.hpp"
#include "scenarios/measured/comparisons.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::profile::gpu_test {
namespace {

bench::Measurement measured(const std::string& name, double seconds, double bytes = 0,
                            Mix mix = {}) {
  return {.name = name, .seconds = {seconds, seconds, seconds}, .bytes = bytes, .mix = mix};
}

/// The file of scripts/measure on a machine with a GPU: it holds both backends.
bench::Results gpu_results() {
  bench::Results results{.machine = "CPU, 1 thread",
                         .device = "GPU",
                         .kernels_hash = "a",
                         .cuda_kernels_hash = "b",
                         .threads = 1,
                         .first_level_bytes = 49152,
                         .rotation_bytes = 1e9,
                         .huge_pages = "always",
                         .date = "2026-11-20",
                         .environment = {3, 3, 0}};
  std::vector<bench::Measurement> all;
  const Mix mix{2, 1, 1};
  all.push_back(measured("cuda/ceiling/r:2/w:1/in_place:1/bytes:117440512/bulk/ctas_per_sm:2",
                         3 * 117440512 / 4e12, 3.0 * 117440512, mix));
  for (const char* launch : {"stream", "graph", "graph_pdl"}) {
    all.push_back(measured(std::string("cuda/skeleton/empty/ctas:sms/") + launch, 1e-6));
    for (const char* skeleton : {"elementwise", "row_reduction", "cluster_reduction"})
      for (const char* level : {"cache", "memory"})
        all.push_back(measured(
            std::string("cuda/skeleton/") + skeleton + "/ctas:sms/" + launch + "/" + level, 2e-6));
  }
  for (double size = 32768; size <= 64e6; size *= 2)
    for (const char* temperature : {"cold", "hot"})
      all.push_back(
          measured("cuda/curve/bf16/footprint:" + std::to_string(static_cast<long>(4 * size)) +
                       "/graph/" + temperature,
                   2e-6 + 3 * size / (4 * size < 40e6 ? 8e12 : 4e12), 3 * size, mix));
  for (int width = 1024; width <= 11264; width += 512)
    all.push_back(
        measured("cuda/residual_add/bf16/T:8192/d:" + std::to_string(width) + "/graph/cold",
                 3.0 * 8192 * width * 2 / 4e12 + 2e-6, 1, mix));
  all.push_back(
      measured("cuda/residual_add_rmsnorm/bf16/T:1/d:7168/graph/cold", 5e-6, 1, {2, 2, 1}));
  all.push_back(measured("cpu/residual_add/bf16/T:2048/d:4096/cold", 1e-3, 1, mix));
  all.push_back(measured("cuda/attnres_phase2/bf16/T:8/d:7168/graph/decode:64MiB", 1e-5, 1, mix));
  all.push_back(measured("cuda/kimi_k3_forward/two_phase/bf16/T:8192/d:7168/graph/cold", 1, 1));
  for (const char* kind :
       {"standard/fused", "block_attnres/two_phase", "block_attnres/two_phase_hoisted"})
    all.push_back(measured(
        std::string("cuda/step/") + kind + "/bf16/T:8/d:7168/L:48/S:8/W:67108864/graph", 1e-3));
  all.push_back(measured("cpu/skeleton/elementwise", 1e-7));
  bench::add(results, all);
  return results;
}

class Gpu : public testing::Test {
 protected:
  void SetUp() override { folder_.written("gpu.json", bench::to_json(gpu_results())); }
  const test::TemporaryFolder folder_;
};

/// Some containers list no caches. A GPU's profile needs none.
TEST_F(Gpu, NeedsNoSizeOfTheCpusCaches) {
  bench::Results results = gpu_results();
  results.first_level_bytes = 0;
  const std::string path = folder_.written("no_l1.json", bench::to_json(results));
  EXPECT_EQ(read_samples(path).kernels.size(), 22U);
  try {
    read_samples(path, Backend::cpu);
    FAIL() << "nothing was refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(), "invalid first_level_bytes '0.0' (must be positive)");
  }
}

TEST_F(Gpu, IsReadFromTheNamesOfItsBenchmarks) {
  const Samples samples = read_samples(folder_.path("gpu.json"));
  EXPECT_TRUE(samples.is_gpu());
  EXPECT_EQ(samples.kernels_hash, "b");
  EXPECT_EQ(samples.ceilings.size(), 1U);
  EXPECT_EQ(samples.skeletons.size(), 18U);  // neither the empty ones nor the CPU's
  EXPECT_EQ(samples.kernels.size(), 22U);    // nothing beside weights, no forward pass
  EXPECT_EQ(samples.left_out(),
            "The kernels of the CPU are left out: profile fit with --cpu makes the profile that "
            "they are compared with.");
  ASSERT_EQ(samples.steps.size(), 3U);
  EXPECT_EQ(samples.steps[1].phase1, Phase1Order::in_order);
  EXPECT_EQ(samples.steps[2].schedule, Schedule::two_phase);
  EXPECT_EQ(samples.steps[2].phase1, Phase1Order::hoisted);
}

TEST_F(Gpu, HasAProfileThatHolds) {
  const Profile profile = fit(read_samples(folder_.path("gpu.json")), "h200_sxm");
  EXPECT_TRUE(profile.machine.tensor_rate.has_value());
  const std::string path = folder_.written("gpu.yaml", to_yaml(profile));
  EXPECT_EQ(verify(path), std::vector<std::string>{});
  const Device device = device_of(path);
  EXPECT_EQ(device.machine.memory_bandwidth.front().bandwidth.value.value, 4e12);
  EXPECT_EQ(device.machine.tensor_rate->value, profile.machine.tensor_rate->value);
  EXPECT_EQ(device.machine.transition.size(), profile.machine.transition.size());
}

/// Without a part the constants of small batches are fallbacks, in the fit as in the file's reader.
TEST_F(Gpu, HasAProfileWithoutAPartThatHolds) {
  const Profile profile = fit(read_samples(folder_.path("gpu.json")));
  EXPECT_TRUE(profile.machine.few_tokens.has_value());
  EXPECT_EQ(verify(folder_.written("gpu.yaml", to_yaml(profile))), std::vector<std::string>{});
}

TEST_F(Gpu, HasPhase1OnASecondBranchPredictedApart) {
  const Samples samples = read_samples(folder_.path("gpu.json"));
  const auto steps = compared_steps(fit(samples, "h200_sxm").machine, samples);
  const Table table = step_comparison_table(steps);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0][0].substr(table.rows[0][0].find(' ') + 1), "two_phase");
  EXPECT_EQ(table.rows[1][0].substr(table.rows[1][0].find(' ') + 1), "two_phase_hoisted");
  EXPECT_LT(steps[1].predicted.value, steps[0].predicted.value);
}

}  // namespace
}  // namespace depthcost::profile::gpu_test
