// Runs the program on every kind of bad file: one line of error, exit code 2, nothing written, in
// little time and memory.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/long_text.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::bad_file_test {
namespace {

using namespace std::string_literals;

// Sanitizers keep shadows and freed memory.
#ifdef __SANITIZE_ADDRESS__
constexpr double kMaxMegabytes = 1e6;
#else
constexpr double kMaxMegabytes = 200;
#endif

std::string kimi(const std::string& rest) { return "schema: depthcost/1\nmodel: kimi_k3\n" + rest; }

/// Every command that reads a scenario, and what would be written where there is none.
void expect_refused(const TemporaryFolder& folder, const std::string& file,
                    const std::string& expected) {
  const std::vector<std::vector<std::string>> commands{
      {"evaluate", file}, {"check", file}, {"explain", file}, {"report", file, "-o", "out"}};
  for (const auto& arguments : commands) {
    SCOPED_TRACE(arguments.front());
    const Outcome outcome = run_program({.arguments = arguments, .folder = folder.path()});
    expect_refusal(outcome, expected);
    EXPECT_LT(outcome.peak_megabytes, kMaxMegabytes);
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path("out")));
}

struct Case {
  std::string name;
  LongText text;
  std::string expected;  // behind "bad.yaml:"
};

std::ostream& operator<<(std::ostream& out, const Case& row) { return out << row.name; }

class BadFile : public testing::TestWithParam<Case> {};

TEST_P(BadFile, GivesOneLineAndExitCodeTwo) {
  const TemporaryFolder folder;
  folder.written("bad.yaml", GetParam().text);
  expect_refused(folder, "bad.yaml", "bad.yaml:" + GetParam().expected);
}

std::string bandwidth(const std::string& value) {
  return kimi("hardware: {kind: gpu, memory_bandwidth: " + value + "}\n");
}

std::string block_size(const std::string& value) {
  return kimi("residual: {block_size: " + value + "}\n");
}

const std::string kBandwidth = "3:41: error: invalid memory_bandwidth ";
const std::string kNeed = "need bytes per second, such as '4.8 TB/s')";
const std::string kBlockSize = "3:24: error: invalid residual.block_size ";
const std::string kDeep = ": error: nested too deeply (more than 64 levels)";
const std::string kNotAMap = "1:1: error: invalid scenario (must be a map, not a list)";

INSTANTIATE_TEST_SUITE_P(
    Values, BadFile,
    testing::ValuesIn(std::vector<Case>{
        {"WrongType", kimi("residual: block_attnres\n"),
         "3:11: error: invalid residual 'block_attnres' (must be a map)"},
        {"WordForANumber", block_size("many"), kBlockSize + "'many' (must be a positive integer)"},
        {"UnknownKey", kimi("residual: {block_sise: 24}\n"),
         "3:12: error: unknown key 'block_sise'; did you mean 'block_size'?"},
        {"DuplicateKey", kimi("model: kimi_k2\n"),
         "3:1: error: duplicate key 'model' (first at line 2)"},
        {"DottedDuplicateKey", kimi("residual: {block_size: 24}\nresidual.block_size: 12\n"),
         "4:1: error: unknown key 'residual.block_size' (known here: schema, name, model, "
         "hardware, residual, parallelism, workload, baseline_step, step_terms, claim, budgets)"},
        {"MissingUnit", bandwidth("4.8"), kBandwidth + "'4.8' (missing unit; " + kNeed},
        {"WrongDimension", bandwidth("4.8 TB"), kBandwidth + "'4.8 TB' (a size in bytes; " + kNeed},
        {"BinaryUnitMisspelt", kimi("budgets: {prefill_bank: 2.5 Gi}\n"),
         "3:25: error: invalid budgets.prefill_bank '2.5 Gi' (unknown unit 'Gi'; did you mean "
         "'GiB'?)"},
        {"Zero", block_size("0"), kBlockSize + "'0' (must be a positive integer)"},
        {"Negative", block_size("-24"), kBlockSize + "'-24' (must be a positive integer)"},
        {"NegativeRate", bandwidth("-4.8 TB/s"), kBandwidth + "'-4.8 TB/s' (must be positive)"},
        {"NotANumber", bandwidth(".nan TB/s"), kBandwidth + "'.nan TB/s' (must be finite)"},
        {"Infinite", bandwidth(".inf TB/s"), kBandwidth + "'.inf TB/s' (must be finite)"},
        {"AbsurdRate", bandwidth("1e308 TB/s"), kBandwidth + "'1e308 TB/s' (out of range)"},
        {"AbsurdLayers",
         "schema: depthcost/1\nmodel: {num_layers: 1e308, hidden_size: 8, dtype: bf16}\n",
         "2:21: error: invalid num_layers '1e308' (must be a positive integer in plain digits)"},
        {"TooManyLayers",
         "schema: depthcost/1\nmodel: {num_layers: 16385, hidden_size: 8, dtype: bf16}\n",
         "2:21: error: invalid num_layers '16385' (more than 16384 layers)"},
        {"Octal", block_size("010"),
         kBlockSize + "'010' (leading zero; YAML 1.1 readers take it as octal)"},
        {"BlockLargerThanTheModel", block_size("187"),
         "3:24: error: invalid block_size '187' (the model has only 186 layers)"},
        {"TooManyBatches",
         kimi("workload: {decode: {sequences: [" + repeated("1, ", 40'000) + "1]}}\n"),
         "3:32: error: invalid workload.decode.sequences (40001 batches; at most 256)"},
        {"UnknownPreset", "schema: depthcost/1\nmodel: kimi_k\n",
         "2:8: error: unknown model 'kimi_k'; did you mean 'kimi_k2'?"},
        {"MissingFileOfAModel", "schema: depthcost/1\nmodel: missing.yaml\n",
         "2:8: error: invalid model 'missing.yaml': cannot read the file (no such file or "
         "directory)"},
        {"LongNameOfAModel", "schema: depthcost/1\nmodel: /" + std::string(9'000, 'a') + "\n",
         "2:8: error: invalid model '/" + std::string(59, 'a') +
             "...': cannot read the file (file name too long)"},
        {"CyclicReference", "schema: depthcost/1\nmodel: bad.yaml\n",
         "1:9: error: invalid schema 'depthcost/1' (must be 'depthcost-model/1')"},
        {"MessageWithFormatCharacters", kimi("'%s{}\\': 1\n"),
         "3:1: error: unknown key '%s{}\\' (known here: schema, name, model, hardware, residual, "
         "parallelism, workload, baseline_step, step_terms, claim, budgets)"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Texts, BadFile,
    testing::ValuesIn(std::vector<Case>{
        {"Empty", "", "1:1: error: empty document (holds no value)"},
        {"Malformed", kimi("residual: {block_size: 24\n"),
         "4:1: error: malformed YAML (the file ends inside the map that starts at line 3)"},
        {"SelfReference", kimi("residual: &x [*x]\n"),
         "3:11: error: anchors are not allowed (write the value where it is used)"},
        {"ExpandingAnchors", kimi("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"),
         "3:4: error: anchors are not allowed (write the value where it is used)"},
        {"SecondDocument", kimi("---\n"),
         "3:1: error: second document, or text after the first (a file holds one document)"},
        {"InvalidUtf8", kimi("name: \xC3\x28\n"), "3:7: error: invalid byte '\\xC3' (not UTF-8)"},
        {"Nul", kimi("name: \0\n"s), "3:7: error: invalid byte '\\x00' (a control character)"},
        {"EscapedNul", kimi("name: \"\\0\"\n"),
         "3:7: error: invalid name '\\x00' (holds a control character)"},
        {"EscapedNewline", kimi("\"a\\nb\": 1\n"),
         "3:1: error: unknown key 'a\\x0Ab' (known here: schema, name, model, hardware, residual, "
         "parallelism, workload, baseline_step, step_terms, claim, budgets)"},
        {"OpenBrackets", repeated("[", 200'000), "1:65" + kDeep},
        {"MegabyteOfOpenBrackets", repeated("[", 1'000'000), "1:65" + kDeep},
        {"MegabyteOfOpenBraces", repeated("{", 1'000'000),
         "1:2: error: invalid key (must be a word, not a map)"},
        {"MegabyteOfOpenBracketsOnLines", repeated("[\n", 500'000), "65:1" + kDeep},
        {"MegabyteOfDashes", repeated("- ", 500'000), "1:129" + kDeep},
        {"MegabyteOfQuestionMarks", repeated("? ", 500'000),
         "1:3: error: invalid key (must be a word, not a map)"},
        {"MegabyteOfQuotes", repeated("\"", 1'000'000),
         "1:3: error: second document, or text after the first (a file holds one document)"},
        {"MegabyteOfSingleQuotes", repeated("'", 1'000'000),
         "1:1: error: invalid scenario (must be a map, not a single value)"},
        {"MegabyteOfCommas", repeated(",", 1'000'000),
         "1:1: error: malformed YAML (did not find expected node content while parsing a block node)"},
        {"MegabyteOfColons", repeated(": ", 500'000),
         "1:1: error: malformed YAML (did not find expected key while parsing a block mapping)"},
        {"MegabyteOfNumbers", "[" + repeated("1,", 499'999) + "]", kNotAMap},
        {"MegabyteOfLists", "[" + repeated("[],", 333'332) + "]", kNotAMap},
        {"MegabyteOfQuotedTexts", "[" + repeated("\"\" ", 333'332) + "]",
         "1:5: error: malformed YAML (did not find expected ',' or ']' while parsing a flow sequence)"},
        {"MegabyteOfListLines", repeated("- 1\n", 250'000), kNotAMap},
        {"MegabyteOfLines", repeated("\n", 1'000'000),
         "1:1: error: empty document (holds no value)"},
        {"MegabyteOfOneWord", repeated("a", 1'000'000),
         "1:1: error: invalid scenario (must be a map, not a single value)"},
        {"AboveAMegabyte", repeated("#", 1'000'001), "1:1: error: file too large (at most 1 MB)"}}),
    [](const auto& row) { return row.param.name; });

TEST(BadFiles, ThatCannotBeRead) {
  const TemporaryFolder folder;
  const std::string cannot = ":1:1: error: cannot read the file ";
  expect_refused(folder, "missing.yaml", "missing.yaml" + cannot + "(no such file or directory)");
  expect_refused(folder, ".", "." + cannot + "(a directory)");
  expect_refused(folder, "/dev/zero", "/dev/zero" + cannot + "(not a regular file)");
  ASSERT_EQ(::mkfifo(folder.path("pipe.yaml").c_str(), 0600), 0);
  expect_refused(folder, "pipe.yaml", "pipe.yaml" + cannot + "(not a regular file)");
  folder.written("file", "");
  expect_refused(folder, "file/bad.yaml", "file/bad.yaml" + cannot + "(not a directory)");
}

TEST(BadFiles, ThatMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TemporaryFolder folder;
  ASSERT_EQ(::chmod(folder.written("secret.yaml", kimi("")).c_str(), 0), 0);
  expect_refused(folder, "secret.yaml",
                 "secret.yaml:1:1: error: cannot read the file (permission denied)");
}

TEST(BadFiles, OfAHundredMegabytes) {
  const TemporaryFolder folder;
  std::filesystem::resize_file(folder.written("large.yaml", ""), 100'000'000);
  expect_refused(folder, "large.yaml", "large.yaml:1:1: error: file too large (at most 1 MB)");
}

TEST(BadFiles, WithStrangeNamesStayOnOneLine) {
  const TemporaryFolder folder;
  const std::string problem = ":1:1: error: empty document (holds no value)";
  const auto expect_shown_as = [&](const std::string& name, const std::string& shown) {
    folder.written(name, "");
    expect_refused(folder, name, shown + problem);
  };
  expect_shown_as("a b.yaml", "a b.yaml");
  expect_shown_as("100%s %n {}.yaml", "100%s %n {}.yaml");
  expect_shown_as("a\nb.yaml", "a\\x0Ab.yaml");
  expect_shown_as("\x1B[2J.yaml", "\\x1B[2J.yaml");
  expect_shown_as("\xFF.yaml", "\\xFF.yaml");
  expect_shown_as("\xC3\xA9.yaml", "\xC3\xA9.yaml");
}

TEST(BadFiles, ThatStandOnOneAnother) {
  const TemporaryFolder folder;
  folder.written("a.yaml", "schema: depthcost-model/1\nbase: b.yaml\n");
  folder.written("b.yaml", "schema: depthcost-model/1\nbase: a.yaml\n");
  folder.written("it.yaml", "schema: depthcost/1\nmodel: a.yaml\n");
  expect_refused(folder, "it.yaml",
                 "b.yaml:2:7: error: cyclic base 'a.yaml' (a.yaml -> b.yaml -> a.yaml)");
}

}  // namespace
}  // namespace depthcost::test::bad_file_test
