// The table of kernels/cuda/H200.md: what was asked of each kernel beside what the samples have.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "profile/kernel_sources.hpp"
#include "profile/samples.hpp"
#include "profile/statistics.hpp"
#include "tests/marked_block.hpp"

namespace depthcost::bench::h200_targets_test {
namespace {

const std::string kRoot = std::string(DEPTHCOST_SOURCE_DIR) + "/";

struct Target {
  const char* kernel;    // in the samples, without "cuda/" and "/graph/..."
  const char* state;     // of L2
  const char* asked;     // us at most
  const char* expected;  // us, before it was measured
};

// Asked: TileOps and TensorRT-LLM on H200 and H100, 89 % of 4.8 TB/s, and what
// kernels/cuda/TRIALS.md expected.
constexpr std::array kTargets{
    Target{"attnres_single_pass/bare/bf16/T:8192/d:7168", "cold", "275", "-"},
    Target{"attnres_single_pass/bf16/T:1/d:7168", "hot", "2.5, then 1.9", "2.9 to 3.9"},
    Target{"mhc_post/bf16/T:8192/d:4096", "cold", "147, then 143", "-"},
    Target{"mhc_boundary/bf16/T:8192/d:4096", "cold", "250", "-"},
    Target{"mhc_boundary/bf16/T:8192/d:7168", "cold", "-", "531"},
    Target{"mhc_pre/bf16/T:8192/d:7168", "cold", "-", "387"},
    Target{"mhc_pre/bf16/T:64/d:7168", "hot", "8.7 at d = 4096", "8.5"},
    Target{"mhc_boundary/bf16/T:64/d:7168", "hot", "12 at d = 4096", "-"},
    Target{"residual_add_rmsnorm/bf16/T:2048/d:4096", "cold", "17.9", "-"},
    Target{"residual_add_rmsnorm/bf16/T:2048/d:8192", "cold", "34.7", "-"},
    Target{"residual_add_rmsnorm/bf16/T:2048/d:16384", "cold", "69", "-"},
    Target{"attnres_phase1/bf16/T:8192/d:7168", "cold", "-", "-"},
};

/// The median over the rounds, in us.
double measured(const profile::Samples& samples, const Target& target) {
  const std::string name = fmt::format("cuda/{}/graph/{}", target.kernel, target.state);
  for (const profile::KernelSample& kernel : samples.kernels)
    if (kernel.name == name) return 1e6 * profile::quantile(kernel.seconds, 0.5);
  ADD_FAILURE() << name;
  return 0;
}

TEST(H200Targets, StandBesideWhatWasMeasured) {
  const profile::Samples samples =
      profile::read_samples(kRoot + "scenarios/profiles/h200_vm.samples.json");
  const std::string stale = profile::stale_mark(samples);
  std::string text = stale.empty() ? "\n" : "\n" + stale + "\n\n";
  text +=
      "| kernel, L2 | asked, at most, us | measured, us | expected before, us |\n"
      "| --- | ---: | ---: | ---: |\n";
  for (const Target& target : kTargets) {
    const double us = measured(samples, target);
    text += fmt::format("| `{}`, {} | {} | {:.{}f} | {} |\n", target.kernel, target.state,
                        target.asked, us, us < 10 ? 2 : (us < 100 ? 1 : 0), target.expected);
  }
  test::expect_blocks(kRoot + "kernels/cuda/H200.md", {{"targets", text + "\n"}});
}

}  // namespace
}  // namespace depthcost::bench::h200_targets_test
