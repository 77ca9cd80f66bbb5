// The benchmarks that CUDA programs list, and what they report without a device.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>

#include "microbench/cuda/device_shapes.hpp"
#include "microbench/cuda/device_under_test.hpp"
#include "microbench/harness/traffic_label.hpp"

namespace depthcost::bench::programs_test {
namespace {

struct Outcome {
  std::string text;  // of stdout and stderr
  int exit_code = -1;
};

Outcome run(const std::string& arguments) {
  Outcome outcome;
  std::FILE* pipe = popen((DEPTHCOST_CUDA_BENCHMARKS " " + arguments + " 2>&1").c_str(), "r");
  std::array<char, 4096> piece{};
  while (std::fgets(piece.data(), static_cast<int>(piece.size()), pipe) != nullptr)
    outcome.text += piece.data();
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

bool lists(const Outcome& outcome, const std::string& name) {
  return outcome.text.find("\n" + name + "/iterations:") != std::string::npos;
}

TEST(CudaPrograms, ListTheShapesOfTheTargets) {
  const Outcome outcome = run("--benchmark_list_tests");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* name :
       {"attnres_single_pass/bare/bf16/T:8192/d:7168/graph/cold",
        "attnres_single_pass/bf16/T:8192/d:7168/graph/cold",
        "attnres_single_pass/closing/bf16/T:1/d:7168/graph/hot",
        "attnres_single_pass/closing/bf16/T:1/d:7168/graph_pdl/cold",
        "attnres_single_pass/multihead/bf16/T:8192/d:7168/graph/cold",
        "attnres_phase2/bf16/T:8/d:7168/graph/decode:64MiB",
        "kimi_k3_forward/single_pass/bf16/T:8192/d:7168/graph/cold",
        "kimi_k3_forward/two_phase/bf16/T:8192/d:7168/graph/cold",
        "mhc_post/bf16/T:8192/d:4096/graph/cold", "mhc_boundary/bf16/T:8192/d:4096/graph/cold",
        "residual_add_rmsnorm/bf16/T:2048/d:4096/graph/cold",
        "residual_add_rmsnorm/bf16/T:2048/d:8192/graph/cold",
        "residual_add_rmsnorm/bf16/T:2048/d:16384/graph/cold",
        "unfused_mix/bf16/T:8192/d:7168/graph/cold",
        "skeleton/cluster_reduction/ctas:sms/graph_pdl/memory", "skeleton/empty/ctas:one/stream",
        "ceiling/r:5/w:4/in_place:4/bytes:1073741824/bulk/ctas_per_sm:2",
        "ceiling/r:9/w:25/in_place:0/bytes:117440512/plain/width:16/unroll:2/"
        "one_shot",
        "memcpy"})
    EXPECT_TRUE(lists(outcome, std::string("cuda/") + name)) << name;
}

TEST(CudaPrograms, HaveACeilingForEachKernelOfItsMixAndSize) {
  const Outcome outcome = run("--benchmark_list_tests");
  each_large_case<Bf16>([&](const Shape& shape, std::string_view operation, const Operation& model,
                            auto) {
    const Mix mix = mix_of(model);
    const std::string kernel = fmt::format("cuda/{}/bf16/T:{}/d:{}/graph/cold", operation,
                                           shape.num_tokens, shape.hidden_size);
    EXPECT_TRUE(lists(outcome, kernel)) << kernel;
    const std::string ceiling =
        fmt::format("cuda/ceiling/r:{}/w:{}/in_place:{}/bytes:{}/plain/width:16/unroll:1/one_shot",
                    mix.reads, mix.writes, mix.in_place, shape.num_tokens * shape.hidden_size * 2);
    EXPECT_TRUE(lists(outcome, ceiling)) << ceiling;
  });
}

TEST(CudaPrograms, GiveEachBenchmarkANameOfItsOwn) {
  std::istringstream lines(run("--benchmark_list_tests").text);
  std::set<std::string> names;
  std::size_t num_lines = 0;
  for (std::string line; std::getline(lines, line); ++num_lines) names.insert(line);
  EXPECT_EQ(names.size(), num_lines);
  EXPECT_GT(num_lines, 1500U);
}

TEST(CudaPrograms, SaySoAndSucceedWithoutADevice) {
  if (cuda::has_device()) GTEST_SKIP() << "there is a device";
  const Outcome outcome = run("--benchmark_filter=skeleton");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.text.find("no CUDA device: benchmarks of cuda/ are skipped"),
            std::string::npos);
  EXPECT_NE(outcome.text.find("skipped: 42 runs (no CUDA device)"), std::string::npos);
}

}  // namespace
}  // namespace depthcost::bench::programs_test
