// summarize joins the files of the other programs, and refuses bad ones.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "tests/temporary_folder.hpp"

namespace depthcost::test::summarize_test {
namespace {

const std::string kEmpty = R"({"context": {}, "benchmarks": []})";

/// A ceiling on a device that moves nine bytes.
std::string ceiling(const std::string& device, const std::string& bytes) {
  return R"({"context": {"cuda_device": ")" + device +
         R"("}, "benchmarks": [{"run_name": "cuda/ceiling/r:5/w:4/in_place:4/bytes:9",
            "run_type": "iteration", "real_time": 1, "time_unit": "s", "label": "5 4 4",
            "bytes": )" +
         bytes + "}]}";
}

class Summarize : public testing::Test {
 protected:
  int run(const std::string& files) const {
    const int status =
        std::system(("cd " + folder_.path() + " && " DEPTHCOST_SUMMARIZE " s.json 1/1 " + files +
                     " >said 2>errors")
                        .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string errors() const { return content_of(folder_.path("errors")); }

  const TemporaryFolder folder_;
};

TEST_F(Summarize, LeavesOutAFileInWhichNothingWasMeasured) {
  folder_.written("a.json", kEmpty);
  folder_.written("b.json", ceiling("", "9"));
  EXPECT_EQ(run("a.json b.json"), 0) << errors();
  EXPECT_NE(content_of(folder_.path("s.json")).find("cuda/ceiling"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_.path("s.json.part")));
}

TEST_F(Summarize, OverwritesNothingWithBadFiles) {
  folder_.written("s.json", "kept");
  folder_.written("a.json", kEmpty);
  folder_.written("no.json", "{}");
  folder_.written("h100.json", ceiling("H100", "9"));
  folder_.written("h200.json", ceiling("H200", "9"));
  EXPECT_EQ(run("a.json"), 2);
  EXPECT_EQ(errors(), "a.json:1:1: error: nothing was measured (here, or in the other files)\n");
  EXPECT_EQ(run("none.json"), 2);
  EXPECT_EQ(errors(), "none.json:1:1: error: cannot be read\n");
  EXPECT_EQ(run("no.json"), 2);
  EXPECT_EQ(errors(), "no.json:1:1: error: invalid results (need a file of Google Benchmark's)\n");
  EXPECT_EQ(run("h100.json h200.json"), 2);
  EXPECT_EQ(errors(), "h200.json:1:1: error: from another machine or other kernels\n");
  EXPECT_EQ(content_of(folder_.path("s.json")), "kept");
}

TEST_F(Summarize, KeepsWhatItCallsTooWeak) {
  folder_.written("a.json", ceiling("NVIDIA H200", "4.1e12"));
  EXPECT_EQ(run("a.json"), 3);
  EXPECT_EQ(errors(),
            "s.json:1:1: error: too weak for a ceiling (cuda/ceiling/r:5/w:4/in_place:4/bytes:9 "
            "reaches 4.10 TB/s, a published kernel 4.22 (mHC post of TensorRT-LLM, T=131072, "
            "d=4096))\n");
  EXPECT_NE(content_of(folder_.path("s.json")), "");
}

}  // namespace
}  // namespace depthcost::test::summarize_test
