// Weights files: their values, and every mistake with its one line.
#include "scenarios/measured/mixing_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>

#include "scenarios/text/input_error.hpp"

namespace depthcost::mixing_file_test {
namespace {

/// Four layers in blocks of two, which is decided.
ExpectedShape four_layers() {
  return {.shape = {.num_layers = 4, .num_streams = 4, .blocks = partition_by_size(4, 2)},
          .decided = {MixingParameter::block_size}};
}

std::string file(const std::string& scheme, const std::string& rest) {
  return fmt::format(R"({{"schema": "depthcost-mixing/1", "scheme": "{}", "num_layers": 4,
 {}}})",
                     scheme, rest);
}

std::string block(const std::string& attention) {
  return file("block_attnres", R"("block_size": 2, "attention": )" + attention);
}

std::string highway(const std::string& gates) { return file("highway", R"("gates": )" + gates); }

MixingFile parsed(const std::string& text) {
  return parse_mixing_file(text, "weights.json", four_layers());
}

TEST(MixingFile, HoldsGates) {
  const MixingFile weights = parsed(highway("[0.8, 0.4, 7e-1]"));
  EXPECT_EQ(weights.scheme->name, "highway");
  EXPECT_EQ(weights.weights.list("gates"), (WeightRow{0.8, 0.4, 0.7}));
  EXPECT_EQ(weights.num_tokens, 0);
}

TEST(MixingFile, HoldsStreamsAndTheirNumber) {
  const std::string twos = "[[1, 2], [3, 4], [-5, 6], [7, 8]]";
  const std::string half = "[[0.5, 0.5], [0.25, 0.75]]";
  const MixingFile weights = parsed(file(
      "mhc", fmt::format(R"("num_streams": 2, "alpha": {0}, "beta": {0}, "A": [{1}, {1}, {1}])",
                         twos, half)));
  EXPECT_EQ(weights.shape.num_streams, 2);
  EXPECT_EQ(weights.weights.rows("alpha")[2], (WeightRow{-5, 6}));
  EXPECT_EQ(weights.weights.rows("A")[0], (WeightRow{0.5, 0.5, 0.25, 0.75}));
}

TEST(MixingFile, AveragesAttentionOverTokens) {
  const std::string first = "[[1], [1, 0], [0.5, 0.5], [0.25, 0.25, 0.5]]";
  const std::string second = "[[1], [0, 1], [0, 1], [0.75, 0.25, 0]]";
  const MixingFile weights = parsed(block("[" + first + ", " + second + "]"));
  EXPECT_EQ(weights.num_tokens, 2);
  EXPECT_EQ(weights.weights.rows("attention"),
            (WeightRows{{1}, {0.5, 0.5}, {0.25, 0.75}, {0.5, 0.25, 0.25}}));
  const MixingFile mean = parsed(block("[[1], [0.5, 0.5], [0.25, 0.75], [0.5, 0.25, 0.25]]"));
  EXPECT_EQ(mean.num_tokens, 0);
  EXPECT_EQ(mean.weights.rows("attention"), weights.weights.rows("attention"));
}

/// Full AttnRes: the first row of a token holds one number, and is a list all the same.
TEST(MixingFile, TellsTokensFromRowsBeforeItReadsThem) {
  EXPECT_EQ(parsed(file("full_attnres", R"("attention": [[[1], [0, 1], [0, 0, 1], [0, 0, 0, 1]]])"))
                .num_tokens,
            1);
}

struct Refused {
  std::string name;
  std::string text;
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const Refused& row) { return out << row.name; }

class RefusedMixingFile : public testing::TestWithParam<Refused> {};

TEST_P(RefusedMixingFile, SaysWhereAndWhy) {
  try {
    parsed(GetParam().text);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), "weights.json:" + GetParam().expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, RefusedMixingFile,
    testing::ValuesIn(std::vector<Refused>{
        {"NoJson", "gates: [1]", "1:1: error: malformed JSON (invalid literal)"},
        {"Empty", "", "1:1: error: empty document (holds no value)"},
        {"NoObject", "[1, 2]", "1:1: error: invalid weights file (must be a map, not a list)"},
        {"NotANumber", highway("[0.8, NaN, 0.7]"),
         "2:17: error: malformed JSON ('NaN' is no number of JSON)"},
        {"ANumberInQuotes", highway(R"([0.8, "0.4", 0.7])"),
         "2:17: error: invalid gates '0.4' (must be a finite number)"},
        {"Null", highway("[0.8, null, 0.7]"),
         "2:17: error: invalid gates '' (must be a finite number)"},
        {"TooFewGates", highway("[0.8, 0.4]"), "2:11: error: invalid gates (holds 2, needs 3)"},
        {"GateAboveOne", highway("[0.8, 1.4, 0.7]"),
         "2:11: error: invalid gates (holds 1.4, which is not in [0, 1])"},
        {"NoList", highway("0.8"), "2:11: error: invalid gates '0.8' (must be a list)"},
        {"MissingTable", file("highway", R"("seed": 1)"),
         "2:2: error: unknown key 'seed' (known here: schema, scheme, num_layers, gates)"},
        {"MisspeltTable", file("highway", R"("gate": [1])"),
         "2:2: error: unknown key 'gate'; did you mean 'gates'?"},
        {"NoTable", R"({"schema": "depthcost-mixing/1", "scheme": "highway", "num_layers": 4})",
         "1:1: error: missing key 'gates' (g_2 .. g_L)"},
        {"NoSchema", R"({"scheme": "highway"})",
         "1:1: error: missing key 'schema' (must be depthcost-mixing/1)"},
        {"OtherSchema", R"({"schema": "depthcost/1"})",
         "1:12: error: invalid schema 'depthcost/1' (must be depthcost-mixing/1)"},
        {"OtherLayers", R"({"schema": "depthcost-mixing/1", "scheme": "highway", "num_layers": 5})",
         "1:69: error: conflicting num_layers '5' (the scenario has 4)"},
        {"MisspeltScheme", file("higway", R"("gates": [1])"),
         "1:44: error: unknown scheme 'higway'; did you mean 'highway'?"},
        {"SchemeFarFromAny", file("qqqqqqqq", R"("gates": [1])"),
         "1:44: error: unknown scheme 'qqqqqqqq' (known here: standard, rezero, layerscale, highway, laurel_rw, hc_static, mhc, denseformer, full_attnres, block_attnres, attnres_sliding_window, attnres_sigmoid, attnres_input_independent)"},
        {"SchemeWithoutMatrix", file("deep_delta", R"("k": [1])"),
         "1:44: error: no mixing matrix for 'deep_delta' (I - beta k k^T acts on the features: an entry "
         "would be a d x d matrix)"},
        {"OtherBlockSize", file("block_attnres", R"("block_size": 4, "attention": [])"),
         "2:16: error: conflicting block_size '4' (the scenario has 2)"},
        {"NoBlockSize", file("block_attnres", R"("attention": [])"),
         "1:1: error: missing key 'block_size' (block_attnres takes it)"},
        {"AttentionIsANumber", block("0.8"),
         "2:32: error: invalid attention '0.8' (must be a list)"},
        {"NoRows", block("[]"), "2:32: error: invalid attention (holds 0, needs 4)"},
        {"RowsAreNumbers", block("[1, 0.5, 0.5, 1]"),
         "2:33: error: invalid attention[0] '1' (must be a list)"},
        {"EmptyRow", block("[[], [0.5, 0.5], [0.5, 0.5], [1, 0, 0]]"),
         "2:33: error: invalid attention[0] (holds 0, needs 1)"},
        {"TooFewRows", block("[[1], [0.5, 0.5]]"),
         "2:32: error: invalid attention (holds 2, needs 4)"},
        {"WrongRow", block("[[1], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]"),
         "2:62: error: invalid attention[3] (holds 2, needs 3)"},
        {"RowBelowOne", block("[[1], [0.5, 0.25], [0.5, 0.5], [0.5, 0.25, 0.25]]"),
         "2:38: error: invalid attention[1] (sums to 0.75, not to one)"},
        {"RowOfAToken",
         block("[[[1], [0.5, 0.5], [0.5, 0.5], [1, 0, 0]], "
               "[[1], [0.5, 0.5], [0.5, 0.5], [0.5, 0, 0]]]"),
         "2:105: error: invalid attention[3] (sums to 0.5, not to one)"},
        {"WeightAboveOne", block("[[1], [1.5, -0.5], [0.5, 0.5], [0.5, 0.25, 0.25]]"),
         "2:38: error: invalid attention[1] (holds 1.5, which is not in [0, 1])"},
        {"NoStreams", file("mhc", R"("num_streams": 0)"),
         "2:17: error: invalid num_streams '0' (must be a positive integer)"},
        {"NoSquare", file("mhc", R"("num_streams": 1, "alpha": [[1], [1], [1], [1]],
 "beta": [[1], [1], [1], [1]], "A": [[[1]], [[1, 0], [0, 1]], [[1]]])"),
         "3:45: error: invalid A[1] (holds 2, needs 1)"},
        {"NotStochastic", file("mhc", R"("num_streams": 1, "alpha": [[1], [1], [1], [1]],
 "beta": [[1], [1], [1], [1]], "A": [[[1]], [[0.5]], [[1]]])"),
         "3:45: error: invalid A[1] (has neither rows nor columns that all sum to one)"},
        {"WindowTooLarge", file("attnres_sliding_window", R"("window": 5, "attention": [])"),
         "2:12: error: invalid window '5' (must be 1 to 4)"},
        {"DilationZero", file("denseformer", R"("dilation": 0, "period": 1, "alpha": [])"),
         "2:14: error: invalid dilation '0' (must be a positive integer)"},
    }),
    [](const auto& row) { return row.param.name; });

TEST(MixingFile, IsReadUpToEightMegabytes) {
  EXPECT_THROW(parsed(std::string(8'000'001, ' ')), InputError);
  EXPECT_EQ(parsed(highway("[0.8, 0.4, 0.7]") + std::string(2'000'000, ' ')).shape.num_layers, 4);
}

}  // namespace
}  // namespace depthcost::mixing_file_test
