// Strict JSON with the place of every value.
#include "scenarios/text/json_document.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/long_text.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::json_document_test {
using test::LongText;
using test::repeated;

namespace {

std::string error_of(const std::string& text) {
  try {
    parse_json(text, "it.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string place(const Node& node) {
  return fmt::format("{}:{}", node.position.line, node.position.column);
}

TEST(JsonDocument, KnowsThePlaceOfEachValueAndKey) {
  const Node root = parse_json(
      "{\n"
      "  \"a\": 12,\n"
      "  \"b\" : [1.5e3,-2 , {\"c\":null}],\r\n"
      "\t\"d:,\\\"\": \"x, y\", \"e\": true\n"
      "}\n",
      "it.json");
  const Map& map = as_map(root, "root");
  EXPECT_EQ(place(root), "1:1");
  ASSERT_EQ(map.members.size(), 4U);
  EXPECT_EQ(place(map.members[0].value), "2:8");
  EXPECT_EQ(map.members[0].position.column, 3);
  const List& list = as_list(map.members[1].value, "b");
  EXPECT_EQ(place(map.members[1].value), "3:9");
  EXPECT_EQ(place(list.items[0]), "3:10");
  EXPECT_EQ(place(list.items[1]), "3:16");
  EXPECT_EQ(place(list.items[2]), "3:21");
  EXPECT_EQ(place(as_map(list.items[2], "c").members[0].value), "3:26");
  EXPECT_EQ(map.members[2].key, "d:,\"");
  EXPECT_EQ(map.members[2].position.column, 2);
  EXPECT_EQ(place(map.members[2].value), "4:11");
  EXPECT_EQ(place(map.members[3].value), "4:24");
}

/// The text from a one-based line and column on.
std::string_view at(std::string_view text, const Position& position) {
  for (int line = 1; line < position.line; ++line) text.remove_prefix(text.find('\n') + 1);
  return text.substr(static_cast<std::size_t>(position.column - 1));
}

void expect_to_stand_there(const Node& node, std::string_view text) {
  const std::string_view here = at(text, node.position);
  if (const auto* scalar = std::get_if<ScalarNode>(&node.content)) {
    const std::string written = scalar->is_null() ? "null" : scalar->text;
    EXPECT_TRUE(here.starts_with(scalar->quoted ? '"' + written + '"' : written)) << written;
  } else if (const auto* list = std::get_if<List>(&node.content)) {
    EXPECT_TRUE(here.starts_with('['));
    for (const Node& item : list->items) expect_to_stand_there(item, text);
  } else {
    EXPECT_TRUE(here.starts_with('{'));
    for (const Member& member : std::get<Map>(node.content).members) {
      EXPECT_TRUE(at(text, member.position).starts_with('"' + member.key + '"')) << member.key;
      expect_to_stand_there(member.value, text);
    }
  }
}

TEST(JsonDocument, FindsEachValueOfAConfigWhereItStands) {
  for (const std::string config : {"kimi_k3", "gpt_oss_120b", "deepseek_v4_pro", "gpt2"}) {
    SCOPED_TRACE(config);
    const std::string text = test::content_of(
        fmt::format("{}/tests/scenarios/configs/{}.json", DEPTHCOST_SOURCE_DIR, config));
    expect_to_stand_there(parse_json(text, config), text);
  }
}

TEST(JsonDocument, KeepsNumbersAsWrittenAndTextsQuoted) {
  const Node root = parse_json("[1048576, 1E+2, \"12\", null, false, \"\\u00e9\"]", "it.json");
  const List& list = as_list(root, "root");
  const auto scalar = [&](std::size_t i) { return as_scalar(list.items[i], "it"); };
  EXPECT_EQ(scalar(0).text, "1048576");
  EXPECT_FALSE(scalar(0).quoted);
  EXPECT_EQ(scalar(1).text, "1E+2");
  EXPECT_EQ(scalar(2).text, "12");
  EXPECT_TRUE(scalar(2).quoted);
  EXPECT_TRUE(scalar(3).is_null());
  EXPECT_EQ(scalar(4).text, "false");
  EXPECT_EQ(scalar(5).text, "\xC3\xA9");
}

struct Case {
  std::string name;
  LongText text;
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const Case& row) { return out << row.name; }

class BadJson : public testing::TestWithParam<Case> {};

TEST_P(BadJson, GivesOneLineWithItsPlace) {
  const std::string text = GetParam().text;
  EXPECT_EQ(error_of(text), "it.json:" + GetParam().expected);
}

TEST(JsonDocument, HasNoMoreValuesThanMemoryFor) {
  const std::string text =
      "[\n" + std::string(repeated("0,", static_cast<int>(kMaxJsonValues))) + "0]";
  try {
    parse_json(text, "it.json", text.size());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "it.json:2:8000001: error: more than 4000000 values");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadJson,
    testing::ValuesIn(std::vector<Case>{
        {"Empty", "", "1:1: error: empty document (holds no value)"},
        {"DuplicateKey", "{\"a\": 1,\n \"a\": 2}",
         "2:2: error: duplicate key 'a' (first at line 1)"},
        {"NotANumber", "{\"a\":\n NaN}", "2:2: error: malformed JSON ('NaN' is no number of JSON)"},
        {"Infinite", "{\"a\": [0.0, -Infinity]}",
         "1:13: error: malformed JSON ('-Infinity' is no number of JSON)"},
        {"DeepArrays", repeated("[", 1'000'000),
         "1:65: error: nested too deeply (more than 64 levels)"},
        {"DeepObjects", repeated("{\"a\":", 200'000),
         "1:321: error: nested too deeply (more than 64 levels)"},
        {"StrayComma", "{\"a\": 1,}",
         "1:9: error: malformed JSON (unexpected '}'; expected string literal)"},
        {"OpenObject", "{\"a\": 1",
         "1:8: error: malformed JSON (unexpected end of input; expected '}')"},
        {"SingleQuotes", "{'a': 1}",
         "1:2: error: malformed JSON (invalid literal; expected string literal)"},
        {"Yaml", "# YAML\na: 1\n", "1:1: error: malformed JSON (invalid literal)"},
        {"SecondValue", "{\"a\": 1} {\"b\": 2}",
         "1:10: error: malformed JSON (unexpected '{'; expected end of input)"},
        {"Octal", "{\"a\": 01}",
         "1:8: error: malformed JSON (unexpected number literal; expected '}')"},
        {"Overflow", "{\"a\": 1e999}",
         "1:11: error: malformed JSON (number overflow parsing '1e999')"},
        {"OpenText", "{\"a\": \"b",
         "1:9: error: malformed JSON (invalid string: missing closing quote)"},
        {"Control", std::string("{\"a\x01\": 1}"),
         "1:4: error: invalid byte '\\x01' (a control character)"},
        {"NotUtf8", "{\"a\": \"\xFF\"}", "1:8: error: invalid byte '\\xFF' (not UTF-8)"},
        {"Large", repeated(" ", 1'000'001), "1:1: error: file too large (at most 1 MB)"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace depthcost::json_document_test
