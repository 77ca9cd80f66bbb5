// Mistakes in files that a scenario refers to.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "scenarios/read/scenario.hpp"
#include "tests/long_text.hpp"
#include "tests/scenarios/read/bad_input.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::bad_references_test {
namespace {

using namespace test;

class BadReferences : public testing::Test {
 protected:
  /// The message about a scenario "it.yaml" beside the files, with "IN" for their folder.
  std::string error_about(const std::string& body) const {
    const std::string file = folder_.written("it.yaml", kStart + body);
    std::string error = error_of([&] { read_scenario(file); });
    const std::string prefix = folder_.path() + "/";
    for (auto at = error.find(prefix); at != std::string::npos; at = error.find(prefix))
      error.replace(at, prefix.size(), "IN/");
    return error;
  }

  void write_model(const std::string& name, const std::string& body) const {
    folder_.written(name, "schema: depthcost-model/1\n" + body);
  }

  const test::TemporaryFolder folder_;
};

TEST_F(BadReferences, AreReportedInTheFileThatIsWrong) {
  write_model("m.yaml", "num_layers: 8\nhidden_size: 8 kB\ndtype: bf16\n");
  EXPECT_EQ(error_about("model: m.yaml\n"),
            "IN/m.yaml:3:14: error: invalid hidden_size '8 kB' (must be a positive integer in "
            "plain digits)");
}

TEST_F(BadReferences, NeedTheirSchemaLine) {
  folder_.written("none.yaml", "num_layers: 8\nhidden_size: 8\ndtype: bf16\n");
  EXPECT_EQ(error_about("model: none.yaml\n"),
            "IN/none.yaml:1:1: error: missing key 'schema' (the first line is 'schema: "
            "depthcost-model/1')");
  folder_.written("hardware.yaml",
                  "schema: depthcost-hardware/1\nkind: gpu\nmemory_bandwidth: 1 TB/s\n");
  EXPECT_EQ(error_about("model: hardware.yaml\n"),
            "IN/hardware.yaml:1:9: error: invalid schema 'depthcost-hardware/1' (must be "
            "'depthcost-model/1')");
  EXPECT_EQ(error_about("model: it.yaml\n"),
            "IN/it.yaml:1:9: error: invalid schema 'depthcost/1' (must be "
            "'depthcost-model/1')");
  write_model("model.yaml", "num_layers: 8\nhidden_size: 8\ndtype: bf16\n");
  EXPECT_EQ(error_about("model: kimi_k3\nhardware: model.yaml\n"),
            "IN/model.yaml:1:9: error: invalid schema 'depthcost-model/1' (must be "
            "'depthcost-hardware/1')");
}

TEST_F(BadReferences, MayNotStandOnThemselves) {
  write_model("a.yaml", "base: ./a.yaml\n");
  EXPECT_EQ(error_about("model: a.yaml\n"),
            "IN/a.yaml:2:7: error: cyclic base 'a.yaml' (a.yaml -> a.yaml)");
}

TEST_F(BadReferences, MayNotStandOnOneAnother) {
  write_model("a.yaml", "hidden_size: 8\nbase: sub/b.yaml\n");
  write_model("sub/b.yaml", "base: ../sub/../a.yaml\n");
  EXPECT_EQ(error_about("model: a.yaml\n"),
            "IN/sub/b.yaml:2:7: error: cyclic base 'a.yaml' (a.yaml -> b.yaml -> a.yaml)");
  EXPECT_EQ(error_about("model: {base: a.yaml}\n"),
            "IN/sub/b.yaml:2:7: error: cyclic base 'a.yaml' (a.yaml -> b.yaml -> a.yaml)");
  EXPECT_EQ(error_about("model: kimi_k3\nhardware: {base: it.yaml}\n"),
            "IN/it.yaml:1:9: error: invalid schema 'depthcost/1' (must be "
            "'depthcost-hardware/1')");
}

TEST_F(BadReferences, MayNotBeAChainWithoutEnd) {
  for (int i = 0; i < 12; ++i)
    write_model(fmt::format("{}.yaml", i), fmt::format("base: {}.yaml\n", i + 1));
  EXPECT_EQ(error_about("model: 0.yaml\n"),
            "IN/8.yaml:2:7: error: invalid base '9.yaml' (more than 9 files on one another)");
}

TEST_F(BadReferences, NameTheLineOfAMissingBase) {
  write_model("a.yaml", "hidden_size: 8\nbase: b.yaml\n");
  EXPECT_EQ(error_about("model: a.yaml\n"),
            "IN/a.yaml:3:7: error: invalid model 'b.yaml': cannot read the file (no such file or "
            "directory)");
  write_model("c.yaml", "base: kimi_k9\n");
  EXPECT_EQ(error_about("model: c.yaml\n"),
            "IN/c.yaml:2:7: error: unknown model 'kimi_k9'; did you mean 'kimi_k2'?");
}

TEST_F(BadReferences, NameTheLineInAPreset) {
  EXPECT_EQ(error_about("model: {base: kimi_k3, num_layers: 5}\n"),
            "models/kimi_k3.yaml:21:23: error: invalid block_size '24' (the model has only 5 "
            "layers)");
}

TEST_F(BadReferences, AreMissingKeysAfterTheirBase) {
  write_model("part.yaml", "hidden_size: 8\n");
  EXPECT_EQ(error_about("model: part.yaml\n"),
            "IN/part.yaml:1:1: error: missing key 'dtype' (model needs it)");
}

TEST_F(BadReferences, OfAnyKindThatCannotBeReadAreRefusedWhereTheyAreAskedFor) {
  std::filesystem::create_directories(folder_.path("folder.yaml"));
  EXPECT_EQ(error_about("model: folder.yaml\n"),
            "IN/it.yaml:2:8: error: invalid model 'folder.yaml': cannot read the file (a "
            "directory)");
  EXPECT_EQ(error_about("model: it.yaml/m.yaml\n"),
            "IN/it.yaml:2:8: error: invalid model 'it.yaml/m.yaml': cannot read the file (not a "
            "directory)");
  std::filesystem::create_symlink("loop.yaml", folder_.path("loop.yaml"));
  EXPECT_EQ(error_about("model: loop.yaml\n"),
            "IN/it.yaml:2:8: error: invalid model 'loop.yaml': cannot read the file (too many "
            "levels of symbolic links)");
}

TEST_F(BadReferences, MayBeHostileThemselves) {
  folder_.written("empty.yaml", "");
  EXPECT_EQ(error_about("model: empty.yaml\n"),
            "IN/empty.yaml:1:1: error: empty document (holds no value)");
  folder_.written("open.yaml", repeated("[", 200'000));
  EXPECT_EQ(error_about("model: open.yaml\n"),
            "IN/open.yaml:1:65: error: nested too deeply (more than 64 levels)");
  folder_.written("large.yaml", "");
  std::filesystem::resize_file(folder_.path("large.yaml"), 100'000'000);
  EXPECT_EQ(error_about("model: large.yaml\n"),
            "IN/large.yaml:1:1: error: file too large (at most 1 MB)");
}

}  // namespace
}  // namespace depthcost::bad_references_test
