// Shares of a sweep, timed by several runs and merged: the answer of one run, to the last byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include "tests/cli/run_program.hpp"
#include "tests/documents.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::sweep_shard_test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kStem = "kimi-sweep";

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::map<std::string, std::string> files_in(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files[entry.path().filename()] = file_text(entry.path());
  return files;
}

/// As the shards count their bytes: Fowler, Noll and Vo.
std::string hash_of(const std::string& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return fmt::format("{:016x}", hash);
}

class Shards : public testing::Test {
 protected:
  Shards() { write_scenario(""); }

  void write_scenario(const std::string& more) {
    folder_.written("kimi.yaml",
                    "schema: depthcost/1\nname: Kimi\nmodel: kimi_k3\nhardware: b300_sxm\n"
                    "parallelism: {tensor: 8}\n"
                    "workload: {decode: {sequences: [1, 64], context: 1000}, prefill: {tokens: "
                    "4096}}\n" +
                        more);
  }

  Outcome run(const Words& more) const {
    return run_program(
        {.arguments = joined({"sweep", "kimi.yaml"}, more), .folder = folder_.path()});
  }

  void write_shards(int count, const Words& axes = {}) const {
    for (int i = 1; i <= count; ++i) {
      const Outcome outcome =
          run(joined(axes, {"--shard", fmt::format("{}/{}", i, count), "-o", "shards"}));
      ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
      EXPECT_EQ(outcome.output, fmt::format("-> {}\n", shard(i, count)));
    }
  }

  static std::string shard(int i, int count) {
    return fmt::format("shards/{}.{}-of-{}.shard", kStem, i, count);
  }

  Words all(int count) const {
    Words words{"--merge"};
    for (int i = count; i >= 1; --i) words.push_back(shard(i, count));  // in any order
    return words;
  }

  void expect_error(const Words& arguments, const std::string& line) const {
    expect_refusal(run(arguments), line);
  }

  /// Puts `text` in place of line `line` (from 1), or with 7 of the times below the lines.
  void change(const std::string& name, int line, const std::string& text) const {
    const std::string old = file_text(folder_.path(name));
    std::size_t begin = 0;
    for (int i = 1; i < line; ++i) begin = old.find('\n', begin) + 1;
    const std::size_t end = line == 7 ? old.size() : old.find('\n', begin);
    std::ofstream(folder_.path(name), std::ios::binary)
        << old.substr(0, begin) << text << old.substr(end);
  }

  TemporaryFolder folder_;
};

/// Axes of all kinds: choices, circumstances of both workloads, readings of the scenario, points
/// and scenes that cannot exist; fewer rows than shards.
TEST_F(Shards, GiveTheAnswerOfOneRunInEveryFormat) {
  const std::vector<std::pair<int, Words>> cases{
      {3, {}},
      {7,
       {"--axis", "workload.decode.sequences=1..9", "--axis", "workload.prefill.tokens=1024,2048"}},
      {4,
       {"--axis", "hardware=h200_sxm,b300_sxm", "--axis", "block_size=186,187", "--axis",
        "parallelism.tensor=7,8"}},
      {2, {"--axis", "residual.scheme=full_attnres,mhc,standard"}}};
  for (const auto& [count, axes] : cases) {
    std::filesystem::remove_all(folder_.path("shards"));
    write_shards(count, axes);
    for (const char* format : {"table", "json", "csv", "markdown"}) {
      const Words question = joined(axes, {"--format", format});
      ASSERT_EQ(run(joined(question, {"-o", "whole"})).exit_code, 0);
      const Outcome merged = run(joined(joined(question, {"-o", "merged"}), all(count)));
      EXPECT_EQ(merged.exit_code, 0) << merged.errors;
      EXPECT_EQ(run(question).output, run(joined(question, all(count))).output) << format;
    }
    EXPECT_EQ(files_in(folder_.path("whole")), files_in(folder_.path("merged"))) << count;
  }
}

TEST_F(Shards, OfTrainingStepsAreMergedToo) {
  folder_.written("kimi.yaml",
                  "schema: depthcost/1\nmodel: kimi_linear_48b\nhardware: h200_sxm\n"
                  "parallelism: {tensor: 2, pipeline: 4}\n"
                  "workload: {training: {sequence_length: 4096, micro_batches: 8}}\n");
  const Words axes{"--axis", "block_size=1..12", "--format", "csv"};
  const Outcome whole = run(axes);
  ASSERT_EQ(whole.exit_code, 0) << whole.errors;
  write_shards(3, {"--axis", "block_size=1..12"});
  EXPECT_EQ(run(joined(axes, all(3))).output, whole.output);
}

TEST_F(Shards, NameWhatIsMissing) {
  write_shards(4);
  std::filesystem::remove(folder_.path(shard(3, 4)));
  expect_error({"--merge", shard(1, 4), shard(2, 4), shard(4, 4)},
               "--merge:1:1: error: missing shard 3 of 4 (--shard 3/4 makes it)");
  expect_error({"--merge", shard(2, 4)},
               "--merge:1:1: error: missing shards 1, 3, 4 of 4 (--shard 1/4 makes the first of "
               "them)");
  expect_error(all(4),
               shard(3, 4) + ":1:1: error: cannot read the file (no such file or directory)");
}

TEST_F(Shards, AreRefusedTwice) {
  write_shards(2);
  std::filesystem::copy(folder_.path(shard(2, 2)), folder_.path("again"));
  expect_error(joined(all(2), {"again"}),
               "again:4:1: error: shard 2 of 2 is there twice (the other is " + shard(2, 2) +
                   ": remove one)");
}

TEST_F(Shards, AreRefusedWithThoseOfAnotherNumber) {
  write_shards(2);
  write_shards(3);
  expect_error(
      {"--merge", shard(1, 2), shard(2, 3)},
      shard(2, 3) + ":4:1: error: invalid shard (one of 3, but " + shard(1, 2) + " is one of 2)");
}

TEST_F(Shards, OfAnotherProgramAreRefused) {
  write_shards(2);
  const Outcome version = run_program({.arguments = {"--version"}, .folder = folder_.path()});
  const std::string ours = version.output.substr(0, version.output.find('\n'));
  change(shard(2, 2), 2, "version 0.0.9");
  expect_error(all(2), shard(2, 2) +
                           ":2:1: error: invalid shard (made by depthcost 0.0.9, this is " + ours +
                           ": make all shards and merge them with one program)");
  change(shard(2, 2), 2, "version " + ours);
  change(shard(2, 2), 5, "first_row 0123456789abcdef");
  expect_error(all(2), shard(2, 2) +
                           ":5:1: error: invalid shard (its first row has other times than here: "
                           "another build of the program, or a machine that rounds otherwise)");
}

TEST_F(Shards, OfAnotherQuestionAreRefused) {
  write_shards(2);
  const std::string line =
      shard(2, 2) +
      ":3:1: error: invalid shard (made for another scenario, or with other axes or options)";
  expect_error(joined({"--axis", "block_size=1..9"}, all(2)), line);
  expect_error(joined({"--set", "parallelism.tensor=4"}, all(2)), line);
  write_scenario("budgets: {decode_overhead: 1 %}\n");
  expect_error(all(2), line);
  // How the answer is shown is no part of the question.
  write_scenario("");
  EXPECT_EQ(run(joined({"--compute", "3", "--max-points", "200", "--quiet"}, all(2))).exit_code, 0);
}

TEST_F(Shards, ThatAreCutShortOrChangedAreRefused) {
  write_shards(2);
  const std::string name = shard(2, 2);
  const std::string whole = file_text(folder_.path(name));
  const std::size_t begin = whole.find('\n', whole.find("\ntimes ") + 1) + 1;
  const std::string times = whole.substr(begin);
  const auto count = [](const std::string& bytes) {
    return fmt::format("{} bytes, {}", bytes.size(), hash_of(bytes));
  };
  const std::string head =
      name + ":6:1: error: invalid shard (its times are cut short or changed: ";
  const std::string cut = times.substr(0, times.size() / 2);
  change(name, 7, cut);
  expect_error(all(2), head + count(cut) + ", not " + count(times) + ")");
  change(name, 6, "times " + count(cut));
  expect_error(all(2), name + ":1:1: error: invalid shard (its times cannot be read)");
  // Row 2 has a choice for each of 186 block sizes.
  const std::string none(4, '\0');
  change(name, 7, none);
  change(name, 6, "times " + count(none));
  expect_error(all(2), name +
                           ":1:1: error: invalid shard (row 2 is not one of this sweep: made by "
                           "another build of the program)");
}

/// The times of a row: how many (4 bytes), then evidence, low, value and high of the first.
TEST_F(Shards, HaveTimesInTheirIntervals) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [low, value, high] : std::vector<std::array<double, 3>>{
           {nan, nan, nan}, {9, 1, -5}, {0, 2, 1}, {-infinity, 1, 2}, {0, 1, infinity}}) {
    write_shards(1);
    const std::string name = shard(1, 1);
    const std::string whole = file_text(folder_.path(name));
    std::string times = whole.substr(whole.find('\n', whole.find("\ntimes ") + 1) + 1);
    const std::array<double, 3> planted{low, value, high};
    std::memcpy(times.data() + 5, planted.data(), sizeof planted);
    change(name, 7, times);
    change(name, 6, fmt::format("times {} bytes, {}", times.size(), hash_of(times)));
    expect_error({"--merge", name}, name + ":1:1: error: invalid shard (its times cannot be read)");
  }
}

TEST_F(Shards, NeedTheirLines) {
  write_shards(1);
  const std::string name = shard(1, 1);
  const std::string foreign = ": error: invalid shard (no file of depthcost sweep --shard)";
  expect_error({"--merge", "kimi.yaml"},
               "kimi.yaml:1:1: error: invalid shard (its schema must be depthcost-shard/2)");
  for (const int line : {5, 4, 3, 2, 1}) {
    change(name, line, "");
    expect_error({"--merge", name}, fmt::format("{}:{}:1{}", name, line, foreign));
  }
  write_shards(1);
  change(name, 4, "shard 1/99999999999999999999");
  expect_error({"--merge", name}, name + ":4:1: error: invalid shard (no share I/N)");
}

TEST_F(Shards, AreAskedForOnOneLine) {
  for (const std::string text : {"0/3", "4/3", "1", "1/", "/2", "-1/3", "1/3/3", "1/100001"})
    expect_error({"--shard", text, "-o", "shards"},
                 "--shard:1:1: error: invalid shard '" + text +
                     "' (must be I/N, as 3/8: I from 1 to N, N at most 100000)");
  expect_error({"--shard", "1/3"}, "--shard:1:1: error: missing -o (the folder of the shards)");
  expect_error({"--shard", "1/3", "-o", "shards", "--merge", "it"},
               "sweep:1:1: error: --shard excludes --merge (see depthcost sweep --help)");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("shards")));
}

}  // namespace
}  // namespace depthcost::test::sweep_shard_test
