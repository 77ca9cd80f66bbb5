// An evaluation has every section that is asked for and no other, and its sums agree with their
// parts.
#include "model/evaluation/evaluation.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "model/schemes/list.hpp"
#include "tests/model/machine/any_machine.hpp"
#include "tests/studies.hpp"

namespace depthcost::evaluation_test {
namespace {

/// Every pointer of every row.
std::vector<const ResidualPath*> paths_of_rows(const Evaluation& e) {
  std::vector<const ResidualPath*> paths;
  for (const auto& row : e.ledger) paths.push_back(row.path);
  for (const auto& row : e.flops) paths.push_back(row.path);
  for (const auto& row : e.memory) paths.push_back(row.path);
  for (const auto& row : e.time) paths.push_back(row.path);
  for (const auto& row : e.step) paths.push_back(row.path);
  if (e.pipeline)
    for (const auto& row : e.pipeline->by_scheme) paths.push_back(row.path);
  return paths;
}

bool is_inside(const ResidualPath* path, const std::vector<ResidualPath>& paths) {
  return path >= paths.data() && path < paths.data() + paths.size();
}

TEST(Evaluation, HasEverySectionThatIsAskedFor) {
  const Evaluation e = evaluate(test::kimi_k3_study());
  ASSERT_EQ(e.paths.size(), 4U);
  EXPECT_EQ(e.parameters.size(), 4U);
  EXPECT_EQ(e.prefill.size(), 4U);
  // Schedules: AttnRes 3 each, mHC 4, standard 2.
  EXPECT_EQ(e.flops.size(), 12U);
  EXPECT_EQ(e.step.size(), 12U * 4);
  EXPECT_FALSE(e.time.empty());
  EXPECT_FALSE(e.memory.empty());
  ASSERT_TRUE(e.pipeline);
  EXPECT_EQ(e.pipeline->by_scheme.size(), 4U);
  EXPECT_EQ(e.pipeline->events.size(), 12U);
  EXPECT_EQ(e.budgets.size(), 3U);
  EXPECT_EQ(e.aggregation.sublayer_calls, 186);
}

TEST(Evaluation, IsALedgerWhereNothingElseIsAskedFor) {
  Study study;
  study.model = {.name = "small", .num_layers = 4, .hidden_size = 64};
  study.path = {Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(4, 2)}}, 4};
  study.schedule = Schedule::single_pass;
  const Evaluation e = evaluate(study);
  EXPECT_FALSE(e.ledger.empty());
  EXPECT_EQ(e.parameters.size(), 1U);
  EXPECT_FALSE(e.pipeline);
  EXPECT_TRUE(e.prefill.empty());
  EXPECT_TRUE(e.memory.empty());
  EXPECT_TRUE(e.time.empty());
  EXPECT_TRUE(e.step.empty());
  EXPECT_TRUE(e.budgets.empty());
}

TEST(Evaluation, LeavesOutExactlyWhatIsMissing) {
  Study without_machine = test::kimi_k3_study();
  without_machine.machine.reset();
  const Evaluation no_time = evaluate(without_machine);
  EXPECT_TRUE(no_time.time.empty());
  EXPECT_TRUE(no_time.step.empty());
  EXPECT_FALSE(no_time.memory.empty());
  Study without_workload = test::kimi_k3_study();
  without_workload.decode.reset();
  without_workload.prefill.reset();
  const Evaluation no_memory = evaluate(without_workload);
  EXPECT_TRUE(no_memory.memory.empty());
  EXPECT_TRUE(no_memory.time.empty());
  EXPECT_TRUE(no_memory.prefill.empty());
  EXPECT_TRUE(no_memory.pipeline);
}

TEST(Evaluation, HasNoEventsForASchemeWithoutABank) {
  Study study = test::kimi_k3_study();
  study.path = {Scheme{schemes::kMhc, {.num_streams = 4}}, 186};
  study.schedule = Schedule::fused;
  study.compare.clear();
  const Evaluation e = evaluate(study);
  ASSERT_TRUE(e.pipeline);
  EXPECT_TRUE(e.pipeline->events.empty());
  EXPECT_EQ(e.pipeline->by_scheme.front().naive.peak, 4);
}

// Kimi K3: the mean is a 186th of 1,534 and 1,110, the output 11.
TEST(Evaluation, QuotesKimiK3FromTheDesign) {
  const Evaluation e = evaluate(test::kimi_k3_study());
  const auto total = [&](Counting counting, LedgerRowKind kind) {
    for (const LedgerRow& row : e.ledger)
      if (row.path == &e.paths[0] && row.counting == counting && row.kind == kind)
        return total_d(row.traffic);
    return -1.0;
  };
  using enum Schedule;
  using enum Convention;
  using enum LedgerRowKind;
  EXPECT_DOUBLE_EQ(total({single_pass, kernel}, mean), 1534.0 / 186);
  EXPECT_DOUBLE_EQ(total({two_phase, kernel}, mean), 1110.0 / 186);
  EXPECT_DOUBLE_EQ(total({single_pass, physical}, mean), 1544.0 / 186);
  EXPECT_DOUBLE_EQ(total({two_phase, physical}, mean), 1120.0 / 186);
  EXPECT_EQ(total({two_phase, kernel}, output_aggregation), 11);
  EXPECT_EQ(total({two_phase, physical}, output_aggregation), 10);
  EXPECT_EQ(total({two_phase, paper}, output_aggregation), -1);
}

TEST(Evaluation, KeepsItsRowsPointingIntoItsPathsWhenMoved) {
  Evaluation first = evaluate(test::kimi_k3_study());
  const Evaluation constructed = std::move(first);
  for (const ResidualPath* path : paths_of_rows(constructed))
    ASSERT_TRUE(is_inside(path, constructed.paths));
  Evaluation assigned;
  assigned = evaluate(test::kimi_k3_study());
  ASSERT_FALSE(paths_of_rows(assigned).empty());
  for (const ResidualPath* path : paths_of_rows(assigned))
    ASSERT_TRUE(is_inside(path, assigned.paths));
}

// Kimi K3 of 93 decoder layers has 186 sublayers.
TEST(Evaluation, HasTheFlopsOfALayerAndOfAll) {
  const Evaluation e = evaluate(test::kimi_k3_study());
  for (const SchemeFlops& row : e.flops) {
    EXPECT_GT(row.total.value, 0);
    EXPECT_DOUBLE_EQ(186 * row.per_layer.value, row.total.value) << row.path->scheme.rule->id;
  }
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b)); }

bool near(const Traffic& a, const Traffic& b) {
  return near(a.reads_d, b.reads_d) && near(a.writes_d, b.writes_d) &&
         near(a.reads_scalars, b.reads_scalars) && near(a.writes_scalars, b.writes_scalars) &&
         near(a.phase1_d, b.phase1_d);
}

Study study_of(const ResidualPath& path) {
  Study study;
  study.model = {.name = "any",
                 .num_layers = path.num_layers,
                 .hidden_size = *rc::gen::inRange<Count>(1, 9000)};
  study.phase1_dtype = *rc::gen::element(Dtype::bf16, Dtype::f32);
  study.path = path;
  study.schedule = test::any_schedule(path.scheme);
  return study;
}

RC_GTEST_PROP(MeanRows, AreTheMeanOfTheLayerRows, ()) {
  const Study study = study_of(test::any_path(60));
  const auto L = static_cast<double>(study.path.num_layers);
  for (const LedgerRow& mean : mean_rows(study, study.path)) {
    if (mean.kind != LedgerRowKind::mean) continue;
    Traffic moved;
    Bytes bytes;
    const auto layers = layer_rows(study, study.path, mean.counting);
    RC_ASSERT(static_cast<Count>(layers.size()) == study.path.num_layers);
    for (const LedgerRow& layer : layers) {
      moved += layer.traffic;
      bytes += layer.bytes;
    }
    RC_ASSERT(near((1 / L) * moved, mean.traffic));
    RC_ASSERT(near(bytes.value / L, mean.bytes.value));
    RC_ASSERT(layers.front().layer == 1 && layers.back().layer == study.path.num_layers);
  }
}

RC_GTEST_PROP(OperationRows, SumToTheLayersAndTheOutput, ()) {
  const Study study = study_of(test::any_path(60));
  const Counting counting{study.schedule, Convention::kernel};
  Traffic layers;
  Traffic output;
  for (const LedgerRow& row : operation_rows(study, study.path, study.schedule)) {
    Traffic& sum = row.layer == 0 ? output : layers;
    sum += row.traffic;
    RC_ASSERT(row.kind == LedgerRowKind::operation);
    RC_ASSERT(row.counting == counting);
  }
  RC_ASSERT(layers == total_traffic(study.path, counting));
  RC_ASSERT(output == output_traffic(study.path, counting));
}

RC_GTEST_PROP(Evaluations, AreTheSameTwice, ()) {
  Study study = study_of(test::any_path(10));
  study.machine = test::any_machine();
  study.decode = Decode{.sequences = {1, 100}, .baseline_steps = {Seconds{1e-2}}};
  const Evaluation a = evaluate(study);
  const Evaluation b = evaluate(study);
  RC_ASSERT(a.time.size() == b.time.size());
  for (std::size_t i = 0; i < a.time.size(); ++i)
    RC_ASSERT(a.time[i].predicted.value == b.time[i].predicted.value);
}

}  // namespace
}  // namespace depthcost::evaluation_test
