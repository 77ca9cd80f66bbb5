// Every point of a sweep against evaluate(), which shares nothing between points.
#include "model/sweep/sweep.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "model/evaluation/evaluation.hpp"
#include "model/ledger/path_operations.hpp"
#include "model/schemes/list.hpp"
#include "model/schemes/scheme.hpp"
#include "tests/architectures.hpp"
#include "tests/scheme_axis.hpp"
#include "tests/studies.hpp"

namespace depthcost::sweep_test {
namespace {

std::vector<Count> upto(Count last) {
  std::vector<Count> values;
  for (Count value = 1; value <= last; ++value) values.push_back(value);
  return values;
}

SweptAxis axis(SweptKey key, std::vector<Count> values) { return {key, std::move(values)}; }

Count schedule_number(Schedule schedule) { return static_cast<Count>(schedule); }

/// With everything that a point can have: three batches, a prefill with a shorter last chunk, a
/// pipeline, a training step, per cent, all kinds of budgets.
Study full_study() {
  Study study = test::kimi_k3_study();
  study.prefill->chunk = 50000;
  study.prefill->baseline_step = Seconds{2};
  study.training = Training{.sequence_length = 4096,
                            .num_micro_batches = 8,
                            .schedule = PipelineSchedule::interleaved,
                            .baseline_step = Seconds{1}};
  study.budgets = {{BudgetKind::decode_overhead, 0.05},  {BudgetKind::prefill_overhead, 0.02},
                   {BudgetKind::training_overhead, 0.1}, {BudgetKind::exposed_communication, 0.01},
                   {BudgetKind::added_activations, 0.5}, {BudgetKind::pipeline_cache, 0.2},
                   {BudgetKind::prefill_bank, 2.5e9},    {BudgetKind::prefill_peak, 4e9},
                   {BudgetKind::pipeline_peak, 1.2e5},   {BudgetKind::device_memory, 0}};
  return study;
}

/// The largest over a workload's points.
std::optional<AddedTime> added_by_evaluation(const Evaluation& evaluation, Schedule schedule,
                                             WorkloadKind workload) {
  std::optional<AddedTime> worst;
  for (const StepRow& row : evaluation.step) {
    if (row.path != &evaluation.paths.front() || row.schedule != schedule ||
        row.workload.kind != workload)
      continue;
    if (!worst) {
      worst = AddedTime{row.delta, row.overhead};
      continue;
    }
    const bool has_both = worst->overhead && row.overhead;
    if (has_both ? row.overhead->value > worst->overhead->value
                 : row.delta.value > worst->delta.value)
      worst->delta = row.delta;
    if (!has_both) {
      worst->overhead.reset();
      continue;
    }
    worst->overhead->low = std::max(worst->overhead->low, row.overhead->low);
    worst->overhead->value = std::max(worst->overhead->value, row.overhead->value);
    worst->overhead->high = std::max(worst->overhead->high, row.overhead->high);
  }
  return worst;
}

void expect_near(double actual, double expected) {
  EXPECT_NEAR(actual, expected, 1e-9 * std::abs(expected) + 1e-18);
}

void expect_same(const std::optional<AddedTime>& swept, const std::optional<AddedTime>& evaluated) {
  ASSERT_EQ(swept.has_value(), evaluated.has_value());
  if (!swept) return;
  expect_near(swept->delta.low.value, evaluated->delta.low.value);
  expect_near(swept->delta.value.value, evaluated->delta.value.value);
  expect_near(swept->delta.high.value, evaluated->delta.high.value);
  ASSERT_EQ(swept->overhead.has_value(), evaluated->overhead.has_value());
  if (!swept->overhead) return;
  expect_near(swept->overhead->low, evaluated->overhead->low);
  expect_near(swept->overhead->value, evaluated->overhead->value);
  expect_near(swept->overhead->high, evaluated->overhead->high);
}

/// Bytes of the fullest workload, of one kind of items.
template <class Counts>
double fullest(const Evaluation& evaluation, const Counts& counts) {
  std::map<WorkloadId, double> sums;
  double most = 0;
  for (const MemoryRow& row : evaluation.memory)
    if (row.path == &evaluation.paths.front() && counts(row.item))
      most = std::max(most, sums[row.workload] += row.bytes.value);
  return most;
}

void expect_evaluated(const Sweep& sweep, std::size_t circumstance, std::size_t choice) {
  const SweepPoint point = sweep.point(circumstance, choice);
  const Study study = sweep.study_at(circumstance, choice);
  const Evaluation evaluation = evaluate_without_remedies(study);
  expect_same(point.decode, added_by_evaluation(evaluation, study.schedule, WorkloadKind::decode));
  expect_same(point.prefill,
              added_by_evaluation(evaluation, study.schedule, WorkloadKind::prefill));
  expect_same(point.training,
              added_by_evaluation(evaluation, study.schedule, WorkloadKind::training));
  expect_near(point.memory.value_or(PointMemory{}).state.value, fullest(evaluation, is_vectors));
  expect_near(point.memory.value_or(PointMemory{}).all.value,
              fullest(evaluation, [](MemoryItem) { return true; }));
  expect_near(point.memory.value_or(PointMemory{}).cache.value,
              fullest(evaluation, [](MemoryItem item) { return item == MemoryItem::kv_cache; }));
  const std::vector<PointBudget> budgets = sweep.budgets(point);
  ASSERT_EQ(budgets.size(), evaluation.budgets.size());
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    const BudgetRow& row = evaluation.budgets[i];
    EXPECT_EQ(budgets[i].verdict, row.verdict) << name(row.budget.kind);
    EXPECT_EQ(budgets[i].low.has_value(), row.low.has_value()) << name(row.budget.kind);
    EXPECT_EQ(budgets[i].high.has_value(), row.high.has_value()) << name(row.budget.kind);
    if (row.low) expect_near(budgets[i].low.value(), *row.low);
    if (row.high) expect_near(budgets[i].high.value(), *row.high);
  }
}

void expect_all_evaluated(const Sweep& sweep) {
  for (std::size_t c = 0; c < sweep.num_circumstances(); ++c)
    for (std::size_t i = 0; i < sweep.choices().size(); ++i) {
      SCOPED_TRACE(fmt::format("circumstance {}, choice {}", c, i));
      if (sweep.point(c, i).exists()) expect_evaluated(sweep, c, i);
    }
}

TEST(Sweep, HasAtEveryPointWhatTheEvaluationSays) {
  expect_all_evaluated({full_study(),
                        {axis(SweptKey::block_size, {1, 2, 3, 24, 26, 100, 186}),
                         axis(SweptKey::schedule, {schedule_number(Schedule::single_pass),
                                                   schedule_number(Schedule::two_phase),
                                                   schedule_number(Schedule::unfused)})},
                        2});
}

/// The cache of the larger batches does not fit, the first batch does. A limit that it breaks is
/// broken all the same, one that it keeps may be broken by the others.
TEST(Sweep, JudgesTheBatchesThatFit) {
  Study study = test::modelled_study();
  study.machine->memory_capacity = Bytes{1e12};
  study.decode->sequences = {1, 100000};
  study.prefill.reset();
  study.budgets = {{BudgetKind::decode_overhead, 0.001}, {BudgetKind::decode_overhead, 1}};
  const Sweep sweep(study, {axis(SweptKey::block_size, {1, 24})}, 1);
  const std::vector<PointBudget> budgets = sweep.budgets(sweep.point(0, 0));
  EXPECT_FALSE(sweep.point(0, 0).decode->overhead.has_value());
  EXPECT_EQ(budgets[0].verdict, Verdict::fail);
  EXPECT_TRUE(is_broken(budgets[0]));
  EXPECT_EQ(budgets[1].verdict, Verdict::unknown);
  EXPECT_FALSE(is_broken(budgets[1]));
  expect_all_evaluated(sweep);
}

/// The weights of a training step do not fit. A decode step that was measured leaves no limit on
/// memory, and says nothing of the training step.
TEST(Sweep, KnowsNoOverheadOfTrainingThatDoesNotFit) {
  Study study = test::training_study();
  study.machine->memory_capacity = Bytes{1e9};
  study.decode = Decode{.sequences = {1}, .baseline_steps = {Seconds{1}}};
  study.budgets = {{BudgetKind::training_overhead, 1}};
  const Sweep sweep(study, {axis(SweptKey::block_size, {24})}, 1);
  for (const PointBudget& budget : sweep.budgets(sweep.point(0, 0))) {
    EXPECT_NE(budget.budget.kind, BudgetKind::device_memory);
    if (budget.budget.kind == BudgetKind::training_overhead) {
      EXPECT_EQ(budget.verdict, Verdict::unknown);
    }
  }
  study.training->baseline_step = Seconds{1000};
  const Sweep measured(study, {axis(SweptKey::block_size, {24})}, 1);
  EXPECT_EQ(measured.verdict(measured.point(0, 0)), Verdict::pass) << "a measured step did run";
}

/// A prefill that was measured did run.
TEST(Sweep, HasNoLimitOnTheMemoryOfAMeasuredPrefill) {
  Study study = test::modelled_study();
  study.machine->memory_capacity = Bytes{1e9};
  study.decode.reset();
  study.prefill->baseline_step = Seconds{1};
  study.budgets.clear();
  const Sweep sweep(study, {axis(SweptKey::block_size, {24})}, 1);
  for (const PointBudget& budget : sweep.budgets(sweep.point(0, 0)))
    EXPECT_NE(budget.budget.kind, BudgetKind::device_memory);
}

TEST(Sweep, HasItUnderEveryCircumstance) {
  expect_all_evaluated(
      {full_study(),
       {axis(SweptKey::sequences, {1, 300}), axis(SweptKey::block_size, {12, 31}),
        axis(SweptKey::prefill_tokens, {4096, 200000}), axis(SweptKey::context, {1000, 200000}),
        axis(SweptKey::sequence_shards, {2, 8})},
       2});
}

TEST(Sweep, HasItWithAChunkOfAPromptInEachStep) {
  Study study = test::modelled_study();
  study.prefill.reset();
  expect_all_evaluated(
      {study,
       {axis(SweptKey::block_size, {12, 31}), axis(SweptKey::prompt_tokens, {0, 2048}),
        axis(SweptKey::context, {1000, 200000})},
       1});
}

/// A large prompt is shared out, so that its step has no all-reduce to fold into; a small one has.
TEST(Sweep, HasItWithPromptsOfAllSizesInAnyOrder) {
  Study study = test::modelled_study();
  study.prefill.reset();
  for (const std::vector<Count>& prompts : {std::vector<Count>{64, 8192}, {8192, 64}})
    expect_all_evaluated({study,
                          {axis(SweptKey::schedule, {schedule_number(Schedule::single_pass)}),
                           axis(SweptKey::prompt_tokens, prompts)},
                          1});
}

TEST(Sweep, HasItWithAnArchitectureAndForOtherSchemes) {
  Study study = full_study();
  study.model.architecture = test::kimi_k3();
  study.decode->baseline_steps.clear();  // no per cent: the machine has no transfers
  expect_all_evaluated({study, {axis(SweptKey::block_size, {6, 24})}, 1});
  study.tensor_parallel_size = 1;
  expect_all_evaluated({study, {axis(SweptKey::block_size, {6, 24})}, 1});
  study.path.scheme = Scheme{schemes::kMhc, {.num_streams = 4}};
  study.schedule = Schedule::two_pass;
  expect_all_evaluated({study, {axis(SweptKey::num_streams, {2, 4, 8})}, 1});
  study.path.scheme = Scheme{schemes::kFullAttnRes, {.blocks = partition_by_size(186, 13)}};
  study.schedule = Schedule::two_phase;
  expect_all_evaluated({study, {axis(SweptKey::num_blocks, {5, 14})}, 1});
}

TEST(Sweep, HasItForSchemesThatCompete) {
  expect_all_evaluated(
      {full_study(), {axis(SweptKey::sequences, {1, 64}), test::scheme_axis()}, 1});
}

/// Whatever the order of the axes.
TEST(Sweep, GivesBlocksToTheSchemesThatHaveThem) {
  SweptAxis schemes = test::scheme_axis();
  schemes.schemes[2].refused = "no, not that";
  const Sweep sweep(full_study(), {axis(SweptKey::block_size, {12, 24}), schemes}, 1);
  expect_all_evaluated(sweep);
  ASSERT_EQ(sweep.choices().size(), 8U);
  EXPECT_EQ(sweep.choices()[1].refused, "scheme standard has no blocks");
  EXPECT_EQ(sweep.choices()[4].refused, "no, not that");
  EXPECT_EQ(sweep.choices()[6].values, (std::vector<Count>{3, 12}));
  EXPECT_EQ(sweep.choices()[6].path.scheme.parameters.blocks.block_size, 12);
}

/// The budget's row counts in the type of the wire, and so does the point.
TEST(Sweep, CountsABoundaryOfTrainingInTheTypeOfTheWire) {
  Study study = test::training_study();
  study.budgets = {{BudgetKind::pipeline_peak, 1e5}};
  const std::vector<SweptAxis> axes{axis(SweptKey::block_size, {24})};
  const Bytes in_bf16 = *Sweep(study, axes, 1).choices().front().payload_peak;
  study.training->wire_dtype = Dtype::f32;
  const Sweep in_f32(study, axes, 1);
  EXPECT_EQ(*in_f32.choices().front().payload_peak, 2 * in_bf16);
  expect_all_evaluated(in_f32);
}

TEST(Sweep, IsTheSameOnAnyNumberOfThreads) {
  const std::vector<SweptAxis> axes{axis(SweptKey::block_size, upto(40)),
                                    axis(SweptKey::sequences, {1, 2, 4, 8, 16, 32, 64})};
  const Sweep one(full_study(), axes, 1);
  const Sweep three(full_study(), axes, 3);
  for (std::size_t c = 0; c < one.num_circumstances(); ++c)
    for (std::size_t i = 0; i < one.choices().size(); ++i)
      EXPECT_EQ(one.point(c, i).decode->delta.value, three.point(c, i).decode->delta.value);
}

TEST(Sweep, NamesWhatCannotExist) {
  const Sweep sweep(full_study(), {axis(SweptKey::block_size, {24, 187})}, 1);
  EXPECT_TRUE(sweep.point(0, 0).exists());
  EXPECT_FALSE(sweep.point(0, 1).exists());
  EXPECT_EQ(sweep.choices()[1].refused, "invalid block_size '187' (the model has only 186 layers)");
  EXPECT_EQ(sweep.choices()[1].values, std::vector<Count>{187});
}

TEST(Sweep, RefusesASizeOfBlocksForASchemeWithoutBlocks) {
  Study study = full_study();
  study.path.scheme = Scheme{schemes::kMhc, {.num_streams = 4}};
  const Sweep sweep(study, {axis(SweptKey::block_size, {24})}, 1);
  EXPECT_EQ(sweep.choices().front().refused, "scheme mhc has no blocks");
}

/// Without hardware bytes, memory and payload remain.
TEST(Sweep, CountsWithoutAMachine) {
  Study study = full_study();
  study.machine.reset();
  const Sweep sweep(study, {axis(SweptKey::block_size, {24})}, 1);
  const SweepPoint point = sweep.point(0, 0);
  EXPECT_FALSE(point.decode || point.prefill || point.training);
  EXPECT_GT(point.choice->forward_bytes.value, 0);
  EXPECT_EQ(sweep.verdict(point), Verdict::unknown);
}

TEST(Sweep, KnowsTheMemoryOfTrainingAlone) {
  const Sweep sweep(test::training_study(), {axis(SweptKey::block_size, {24})}, 1);
  expect_evaluated(sweep, 0, 0);
  EXPECT_GT(sweep.point(0, 0).memory.value().all, sweep.point(0, 0).memory.value().state);
  EXPECT_GT(state_per_token(sweep.choices().front()).value, 0);
}

// --- the numbers of the paper's L = 128 ---

/// Full AttnRes in two phases, groups of 1..128 queries.
Sweep full_l128() {
  Study study;
  study.model = {.name = "L = 128", .num_layers = 128, .hidden_size = 7168};
  study.path = {Scheme{schemes::kFullAttnRes, {.blocks = partition_by_size(128, 16)}}, 128};
  study.schedule = Schedule::two_phase;
  return {study, {axis(SweptKey::block_size, upto(128))}, 1};
}

double mean_d(const SweepChoice& choice, Convention convention) {
  return choice.mean[static_cast<std::size_t>(convention)].value().mean_d;
}

TEST(SweepOfL128, FindsTheBestDivisorsOfTable1) {
  const Sweep sweep = full_l128();
  for (const SweepChoice& choice : sweep.choices()) {
    const Count S = choice.values.front();
    const auto paper = choice.mean[static_cast<std::size_t>(Convention::paper)].value();
    EXPECT_EQ(paper.is_inside_domain, 128 % S == 0) << S;
    if (!paper.is_inside_domain) continue;
    if (S == 8 || S == 16)
      EXPECT_EQ(paper.mean_d, 24) << S;
    else
      EXPECT_GT(paper.mean_d, 24) << S;
  }
}

TEST(SweepOfL128, FindsThirteenOverAllSizes) {
  const Sweep sweep = full_l128();
  for (const auto& [convention, best] :
       {std::pair{Convention::appendixB, 22.97}, std::pair{Convention::physical, 13.41}}) {
    const SweepChoice& thirteen = sweep.choices()[12];
    EXPECT_NEAR(mean_d(thirteen, convention), best, 0.005);
    for (const SweepChoice& choice : sweep.choices()) {
      if (choice.values.front() == 13) continue;
      EXPECT_GT(mean_d(choice, convention), mean_d(thirteen, convention)) << choice.values.front();
    }
  }
}

TEST(Sweep, CountsWhatItHasDone) {
  Progress progress;
  const std::vector<SweptAxis> axes{axis(SweptKey::block_size, {12, 24, 500}),
                                    axis(SweptKey::sequences, {1, 2, 3, 4})};
  const Sweep sweep(full_study(), axes, 2, &progress);
  EXPECT_EQ(progress.expected, 4U + 1 + 3) << "decode by batch, one prefill, training by choice";
  EXPECT_EQ(progress.done, progress.expected);
}

TEST(Sweep, StopsAtTheNextTurnOnceNobodyWaits) {
  const std::vector<SweptAxis> axes{axis(SweptKey::block_size, {12, 24}),
                                    axis(SweptKey::sequences, {1, 2, 3, 4, 5, 6, 7, 8})};
  Progress stopped;
  stopped.is_stopped = true;
  Progress part;
  part.whole = &stopped;
  for (Progress* progress : {&stopped, &part}) {
    EXPECT_THROW(Sweep(full_study(), axes, 2, progress), Stopped);
    EXPECT_LE(progress->done, 2U) << "one for each thread";
  }
}

// --- launches by block ---

/// Calls of each operation; equal ones are added up.
std::map<Operation, Count> calls_of(const std::vector<CountedOperation>& operations) {
  std::map<Operation, Count> calls;
  for (const auto& [operation, count] : operations) calls[operation] += count;
  return calls;
}

RC_GTEST_PROP(OperationsByBlock, AreThoseOfAWalkOverAllLayers, ()) {
  const auto L = *rc::gen::inRange<Count>(1, 60);
  const auto S = *rc::gen::inRange<Count>(1, L + 1);
  const auto attachment = *rc::gen::element(Attachment::standalone, Attachment::all_reduce);
  const ResidualPath path{Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(L, S)}}, L,
                          attachment};
  for (const Schedule schedule : path.scheme.rule->schedules)
    RC_ASSERT(calls_of(operations_by_block(path, schedule)) ==
              calls_of(distinct_operations(path, schedule)));
}

/// The paper's rule of remainders may leave a last block that is longer than the others.
TEST(OperationsByBlock, AllowForALongerLastBlock) {
  const ResidualPath path{
      Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_count(59, 30, Remainder::paper)}}, 59};
  for (const Schedule schedule : path.scheme.rule->schedules)
    EXPECT_EQ(calls_of(operations_by_block(path, schedule)),
              calls_of(distinct_operations(path, schedule)));
}

Study mechanism_study(std::string_view id) {
  Study study = test::kimi_k3_study();
  study.scheme_parameters.hidden_size = study.model.hidden_size;
  study.path.scheme = {*find_scheme(id), study.scheme_parameters};
  study.schedule = shipped_schedule(study.path.scheme);
  return study;
}

TEST(Sweep, TurnsTheStreamsAndBlocksOfMechanismsThatHaveThem) {
  expect_all_evaluated({mechanism_study("hc_static"), {axis(SweptKey::num_streams, {2, 4, 8})}, 1});
  expect_all_evaluated(
      {mechanism_study("attnres_sigmoid"), {axis(SweptKey::block_size, {1, 24, 186})}, 1});
}

/// Its blocks are a number of layers, not a division of all.
TEST(Sweep, TurnsABlockSizeThatIsAParameter) {
  for (const char* scheme : {"attnres_multihead", "attnres_raw_keys"}) {
    const Sweep sweep(mechanism_study(scheme), {axis(SweptKey::block_size, {3, 8})}, 1);
    for (const SweepChoice& choice : sweep.choices()) EXPECT_EQ(choice.refused, "") << scheme;
  }
}

TEST(Sweep, RefusesStreamsThatAMechanismDoesNotHave) {
  const Sweep sweep(mechanism_study("rezero"), {axis(SweptKey::num_streams, {2})}, 1);
  EXPECT_EQ(sweep.choices().front().refused, "scheme rezero has no streams");
  const Sweep lite(mechanism_study("mhc_lite"), {axis(SweptKey::num_streams, {7})}, 1);
  EXPECT_EQ(lite.choices().front().refused,
            "invalid num_streams '7' for mhc_lite (m! permutations; more than 6 streams are not "
            "sensible)");
}

}  // namespace
}  // namespace depthcost::sweep_test
