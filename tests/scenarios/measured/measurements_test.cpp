// Users' tables of measurements: what is read, and every error with the whole message.
#include "scenarios/measured/measurements.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>

#include "scenarios/text/input_error.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost::measurements_test {
namespace {

const std::string kHeader = "operation,tokens,hidden_size,microseconds";

MeasurementTable table_of(const std::string& text) { return parse_measurements(text, "it.csv"); }

TEST(Measurements, TakeDefaultsWhereNothingIsWritten) {
  const MeasurementTable table = table_of(kHeader + "\nmhc_post,8192,4096,147\n");
  ASSERT_EQ(table.rows.size(), 1U);
  const MeasuredCall& row = table.rows.front();
  EXPECT_EQ(case_id(row.call), "mhc_post/m:4/bf16/T:8192/d:4096/graph/cold");
  EXPECT_DOUBLE_EQ(row.time.value.value, 147e-6);
  EXPECT_EQ(row.time.low, row.time.value);
  EXPECT_EQ(row.time.high, row.time.value);
  EXPECT_EQ(row.line, 2);
  EXPECT_TRUE(table.ignored_columns.empty());
}

// What a column's description promises for a table without it is what a table with it says.
TEST(Measurements, HaveTheDefaultsThatTheirColumnsName) {
  const MeasuredCall without = table_of(kHeader + "\nmhc_post,8192,4096,147\n").rows.front();
  int num_written = 0;
  for (const MeasuredColumn& column : measured_columns()) {
    if (column.name != "streams" && column.choices.empty()) continue;
    EXPECT_NE(column.otherwise, "");
    const std::string text =
        fmt::format("{},{}\nmhc_post,8192,4096,147,{}\n", kHeader, column.name, column.otherwise);
    EXPECT_EQ(case_id(table_of(text).rows.front().call), case_id(without.call)) << column.name;
    ++num_written;
  }
  EXPECT_EQ(num_written, 4);
}

TEST(Measurements, ReadEveryColumnInAnyOrderAndNameTheOthers) {
  const MeasurementTable table = table_of(
      "high,low,samples,gpu,temperature,launch,dtype,streams,queries,sources,"
      "microseconds,hidden_size,tokens,operation,\n"
      "12,10,30,x,hot,graph_pdl,f32,2,24,8,11.5,7168,64,attnres_phase1,\n");
  const MeasuredCall& row = table.rows.front();
  EXPECT_EQ(case_id(row.call), "attnres_phase1/n:8/S:24/f32/T:64/d:7168/graph_pdl/hot");
  EXPECT_EQ(row.call.counts.num_streams, 2);
  EXPECT_DOUBLE_EQ(row.time.low.value, 10e-6);
  EXPECT_DOUBLE_EQ(row.time.high.value, 12e-6);
  EXPECT_EQ(row.samples, 30);
  EXPECT_EQ(table.ignored_columns, (std::vector<std::string>{"gpu", ""}));
}

TEST(Measurements, TakeWhatSpreadsheetsWrite) {
  const MeasurementTable table = table_of(
      "\xEF\xBB\xBFoperation , tokens,hidden_size,\"microseconds\",note\r\n"
      "\r\n"
      "\"residual_add\",1, 4096 ,2.5,\"a \"\"b\"\", c\nd\"\r\n"
      "   \n"
      "residual_add,2,4096,2.5e0,");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].call.num_tokens, 1);
  EXPECT_EQ(table.rows[0].line, 3);
  EXPECT_EQ(table.rows[1].call.num_tokens, 2);
  EXPECT_EQ(table.rows[1].line, 6);
}

struct BadTable {
  std::string name;
  std::string text;
  std::string expected;  // behind "it.csv:"
};

std::ostream& operator<<(std::ostream& out, const BadTable& row) { return out << row.name; }

class BadMeasurements : public testing::TestWithParam<BadTable> {};

TEST_P(BadMeasurements, AreRefusedWithOneLine) {
  try {
    table_of(GetParam().text);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), "it.csv:" + GetParam().expected);
  }
}

std::string row(const std::string& cells) { return kHeader + "\n" + cells + "\n"; }
std::string time(const std::string& text) { return row("mhc_post,8,4096," + text); }

INSTANTIATE_TEST_SUITE_P(
    Values, BadMeasurements,
    testing::ValuesIn(std::vector<BadTable>{
        {"ZeroTime", time("0"), "2:17: error: invalid microseconds '0' (must be positive)"},
        {"NegativeTime", time("-1"), "2:17: error: invalid microseconds '-1' (must be positive)"},
        {"NotANumber", time("nan"), "2:17: error: invalid microseconds 'nan' (must be finite)"},
        {"Infinite", time("inf"), "2:17: error: invalid microseconds 'inf' (must be finite)"},
        {"Word", time("fast"),
         "2:17: error: invalid microseconds 'fast' (must be a plain decimal number)"},
        {"Unit", time("1 us"),
         "2:17: error: invalid microseconds '1 us' (must be a plain decimal number)"},
        {"TooShort", time("1e-300"),
         "2:17: error: invalid microseconds '1e-300' (must be 0.001 to 1e+12 microseconds)"},
        {"TooLong", time("1e13"),
         "2:17: error: invalid microseconds '1e13' (must be 0.001 to 1e+12 microseconds)"},
        {"TooShortLow", "low," + kHeader + "\n1e-9,mhc_post,8,4096,1\n",
         "2:1: error: invalid low '1e-9' (must be 0.001 to 1e+12 microseconds)"},
        {"NoTime", time(""), "2:17: error: missing microseconds (an empty cell)"},
        {"NoWidth", row("mhc_post,8192, ,1"), "2:16: error: missing hidden_size (an empty cell)"},
        {"ZeroTokens", row("mhc_post,0,4096,1"),
         "2:10: error: invalid tokens '0' (must be a positive integer)"},
        {"MisspeltOperation", row("mhc_past,8,4096,1"),
         "2:1: error: unknown operation 'mhc_past'; did you mean 'mhc_post'?"},
        {"NoSources", row("attnres_single_pass,8,4096,1"),
         "2:1: error: missing sources (attnres_single_pass needs them: bank rows, beside the "
         "partial sum)"},
        {"NoQueries", "sources," + kHeader + "\n8,attnres_phase1,8,4096,1\n",
         "2:1: error: missing queries (attnres_phase1 needs them)"},
        {"EmptySources",
         "tokens,sources,operation,hidden_size,microseconds\n8,,attnres_single_pass,8,1\n",
         "2:3: error: missing sources (attnres_single_pass needs them: bank rows, beside the "
         "partial sum)"},
        {"EmptyQueries", "sources,queries," + kHeader + "\n8,,attnres_phase1,8,4096,1\n",
         "2:3: error: missing queries (attnres_phase1 needs them)"},
        {"UnknownLaunch", "launch," + kHeader + "\ncuda,mhc_post,8,4096,1\n",
         "2:1: error: invalid launch 'cuda' (must be stream | graph | graph_pdl)"},
        {"LowAboveTheMedian", "low," + kHeader + "\n2,mhc_post,8,4096,1\n",
         "2:1: error: invalid low '2' (above microseconds '1')"},
        {"HighBelowTheMedian", "high," + kHeader + "\n0.5,mhc_post,8,4096,1\n",
         "2:1: error: invalid high '0.5' (below microseconds '1')"}}),
    [](const auto& row_info) { return row_info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Tables, BadMeasurements,
    testing::ValuesIn(std::vector<BadTable>{
        {"Empty", "", "1:1: error: empty table (needs a header and rows)"},
        {"OnlyBlankLines", "\n \r\n\n", "1:1: error: empty table (needs a header and rows)"},
        {"OnlyAHeader", kHeader + "\n\n", "1:1: error: no rows (only a header)"},
        {"MissingColumn", "operation,tokens,hidden_size\nmhc_post,8,4096\n",
         "1:1: error: missing column 'microseconds' (every table needs operation, tokens, "
         "hidden_size, microseconds)"},
        {"MisspeltColumn", "operation,tokens,hiden_size,microseconds\nmhc_post,8,4096,1\n",
         "1:18: error: unknown column 'hiden_size'; did you mean 'hidden_size'?"},
        {"DuplicateColumn", "tokens," + kHeader + "\n8,mhc_post,8,4096,1\n",
         "1:18: error: duplicate column 'tokens' (first is column 1 of the table)"},
        {"ShortRow", row("mhc_post,8,4096"), "2:1: error: row of 3 cells (the header has 4)"},
        {"LongRow", row("mhc_post,8,4096,1,2"), "2:1: error: row of 5 cells (the header has 4)"},
        {"OpenQuote", kHeader + "\n\"mhc_post,8,4096,1\n",
         "2:1: error: malformed cell (no closing quote)"},
        {"TextBehindAQuote", kHeader + "\n\"mhc\"_post,8,4096,1\n",
         "2:6: error: text after a quoted cell (need a comma)"},
        {"InvalidUtf8", row("mhc_post\xFF,8,4096,1"),
         "2:9: error: invalid byte '\\xFF' (not UTF-8)"},
        {"Nul", row(std::string("mhc\0,8,4096,1", 13)),
         "2:4: error: invalid byte '\\x00' (a control character)"},
        {"MegabyteOfCommas", std::string(1'000'000, ','),
         "1:257: error: too many cells (more than 256 in a line)"}}),
    [](const auto& row_info) { return row_info.param.name; });

TEST(Measurements, MayBeManyButNotWithoutEnd) {
  std::string text = kHeader;
  for (int tokens = 1; tokens <= 100'000; ++tokens)
    text += "\nmhc_post," + std::to_string(tokens) + ",4096,1";
  EXPECT_EQ(table_of(text).rows.size(), 100'000U);
  text.resize(kMaxMeasuredBytes + 1, '\n');
  try {
    table_of(text);
    FAIL() << "nothing was refused";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "it.csv:1:1: error: file too large (at most 64 MB)");
  }
}

}  // namespace
}  // namespace depthcost::measurements_test
