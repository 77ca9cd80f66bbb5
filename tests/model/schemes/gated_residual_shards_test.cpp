// Gated Residual whose matrices are divided over tensor ranks, or stored in fewer bytes.
#include <gtest/gtest.h>

#include "model/ledger/arithmetic.hpp"
#include "model/operations/gated_residual_operations.hpp"
#include "model/schemes/list.hpp"
#include "model/step/memory.hpp"
#include "model/step/step.hpp"
#include "tests/studies.hpp"

namespace depthcost::gated_residual_shards_test {
namespace {

constexpr double kWeights = 640'624'640;  // of Qwen3.8-Flash-Next
constexpr double kRanks = 8;

ResidualPath path_over(Count ranks) {
  return {Scheme{schemes::kGatedResidual, {.hidden_size = 2560, .weight_shards = ranks}}, 96};
}

struct Sums {
  double reads_d = 0;
  double writes_d = 0;
  double weights_d = 0;
  double flops_d = 0;

  explicit Sums(const Launches& launches) {
    for (const Operation& launch : launches) {
      reads_d += traffic(launch).reads_d;
      writes_d += traffic(launch).writes_d;
      weights_d += launch.weights_d;
      flops_d += launch.flops_d;
    }
  }
};

Launches site_of(Count ranks, Schedule schedule) {
  const SchemeParameters p{.hidden_size = 2560, .weight_shards = ranks};
  return schemes::kGatedResidual.operations({p, 1, 96}, schedule);
}

/// A rank multiplies its d/8 columns, and updates and normalises whole streams.
TEST(GatedResidualShards, DivideEverythingBehindTheNorm) {
  struct Expected {
    Schedule schedule;
    double reads_d;
    double writes_d;
  };
  for (const Expected& expected :
       {Expected{Schedule::two_pass, 5 + 4 / kRanks, 4 + 1 / kRanks},
        Expected{Schedule::fused, 5 + (4 + 8) / kRanks, 4 + (4 + 4 + 1) / kRanks},
        Expected{Schedule::folded_norm, 5 + 8 / kRanks, 4 + 1 / kRanks},
        Expected{Schedule::one_pass, 5, 4 + 1 / kRanks}}) {
    SCOPED_TRACE(name(expected.schedule));
    const Sums divided(site_of(8, expected.schedule));
    EXPECT_DOUBLE_EQ(divided.reads_d, expected.reads_d);
    EXPECT_DOUBLE_EQ(divided.writes_d, expected.writes_d);
    const Sums whole(site_of(1, expected.schedule));
    const double gain_again = expected.schedule == Schedule::two_pass ? 4 : 0;
    EXPECT_DOUBLE_EQ(whole.weights_d, 6'604'800 / 2560.0 + gain_again);
    EXPECT_DOUBLE_EQ(kRanks * divided.weights_d, whole.weights_d);
    const double products = 2 * 4 * (2 * 320 + 4);
    EXPECT_NEAR(whole.flops_d - divided.flops_d, products * 7 / 8, 12 * 4) << "elementwise is less";
  }
}

/// Ranks meet twice: for 320 + 4 partial sums in f32, and for x.
TEST(GatedResidualShards, MeetTwiceASite) {
  for (const Schedule schedule : schemes::kGatedResidual.schedules) {
    SCOPED_TRACE(name(schedule));
    std::vector<Exchange> met;
    for (const Operation& launch : site_of(8, schedule))
      if (is_exchange(launch)) met.push_back(launch.exchange);
    ASSERT_EQ(met.size(), 2U);
    EXPECT_EQ(met[0], (Exchange{TransferKind::all_reduce, 8, 0, 324}));
    EXPECT_EQ(met[1], (Exchange{TransferKind::all_gather, 8, 1, 0}));
    for (const Operation& launch : site_of(1, schedule)) EXPECT_FALSE(is_exchange(launch));
  }
}

Study study_over(Count ranks) {
  Study study = test::modelled_study();
  study.model.num_layers = 96;
  study.model.hidden_size = 2560;
  study.pipeline.reset();
  study.prefill.reset();
  study.path = path_over(ranks);
  study.schedule = Schedule::two_pass;
  study.compare.clear();
  study.decode = Decode{.sequences = {1, 64}};
  return study;
}

/// Each call takes what the machine's collective of that size takes, whatever else is uncertain.
TEST(GatedResidualShards, WaitForTheirCollectives) {
  const Study study = study_over(8);
  std::size_t num_checked = 0;
  for (const TimeRow& row : step_times(study, study.path, study.schedule).time) {
    if (!is_exchange(row.operation)) continue;
    const double elements = row.operation.id == operations::kGateAllGather ? 2560 * 2.0
                            : row.calls == 96                              ? 324 * 4.0
                                                                           : 320 * 4.0;
    const auto expected = transfer_time(study.machine->transfers, row.operation.exchange.kind,
                                        TransferScope::node, 8, Bytes{row.tokens * elements});
    EXPECT_EQ(row.predicted.value, expected->value);
    EXPECT_EQ(row.predicted.low, expected->low);
    EXPECT_EQ(row.predicted.high, expected->high);
    EXPECT_EQ(row.predicted.evidence, expected->evidence);
    EXPECT_EQ(row.bytes.value, 0);
    ++num_checked;
  }
  EXPECT_EQ(num_checked, 2U * 3) << "at two batches: those of sites, that of the exit, and of x";
}

TEST(GatedResidualShards, AreSlowerThanWholeWeightsWhereCollectivesAreSlow) {
  const Study divided = study_over(8);
  const Study whole = study_over(1);
  const StepRow slow = step_rows(divided, divided.path, divided.schedule).front();
  const StepRow fast = step_rows(whole, whole.path, whole.schedule).front();
  EXPECT_GT(slow.residual.value, fast.residual.value);
  EXPECT_EQ(slow.dominant, Dominant::communication);
}

TEST(GatedResidualWeights, LieDividedOrNarrowInMemory) {
  Study study = study_over(8);
  EXPECT_EQ(scheme_weights(study, path_over(1)).value, kWeights * 2);
  EXPECT_EQ(scheme_weights(study, path_over(8)).value, kWeights * 2 / 8);
  study.residual_weight_dtype = WeightDtype::fp8;
  EXPECT_EQ(scheme_weights(study, path_over(1)).value,
            kWeights * bytes_per_weight(WeightDtype::fp8));
}

/// One call reads the weights in their own type, and the streams in the model's.
TEST(GatedResidualWeights, AreReadInTheirType) {
  Study study = study_over(1);
  const auto parameters_of_a_step = [&] {
    double sum = 0;
    for (const TimeRow& row : step_times(study, study.path, study.schedule).time)
      if (row.workload == WorkloadId::decode(1)) sum += row.calls * row.parameters.value;
    return sum;
  };
  study.schedule = Schedule::folded_norm;  // which reads each weight once
  EXPECT_DOUBLE_EQ(parameters_of_a_step(), kWeights * 2);
  study.residual_weight_dtype = WeightDtype::mxfp4;
  EXPECT_DOUBLE_EQ(parameters_of_a_step(), kWeights * bytes_per_weight(WeightDtype::mxfp4));
}

}  // namespace
}  // namespace depthcost::gated_residual_shards_test
