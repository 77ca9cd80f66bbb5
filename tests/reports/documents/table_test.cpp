// Tables of the sections, and the page for a terminal.
#include "reports/documents/answer_documents.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "model/schemes/list.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/budgets/budget_section.hpp"
#include "reports/topics/ledger/counts_section.hpp"
#include "reports/topics/ledger/ledger_section.hpp"
#include "reports/topics/memory/memory_section.hpp"
#include "reports/topics/memory/prefill_section.hpp"
#include "reports/topics/pipeline/pipeline_section.hpp"
#include "reports/topics/time/rest_section.hpp"
#include "reports/topics/time/step_section.hpp"
#include "reports/topics/training/training_section.hpp"
#include "tests/studies.hpp"

namespace depthcost::table_test {
namespace {

const Evaluation& kimi_k3() {
  static const Evaluation evaluation = evaluate(test::kimi_k3_study());
  return evaluation;
}

bool has_line(const std::string& text, const std::string& wanted) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line == wanted) return true;
  return false;
}

TEST(LedgerTable, NamesTheConventionInEachRow) {
  const std::string text = plain_text(ledger_table(kimi_k3()));
  for (const char* line :
       {"scheme         schedule     convention            reads     writes      layer  output   "
        "forward",
        "block_attnres  two_phase    paper*             3.3441 d        2 d   5.3441 d       -  "
        "14.25 MB",
        "block_attnres  single_pass  kernel             6.2957 d   1.9516 d   8.2473 d    11 d  "
        "22.15 MB",
        "standard       fused        kernel                  2 d        2 d        4 d       -  "
        "10.67 MB"})
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
}

TEST(LayerTable, ListsOperationsAndTheOutput) {
  const Counting kernel{Schedule::single_pass, Convention::kernel};
  const auto layers = operation_rows(kimi_k3().study, kimi_k3().paths.front(), kernel.schedule);
  const Table table = layer_table(layers);
  ASSERT_EQ(table.rows.size(), 187U);
  EXPECT_EQ(table.rows.front(),
            (std::vector<std::string>{"block_attnres", "single_pass", "kernel", "1",
                                      "attnres_single_pass", "1 d", "1 d", "28.67 kB"}));
  EXPECT_EQ(table.rows.back()[3], "output");
}

TEST(AggregationTable, CountsPairs) {
  EXPECT_EQ(plain_text(aggregation_table(kimi_k3().aggregation)),
            "calls in layers  (query, source) pairs  most sources  sources of the output\n"
            "---------------  ---------------------  ------------  ---------------------\n"
            "            186                  1,003             9                      9\n");
}

TEST(PrefillTable, HoldsBankAndPhase1) {
  EXPECT_EQ(plain_text(prefill_table(kimi_k3())),
            "scheme         bank or state  with b_0  Phase 1 outputs  as KV tokens\n"
            "-------------  -------------  --------  ---------------  ------------\n"
            "block_attnres       234.9 MB  264.2 MB         705.0 MB             -\n"
            "standard            29.36 MB  29.36 MB              0 B             -\n"
            "mhc                 117.4 MB  117.4 MB              0 B             -\n"
            "full_attnres        5.461 GB  5.490 GB         705.0 MB             -\n");
}

TEST(PipelineTable, HoldsTotalsAndPeaks) {
  EXPECT_EQ(plain_text(pipeline_table(*kimi_k3().pipeline)),
            "scheme         naive, all  naive, largest  cached, all  cached, largest\n"
            "-------------  ----------  --------------  -----------  ---------------\n"
            "block_attnres        35 d             8 d         25 d              4 d\n"
            "standard              7 d             1 d          7 d              1 d\n"
            "mhc                  28 d             4 d         28 d              4 d\n"
            "full_attnres        673 d           165 d        525 d             96 d\n");
}

/// Numbers of no model, to pin the text alone.
Evaluation two_steps() {
  Evaluation evaluation;
  evaluation.paths = {{Scheme{schemes::kStandard}, 2},
                      {Scheme{schemes::kMhc, {.num_streams = 4}}, 2}};
  evaluation.step.push_back({.workload = WorkloadId::decode(1),
                             .path = &evaluation.paths[0],
                             .residual = {{1e-6}, {2e-6}, {3e-6}, Evidence::measured},
                             .delta = {{}, {}, {}, Evidence::measured}});
  evaluation.step.push_back({.workload = WorkloadId::decode(1),
                             .path = &evaluation.paths[1],
                             .schedule = Schedule::one_pass,
                             .delta = {{1.9e-6}, {48.1e-6}, {52.9e-6}, Evidence::assumed},
                             .overhead = Estimate<double>{0.001, 0.023, 0.025, Evidence::assumed},
                             .dominant = Dominant::bytes});
  return evaluation;
}

TEST(StepTable, WritesDifferencesAsIntervals) {
  EXPECT_EQ(
      plain_text(without_column(step_table(two_steps(), WorkloadId::decode(1)), "share [90 %]")),
      "scheme    schedule          delta [90 %]    overhead [90 %]  dominant  evidence\n"
      "--------  --------  --------------------  -----------------  --------  --------\n"
      "standard  fused                      0 s                  -  launch    measured\n"
      "mhc       one_pass  +48.1 us [1.9, 52.9]  +2.3 % [0.1, 2.5]  bytes     assumed\n");
}

TEST(StepTable, HoldsOneWorkload) {
  EXPECT_EQ(workload_names(timed_workloads(kimi_k3())),
            (std::vector<std::string>{"decode/1", "decode/64", "decode/512", "prefill"}));
  EXPECT_EQ(step_table(kimi_k3(), WorkloadId::decode(64)).rows.size(), 12U);
  EXPECT_TRUE(step_table(kimi_k3(), WorkloadId::training()).rows.empty());
}

TEST(StepTable, KeepsTheShareApart) {
  Evaluation evaluation = two_steps();
  evaluation.step[1].share = Estimate<double>{0.01, 0.02, 0.03, Evidence::assumed};
  const Table table = step_table(evaluation, WorkloadId::decode(1));
  EXPECT_EQ(table.columns[4].header, "share [90 %]");
  EXPECT_EQ(table.rows[0][4], "-");
  EXPECT_EQ(table.rows[1][3], "+2.3 % [0.1, 2.5]");
  EXPECT_EQ(table.rows[1][4], "2.0 % [1.0, 3.0]");
}

const Evaluation& modelled() {
  static const Evaluation evaluation = evaluate(test::modelled_study());
  return evaluation;
}

TEST(RestTable, HasEveryTermTheStandardResidualAndTheSum) {
  const Table table = RestTables(modelled()).of(WorkloadId::decode(64));
  std::vector<std::string> terms;
  for (const auto& row : table.rows) terms.push_back(row.front());
  EXPECT_EQ(terms, (std::vector<std::string>{"attention", "mlp", "head", "collectives", "launches",
                                             "standard residual", "baseline step"}));
  EXPECT_EQ(table.rows.back()[5], "100 %");
  EXPECT_EQ(table.rows.back()[4] + ", modelled", baseline_text(modelled(), WorkloadId::decode(64)));
  EXPECT_EQ(table.rows[3][3], "186");
  EXPECT_EQ(modelled_workloads(modelled()), timed_workloads(modelled()));
  EXPECT_TRUE(modelled_workloads(kimi_k3()).empty());
}

TEST(RestTable, SaysWhatTheUserHasWritten) {
  Study study = test::modelled_study();
  study.written_terms = {{WorkloadKind::prefill, RestTerm::head, {Seconds{0.25}}}};
  EXPECT_EQ(RestTables(evaluate(study)).of(WorkloadId::prefill()).rows[2][4], "250 ms");
  EXPECT_EQ(RestTables(evaluate(study)).of(WorkloadId::prefill()).rows[2][6], "written");
}

TEST(MemoryTable, HoldsAPrefillWithAndWithoutShards) {
  Study study = test::modelled_study();
  study.decode->sequences = {64};
  const auto first_cells = [&] {
    std::vector<std::string> cells;
    for (const auto& row : memory_table(evaluate(study)).rows) cells.push_back(row.front());
    return cells;
  };
  EXPECT_EQ(first_cells(),
            (std::vector<std::string>{"decode/64", "prefill, 8 shards", "prefill, not sharded"}));
  const Table table = memory_table(evaluate(study));
  EXPECT_EQ(table.rows[1][3], "267.0 MB") << "264.2 MB, and 2.8 MB of queries and gains";
  EXPECT_EQ(table.rows[2][3], "2.117 GB");
  EXPECT_EQ(table.rows[1][1], table.rows[2][1]);
  study.prefill->sequence_shards = 1;
  EXPECT_EQ(first_cells(),
            (std::vector<std::string>{"decode/64", "prefill, not sharded", "prefill, 8 shards"}));
  study.tensor_parallel_size = 1;
  study.expert_parallel_size = 1;
  EXPECT_EQ(first_cells(), (std::vector<std::string>{"decode/64", "prefill"}));
}

TEST(MemoryTable, CountsNoWeightsWithoutAnArchitecture) {
  for (const auto& row : memory_table(kimi_k3()).rows) {
    EXPECT_EQ(row[1], "-");
    EXPECT_EQ(row[2], "-");
    EXPECT_EQ(row[3], row[4]);
  }
}

const Evaluation& in_training() {
  static const Evaluation evaluation = evaluate(test::training_study());
  return evaluation;
}

TEST(RestTable, OfTrainingIsOneForwardPass) {
  const Table table = RestTables(in_training()).of(WorkloadId::training());
  ASSERT_EQ(table.rows.size(), kEnumerators<RestTerm>.size() + 1);
  EXPECT_EQ(table.rows.back().front(), "one forward pass");
  EXPECT_EQ(table.rows.back()[5], "100 %");
}

TEST(TrainingTables, HaveEverySchedule) {
  EXPECT_EQ(training_path_table(in_training()).rows.size(), 12u);
  EXPECT_EQ(training_step_table(in_training()).rows.size(), 12u);
}

// Messages of 8 transitions less one: 25 cached d-vectors in all, 4 at most, as in PipelineTable.
TEST(TrainingMemoryTable, HasOneRowForEachScheme) {
  const Table table = training_memory_table(in_training());
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0][0], "block_attnres");
  EXPECT_EQ(table.rows[0][4], format_bytes(Bytes{4.0 * 4096 * 7168 * 2}));
  EXPECT_EQ(table.rows[0][5], format_bytes(Bytes{25.0 * 4096 * 7168 * 2}));
  EXPECT_EQ(table.rows[1][2], "-");
}

TEST(StageAndChunkTables, HaveALineEach) {
  EXPECT_EQ(stage_table(in_training()).rows.size(), 4u);
  const Table chunks = chunk_table(in_training());
  ASSERT_EQ(chunks.rows.size(), 8u);
  EXPECT_EQ(chunks.rows[5][1], "1");
  EXPECT_EQ(chunks.rows[0][8], "-");
  EXPECT_EQ(chunks.rows[0][9], "10.0 us + bytes / 50.0 GB/s");
  EXPECT_EQ(chunks.rows[7][7], "-");
}

std::vector<BudgetRow> every_verdict() {
  return {{{BudgetKind::decode_overhead, 0.02}, 0.015, 0.03, Verdict::unknown, "why", {}},
          {{BudgetKind::prefill_bank, 2.5e9}, 264241152, 264241152, Verdict::pass, "", {}},
          {{BudgetKind::prefill_peak, 1e9}, 2e9, 2e9, Verdict::fail, "", {{"a smaller chunk"}}},
          {{BudgetKind::training_overhead, 0.02}, {}, {}, Verdict::unknown, "", {}},
          {{BudgetKind::device_memory, 0}, 2e9, std::nullopt, Verdict::unknown, "", {}}};
}

TEST(BudgetTable, WritesWhatIsTooMuch) {
  EXPECT_EQ(plain_text(budget_table(every_verdict())),
            "budget                limit          predicted            over by  verdict\n"
            "-----------------  --------  -----------------  -----------------  --------\n"
            "decode_overhead       2.0 %     [1.5 %, 3.0 %]                  -  unknown\n"
            "prefill_bank       2.500 GB           264.2 MB                  -  OK\n"
            "prefill_peak       1.000 GB           2.000 GB  at least 1.000 GB  too much\n"
            "training_overhead     2.0 %                  -                  -  unknown\n"
            "device_memory             -  at least 2.000 GB                  -  unknown\n");
}

// The median says what is likely; memory has none, and is counted without activations.
TEST(BudgetTable, SaysWhatIsLikely) {
  const auto word = [](BudgetRow row) { return budget_table({&row, 1}).rows.front().back(); };
  BudgetRow row{{BudgetKind::decode_overhead, 0.02}, 0.015, 0.03, Verdict::unknown, "", {}};
  row.middle = 0.02;
  EXPECT_EQ(word(row), "likely OK");
  row.middle = 0.0201;
  EXPECT_EQ(word(row), "likely too much");
  EXPECT_EQ(word({{BudgetKind::device_memory, 1e9}, 0.95e9, 1.05e9, Verdict::unknown, "", {}}),
            "may not fit");
}

TEST(BudgetNotes, SayWhyAndWhatWouldWork) {
  EXPECT_EQ(budget_notes(every_verdict()),
            (std::vector<std::string>{"decode_overhead: why",
                                      "prefill_peak: a smaller chunk would keep it"}));
}

TEST(TerminalPage, HasEverySectionWithin100Columns) {
  const std::string text = to_table(kimi_k3(), Depth::details);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    // The terminal wraps sentences.
    EXPECT_TRUE(line.size() <= 100 || line.ends_with('.')) << line;
  }
  for (const char* line :
       {"Kimi K3 on Round 5", "Kimi K3: 186 layers, hidden size 7,168",
        "block_attnres, 8 blocks of 24 layers, the last of 18, single_pass",
        "On 32 x Round 5: tensor 8, pipeline 4",
        "Ledger: d-vectors per token, mean over the layers; bytes per token of a forward pass",
        "* outside its domain: the formula takes blocks of equal size",
        "Attention over depth: the pairs include the output", "Prefill: bytes on one device",
        "Pipeline: d-vectors per token sent across boundaries, with b_0 and partial sums",
        "Eq. 7, naive: 28 d; Eq. 8, cached: 22 d (aligned blocks, without b_0)",
        "Memory of the fullest device",
        "Step decode/64: added to standard fused; baseline step 12.0 ms, measured",
        "Step prefill: added to standard fused; baseline step not known",
        "The percentage is not known: the model has no attention and mlp. Write `baseline_step`.",
        "Budgets",
        "device_memory: the model has no attention and mlp, so that its weights are not counted"})
    EXPECT_TRUE(has_line(text, line)) << line;
}

TEST(TerminalPage, HasTheRestOfAModelledStepWithin100Columns) {
  const std::string text = to_table(evaluate(test::modelled_study()), Depth::details);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    // The terminal wraps sentences, and what would keep a budget is one.
    const bool is_sentence = line.ends_with('.') || line.ends_with(" would keep it");
    EXPECT_TRUE(line.size() <= 100 || is_sentence) << line;
  }
  EXPECT_TRUE(has_line(text, "The baseline step of prefill: its terms on one device")) << text;
}

TEST(TerminalPage, HasTheTrainingStepWithin100Columns) {
  const std::string text = to_table(in_training(), Depth::details);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    // The terminal wraps sentences.
    EXPECT_TRUE(line.size() <= 100 || line.ends_with('.')) << line;
  }
  for (const char* line :
       {"A forward pass of training: one micro-batch through all layers",
        "Training: the residual path on one micro-batch", "Training: the simulated step",
        "Training: the fullest stage, and the messages of one micro-batch"})
    EXPECT_TRUE(has_line(text, line)) << line;
  EXPECT_EQ(text.find("Memory of the fullest device"), text.npos);
}

TEST(TerminalPage, LeavesOutWhatIsNotAskedFor) {
  Study study{.name = "small", .model = {.name = "two layers", .num_layers = 2, .hidden_size = 64}};
  study.path = {Scheme{schemes::kStandard}, 2};
  EXPECT_EQ(to_table(evaluate(study), Depth::details),
            "small\n"
            "\n"
            "scheme    schedule  d a layer  forward pass, a token\n"
            "--------  --------  ---------  ---------------------\n"
            "standard  fused          4.00               1.024 kB\n"
            "\n"
            "Setup\n"
            "\n"
            "two layers: 2 layers, hidden size 64\n"
            "standard, fused\n"
            "\n"
            "Ledger: d-vectors per token, mean over the layers; bytes per token of a forward pass\n"
            "\n"
            "scheme    schedule  convention  reads  writes  layer  output   forward\n"
            "--------  --------  ----------  -----  ------  -----  ------  --------\n"
            "standard  unfused   paper         2 d     1 d    3 d       -     768 B\n"
            "standard  unfused   kernel        3 d     2 d    5 d       -  1.280 kB\n"
            "standard  fused     kernel        2 d     2 d    4 d       -  1.024 kB\n");
}

}  // namespace
}  // namespace depthcost::table_test
