// Text that any JSON parser reads back: layout, escapes, shortest numbers, stable bytes.
#include "reports/formats/json_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "reports/documents/answer_documents.hpp"
#include "tests/parsed_json.hpp"
#include "tests/studies.hpp"

namespace depthcost::json_writer_test {
namespace {

using Json = nlohmann::ordered_json;

std::string kimi_k3() { return to_json(evaluate(test::kimi_k3_study()), {}, {"0.1.0", {}}); }

std::string written(const auto& write) {
  JsonWriter json;
  write(json);
  return std::move(json).text();
}

int significant_digits(std::string text) {
  text = text.substr(0, text.find('e'));
  std::erase_if(text, [](char c) { return c == '-' || c == '.'; });
  return static_cast<int>(text.size() - std::min(text.find_first_not_of('0'), text.size()));
}

TEST(JsonWriter, IndentsByTwoAndKeepsListsOnOneLine) {
  const std::array<Count, 3> list{1, -2, 3};
  EXPECT_EQ(written([&](JsonWriter& json) {
              json.object([&] {
                json.object("empty", [] {});
                json.list("list", list);
                json.list("no_list", {});
                json.array("rows", [&] {
                  json.object([&] { json.member("k", -1); });
                  json.value(2.5);
                });
                json.array("none", [] {});
                json.member("a\"b", true);
                json.member("missing", std::optional<double>{});
                json.text_or_null("no_text", "");
                json.text_or_null("text", "t");
              });
            }),
            R"({
  "empty": {},
  "list": [1, -2, 3],
  "no_list": [],
  "rows": [
    {
      "k": -1
    },
    2.5
  ],
  "none": [],
  "a\"b": true,
  "missing": null,
  "no_text": null,
  "text": "t"
}
)");
}

TEST(JsonWriter, SurvivesWhatIsNoNumberAndNoUtf8) {
  const auto value = [](const auto& content) {
    return written([&](JsonWriter& json) { json.value(content); });
  };
  EXPECT_EQ(value(std::numeric_limits<double>::infinity()), "null\n");
  EXPECT_EQ(value(std::numeric_limits<double>::quiet_NaN()), "null\n");
  EXPECT_EQ(value("a\xff"), "\"a\uFFFD\"\n");
  EXPECT_EQ(value("line\nfeed \\ \u00b5"), "\"line\\nfeed \\\\ \u00b5\"\n");
}

TEST(JsonWriter, WritesTwelveDigitsAndFiniteNumbersOnly) {
  const std::string text = kimi_k3();
  int visited = 0;
  for (std::size_t at = text.find("_seconds\": "); at != std::string::npos;
       at = text.find("_seconds\": ", at)) {
    at += std::string("_seconds\": ").size();
    const std::string number = text.substr(at, text.find_first_of(",\n", at) - at);
    EXPECT_LE(significant_digits(number), 12) << number;
    ++visited;
  }
  EXPECT_GT(visited, 1000);
}

TEST(JsonWriter, IsStableAndReadsBackTheSame) {
  const std::string text = kimi_k3();
  EXPECT_EQ(text, kimi_k3());
  const Json json = test::parsed_in_order(text);
  EXPECT_EQ(test::parsed_in_order(json.dump()), json);
}

}  // namespace
}  // namespace depthcost::json_writer_test
