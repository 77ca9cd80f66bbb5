// `profile merge`: exit codes, the table of nodes, and the whole text of errors.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/profile_files.hpp"

namespace depthcost::test::profile_merge_test {
namespace {

class ProfileMerge : public ProfileFiles {
 protected:
  void SetUp() override {
    ProfileFiles::SetUp();
    const std::string profile = content_of(folder_.path("synthetic.yaml"));
    for (const char* node : {"a.yaml", "b.yaml", "c.yaml", "d.yaml"})
      folder_.written(node, profile);
  }

  Outcome merge(std::vector<std::string> nodes) const {
    nodes.insert(nodes.begin(), {"profile", "merge", "-o", "fleet.yaml"});
    return run(nodes);
  }

  void expect_merge_error(const std::vector<std::string>& nodes, const std::string& line) const {
    expect_refusal(merge(nodes), line);
    EXPECT_FALSE(std::filesystem::exists(folder_.path("fleet.yaml")));
  }
};

TEST_F(ProfileMerge, MakesAProfileThatIsUsedAndVerified) {
  const Outcome merged = merge({"a.yaml", "b.yaml", "c.yaml", "d.yaml"});
  EXPECT_EQ(merged.exit_code, 0) << merged.errors;
  EXPECT_TRUE(merged.output.ends_with("Merged: 4 of 4 nodes.\n")) << merged.output;
  EXPECT_EQ(run({"profile", "verify", "fleet.yaml"}).output, "fleet.yaml: holds\n");
  EXPECT_EQ(run({"profile", "show", "fleet.yaml"}).exit_code, 0);
  EXPECT_EQ(run({"compare", "fleet.yaml"}).exit_code, 0);
  folder_.written("s.yaml",
                  "schema: depthcost/1\nmodel: {num_layers: 8, hidden_size: 4096, dtype: bf16}\n"
                  "hardware: fleet.yaml\nresidual: {scheme: mhc}\n"
                  "workload: {prefill: {tokens: 2048}}\n");
  EXPECT_EQ(run({"evaluate", "s.yaml"}).exit_code, 0);
}

TEST_F(ProfileMerge, MergesTheRestAndNamesTheMissing) {
  const Outcome merged = merge({"a.yaml", "b.yaml", "killed.yaml", "d.yaml"});
  EXPECT_EQ(merged.exit_code, 1);
  EXPECT_NE(merged.output.find("killed.yaml"), std::string::npos);
  EXPECT_NE(merged.output.find("missing: it has no profile"), std::string::npos);
  EXPECT_NE(merged.output.find("Fewer than 4 nodes: none can stand outside."), std::string::npos);
  EXPECT_TRUE(merged.output.ends_with("Merged: 3 of 4 nodes.\n")) << merged.output;
  EXPECT_EQ(run({"profile", "verify", "fleet.yaml"}).exit_code, 0);
}

TEST_F(ProfileMerge, RefusesWhatIsNoFleet) {
  expect_merge_error({"a.yaml", "killed.yaml"},
                     "profile merge:1:1: error: too few profiles (1 of at least 2: one node has no "
                     "spread)");
  expect_merge_error({"a.yaml", "b.yaml", "./a.yaml"},
                     "./a.yaml:1:1: error: this profile is given twice (a node counts once)");
  expect_merge_error(
      {"a.yaml", "synthetic.samples.json"},
      "synthetic.samples.json:2:12: error: invalid schema 'depthcost-samples/1' (must be 'depthcost-profile/1')");
  const std::string long_name = std::string(300, 'x') + ".yaml";
  expect_merge_error({"a.yaml", "c.yaml", long_name},
                     long_name + ":1:1: error: cannot read the file (file name too long)");
  std::filesystem::create_symlink("loop.yaml", folder_.path("loop.yaml"));
  expect_merge_error(
      {"a.yaml", "c.yaml", "loop.yaml"},
      "loop.yaml:1:1: error: cannot read the file (too many levels of symbolic links)");
  change("b.yaml", "name: \"Synthetic CPU, 1 thread\"", "name: \"Another CPU\"");
  expect_merge_error({"a.yaml", "b.yaml"},
                     "b.yaml:1:1: error: invalid node (name 'Another CPU', but 'Synthetic CPU, 1 "
                     "thread' in a.yaml)");
  change("c.yaml", "kernels: \"synthetic\"", "kernels: \"older\"");
  expect_merge_error({"a.yaml", "c.yaml"},
                     "c.yaml:1:1: error: invalid node (samples.kernels 'older', but 'synthetic' in "
                     "a.yaml)");
  change("d.yaml", "threads: 1\n", "threads: one\n");
  expect_merge_error({"a.yaml", "d.yaml"},
                     "d.yaml:7:10: error: invalid threads 'one' (must be a positive integer)");
}

TEST_F(ProfileMerge, RefusesWhatIsMergedAlreadyAndOtherNames) {
  ASSERT_EQ(merge({"a.yaml", "b.yaml"}).exit_code, 0);
  expect_refusal(run({"profile", "merge", "fleet.yaml", "c.yaml", "-o", "all.yaml"}),
                 "fleet.yaml:1:1: error: invalid node (it is itself merged: give the profiles of "
                 "its nodes)");
  expect_refusal(run({"profile", "merge", "a.yaml", "b.yaml", "-o", "fleet"}),
                 "--output:1:1: error: invalid value 'fleet' (must end in .yaml or .yml, by which "
                 "compare knows a profile)");
  expect_refusal(run({"profile", "merge", "a.yaml", "b.yaml", "-o", "a.yaml"}),
                 "./a.yaml:1:1: error: cannot write the file (it is read, too)");
}

}  // namespace
}  // namespace depthcost::test::profile_merge_test
