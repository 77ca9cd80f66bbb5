// The ledger against the golden files, the figures of the paper and of Kimi K3, and itself.
#include "model/ledger/ledger.hpp"

#include <gtest/gtest.h>

#include <map>

#include "model/ledger/arithmetic.hpp"
#include "model/schemes/list.hpp"
#include "tests/golden.hpp"

namespace depthcost::ledger_test {
namespace {

using nlohmann::json;

/// The golden files name a scheme and its schedule in one word.
struct GoldenKey {
  Scheme scheme;
  Schedule schedule;
};

Partition golden_partition(const json& entry) {
  const auto sizes = entry.at("block_sizes").get<std::vector<Count>>();
  return {.num_layers = entry.at("L").get<Count>(),
          .block_size = sizes.front(),
          .num_blocks = static_cast<Count>(sizes.size()),
          .last_size = sizes.back()};
}

GoldenKey scheme_of(const std::string& word, const json& entry) {
  const Partition p = golden_partition(entry);
  if (word == "standard") return {Scheme{schemes::kStandard}, Schedule::unfused};
  if (word == "mhc")
    return {Scheme{schemes::kMhc, {.num_streams = entry.at("m").get<Count>()}}, Schedule::unfused};
  const Schedule schedule =
      word.ends_with("two_phase") ? Schedule::two_phase : Schedule::single_pass;
  if (word.starts_with("full")) return {Scheme{schemes::kFullAttnRes, {.blocks = p}}, schedule};
  return {Scheme{schemes::kBlockAttnRes, {.blocks = p}}, schedule};
}

Convention convention_of(const std::string& word) {
  static const std::map<std::string, Convention> all{
      {"appendixB", Convention::appendixB},
      {"appendixB_emb", Convention::appendixB_emb},
      {"tied", Convention::tied},
      {"physical", Convention::physical},
      {"", Convention::paper},
      {"physical_unfused", Convention::physical_unfused}};
  return all.at(word);
}

std::vector<double> as_row(const Traffic& t) {
  return {t.reads_d, t.reads_scalars, t.writes_d, t.writes_scalars};
}

void expect_mean(const ResidualPath& path, Counting counting, const json& expected,
                 const std::string& where) {
  const auto total = as_row(total_traffic(path, counting));
  for (std::size_t i = 0; i < 4; ++i) {
    const auto mean = test::fraction(expected.at(i).get<std::string>());
    EXPECT_EQ(total[i] * mean.denominator, mean.numerator * static_cast<double>(path.num_layers))
        << where;
  }
}

void check_scheme(const json& entry, const std::string& key, const json& expected) {
  const auto slash = key.find('/');
  const std::string word = key.substr(0, slash);
  const Convention convention =
      convention_of(slash == std::string::npos ? "" : key.substr(slash + 1));
  const GoldenKey golden = scheme_of(word, entry);
  const ResidualPath path{golden.scheme, entry.at("L").get<Count>()};
  const Counting counting{golden.schedule, convention};
  const std::string where = key + " of " + entry.at("spec").dump() + " L=" + entry.at("L").dump();
  if (word.ends_with("output")) {
    EXPECT_EQ(as_row(output_traffic(path, counting)), expected.at("total")) << where;
    return;
  }
  EXPECT_EQ(as_row(total_traffic(path, counting)), expected.at("total")) << where;
  expect_mean(path, counting, expected.at("mean"), where);
  if (!expected.contains("per_layer")) return;
  for (Count layer = 1; layer <= path.num_layers; ++layer)
    EXPECT_EQ(as_row(layer_traffic(path, counting, layer)),
              expected.at("per_layer").at(static_cast<std::size_t>(layer - 1)))
        << where << " layer " << layer;
}

TEST(Ledger, MatchesEveryGoldenCaseOfEveryConvention) {
  const auto golden = test::load_golden("io_per_layer.json");
  std::size_t checked = 0;
  for (const auto& entry : golden.at("cases"))
    for (const auto& [key, expected] : entry.at("schemes").items()) {
      check_scheme(entry, key, expected);
      ++checked;
    }
  EXPECT_EQ(checked, 40U * 32U);
}

TEST(Ledger, MatchesTheGoldenMeanElements) {
  const auto golden = test::load_golden("io_per_layer.json");
  for (const auto& entry : golden.at("cases"))
    for (const auto& [key, expected] : entry.at("schemes").items()) {
      if (!expected.contains("mean_elements")) continue;
      const auto row = expected.at("total").get<std::vector<double>>();
      const auto mean = test::fraction(expected.at("mean_elements").get<std::string>());
      const double d = entry.at("d").get<double>();
      const double L = entry.at("L").get<double>();
      EXPECT_EQ(((row[0] + row[2]) * d + row[1] + row[3]) * mean.denominator, mean.numerator * L);
    }
}

TEST(Table1, MatchesTheGoldenFormulas) {
  const auto golden = test::load_golden("io_per_layer.json");
  std::size_t checked = 0;
  for (const auto& entry : golden.at("cases")) {
    if (!entry.contains("table1")) continue;
    const Partition p = golden_partition(entry);
    const std::map<std::string, Scheme> schemes{
        {"standard", Scheme{schemes::kStandard}},
        {"mhc", Scheme{schemes::kMhc, {.num_streams = entry.at("m").get<Count>()}}},
        {"full", Scheme{schemes::kFullAttnRes, {.blocks = p}}},
        {"block", Scheme{schemes::kBlockAttnRes, {.blocks = p}}}};
    for (const auto& [word, scheme] : schemes) {
      const ResidualPath path{scheme, p.num_layers};
      const Counting counting = countings_of(scheme).front();
      ASSERT_EQ(counting.convention, Convention::paper);
      EXPECT_TRUE(inside_domain(path, counting));
      const auto row = as_row(mean_traffic(path, counting));
      for (std::size_t i = 0; i < 4; ++i) {
        const auto value = test::fraction(entry.at("table1").at(word).at(i).get<std::string>());
        EXPECT_DOUBLE_EQ(row[i], value.numerator / value.denominator) << word << entry.at("spec");
      }
      ++checked;
    }
  }
  EXPECT_GE(checked, 60U);
}

TEST(Arithmetic, MatchesTheGoldenPairsAndParameters) {
  const auto golden = test::load_golden("io_per_layer.json");
  for (const auto& entry : golden.at("cases")) {
    const Partition p = golden_partition(entry);
    const double d = entry.at("d").get<double>();
    const auto& pairs = entry.at("pairs");
    const ResidualPath full{Scheme{schemes::kFullAttnRes, {.blocks = p}}, p.num_layers};
    const ResidualPath block{Scheme{schemes::kBlockAttnRes, {.blocks = p}}, p.num_layers};
    EXPECT_EQ(aggregation(full).source_rows, pairs.at("full_output").get<double>());
    EXPECT_EQ(aggregation(block).source_rows, pairs.at("block_output").get<double>());
    EXPECT_EQ(aggregation(full).source_rows - aggregation(full).output_sources, pairs.at("full"));
    EXPECT_EQ(aggregation(block).source_rows - aggregation(block).output_sources,
              pairs.at("block"));
    EXPECT_EQ(parameters(block, d).per_layer * static_cast<double>(p.num_layers),
              entry.at("params").at("per_layer_gain").get<double>());
    EXPECT_EQ(parameters(block, d).total, entry.at("params").at("with_output_gain").get<double>());
  }
}

const ResidualPath kTypicalFull{
    Scheme{schemes::kFullAttnRes, {.blocks = partition_by_size(128, 16)}}, 128};
const ResidualPath kTypicalBlock{
    Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(128, 16)}}, 128};

double mean_d(const ResidualPath& path, Schedule schedule, Convention convention) {
  return total_d(mean_traffic(path, {schedule, convention}));
}

TEST(Table1, PrintsWhatThePaperPrints) {
  EXPECT_EQ(mean_d({Scheme{schemes::kStandard}, 128}, Schedule::unfused, Convention::paper), 3);
  EXPECT_EQ(mean_d({Scheme{schemes::kMhc, {.num_streams = 4}}, 128}, Schedule::unfused,
                   Convention::paper),
            34);
  EXPECT_EQ(total_scalars(mean_traffic({Scheme{schemes::kMhc, {.num_streams = 4}}, 128},
                                       {Schedule::unfused, Convention::paper})),
            48);
  EXPECT_EQ(mean_d(kTypicalFull, Schedule::two_phase, Convention::paper), 24);
  EXPECT_EQ(mean_d(kTypicalBlock, Schedule::two_phase, Convention::paper), 5.5);
}

TEST(Table1, UnderstatesWhatIsMoved) {
  EXPECT_EQ(mean_d(kTypicalBlock, Schedule::two_phase, Convention::physical), 6.03125);
  EXPECT_EQ(mean_d(kTypicalFull, Schedule::two_phase, Convention::physical), 13.9375);
}

TEST(KernelConvention, CountsWhatTheFusedKernelsMove) {
  const auto kernel_d = [](const Scheme& scheme, Schedule schedule) {
    return mean_d({scheme, 8}, schedule, Convention::kernel);
  };
  EXPECT_EQ(kernel_d(Scheme{schemes::kStandard}, Schedule::unfused), 5);
  EXPECT_EQ(kernel_d(Scheme{schemes::kStandard}, Schedule::fused), 4);
  EXPECT_EQ(kernel_d(Scheme{schemes::kMhc, {.num_streams = 4}}, Schedule::unfused),
            36);  // Table 1's 34 and the next norm
  EXPECT_EQ(kernel_d(Scheme{schemes::kMhc, {.num_streams = 4}}, Schedule::fused), 18);
  EXPECT_EQ(kernel_d(Scheme{schemes::kMhc, {.num_streams = 4}}, Schedule::two_pass), 14);
  EXPECT_EQ(kernel_d(Scheme{schemes::kMhc, {.num_streams = 4}}, Schedule::one_pass), 10);
}

class KimiK3Ledger : public testing::Test {
 protected:
  const ResidualPath path{Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(186, 24)}},
                          186};
  const VectorStorage bf16{.hidden_size = 7168};

  Traffic with_output(Schedule schedule, Convention convention) const {
    return total_traffic(path, {schedule, convention}) +
           output_traffic(path, {schedule, convention});
  }
};

TEST_F(KimiK3Ledger, HasEightBlocksAnd187Aggregations) {
  EXPECT_EQ(block_sizes(path.scheme.parameters.blocks),
            (std::vector<Count>{24, 24, 24, 24, 24, 24, 24, 18}));
  const Aggregation a = aggregation(path);
  EXPECT_EQ(a.sublayer_calls + 1, 187);
  EXPECT_EQ(a.source_rows, 1003);
  EXPECT_EQ(a.max_sources, 9);
  EXPECT_EQ(a.output_sources, 9);
}

TEST_F(KimiK3Ledger, CountsPhysicalDVectors) {
  using enum Schedule;
  using enum Convention;
  EXPECT_EQ(total_d(total_traffic(path, {single_pass, physical})), 1544);
  EXPECT_EQ(total_d(output_traffic(path, {single_pass, physical})), 10);
  EXPECT_EQ(total_d(total_traffic(path, {two_phase, physical})), 1120);
  EXPECT_EQ(bytes(with_output(single_pass, physical), bf16).value, 1554.0 * 7168 * 2);
  EXPECT_NEAR(bytes(with_output(single_pass, physical), bf16).value / 1e6, 22.28, 0.005);
  EXPECT_NEAR(mean_d(path, single_pass, physical), 8.30, 0.005);
  EXPECT_NEAR(mean_d(path, two_phase, physical), 6.02, 0.005);
}

TEST_F(KimiK3Ledger, CountsKernelDVectors) {
  using enum Schedule;
  using enum Convention;
  EXPECT_EQ(total_d(total_traffic(path, {single_pass, kernel})), 1534);
  EXPECT_EQ(total_d(output_traffic(path, {single_pass, kernel})), 11);
  EXPECT_EQ(total_d(total_traffic(path, {two_phase, kernel})), 1110);
  EXPECT_EQ(total_d(output_traffic(path, {two_phase, kernel})), 11);
  EXPECT_NEAR(bytes(with_output(single_pass, kernel), bf16).value / 1e6, 22.15, 0.005);
  EXPECT_NEAR(mean_d(path, single_pass, kernel), 8.25, 0.005);
  EXPECT_NEAR(mean_d(path, two_phase, kernel), 5.97, 0.005);
  EXPECT_EQ(total_d(total_traffic(path, {unfused, kernel})), 7056);
}

TEST_F(KimiK3Ledger, SavesFourPerCentWithPhase1InF32) {
  VectorStorage f32_phase1 = bf16;
  f32_phase1.phase1_dtype = Dtype::f32;
  const Traffic two_phase = with_output(Schedule::two_phase, Convention::kernel);
  const Traffic single_pass = with_output(Schedule::single_pass, Convention::kernel);
  const double saved = 1 - bytes(two_phase, f32_phase1) / bytes(single_pass, f32_phase1);
  EXPECT_NEAR(saved, 0.04, 0.005);
  EXPECT_NEAR(1 - bytes(two_phase, bf16) / bytes(single_pass, bf16), 0.27, 0.005);
}

/// Its own kernels are counted otherwise: 2 r, 2 w with the norm.
TEST(LedgerFormula, OfThePaperIsARowOfItsTable) {
  for (const SchemeRule* rule :
       {&schemes::kStandard, &schemes::kMhc, &schemes::kFullAttnRes, &schemes::kBlockAttnRes}) {
    const Scheme scheme{*rule, {.num_streams = 4, .blocks = partition_by_size(32, 8)}};
    for (const Convention convention : kEnumerators<Convention>) {
      const LedgerFormula formula = ledger_formula(scheme, {Schedule::fused, convention});
      EXPECT_EQ(formula.source.find("Table 1, row") != std::string::npos,
                convention == Convention::paper)
          << rule->id << " " << name(convention) << ": " << formula.source;
    }
  }
  EXPECT_EQ(
      ledger_formula(Scheme{schemes::kStandard}, {Schedule::fused, Convention::paper}).formula,
      "2 r, 1 w");
}

// Algorithm 1 hands a maximum and a sum from layer to layer; the flat counts of Appendix B do not.
TEST(LedgerFormula, NamesScalarsWhereTheCountHasThem) {
  for (const SchemeRule* rule : {&schemes::kFullAttnRes, &schemes::kBlockAttnRes}) {
    const ResidualPath path{{*rule, {.blocks = partition_by_size(32, 8)}}, 32};
    int num_with_scalars = 0;
    for (const Convention convention : kEnumerators<Convention>) {
      if (convention == Convention::paper || convention == Convention::kernel) continue;
      const Counting counting{Schedule::two_phase, convention};
      const bool has_scalars = total_traffic(path, counting).reads_scalars > 0;
      const std::string text = ledger_formula(path.scheme, counting).formula;
      EXPECT_EQ(text.find("scalars") != std::string::npos, has_scalars)
          << rule->id << " " << name(convention) << ": " << text;
      num_with_scalars += has_scalars;
    }
    EXPECT_EQ(num_with_scalars, 2) << rule->id;
  }
}

}  // namespace
}  // namespace depthcost::ledger_test
