// The flat table: its shape, its quoting, its agreement with the JSON.
#include "reports/documents/answer_documents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "tests/studies.hpp"

namespace depthcost::csv_test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

const std::vector<std::string>& kimi_k3() {
  static const auto lines = lines_of(to_csv(evaluate(test::kimi_k3_study())));
  return lines;
}

bool has_line(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

TEST(Csv, HasTenColumnsInEveryLine) {
  EXPECT_EQ(kimi_k3().front(),
            "section,workload,scheme,schedule,convention,operation,layer,quantity,value,unit");
  for (const std::string& line : kimi_k3())
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 9) << line;
}

TEST(Csv, HoldsTheLedgerOfKimiK3) {
  for (const char* line :
       {"ledger,,block_attnres,single_pass,kernel,output_aggregation,,reads_d,10,d",
        "ledger,,block_attnres,single_pass,kernel,output_aggregation,,bytes,157696,bytes",
        "ledger,,block_attnres,single_pass,kernel,total,,reads_d,6.29569892473,d",
        "ledger,,mhc,fused,kernel,total,,writes_d,5,d"})
    EXPECT_TRUE(has_line(kimi_k3(), line)) << line;
}

TEST(Csv, HoldsWhatIsCounted) {
  for (const char* line :
       {"partition,,block_attnres,,,,,last_block_size,18,layers",
        "aggregation,,block_attnres,,,,,source_rows,1003,pairs",
        "parameters,,block_attnres,,,,,total,2680832,parameters",
        "flops,,block_attnres,two_phase,,,,total,33553408,FLOP",
        "pipeline,,block_attnres,,,,,naive_peak_d,8,d",
        "budgets,,,,,,,prefill_bank.need,2500000000,bytes",
        "budgets,,,,,,,prefill_bank.verdict,pass,", "budgets,,,,,,,device_memory.margin,,bytes"})
    EXPECT_TRUE(has_line(kimi_k3(), line)) << line;
}

TEST(Csv, HoldsMemoryAndStep) {
  for (const char* line : {"memory,prefill,block_attnres,,,,,bank,234881024,bytes",
                           "step,decode/64,standard,fused,,,,seconds,0.012,s",
                           "step,decode/64,standard,fused,,,,delta_seconds,0,s",
                           "step,prefill,standard,fused,,,,overhead,,ratio",
                           "step,decode/512,block_attnres,single_pass,,,,dominant,bytes,"})
    EXPECT_TRUE(has_line(kimi_k3(), line)) << line;
}

TEST(Csv, HoldsTheBaselineAndTheRestOfTheStep) {
  EXPECT_TRUE(has_line(kimi_k3(), "step,decode/64,standard,fused,,,,baseline_seconds,0.012,s"));
  EXPECT_TRUE(has_line(kimi_k3(), "step,decode/64,standard,fused,,,,baseline_evidence,measured,"));
  EXPECT_TRUE(has_line(kimi_k3(), "prefill,,mhc,,,,,cache_tokens,,tokens"));
  Study study = test::modelled_study();
  study.written_terms = {{WorkloadKind::prefill, RestTerm::mlp, {Seconds{0.25}}}};
  const auto lines = lines_of(to_csv(evaluate(study)));
  for (const char* line :
       {"rest,decode/1,,,,collectives,,launches,186,launches",
        "rest,prefill,,,,mlp,,seconds,0.25,s", "rest,prefill,,,,mlp,,bytes,,bytes",
        "rest,prefill,,,,mlp,,origin,written,", "rest,prefill,,,,head,,origin,modelled,"})
    EXPECT_TRUE(has_line(lines, line)) << line;
}

TEST(Csv, HoldsTheTrainingStep) {
  const auto lines = lines_of(to_csv(evaluate(test::training_study())));
  EXPECT_TRUE(has_line(lines, "training,training,standard,fused,,,,accumulation_d,0,d"));
  EXPECT_TRUE(has_line(lines, "step,training,standard,fused,,,,delta_seconds,0,s"));
  std::size_t rows = 0;
  for (const std::string& line : lines) rows += line.starts_with("training,") ? 1u : 0u;
  EXPECT_EQ(rows, 12u * 8u);
}

TEST(Csv, AppendsTheRowsOfSingleLayersToTheLedger) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const Counting kernel{Schedule::single_pass, Convention::kernel};
  const auto layers = operation_rows(evaluation.study, evaluation.paths.front(), kernel.schedule);
  const auto lines = lines_of(to_csv(evaluation, layers));
  EXPECT_EQ(lines.size(), kimi_k3().size() + 5 * layers.size());
  EXPECT_TRUE(has_line(
      lines, "ledger,,block_attnres,single_pass,kernel,attnres_single_pass,25,writes_d,2,d"));
}

TEST(Csv, IsTheSameEveryTime) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  EXPECT_EQ(to_csv(evaluation), to_csv(evaluation));
  EXPECT_EQ(lines_of(to_csv(evaluation)), kimi_k3());
}

}  // namespace
}  // namespace depthcost::csv_test
