// From any number to its equation, its source and its one function: nothing may point into the
// void.
#include "reports/explain.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "scenarios/scenario.hpp"
#include "tests/studies.hpp"

namespace depthcost {
namespace {

std::string source_file(const std::string& path) {
  std::ifstream file(std::string(DEPTHCOST_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Explanation explained(const Evaluation& evaluation, const std::string& metric) {
  const auto explanation = explain(evaluation, metric);
  EXPECT_TRUE(explanation.has_value()) << metric;
  return explanation.value_or(Explanation{});
}

/// "model/operation.hpp: operations::a, b*; model/time.cpp: c" -> (file, name) pairs.
std::vector<std::pair<std::string, std::string>> places(const std::string& function) {
  std::vector<std::pair<std::string, std::string>> found;
  std::stringstream parts(function);
  for (std::string part; std::getline(parts, part, ';');) {
    const auto colon = part.find(": ");
    const std::string file =
        part.substr(part.find_first_not_of(' '), colon - part.find_first_not_of(' '));
    std::stringstream names(part.substr(colon + 2));
    for (std::string name; std::getline(names, name, ',');) {
      name.erase(0, name.find_first_not_of(' '));
      if (name.starts_with("operations::")) name.erase(0, std::string("operations::").size());
      if (name.ends_with("*")) name.pop_back();
      found.emplace_back(file, name);
    }
  }
  return found;
}

TEST(Explain, NamesAFunctionThatStandsInTheNamedFile) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  std::size_t checked = 0;
  for (const std::string& metric : explainable_metrics(evaluation))
    for (const auto& [file, name] : places(explained(evaluation, metric).function)) {
      EXPECT_NE(source_file(file).find(name), std::string::npos)
          << metric << ": " << file << " " << name;
      ++checked;
    }
  EXPECT_GT(checked, 60U);
}

TEST(Explain, CitesOnlyKeysOfTheReferences) {
  const std::string references = source_file("model/REFERENCES.md");
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  for (const std::string& metric : explainable_metrics(evaluation)) {
    const std::string source = explained(evaluation, metric).source;
    const auto open = source.find('[');
    ASSERT_NE(open, std::string::npos) << metric;
    const std::string key = source.substr(open, source.find(']') - open + 1);
    EXPECT_NE(references.find("## " + key), std::string::npos) << key;
    const auto section = source.find("REFERENCES.md, ");
    if (section == std::string::npos) {
      EXPECT_EQ(source.find("[ours] "), source.find("[ours] from")) << source;
      continue;
    }
    EXPECT_NE(references.find("### " + source.substr(section + 15)), std::string::npos) << source;
  }
}

TEST(Explain, KnowsEveryShippedScenario) {
  const auto folder = std::filesystem::path(DEPTHCOST_SOURCE_DIR) / "scenarios";
  std::size_t checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    const Evaluation evaluation = evaluate(read_scenario(entry.path().string()).study);
    for (const std::string& metric : explainable_metrics(evaluation)) {
      const Explanation explanation = explained(evaluation, metric);
      EXPECT_EQ(explanation.metric, metric);
      EXPECT_FALSE(explanation.formula.empty()) << metric;
      EXPECT_FALSE(explanation.numbers.empty()) << metric;
    }
    ++checked;
  }
  EXPECT_GE(checked, 10U);
}

TEST(Explain, SubstitutesTheNumbersOfKimiK3) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  EXPECT_EQ(to_text(explained(evaluation, "ledger.block_attnres.two_phase.kernel")),
            R"(ledger.block_attnres.two_phase.kernel
  formula   Phase 1 of block 1: 1 r, S w; of block n >= 2: n + 1 r, S + 1 w; second layer: 2 r, 1 w; later: 3 r, 2 w
  source    [ours] REFERENCES.md, operations
  numbers   L = 186, S = 24, N = 8, last block 18
  numbers   d-vectors by block of 24 layers: 138 + 141 + 142 + 143 + 144 + 145 + 146 + 111
  numbers   all layers: 569 r + 541 w = 1110 d-vectors, 712 scalars
  numbers   mean over 186 layers: 5.96774 d = 85568.9 bytes a token
  function  model/operation.hpp: operations::block_phase1, block_phase2
)");
  EXPECT_EQ(to_text(explained(evaluation, "prefill.bank_bytes_per_device")),
            R"(prefill.bank_bytes_per_device
  formula   N ceil(min(T, chunk) / P) d elements
  source    [attnres] Sec. 4.2
  numbers   L = 186, S = 24, N = 8, last block 18
  numbers   ceil(min(131072, 16384) / 8) = 2048 tokens a device
  numbers   d = 7168, bf16
  numbers   = 234881024 bytes
  function  model/prefill.hpp: bank_bytes
)");
}

TEST(Explain, KnowsNoMetricThatIsNotThere) {
  EXPECT_FALSE(explain(evaluate(test::kimi_k3_study()), "ledger.block_attnres.fused.kernel"));
}

}  // namespace
}  // namespace depthcost
