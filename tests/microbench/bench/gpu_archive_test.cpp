// scripts/h200 use, from an archive to a profile and tables, and scripts/h200 plan. The archive is
// a fixture: its times obey plain laws, its device is called a fixture, and it stays in a temporary
// folder, as the copy of the project does that its tables go to.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/temporary_folder.hpp"

namespace depthcost::test::gpu_archive_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kRoot = DEPTHCOST_SOURCE_DIR "/";
constexpr const char* kDevice = "FIXTURE, no device";
constexpr double kMemory = 4e12;  // bytes per second
constexpr double kLaunch = 2e-6;  // seconds

/// A run as Google Benchmark writes it.
json run_of(const std::string& name, double seconds, double bytes = 0,
            const std::string& mix = "") {
  return {{"run_name", name + "/iterations:3/manual_time"},
          {"run_type", "iteration"},
          {"real_time", seconds * 1e6},
          {"time_unit", "us"},
          {"label", mix},
          {"bytes", bytes}};
}

/// The part `machine`: ceilings, skeletons, and curves over sizes.
json machine_runs() {
  json runs;
  for (const double size : {37748736.0, 67108864.0, 117440512.0})
    runs.push_back(run_of(fmt::format("cuda/ceiling/r:2/w:1/in_place:1/bytes:{:.0f}/bulk", size),
                          3 * size / kMemory, 3 * size, "2 1 1"));
  for (const char* launch : {"stream", "graph", "graph_pdl"}) {
    runs.push_back(run_of(fmt::format("cuda/skeleton/empty/ctas:sms/{}", launch), 1e-6));
    for (const char* skeleton : {"elementwise", "row_reduction", "cluster_reduction"})
      for (const char* level : {"cache", "memory"})
        runs.push_back(run_of(
            fmt::format("cuda/skeleton/{}/ctas:sms/{}/{}", skeleton, launch, level), kLaunch));
  }
  for (double size = 32768; size <= 64e6; size *= 2)
    for (const char* temperature : {"cold", "hot"})
      runs.push_back(run_of(
          fmt::format("cuda/curve/bf16/footprint:{:.0f}/graph/{}", 4 * size, temperature),
          kLaunch + 3 * size / (4 * size < 40e6 ? 2 * kMemory : kMemory), 3 * size, "2 1 1"));
  return runs;
}

json residual_add(int tokens, int width, const char* temperature) {
  const double bytes = 3.0 * tokens * width * 2;
  return run_of(
      fmt::format("cuda/residual_add/bf16/T:{}/d:{}/graph/{}", tokens, width, temperature),
      bytes / kMemory + kLaunch, bytes, "2 1 1");
}

/// The runs of each part of the steps `headline` and `rounds`.
std::map<std::string, json> parts() {
  std::map<std::string, json> all{{"machine", machine_runs()}};
  for (int width = 1024; width <= 11264; width += 512)
    all["large"].push_back(residual_add(8192, width, "cold"));
  for (const int tokens : {1, 64})
    for (const char* temperature : {"cold", "hot"})
      all["few"].push_back(residual_add(tokens, 7168, temperature));
  all["headline"] = json::array({residual_add(8192, 7168, "cold"), residual_add(1, 7168, "cold")});
  return all;
}

// Python cannot load a library with AddressSanitizer, and the peers' table is made by Python.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kHasPeers = false;
#else
constexpr bool kHasPeers = true;
#endif

class GpuArchive : public testing::Test {
 protected:
  /// The folders of three rounds as DIR/run leaves them, and the results of a peer.
  void SetUp() override {
    const json context{{"date", "2026-11-24T00:00:00+00:00"},
                       {"cpu_model", "FIXTURE, no processor"},
                       {"threads", "1"},
                       {"kernels_hash", "0"},
                       {"rotation_bytes", "1000000000"},
                       {"cuda_device", kDevice},
                       {"cuda_kernels_hash", DEPTHCOST_CUDA_KERNELS_HASH}};
    for (const auto& [part, runs] : parts())
      for (int round = 1; round <= 3; ++round)
        folder_.written(fmt::format("results/rounds/{}/rounds/good.{}/kernels.json", part, round),
                        json{{"context", context}, {"benchmarks", runs}}.dump());
    json peers =
        json::parse(content_of(kRoot + "microbench/peers/measured/epyc_genoa_vm.bf16.json"));
    peers["context"]["devices"][0]["kind"] = "cuda";
    peers["context"]["devices"][0]["name"] = kDevice;
    for (json& result : peers["results"]) result["device"] = "cuda";
    if (kHasPeers) folder_.written("results/peers/bf16.json", peers.dump());
    folder_.written("results/summary.txt", "headline: 1 parts done, 0 failed\n");
    // Where the tables and the profile go.
    for (const char* part : {"scenarios/profiles", "microbench/peers/measured"}) {
      fs::create_directories(folder_.path("tree/" + std::string(part)));
      fs::copy(kRoot + part, folder_.path("tree/" + std::string(part)));
    }
    fs::create_directories(folder_.path("tree/kernels"));
    fs::copy(kRoot + "kernels/README.md", folder_.path("tree/kernels/README.md"));
  }

  int shell(const std::string& command) const {
    const int status = std::system(("cd " + folder_.path() + " && " + command + " >" +
                                    folder_.path("said") + " 2>" + folder_.path("errors"))
                                       .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int use(const std::string& archive, const std::string& options) const {
    return shell(kRoot + "scripts/h200 use " + archive + " fixture " + options);
  }
  std::string said() const { return content_of(folder_.path("said")); }
  std::string errors() const { return content_of(folder_.path("errors")); }

  const TemporaryFolder folder_;
};

TEST_F(GpuArchive, BecomesAProfileAComparisonAndTables) {
  ASSERT_EQ(shell("tar -czf results.tar.gz results"), 0);
  ASSERT_EQ(use("results.tar.gz", "--part h200_sxm --tree tree --build " DEPTHCOST_BUILD_DIR), 0)
      << said() << errors();
  const std::string tree = folder_.path("tree/");
  EXPECT_NE(said().find("headline: 1 parts done, 0 failed\n"), std::string::npos);
  EXPECT_NE(said().find("-> " + tree + "scenarios/profiles/fixture.yaml"), std::string::npos);
  const std::string profile = content_of(tree + "scenarios/profiles/fixture.yaml");
  EXPECT_NE(profile.find(kDevice), std::string::npos);
  EXPECT_NE(profile.find("\npart: \"h200_sxm\"\n"), std::string::npos);
  const json samples = json::parse(content_of(tree + "scenarios/profiles/fixture.samples.json"));
  EXPECT_EQ(samples.at("rounds"), 3);
  EXPECT_EQ(samples.at("rounds_wanted"), 3);
  for (const json& kernel : samples.at("kernels")) {
    const std::string name = kernel.at("name");
    const bool is_headline = name.find("T:8192/d:7168/") != std::string::npos ||
                             name.find("T:1/d:7168/graph/cold") != std::string::npos;
    EXPECT_EQ(kernel.at("seconds").size(), is_headline ? 6U : 3U) << name;
  }
  const std::string readme = content_of(tree + "kernels/README.md");
  const auto begin = readme.find("<!-- begin measured fixture -->");
  ASSERT_NE(begin, std::string::npos);
  const std::string table = readme.substr(begin, readme.find("<!-- end", begin) - begin);
  EXPECT_NE(table.find(std::string(kDevice) + "; kernels " DEPTHCOST_CUDA_KERNELS_HASH ".\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("| `residual_add` | "), std::string::npos) << table;
  EXPECT_NE(table.find(" us"), std::string::npos) << table;
  // The tables of other machines stay.
  EXPECT_NE(readme.find("<!-- begin measured epyc_genoa_vm -->\n\nAMD EPYC"), std::string::npos);
  EXPECT_NE(errors().find("skipped: peers in f32 (the archive has no results)\n"),
            std::string::npos);
  if (!kHasPeers) return;
  EXPECT_NE(readme.find("<!-- begin peers fixture -->\n\n" + std::string(kDevice)),
            std::string::npos)
      << readme.substr(readme.find("<!-- begin peers fixture -->"), 300);
}

TEST_F(GpuArchive, WritesNothingForAPartThatIsNone) {
  ASSERT_EQ(shell("tar -czf results.tar.gz results"), 0);
  EXPECT_EQ(use("results.tar.gz", "--part"), 2);
  EXPECT_EQ(errors(), "--part:1:1: error: missing value (a hardware preset)\n");
  EXPECT_EQ(use("results.tar.gz", "--part h200_sxn --tree tree --build " DEPTHCOST_BUILD_DIR), 2);
  EXPECT_NE(errors().find("--part:1:1: error: unknown part 'h200_sxn'; did you mean 'h200_sxm'?\n"),
            std::string::npos)
      << errors();
  EXPECT_FALSE(fs::exists(folder_.path("tree/scenarios/profiles/fixture.yaml")));
  EXPECT_FALSE(fs::exists(folder_.path("tree/scenarios/profiles/fixture.samples.json")));
}

TEST_F(GpuArchive, WritesNothingWithoutRounds) {
  fs::remove_all(folder_.path("results/rounds"));
  ASSERT_EQ(shell("tar -czf results.tar.gz results"), 0);
  EXPECT_EQ(use("results.tar.gz", "--tree tree --build " DEPTHCOST_BUILD_DIR), 2);
  EXPECT_EQ(errors(),
            "results.tar.gz:1:1: error: no round of benchmarks in it (the steps headline and "
            "rounds make them)\n");
  EXPECT_FALSE(fs::exists(folder_.path("tree/scenarios/profiles/fixture.yaml")));
  EXPECT_EQ(use("results.tar.gz", "--tree none"), 2);
  EXPECT_EQ(errors(), "none:1:1: error: no folder\n");
}

}  // namespace
}  // namespace depthcost::test::gpu_archive_test
