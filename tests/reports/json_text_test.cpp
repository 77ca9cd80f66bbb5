// JSON as text: shortest numbers, stable bytes, and the layout.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "reports/json.hpp"
#include "tests/studies.hpp"

namespace depthcost {
namespace {

using Json = nlohmann::ordered_json;

Json kimi_k3() { return to_json(evaluate(test::kimi_k3_study()), {}, {"0.1.0", {}}); }

void for_each_number(const Json& json, const std::function<void(const Json&)>& visit) {
  if (json.is_number()) visit(json);
  if (!json.is_structured()) return;
  for (const Json& element : json) for_each_number(element, visit);
}

int significant_digits(std::string text) {
  text = text.substr(0, text.find('e'));
  std::erase_if(text, [](char c) { return c == '-' || c == '.'; });
  return static_cast<int>(text.size() - std::min(text.find_first_not_of('0'), text.size()));
}

TEST(JsonText, WritesTwelveDigitsAndFiniteNumbersOnly) {
  int visited = 0;
  for_each_number(kimi_k3(), [&](const Json& number) {
    ++visited;
    if (!number.is_number_float()) return;
    EXPECT_TRUE(std::isfinite(number.get<double>()));
    const std::string text = json_text(number);
    EXPECT_LE(significant_digits(text.substr(0, text.size() - 1)), 12) << text;
  });
  EXPECT_GT(visited, 1000);
}

TEST(JsonText, IsStableAndReadsBackTheSame) {
  const Json json = kimi_k3();
  const std::string text = json_text(json);
  EXPECT_EQ(text, json_text(kimi_k3()));
  EXPECT_EQ(Json::parse(text), json);
  EXPECT_EQ(json_text(Json::parse(text)), text);
}

TEST(JsonText, IndentsByTwoAndKeepsListsOfValuesOnOneLine) {
  const Json json{{"empty", Json::object()},
                  {"list", {1, 2.5, nullptr, "a\"b", true}},
                  {"rows", Json::array({Json{{"k", -1}}})},
                  {"none", Json::array()}};
  EXPECT_EQ(json_text(json), R"({
  "empty": {},
  "list": [1, 2.5, null, "a\"b", true],
  "rows": [
    {
      "k": -1
    }
  ],
  "none": []
}
)");
}

TEST(JsonText, SurvivesWhatIsNoNumberAndNoUtf8) {
  EXPECT_EQ(json_text(Json(std::numeric_limits<double>::infinity())), "null\n");
  EXPECT_EQ(json_text(Json("a\xff")), "\"a\uFFFD\"\n");
}

}  // namespace
}  // namespace depthcost
