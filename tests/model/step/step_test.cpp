// Workloads, calls, and a step held against the fused standard residual.
#include "model/step/step.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "model/operations/attnres_operations.hpp"
#include "model/schemes/list.hpp"
#include "tests/model/machine/any_machine.hpp"
#include "tests/studies.hpp"

namespace depthcost::step_test {
namespace {

using enum Schedule;

const Partition kBlocks = partition_by_size(186, 24);
const ResidualPath kStandard{Scheme{schemes::kStandard}, 186};
const ResidualPath kBlock{Scheme{schemes::kBlockAttnRes, {.blocks = kBlocks}}, 186};

std::vector<double> tokens_of(const std::vector<Workload>& workloads) {
  std::vector<double> tokens;
  for (const Workload& workload : workloads)
    for (const Pass& pass : workload.passes) tokens.push_back(pass.execution.tokens);
  return tokens;
}

TEST(DecodeWorkloads, ReplicateTheTokensOnEveryTensorParallelRank) {
  Study study = test::kimi_k3_study();
  study.prefill.reset();
  EXPECT_EQ(tokens_of(workloads_of(study, kBlock, single_pass)), (std::vector<double>{1, 64, 512}));
  study.layout = Layout::sequence_sharded;  // over 8 ranks, rounded up
  study.decode->sequences = {1, 8, 9, 512};
  EXPECT_EQ(tokens_of(workloads_of(study, kBlock, single_pass)),
            (std::vector<double>{1, 1, 2, 64}));
}

TEST(DecodeWorkloads, CarryWhatTheUserSaysAboutTheStep) {
  Study study = test::kimi_k3_study();
  study.decode->launch = Launch::graph_pdl;
  study.decode->layer_bytes = Bytes{3e8};
  study.prefill.reset();
  const auto workloads = workloads_of(study, kBlock, two_phase);
  ASSERT_EQ(workloads.size(), 3U);
  EXPECT_EQ(workloads[1].id, WorkloadId::decode(64));
  const Execution& execution = workloads[1].passes.front().execution;
  EXPECT_EQ(execution.launch, Launch::graph_pdl);
  EXPECT_EQ(execution.layer_bytes, Bytes{3e8});
  EXPECT_EQ(execution.bank_age, 24);
  EXPECT_EQ(execution.storage.hidden_size, 7168);
}

TEST(Workloads, ReadEveryParameterOnceAForwardPassUnlessLayersShareThem) {
  Study study = test::kimi_k3_study();
  study.pipeline.reset();
  const auto ages = [&] {
    std::vector<double> found;
    for (const Workload& workload : workloads_of(study, kBlock, two_phase))
      for (const Pass& pass : workload.passes) found.push_back(pass.execution.parameter_age);
    return found;
  };
  EXPECT_EQ(ages(), (std::vector<double>{186, 186, 186, 186}));
  study.decode->parameters = ParameterSets::one_for_all;
  EXPECT_EQ(ages(), (std::vector<double>{1, 1, 1, 1}));
}

// The fullest stage of five and its 38 layers.
TEST(Workloads, ReadOnlyTheParametersOfAStage) {
  Study study = test::kimi_k3_study();
  study.pipeline = PipelineLayout{5, 1, {38, 37, 37, 37, 37}};
  for (const Workload& workload : workloads_of(study, kBlock, two_phase))
    for (const Pass& pass : workload.passes) EXPECT_EQ(pass.execution.parameter_age, 38);
}

TEST(DecodeWorkloads, TakeOneBaselineForAllBatchesOrOneForEach) {
  Study study = test::kimi_k3_study();
  study.prefill.reset();
  const auto baselines = [&] {
    std::vector<double> ms;
    for (const Workload& workload : workloads_of(study, kBlock, single_pass))
      ms.push_back(workload.baseline_step ? workload.baseline_step->value * 1e3 : -1);
    return ms;
  };
  EXPECT_EQ(baselines(), (std::vector<double>{12, 12, 12}));
  study.decode->baseline_steps = {Seconds{8e-3}, Seconds{10e-3}, Seconds{20e-3}};
  EXPECT_EQ(baselines(), (std::vector<double>{8, 10, 20}));
  study.decode->baseline_steps.clear();
  EXPECT_EQ(baselines(), (std::vector<double>{-1, -1, -1}));
}

TEST(PrefillWorkload, IsWholeChunksAndAShorterLastOne) {
  Study study = test::kimi_k3_study();
  study.decode.reset();
  const auto passes = [&] {
    std::vector<std::pair<double, double>> tokens_and_repeats;
    for (const Workload& workload : workloads_of(study, kBlock, single_pass))
      for (const Pass& pass : workload.passes)
        tokens_and_repeats.emplace_back(pass.execution.tokens, pass.repeats);
    return tokens_and_repeats;
  };
  using Passes = std::vector<std::pair<double, double>>;
  EXPECT_EQ(passes(), (Passes{{2048, 8}}));  // 131,072 in chunks of 16,384, over 8 devices
  study.prefill->tokens = 40'000;
  EXPECT_EQ(passes(), (Passes{{2048, 2}, {904, 1}}));  // and 7,232 left
  study.prefill->tokens = 10'001;
  EXPECT_EQ(passes(), (Passes{{1251, 1}}));
  study.prefill->chunk.reset();
  study.prefill->tokens = 131'072;
  EXPECT_EQ(passes(), (Passes{{16'384, 1}}));
}

RC_GTEST_PROP(PrefillWorkload, HoldsEveryTokenOnce, ()) {
  Study study = test::kimi_k3_study();
  study.decode.reset();
  study.prefill = Prefill{.tokens = *rc::gen::inRange<Count>(1, 1'000'000),
                          .chunk = *rc::gen::inRange<Count>(1, 50'000)};
  const auto workloads = workloads_of(study, kBlock, single_pass);
  double tokens = 0;
  for (const Pass& pass : workloads.front().passes) tokens += pass.repeats * pass.execution.tokens;
  RC_ASSERT(tokens == static_cast<double>(study.prefill->tokens));
}

double calls_of(const std::vector<TimeRow>& rows, WorkloadId workload) {
  double calls = 0;
  for (const TimeRow& row : rows)
    if (row.workload == workload) calls += row.calls;
  return calls;
}

// Kimi K3: 186 layers and the output. Two phases: 8 blocks, 178 merges, and the output. Eager: five
// kernels for each of 187 mixes, and b += f behind all but the first layer of each block.
TEST(Calls, AreTheLaunchesOfAForwardPass) {
  const Study study = test::kimi_k3_study();
  const auto calls = [&](const ResidualPath& path, Schedule schedule) {
    const auto rows = step_times(study, path, schedule).time;
    EXPECT_EQ(calls_of(rows, WorkloadId::prefill()), 8 * calls_of(rows, WorkloadId::decode(64)));
    return calls_of(rows, WorkloadId::decode(64));
  };
  EXPECT_EQ(calls(kBlock, single_pass), 187);
  EXPECT_EQ(calls(kBlock, two_phase), 187);
  EXPECT_EQ(calls(kBlock, unfused), 5 * 187 + 178);
  EXPECT_EQ(calls(kStandard, fused), 186);
  EXPECT_EQ(calls(kStandard, unfused), 2 * 186);
  EXPECT_EQ(calls({Scheme{schemes::kMhc, {.num_streams = 4}}, 186}, fused), 2 * 186);
  EXPECT_EQ(calls({Scheme{schemes::kMhc, {.num_streams = 4}}, 186}, one_pass), 186);
  EXPECT_EQ(calls({Scheme{schemes::kMhc, {.num_streams = 4}}, 186}, unfused), 6 * 186);
  std::map<OperationId, double> two_phases;
  for (const TimeRow& row : step_times(study, kBlock, two_phase).time)
    if (row.workload == WorkloadId::decode(64)) two_phases[row.operation.id] += row.calls;
  EXPECT_EQ(two_phases, (std::map<OperationId, double>{{operations::kAttnresPhase1, 8},
                                                       {operations::kAttnresPhase2, 178},
                                                       {operations::kAttnresSinglePass, 1}}));
}

TEST(TheFusedStandardResidual, DiffersFromItselfByExactlyNothing) {
  for (const Attachment attachment : {Attachment::standalone, Attachment::all_reduce}) {
    const ResidualPath path{Scheme{schemes::kStandard}, 186, attachment};
    for (const StepRow& row : step_rows(test::kimi_k3_study(), path, fused)) {
      EXPECT_EQ(row.delta.low.value, 0);
      EXPECT_EQ(row.delta.value.value, 0);
      EXPECT_EQ(row.delta.high.value, 0);
      EXPECT_LT(row.residual.low, row.residual.high);
      EXPECT_EQ(row.overhead.value_or(Estimate<double>{}).high, 0);
    }
  }
}

TEST(Step, IsEmptyWithoutAMachine) {
  Study study = test::kimi_k3_study();
  study.machine.reset();
  const StepTimes times = step_times(study, kBlock, single_pass);
  EXPECT_TRUE(times.step.empty());
  EXPECT_TRUE(times.time.empty());
}

// One layer, one token, d = 1000 in bf16, everything in memory at 5 TB/s: standard 8 kB and a gain
// of 4 kB in 2 us + 2.4 ns; one AttnRes layer 4 kB, its output 6 kB, query and gain 8 kB and 2 us
// each.
TEST(Step, OfOneLayerIsCountedByHand) {
  Study study;
  study.model = {.name = "one layer", .num_layers = 1, .hidden_size = 1000};
  study.machine = test::round_machine();
  study.machine->cache_bandwidth.clear();
  study.machine->transition.clear();
  study.machine->memory_bandwidth = {
      {1, test::plus_minus<BytesPerSecond>(5e12, 0, Evidence::measured)}};
  study.decode = Decode{.sequences = {1}, .baseline_steps = {Seconds{100e-6}}};
  const ResidualPath path{Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(1, 1)}}, 1};
  const StepRow row = step_rows(study, path, single_pass).front();
  EXPECT_NEAR(row.residual.value.value, 4.0052e-6, 1e-18);
  EXPECT_NEAR(row.delta.value.value, 2.0028e-6, 1e-18);
  EXPECT_NEAR(row.delta.low.value, 1.8028e-6, 1e-18);  // only the floor is uncertain: one launch
  EXPECT_NEAR(row.delta.high.value, 2.2028e-6, 1e-18);
  EXPECT_NEAR(row.overhead->value, 0.020028, 1e-15);
  EXPECT_NEAR(row.overhead->high, 0.022028, 1e-15);
  EXPECT_NEAR(row.share->low, 3.6052 / 101.8028, 1e-15);  // in a step that is shorter by as much
  EXPECT_NEAR(row.share->value, 4.0052 / 102.0028, 1e-15);
  EXPECT_NEAR(row.share->high, 4.4052 / 102.2028, 1e-15);
  EXPECT_EQ(row.dominant, Dominant::launch);
}

TEST(Step, HasNeitherOverheadNorShareWithoutABaseline) {
  Study study = test::kimi_k3_study();
  study.decode->baseline_steps.clear();
  for (const StepRow& row : step_rows(study, kBlock, single_pass)) {
    EXPECT_FALSE(row.overhead);
    EXPECT_FALSE(row.share);
  }
}

// A measured step that is shorter than the standard residual alone contradicts the prediction: at
// the corners where it does, nothing follows.
TEST(Step, TakesNoShareFromWhatContradictsTheBaseline) {
  Study study = test::kimi_k3_study();
  const ResidualPath standard{Scheme{schemes::kStandard}, study.model.num_layers};
  const Estimate<Seconds> alone = step_rows(study, standard, fused).front().residual;
  const auto share_at = [&](Seconds baseline) {
    study.decode->baseline_steps = {baseline};
    return step_rows(study, standard, fused).front().share;
  };
  EXPECT_FALSE(share_at(alone.value));
  const auto above = share_at(1.001 * alone.value);
  ASSERT_TRUE(above);
  EXPECT_LE(above->high, 1);
  EXPECT_NEAR(above->value, 1 / 1.001, 1e-9);
}

TEST(Step, OfVeryManyLayersListsNoLaunches) {
  Study study = test::kimi_k3_study();
  const Count layers = static_cast<Count>(kMostListedKinds) + 1;
  const ResidualPath deep{
      Scheme{schemes::kFullAttnRes, {.blocks = partition_by_size(layers, layers)}}, layers};
  study.decode->sequences = {1};
  study.prefill.reset();
  study.pipeline.reset();
  const StepTimes times = step_times(study, deep, single_pass);
  EXPECT_EQ(times.step.size(), 1U);
  EXPECT_TRUE(times.time.empty());
}

struct AnyStudy {
  Study study = test::kimi_k3_study();
  Schedule schedule = fused;

  AnyStudy() {
    study.path = test::any_path(20);
    study.pipeline.reset();
    schedule = test::any_schedule(study.path.scheme);
    study.machine = test::any_machine();
    study.decode->sequences = {static_cast<Count>(test::any_tokens())};
    study.decode->baseline_steps = {Seconds{test::any_real(1e-3, 1e-1)}};
    if (*rc::gen::arbitrary<bool>()) study.decode->layer_bytes = Bytes{test::any_real(0, 300e6)};
    study.prefill->tokens = *rc::gen::inRange<Count>(1, 100'000);
  }
};

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), 1e-9); }

RC_GTEST_PROP(Step, IsTheSumOfItsTimeRows, ()) {
  const AnyStudy any;
  const StepTimes times = step_times(any.study, any.study.path, any.schedule);
  for (const StepRow& step : times.step) {
    double value = 0;
    double widest = 0;
    double least = 0;
    Evidence evidence = Evidence::measured;
    for (const TimeRow& row : times.time) {
      if (row.workload != step.workload) continue;
      value += row.calls * row.predicted.value.value;
      least += row.calls * row.predicted.low.value;
      widest += row.calls * row.predicted.high.value;
      evidence = weakest(evidence, row.predicted.evidence);
    }
    RC_ASSERT(near(step.residual.value.value, value));
    // Operations share their corner, so that the sum is no wider than the sum of intervals.
    RC_ASSERT(step.residual.low.value >= least * (1 - 1e-9));
    RC_ASSERT(step.residual.high.value <= widest * (1 + 1e-9));
    RC_ASSERT(step.residual.evidence == evidence);
  }
}

RC_GTEST_PROP(Delta, IsTheResidualLessTheFusedStandardOne, ()) {
  const AnyStudy any;
  const ResidualPath standard{Scheme{schemes::kStandard}, any.study.path.num_layers,
                              any.study.path.attachment};
  const auto rows = step_rows(any.study, any.study.path, any.schedule);
  const auto baseline = step_rows(any.study, standard, fused);
  RC_ASSERT(rows.size() == baseline.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RC_ASSERT(near(rows[i].residual.value.value,
                   (baseline[i].residual.value + rows[i].delta.value).value));
    RC_ASSERT(rows[i].delta.evidence ==
              weakest(rows[i].residual.evidence, baseline[i].residual.evidence));
    RC_ASSERT(rows[i].delta.low <= rows[i].delta.value);
    RC_ASSERT(rows[i].delta.value <= rows[i].delta.high);
    // Never wider than the difference of two independent intervals.
    RC_ASSERT(rows[i].delta.high.value <=
              (rows[i].residual.high - baseline[i].residual.low).value + 1e-15);
    RC_ASSERT(rows[i].delta.low.value >=
              (rows[i].residual.low - baseline[i].residual.high).value - 1e-15);
  }
}

RC_GTEST_PROP(Ratios, AreDeltaPerBaselineAndResidualPerStep, ()) {
  AnyStudy any;
  // A step takes longer than the residual path that is in it.
  const ResidualPath standard{Scheme{schemes::kStandard}, any.study.path.num_layers,
                              any.study.path.attachment};
  const Seconds least = step_rows(any.study, standard, fused).front().residual.high;
  any.study.decode->baseline_steps = {test::any_real(1.01, 10) * least + Seconds{1e-6}};
  for (const StepRow& row : step_rows(any.study, any.study.path, any.schedule)) {
    if (!row.baseline_step) continue;
    const double base = row.baseline_step->value.value;
    RC_ASSERT(near(row.overhead->value, row.delta.value.value / base));
    RC_ASSERT(near(row.overhead->low, row.delta.low.value / base));
    RC_ASSERT(near(row.overhead->high, row.delta.high.value / base));
    RC_ASSERT(near(row.share->value, row.residual.value.value / (base + row.delta.value.value)));
    RC_ASSERT(row.share->low <= row.share->value);
    RC_ASSERT(row.share->value <= row.share->high);
  }
}

TEST(MhcSchedules, AreFasterTheMoreTheyFuse) {
  Study study = test::kimi_k3_study();
  study.decode->sequences = {1, 8, 64, 512, 4096, 32768};
  study.decode->baseline_steps.clear();
  const ResidualPath path{Scheme{schemes::kMhc, {.num_streams = 4}}, 186};
  const auto rows = [&](Schedule schedule) { return step_rows(study, path, schedule); };
  const auto one = rows(one_pass);
  const auto two = rows(two_pass);
  const auto both = rows(fused);
  const auto eager = rows(unfused);
  ASSERT_EQ(one.size(), 7U);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_LE(one[i].residual.value, two[i].residual.value) << name(one[i].workload);
    EXPECT_LE(two[i].residual.value, both[i].residual.value) << name(one[i].workload);
    EXPECT_LE(both[i].residual.value, eager[i].residual.value) << name(one[i].workload);
  }
}

TEST(TwoPhases, WinAByteBoundPrefillIfTheirOutputsAreStoredInBf16) {
  Study study = test::kimi_k3_study();
  const auto prefill = [&](Schedule schedule) {
    const StepRow row = step_rows(study, kBlock, schedule).back();
    EXPECT_EQ(row.workload, WorkloadId::prefill());
    EXPECT_EQ(row.dominant, Dominant::bytes);
    return row.residual.value;
  };
  const Seconds single = prefill(single_pass);
  const Seconds in_bf16 = prefill(two_phase);
  EXPECT_LT(in_bf16, single);
  study.phase1_dtype = Dtype::f32;
  EXPECT_EQ(prefill(single_pass), single);
  EXPECT_GT(prefill(two_phase), in_bf16);
}

TEST(Dominant, IsTheLargestTermOfWhatIsAdded) {
  Study study = test::kimi_k3_study();
  study.attachment = Attachment::standalone;
  study.decode->sequences = {1, 100'000};
  study.prefill.reset();
  const auto rows = step_rows(study, kBlock, single_pass);
  // One launch more than the standard residual's 186, but twice its bytes.
  EXPECT_EQ(rows[0].dominant, Dominant::bytes);
  EXPECT_EQ(rows[1].dominant, Dominant::bytes);
  const ResidualPath mhc{Scheme{schemes::kMhc, {.num_streams = 4}}, 186};  // two launches a layer
  EXPECT_EQ(step_rows(study, mhc, Schedule::fused)[0].dominant, Dominant::launch);
  // What adds nothing is described as a whole.
  const ResidualPath standard{Scheme{schemes::kStandard}, 186};
  EXPECT_EQ(step_rows(study, standard, Schedule::fused)[0].dominant, Dominant::launch);
  study.machine->vector_rate = FlopsPerSecond{1e12};
  EXPECT_EQ(step_rows(study, kBlock, single_pass)[1].dominant, Dominant::operations);
  EXPECT_EQ(name(Dominant::operations), "operations");
}

}  // namespace
}  // namespace depthcost::step_test
