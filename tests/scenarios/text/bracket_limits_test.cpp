// Limits of brackets, which are checked before the parser reads a text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "scenarios/read/scenario.hpp"
#include "tests/long_text.hpp"
#include "tests/scenarios/read/bad_input.hpp"
#include "tests/scenarios/read/parsed.hpp"

namespace depthcost::bracket_limits_test {
namespace {

using namespace test;

TEST(Brackets, AmidTextsAreNotCounted) {
  const std::string many = repeated("[ ", 100);
  for (const std::string& text :
       {"name: a " + many + "\n", "name: \"" + many + "\"\n", "name: 'it''s " + many + "'\n",
        "name: x # " + many + "\n", "# " + many + "\nname: x\n",
        "name: {value: \"\\\" " + many + "\", source: '" + many + "', date: x} # " + many + "\n",
        "name: \"a" + many + "\n  b" + many + "\"\n"})
    EXPECT_EQ(error_of([&] { parse_scenario(kimi(text), "it.yaml"); }), "") << text;
}

TEST(Brackets, AreCountedWhereAValueMayStart) {
  const std::string many = repeated("[", 65);
  const std::string deep = ": error: nested deeper than 64 levels";
  const auto error = [](const std::string& text) {
    return error_of([&] { parse_scenario(kimi(text), "it.yaml"); });
  };
  EXPECT_EQ(error("a: " + many), "it.yaml:3:68" + deep);
  EXPECT_EQ(error("a:\n  " + many), "it.yaml:4:67" + deep);
  EXPECT_EQ(error("- " + many), "it.yaml:3:67" + deep);
  EXPECT_EQ(error("\"a\": " + many), "it.yaml:3:70" + deep);
  EXPECT_EQ(error("a: [b" + many), "it.yaml:3:69" + deep);
  EXPECT_EQ(error("\"a\" " + many), "it.yaml:3:69" + deep);
  EXPECT_EQ(error("a: 'b'" + many), "it.yaml:3:71" + deep);
  EXPECT_EQ(error("a: &b " + many), "it.yaml:3:71" + deep);
  EXPECT_EQ(error("a: *b " + many), "it.yaml:3:71" + deep);
  EXPECT_EQ(error("a: !b " + many), "it.yaml:3:71" + deep);
}

TEST(Brackets, HoldAsMuchAsALargeLayoutNeeds) {
  const std::string layers = fmt::format("num_layers: 65536, hidden_size: 8, dtype: bf16");
  const auto chunks = [&](int num_chunks) {
    return model(layers,
                 fmt::format("residual: {{scheme: standard}}\nparallelism: {{pipeline: 65536, "
                             "chunk_layers: [{}1]}}\n",
                             std::string(repeated("1, ", num_chunks - 1))));
  };
  EXPECT_EQ(error_of([&] { parse_scenario(chunks(65536), "it.yaml"); }), "");
  EXPECT_EQ(error_of([&] { parse_scenario(chunks(140'000), "it.yaml"); }),
            "it.yaml:4:393249: error: too many values in one pair of brackets (more than 131072 "
            "marks)");
}

}  // namespace
}  // namespace depthcost::bracket_limits_test
