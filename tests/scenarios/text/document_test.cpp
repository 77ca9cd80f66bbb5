// What a file may hold, the place of each node, and that hostile files soon get one line of error.
#include "scenarios/text/document.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ostream>
#include <random>
#include <string>

#include "tests/long_text.hpp"
#include "tests/scenarios/text/error_of.hpp"

namespace depthcost::document_test {
namespace {

using namespace std::string_literals;
using namespace test;

/// The tree in one line: 'quoted', plain, ~ for null, and @line:column behind every node and key.
std::string shown(const Node& node) {
  std::string text;
  if (const auto* scalar = std::get_if<ScalarNode>(&node.content)) {
    text = scalar->is_null() ? "~" : scalar->quoted ? "'" + scalar->text + "'" : scalar->text;
  } else if (const auto* list = std::get_if<List>(&node.content)) {
    for (const Node& item : list->items) text += (text.empty() ? "" : ", ") + shown(item);
    text = "[" + text + "]";
  } else {
    for (const auto& [key, position, value] : std::get<Map>(node.content).members)
      text += fmt::format("{}{}@{}:{}: {}", text.empty() ? "" : ", ", key, position.line,
                          position.column, shown(value));
    text = "{" + text + "}";
  }
  return fmt::format("{}@{}:{}", text, node.position.line, node.position.column);
}

std::string error_in(const std::string& text) {
  return error_of([&text] { parse_document(text, "a.yaml"); });
}

// --- what is read ---

struct TreeCase {
  std::string name;
  std::string text;
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const TreeCase& row) { return out << row.name; }

class Documents : public testing::TestWithParam<TreeCase> {};

TEST_P(Documents, BecomeTreesWithPositions) {
  EXPECT_EQ(shown(parse_document(GetParam().text, "a.yaml")), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Documents,
    testing::Values(
        TreeCase{"BlockMap", "a: 1\nb:\n  c: x\n", "{a@1:1: 1@1:4, b@2:1: {c@3:3: x@3:6}@3:3}@1:1"},
        TreeCase{"FlowMap", "a: {b: 1, c: [2, 3]}",
                 "{a@1:1: {b@1:5: 1@1:8, c@1:11: [2@1:15, 3@1:18]@1:14}@1:4}@1:1"},
        TreeCase{"BlockList", "- 1\n- - 2\n  - b: 3\n",
                 "[1@1:3, [2@2:5, {b@3:5: 3@3:8}@3:5]@2:3]@1:1"},
        TreeCase{"Quotes", "a: '1'\nb: \"2\\n\"\nc: |\n  3\nd: ''",
                 "{a@1:1: '1'@1:4, b@2:1: '2\n'@2:4, c@3:1: '3\n'@3:4, d@5:1: ''@5:4}@1:1"},
        TreeCase{"NullsStandAtTheirKey", "a:\nb: ~\nc: null\n",
                 "{a@1:1: ~@1:1, b@2:1: ~@2:1, c@3:1: ~@3:1}@1:1"},
        TreeCase{"NullsHaveThreeSpellings", "a: null\nb: Null\nc: NULL\nd: nUll\n",
                 "{a@1:1: ~@1:1, b@2:1: ~@2:1, c@3:1: ~@3:1, d@4:1: nUll@4:4}@1:1"},
        TreeCase{"NullsStandAtTheirList", "a:\n  - 1\n  -\n", "{a@1:1: [1@2:5, ~@2:3]@2:3}@1:1"},
        TreeCase{"EmptyCollections", "a: []\nb: {}", "{a@1:1: []@1:4, b@2:1: {}@2:4}@1:1"},
        TreeCase{"CommentsAndBreaks", "# x\r\n\r\na: 1 # y\r\nb: 2\r\n",
                 "{a@3:1: 1@3:4, b@4:1: 2@4:4}@3:1"},
        TreeCase{"DocumentMarks", "---\na: 1\n...\n", "{a@2:1: 1@2:4}@2:1"},
        TreeCase{"ByteOrderMark",
                 "\xEF\xBB\xBF"
                 "a: b\n",
                 "{a@1:1: b@1:4}@1:1"},
        TreeCase{"ColumnsCountBytes", "{\xC3\xA9: 1 \xC2\xB5s, b: 2}",
                 "{\xC3\xA9@1:2: 1 \xC2\xB5s@1:6, b@1:13: 2@1:16}@1:1"},
        TreeCase{"QuotesInQuotes", "{\xC3\xA9: \"\\\"!\", b: 'it''s'}",
                 "{\xC3\xA9@1:2: '\"!'@1:6, b@1:13: 'it's'@1:16}@1:1"},
        TreeCase{"MultiLineText", "a: one\n  two\n", "{a@1:1: one two@1:4}@1:1"},
        TreeCase{"MergeKeyIsAnyKey", "<<: 1\n", "{<<@1:1: 1@1:5}@1:1"},
        TreeCase{"LiteralMarks", "a: b*c&d!e\n", "{a@1:1: b*c&d!e@1:4}@1:1"},
        TreeCase{"PairInList", "[a: 1]\n", "[{a@1:2: 1@1:5}@1:2]@1:1"},
        TreeCase{"SameKeyInTwoMaps", "a: {x: 1}\nb: {x: 2}",
                 "{a@1:1: {x@1:5: 1@1:8}@1:4, b@2:1: {x@2:5: 2@2:8}@2:4}@1:1"},
        TreeCase{"SingleValue", "x", "x@1:1"}),
    [](const auto& row) { return row.param.name; });

TEST(Documents, MayNestSixtyFourLevels) {
  const std::string text = std::string(64, '[') + std::string(64, ']');
  EXPECT_EQ(shown(parse_document(text, "a.yaml")).substr(0, 65), std::string(64, '[') + "]");
}

TEST(Documents, FindMembersByKey) {
  const Node root = parse_document("a: 1\nb: 2\n", "a.yaml");
  const Map& map = as_map(root, "scenario");
  ASSERT_NE(map.find("b"), nullptr);
  EXPECT_EQ(as_scalar(*map.find("b"), "b").text, "2");
  EXPECT_EQ(map.find("c"), nullptr);
  EXPECT_EQ(map.find("b")->position.file, "a.yaml");
}

// --- what is refused ---

struct ErrorCase {
  std::string name;
  std::string text;
  std::string expected;  // what() without the file name and the word "error"
};

std::ostream& operator<<(std::ostream& out, const ErrorCase& row) { return out << row.name; }

class DocumentErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(DocumentErrors, NameTheLineAndTheCause) {
  const auto& expected = GetParam().expected;
  const std::size_t message_start = expected.find(' ');
  EXPECT_EQ(error_in(GetParam().text), "a.yaml:" + expected.substr(0, message_start) +
                                           " error:" + expected.substr(message_start));
}

const std::string kEmpty = "1:1: empty document (holds no value)";
const std::string kNotAllowed = " are not allowed (write the value where it is used)";
const std::string kNotUtf8 = " (not UTF-8)";
const std::string kSecond =
    ": second document, or text after the first (a file holds one document)";

INSTANTIATE_TEST_SUITE_P(
    Structure, DocumentErrors,
    testing::Values(
        ErrorCase{"Empty", "", kEmpty}, ErrorCase{"WhiteSpace", " \n \n", kEmpty},
        ErrorCase{"Comments", "# a\n  # b\n", kEmpty}, ErrorCase{"MarkOnly", "---\n", kEmpty},
        ErrorCase{"Null", "null\n", kEmpty},
        ErrorCase{"Directive", "%YAML 1.2\n---\na: 1\n", "1:1: directives are not allowed"},
        ErrorCase{"TagDirective", "%TAG !x! x\n---\na: 1\n", "1:1: directives are not allowed"},
        ErrorCase{"ByteOrderMarkOnly", "\xEF\xBB\xBF", kEmpty},
        ErrorCase{"SecondDocument", "a: 1\n---\nb: 1\n", "2:1" + kSecond},
        ErrorCase{"SecondEmptyDocument", "a: 1\n---\n", "2:1" + kSecond},
        ErrorCase{"TextAfterTheEnd", "a: 1\n...\nb\n", "3:1" + kSecond},
        ErrorCase{"TwoValues", "{a: 1} {b: 2}", "1:8" + kSecond},
        ErrorCase{
            "StrayComma", ",",
            "1:1: malformed YAML (did not find expected node content while parsing a block node)"},
        ErrorCase{"Alias", "a: &x 1\nb: *x\n", "1:4: anchors" + kNotAllowed},
        ErrorCase{"AliasAlone", "a: 1\nb: *x\n", "2:4: aliases" + kNotAllowed},
        ErrorCase{"AliasAsKey", "*x : 1\n", "1:1: aliases" + kNotAllowed},
        ErrorCase{"MergedAlias", "<<: *base\n", "1:5: aliases" + kNotAllowed},
        ErrorCase{"AnchoredMap", "a: &x {b: 1}\n", "1:4: anchors" + kNotAllowed},
        ErrorCase{"AnchoredList", "a: &x [1]\n", "1:4: anchors" + kNotAllowed},
        ErrorCase{"AnchoredNull", "a: &x\n", "1:4: anchors" + kNotAllowed},
        ErrorCase{"AnchoredKey", "&x a: 1\n", "1:1: anchors" + kNotAllowed},
        ErrorCase{"Tag", "a: !!int 1\n", "1:4: tags are not allowed (each key has its type)"},
        ErrorCase{"LocalTag", "a: !x [1]\n", "1:4: tags are not allowed (each key has its type)"},
        ErrorCase{"TaggedMap", "!x {a: 1}\n", "1:1: tags are not allowed (each key has its type)"},
        ErrorCase{"TaggedNull", "a: !!null\n", "1:4: tags are not allowed (each key has its type)"},
        ErrorCase{"LoneTag", "a: ! 1\n", "1:4: tags are not allowed (each key has its type)"},
        ErrorCase{"LoneTagAlone", "!", "1:1: tags are not allowed (each key has its type)"},
        ErrorCase{"TaggedKey", "{a: 1, !x b: 2}\n",
                  "1:8: tags are not allowed (each key has its type)"},
        ErrorCase{"DuplicateKey", "x: 1\ny: 2\nx: 3\n", "3:1: duplicate key 'x' (first at line 1)"},
        ErrorCase{"DuplicateQuotedKey", "a: {x: 1,\n  'x': 2}\n",
                  "2:3: duplicate key 'x' (first at line 1)"},
        ErrorCase{"ListAsKey", "[a]: 1\n", "1:1: invalid key (must be a word, not a list)"},
        ErrorCase{"MapAsKey", "a:\n  {b: 1}: 1\n", "2:3: invalid key (must be a word, not a map)"},
        ErrorCase{"BlockListAsKey", "? - a\n: 1\n",
                  "1:3: invalid key (must be a word, not a list)"},
        ErrorCase{"NullAsKey", "~: 1\n", "1:1: missing key (a null is not a key)"},
        ErrorCase{
            "NoKey", "a: 1\n: 2\n",
            "2:1: malformed YAML (did not find expected key while parsing a block mapping that starts at line 1)"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Syntax, DocumentErrors,
    testing::Values(
        ErrorCase{"TwoColons", "a: b: c\n",
                  "1:5: malformed YAML (mapping values are not allowed in this context)"},
        ErrorCase{"OpenList", "a: [1,\n  2",
                  "2:4: malformed YAML (the file ends inside the list that starts at line 1)"},
        ErrorCase{"OpenMap", "a: {b: 1,\n",
                  "2:1: malformed YAML (the file ends inside the map that starts at line 1)"},
        ErrorCase{"OpenMapAtTheTop", "{a: 1\n",
                  "2:1: malformed YAML (the file ends inside the map that starts at line 1)"},
        ErrorCase{
            "OpenQuote", "a: \"b",
            "1:6: malformed YAML (found unexpected end of stream while scanning a quoted scalar)"},
        ErrorCase{
            "OpenQuoteBeforeBreak", "a: \"b\\\"\nc: 1\n",
            "3:1: malformed YAML (found unexpected end of stream while scanning a quoted scalar that starts at line 1)"},
        ErrorCase{
            "OpenSingleQuote", "a: 'b''\n",
            "2:1: malformed YAML (found unexpected end of stream while scanning a quoted scalar that starts at line 1)"},
        ErrorCase{
            "OpenQuoteOfKey", "'a: 1\n",
            "2:1: malformed YAML (found unexpected end of stream while scanning a quoted scalar that starts at line 1)"},
        ErrorCase{
            "WrongBracket", "a: [1}\n",
            "1:6: malformed YAML (did not find expected ',' or ']' while parsing a flow sequence)"},
        ErrorCase{"BadIndentation", "a: 1\n  b: 2\n",
                  "2:4: malformed YAML (mapping values are not allowed in this context)"},
        ErrorCase{
            "ListInMap", "a: 1\n- b\n",
            "2:1: malformed YAML (did not find expected key while parsing a block mapping that starts at line 1)"},
        ErrorCase{
            "UnknownEscape", "a: \"\\q\"\n",
            "1:5: malformed YAML (found unknown escape character while parsing a quoted scalar)"},
        ErrorCase{
            "SurrogateEscape", "a: \"\\uD800\"\n",
            "1:7: malformed YAML (found invalid Unicode character escape code while parsing a quoted scalar)"},
        ErrorCase{
            "ReservedCharacter", "a: @b\n",
            "1:4: malformed YAML (found character that cannot start any token while scanning for the next token)"},
        ErrorCase{"Tab", "a:\n\tb: 1\n",
                  "2:1: malformed YAML (a tab where a value starts; indent with spaces)"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Bytes, DocumentErrors,
    testing::Values(
        ErrorCase{"Nul", "a: 1\nb: \0"s, "2:4: invalid byte '\\x00' (a control character)"},
        ErrorCase{"EndOfTransmission", "a: \x04",
                  "1:4: invalid byte '\\x04' (a control character)"},
        ErrorCase{"Escape", "# \x1B[2J", "1:3: invalid byte '\\x1B' (a control character)"},
        ErrorCase{"Delete", "\x7F", "1:1: invalid byte '\\x7F' (a control character)"},
        ErrorCase{"Latin1", "a: \xE9t", "1:4: invalid byte '\\xE9'" + kNotUtf8},
        ErrorCase{"Continuation", "a\n\x80", "2:1: invalid byte '\\x80'" + kNotUtf8},
        ErrorCase{"CutShort", "a: \xE2\x82", "1:4: invalid byte '\\xE2'" + kNotUtf8},
        ErrorCase{"OverlongSlash", "\xC0\xAF", "1:1: invalid byte '\\xC0'" + kNotUtf8},
        ErrorCase{"OverlongTwo", "\xC1\xBF", "1:1: invalid byte '\\xC1'" + kNotUtf8},
        ErrorCase{"OverlongThree", "\xE0\x9F\xBF", "1:1: invalid byte '\\xE0'" + kNotUtf8},
        ErrorCase{"OverlongFour", "\xF0\x8F\xBF\xBF", "1:1: invalid byte '\\xF0'" + kNotUtf8},
        ErrorCase{"NotContinued", "\xC3(", "1:1: invalid byte '\\xC3'" + kNotUtf8},
        ErrorCase{"NotContinuedLater", "a: \xE2\x82(", "1:4: invalid byte '\\xE2'" + kNotUtf8},
        ErrorCase{"Surrogate", "\xED\xA0\x80", "1:1: invalid byte '\\xED'" + kNotUtf8},
        ErrorCase{"AboveUnicode", "\xF4\x90\x80\x80", "1:1: invalid byte '\\xF4'" + kNotUtf8},
        ErrorCase{"FarAboveUnicode", "\xF5\x80\x80\x80", "1:1: invalid byte '\\xF5'" + kNotUtf8},
        ErrorCase{"Utf16",
                  "\xFF\xFE"
                  "a\0"s,
                  "1:1: invalid byte '\\xFF'" + kNotUtf8}),
    [](const auto& row) { return row.param.name; });

TEST(DocumentErrors, AcceptTheEdgesOfUtf8) {
  for (const std::string& character : {"\xC2\xA0"s, "\xDF\xBF"s, "\xE0\xA0\x80"s, "\xED\x9F\xBF"s,
                                       "\xEE\x80\x80"s, "\xF0\x90\x80\x80"s, "\xF4\x8F\xBF\xBF"s})
    EXPECT_EQ(error_in("a: x" + character), "") << printable(character);
}

TEST(DocumentErrors, EscapeWhatDisturbsATerminal) {
  EXPECT_EQ(printable("\xC3\xA9 \xE2\x82\xAC"), "\xC3\xA9 \xE2\x82\xAC");
  EXPECT_EQ(printable("\xC2\x9B\xC2\xA0"), "\\xC2\\x9B\xC2\xA0");  // C1 control
  EXPECT_EQ(printable("\xE2\x80\xA8\xE2\x80\xA7"),
            "\\xE2\\x80\\xA8\xE2\x80\xA7");  // line separator
  EXPECT_EQ(printable("\xE2\x81\xA9\xE2\x81\xAA"), "\\xE2\\x81\\xA9\xE2\x81\xAA");  // direction
  EXPECT_EQ(printable("a\x7F\xFF"), "a\\x7F\\xFF");
  EXPECT_EQ(printable(std::string(60, 'x')), std::string(60, 'x'));
}

TEST(DocumentErrors, KnowWhatIsPrintable) {
  EXPECT_TRUE(is_printable(""));
  EXPECT_TRUE(is_printable("a ~\xC3\xA9\xE2\x82\xAC"));
  EXPECT_FALSE(is_printable("a\nb"));
  EXPECT_FALSE(is_printable("a\x7F"));
  EXPECT_FALSE(is_printable("\xC3"));
  EXPECT_FALSE(is_printable("\xC3\xA9\xE2\x80\xAE"));
}

TEST(DocumentErrors, StayOnOnePrintableLine) {
  const std::string key = "\"\\e[2J\\n\\u202E" + std::string(100, 'x') + "\"";
  EXPECT_EQ(error_of([&key] { parse_document(key + ": 1\n" + key + ": 2\n", "a\n.yaml"); }),
            "a\\x0A.yaml:2:1: error: duplicate key '\\x1B[2J\\x0A\\xE2\\x80\\xAE" +
                std::string(37, 'x') + "...' (first at line 1)");
}

TEST(DocumentErrors, AreMadeByTheCallerForNodesOfTheWrongKind) {
  const Node root = parse_document("a: [1]\nb: {c: 1}\nd: x\ne:\n", "a.yaml");
  const Map& map = as_map(root, "scenario");
  EXPECT_EQ(error_of([&] { as_map(*map.find("a"), "model"); }),
            "a.yaml:1:4: error: invalid model (must be a map, not a list)");
  EXPECT_EQ(error_of([&] { as_list(*map.find("b"), "axis"); }),
            "a.yaml:2:4: error: invalid axis (must be a list, not a map)");
  EXPECT_EQ(error_of([&] { as_map(*map.find("d"), "model"); }),
            "a.yaml:3:4: error: invalid model 'x' (must be a map)");
  EXPECT_EQ(error_of([&] { as_list(*map.find("e"), "axis"); }),
            "a.yaml:4:1: error: invalid axis '' (must be a list)");
  EXPECT_EQ(error_of([&] { as_scalar(*map.find("a"), "name"); }),
            "a.yaml:1:4: error: invalid name (must be a single value, not a list)");
}

// --- hostile sizes ---

/// Far above what any text here needs, far below what a quadratic algorithm takes; sanitizers
/// included.
constexpr std::chrono::seconds kSoon{5};

struct HostileCase {
  std::string name;
  LongText text;
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const HostileCase& row) { return out << row.name; }

class HostileDocuments : public testing::TestWithParam<HostileCase> {};

TEST_P(HostileDocuments, AreRefusedSoon) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(error_in(GetParam().text), GetParam().expected);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kSoon);
}

/// One more space of indentation per line.
std::string staircase(const std::string& line, int num_lines) {
  std::string text;
  for (int i = 0; i < num_lines; ++i) text += std::string(static_cast<std::size_t>(i), ' ') + line;
  return text;
}

std::string too_deep_at(const std::string& position) {
  return "a.yaml:" + position + ": error: nested too deeply (more than 64 levels)";
}

INSTANTIATE_TEST_SUITE_P(
    Texts, HostileDocuments,
    testing::Values(
        HostileCase{"SixtyFiveLevels", std::string(65, '[') + std::string(65, ']'),
                    too_deep_at("1:65")},
        HostileCase{"OpenBrackets", repeated("[", 1'000'000), too_deep_at("1:65")},
        HostileCase{"OpenBraces", repeated("{", 1'000'000),
                    "a.yaml:1:2: error: invalid key (must be a word, not a map)"},
        HostileCase{"OpenBracketsOnLines", repeated("[\n", 500'000), too_deep_at("65:1")},
        HostileCase{
            "FewOpenBrackets", repeated("[", 64),
            "a.yaml:1:65: error: malformed YAML (the file ends inside the list that starts at line 1)"},
        HostileCase{"WideList", "[" + repeated("1,", 499'999) + "]", ""},
        HostileCase{"WideOpenMap", "{" + repeated("a,", 499'999),
                    "a.yaml:1:4: error: duplicate key 'a' (first at line 1)"},
        HostileCase{"Dashes", repeated("- ", 200'000), too_deep_at("1:129")},
        HostileCase{"QuestionMarks", repeated("? ", 200'000),
                    "a.yaml:1:3: error: invalid key (must be a word, not a map)"},
        HostileCase{"Quotes", repeated("\"", 200'000), "a.yaml:1:3: error" + kSecond},
        HostileCase{
            "Keys", repeated("a: ", 200'000),
            "a.yaml:1:5: error: malformed YAML (mapping values are not allowed in this context)"},
        HostileCase{"Tags", repeated("!a ", 200'000),
                    "a.yaml:1:1: error: tags are not allowed (each key has its type)"},
        HostileCase{"NestedKeys", staircase("a:\n", 1'000), too_deep_at("65:65")},
        HostileCase{"NestedDashes", staircase("-\n", 1'000), too_deep_at("65:65")},
        HostileCase{"NestedQuestionMarks", staircase("?\n", 1'000),
                    "a.yaml:2:2: error: invalid key (must be a word, not a map)"},
        HostileCase{"NestedBrackets", repeated("a: [", 200'000), too_deep_at("1:129")},
        HostileCase{"TooLarge", repeated(" ", 1'000'001),
                    "a.yaml:1:1: error: file too large (at most 1 MB)"}),
    [](const auto& row) { return row.param.name; });

TEST(HostileDocuments, WithManyKeysAreReadSoon) {
  std::string text;
  for (int i = 0; text.size() < kMaxFileBytes - 10; ++i) text += fmt::format("k{}:\n", i);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_GT(as_map(parse_document(text, "a.yaml"), "it").members.size(), 100'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kSoon);
}

TEST(HostileDocuments, OfRandomPunctuationThrowOnlyInputErrors) {
  const std::string alphabet = "[]{}:,-?&*!|>'\"%@`#~<.\\ab01 \n\t\r  \n\n::--\xC3\xA9\x04";
  std::mt19937 generator(20'241);
  const auto draw = [&generator](std::size_t limit) { return generator() % limit; };
  const auto start = std::chrono::steady_clock::now();
  int num_read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text(draw(40) + 1, ' ');
    for (char& c : text) c = alphabet[draw(alphabet.size())];
    SCOPED_TRACE(printable(text, 1'000));
    ASSERT_NO_THROW(num_read += error_in(text).empty() ? 1 : 0);
  }
  EXPECT_GT(num_read, 100) << "too few valid texts to mean anything";
  EXPECT_LT(std::chrono::steady_clock::now() - start, 12 * kSoon);
}

}  // namespace
}  // namespace depthcost::document_test
