// The tables of kernels/README.md are those of the files that are committed beside it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "microbench/measured_table.hpp"
#include "microbench/program.hpp"
#include "tests/marked_block.hpp"

namespace depthcost::bench {
namespace {

const std::string kKernels = std::string(DEPTHCOST_SOURCE_DIR) + "/kernels/";

TEST(KernelsReadme, ShowsWhatWasMeasured) {
  std::map<std::string, std::string> blocks;
  for (const auto& file : std::filesystem::directory_iterator(kKernels + "measurements")) {
    const Results results = results_of(nlohmann::json::parse(test::file_text(file.path())));
    ASSERT_EQ(weakness(results), std::nullopt) << file.path();
    const std::string backend = results.device.empty() ? "cpu" : "cuda";
    blocks["measured " + file.path().stem().string()] =
        "\n" + measured_table(results, backend, kernels_hash()) + "\n";
  }
  ASSERT_FALSE(blocks.empty());
  test::expect_blocks(kKernels + "README.md", blocks);
}

}  // namespace
}  // namespace depthcost::bench
