// Which files may be read, and which have been read.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "scenarios/text/document.hpp"
#include "scenarios/text/input_text.hpp"
#include "tests/scenarios/text/error_of.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::input_file_test {
namespace {

class Files : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  std::string written(const std::string& name, const std::string& text) const {
    return folder_.written(name, text);
  }
  static std::string error_in_file(const std::string& path) {
    return test::error_of([&path] { load_document(path); });
  }

 private:
  const test::TemporaryFolder folder_;
};

TEST_F(Files, AreReadWhole) {
  const std::string file = written("a.yaml", "a: 1\n#" + std::string(999'994, 'x'));
  const Node root = load_document(file);
  const Node* a = as_map(root, "file").find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(as_scalar(*a, "a").text, "1");
  EXPECT_EQ(root.position.file, file);
}

TEST_F(Files, ThatWereReadAreKnownByAnyName) {
  const std::string file = written("read.yaml", "a: 1\n");
  load_document(file);
  std::filesystem::create_hard_link(file, path("hard.yaml"));
  std::filesystem::create_symlink("read.yaml", path("soft.yaml"));
  for (const char* name : {"read.yaml", "hard.yaml", "soft.yaml", "./read.yaml"})
    EXPECT_TRUE(was_read(path(name))) << name;
  EXPECT_FALSE(was_read("/dev/null"));
  EXPECT_FALSE(was_read(path("missing.yaml")));
}

TEST_F(Files, ThatCannotBeReadAreRefused) {
  const std::string missing = path("missing.yaml");
  EXPECT_EQ(error_in_file(missing),
            missing + ":1:1: error: cannot read the file (no such file or directory)");
  const std::string folder = path("");
  EXPECT_EQ(error_in_file(folder), folder + ":1:1: error: cannot read the file (a directory)");
  EXPECT_EQ(error_in_file("/dev/zero"),
            "/dev/zero:1:1: error: cannot read the file (not a regular file)");
}

TEST_F(Files, ThatAreEmptyOrTooLargeAreRefused) {
  const std::string empty = written("empty.yaml", "");
  EXPECT_EQ(error_in_file(empty), empty + ":1:1: error: empty document (holds no value)");
  const std::string large = written("large.yaml", "");
  std::filesystem::resize_file(large, 100'000'000);
  EXPECT_EQ(error_in_file(large), large + ":1:1: error: file too large (at most 1 MB)");
}

TEST_F(Files, ThatArePipesDoNotHang) {
  const std::string pipe = path("pipe.yaml");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_in_file(pipe), pipe + ":1:1: error: cannot read the file (not a regular file)");
}

/// Titles and JSON show it: no byte of a name may break them.
TEST(FileLabel, IsPrintable) {
  EXPECT_EQ(file_label("folder/a b.yaml"), "a b.yaml");
  EXPECT_EQ(file_label("b\xFF"
                       "d.yaml"),
            "b\\xFFd.yaml");
  EXPECT_EQ(file_label("\x1B[2J.yaml"), "\\x1B[2J.yaml");
  EXPECT_EQ(file_label(std::string(100, '\n')).size(), 400U) << "a label is not cut";
}

}  // namespace
}  // namespace depthcost::input_file_test
