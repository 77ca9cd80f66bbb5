// The family in words and in JSON.
#include "reports/topics/family/family_section.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/evaluation/evaluation.hpp"
#include "reports/documents/answer_documents.hpp"
#include "tests/parsed_json.hpp"
#include "tests/studies.hpp"

namespace depthcost::family_section_test {
namespace {

std::vector<FamilyRow> rows() { return family_rows(test::kimi_k3_study()); }

std::vector<std::string> cells_of(const Table& table, const std::string& scheme) {
  for (const auto& row : table.rows)
    if (row.front() == scheme) return row;
  ADD_FAILURE() << "no row " << scheme;
  return {};
}

TEST(FamilyTable, PutsCountsInOrderOfCost) {
  const Table table = family_table(rows(), FamilyColumns::terminal);
  const auto first = [&](std::size_t columns, const std::string& scheme) {
    const auto cells = cells_of(table, scheme);
    return std::vector<std::string>(cells.begin(),
                                    cells.begin() + static_cast<std::ptrdiff_t>(columns));
  };
  EXPECT_EQ(table.rows.front().front(), "post_norm");
  EXPECT_EQ(first(5, "mhc"), (std::vector<std::string>{"mhc", "fused", "18 d", "31 d", "4 d"}));
  EXPECT_EQ(first(5, "single_pass_mhc"),
            (std::vector<std::string>{"single_pass_mhc", "one_pass", "10 d", "19 d", "4 d"}));
  const Table wide = family_table(rows(), FamilyColumns::all);
  EXPECT_EQ(wide.columns[2].header, "unfused");
}

TEST(FamilyTable, IsAsWideAsItsHeader) {
  for (const FamilyColumns columns : {FamilyColumns::terminal, FamilyColumns::all}) {
    const Table table = family_table(rows(), columns);
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
  }
}

TEST(FamilyTable, LeavesOutWhatTheModelCannotHaveAndSaysWhy) {
  Study study = test::kimi_k3_study();
  study.scheme_parameters.window = study.model.num_layers + 1;
  const std::vector<FamilyRow> all = family_rows(study);
  EXPECT_EQ(family_table(all, FamilyColumns::terminal).rows.size(), all.size() - 1);
  EXPECT_EQ(
      family_problems(all),
      std::vector<std::string>{"no row: attnres_sliding_window (window more than 186 layers)"});
}

TEST(FamilyJson, HasARowForEveryScheme) {
  const Study study = test::kimi_k3_study();
  const auto json = test::parsed_json(family_json(study, rows(), "1"));
  EXPECT_EQ(json.at("schema_version"), 1);
  ASSERT_EQ(json.at("family").size(), rows().size());
  for (const auto& row : json.at("family")) {
    if (row.at("scheme") != "deep_delta") continue;
    EXPECT_EQ(row.at("unfused_reads_d"), 11);
    EXPECT_EQ(row.at("unfused_writes_d"), 6);
    EXPECT_EQ(row.at("reads_d"), 6);
    EXPECT_EQ(row.at("writes_d"), 5);
    // 18 d, but at the last layer one less.
    EXPECT_NEAR(row.at("backward_reads_d").get<double>(), 12 - 1.0 / 186, 1e-9);
    EXPECT_EQ(row.at("backward_writes_d"), 6);
    EXPECT_EQ(row.at("backward_kernels"), 1);
    EXPECT_EQ(row.at("state_d"), 4);
  }
}

TEST(ExplainedFamily, LeadsToRuleReferenceKernelAndBenchmark) {
  std::string text;
  for (const FamilyRow& row : rows())
    if (name(row.path.scheme) == "layerscale") text = to_text(explain_family_row(row));
  EXPECT_TRUE(
      text.starts_with("family.layerscale\n"
                       "  formula   h_l = h_{l-1} + diag(lambda_l) f_{l-1}(h_{l-1})\n"
                       "  source    [attnres] Table 5; Touvron et al., arXiv:2103.17239\n"
                       "  numbers   L = 186\n"))
      << text;
  EXPECT_NE(text.find("reference: kernels/reference/scaled_residual.hpp"), std::string::npos);
  EXPECT_NE(text.find("bench_kernels --benchmark_filter='/scaled_add_rmsnorm/'"),
            std::string::npos);
}

TEST(ExplainedFamily, LeadsFromEachAblationToItsOwnBenchmark) {
  std::size_t checked = 0;
  for (const FamilyRow& row : rows()) {
    const std::string id(name(row.path.scheme));
    if (!id.starts_with("attnres_")) continue;
    const std::string benchmark = id == "attnres_input_independent"
                                      ? "dense_mix"
                                      : "attnres_single_pass/" + id.substr(id.find('_') + 1);
    const std::string text = to_text(explain_family_row(row));
    EXPECT_NE(text.find("bench_kernels --benchmark_filter='/" + benchmark + "/'"),
              std::string::npos)
        << text;
    ++checked;
  }
  EXPECT_EQ(checked, 6U);
}

TEST(ExplainedFamily, IsAmongTheMetricsOfAnEvaluationThatHasIt) {
  const Study study = test::kimi_k3_study();
  EXPECT_TRUE(explain(evaluate_with_family(study), "family.mrla"));
  EXPECT_FALSE(explain(evaluate(study), "family.mrla"));
}

}  // namespace
}  // namespace depthcost::family_section_test
