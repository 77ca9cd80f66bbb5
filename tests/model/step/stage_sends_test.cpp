// Messages of a pipeline counted by hand, and what they add to a step.
#include "model/step/stage_sends.hpp"

#include <gtest/gtest.h>

#include "model/schemes/list.hpp"
#include "model/step/step.hpp"
#include "tests/studies.hpp"

namespace depthcost::stage_sends_test {
namespace {

/// 1 us and 10 GB/s inside a node, 5 us and 1 GB/s beyond it.
std::vector<TransferPoint> sends() {
  std::vector<TransferPoint> points;
  for (const auto& [scope, latency, rate] :
       {std::tuple{TransferScope::node, 1e-6, 1e10}, {TransferScope::network, 5e-6, 1e9}})
    for (const double bytes : {1.0, 1e9}) {
      const Seconds time{latency + bytes / rate};
      points.push_back({TransferKind::send, scope, 2, {bytes}, {time, time, time, {}}});
    }
  return points;
}

/// Four stages of two devices, four devices in a node.
Study staged_study() {
  Study study = test::modelled_study();
  study.decode->sequences = {64};
  study.tensor_parallel_size = 2;
  study.expert_parallel_size = 2;
  study.machine->devices_per_node = 4;
  study.machine->transfers = sends();
  study.pipeline = even_layout(4, 1, study.model.num_layers / 2, 2);
  return study;
}

ResidualPath path_of(const Study& study, const SchemeRule& rule) {
  return {Scheme{rule}, study.model.num_layers};
}

Estimate<Seconds> sends_of(const Study& study, const SchemeRule& rule) {
  const ResidualPath path = path_of(study, rule);
  return send_time(study, path, workloads_of(study, path, shipped_schedule(path.scheme)).front());
}

double message(double latency, double rate, double bytes) { return latency + bytes / rate; }

/// Stages 0 and 1 share a node, and so do 2 and 3. Each rank sends half of the tokens, or all.
TEST(StageSends, GoOverEveryBoundaryOnce) {
  const Study study = staged_study();
  const double vector = 64 * as_double(study.model.hidden_size) * 2;
  for (const auto& [rule, vectors] :
       {std::pair{&schemes::kStandard, 1.0}, std::pair{&schemes::kMhc, 4.0}}) {
    const auto time = sends_of(study, *rule);
    const auto all = [&](double share) {
      const double bytes = share * vectors * vector;
      return 2 * message(1e-6, 1e10, bytes) + message(5e-6, 1e9, bytes);
    };
    EXPECT_NEAR(time.value.value, all(0.5), 1e-10);
    EXPECT_NEAR(time.low.value, all(0.5), 1e-10);
    EXPECT_NEAR(time.high.value, all(1), 1e-10);
  }
}

TEST(StageSends, AreNothingWithoutStagesOrMeasurements) {
  Study study = staged_study();
  study.pipeline.reset();
  EXPECT_EQ(sends_of(study, schemes::kMhc).high, Seconds{});
  study = staged_study();
  study.machine->transfers.clear();
  study.machine->network_bandwidth.reset();
  EXPECT_EQ(sends_of(study, schemes::kMhc).high, Seconds{});
  EXPECT_EQ(sends_of(study, schemes::kMhc).evidence, Evidence::assumed);
}

/// Both paths send over the same links: what a scheme adds is what it sends beside the standard
/// one.
TEST(StageSends, AddWhatASchemeSendsBesideTheStandardResidual) {
  const Study study = staged_study();
  Study alone = study;
  alone.machine->transfers.clear();
  alone.machine->network_bandwidth.reset();
  const ResidualPath mhc = path_of(study, schemes::kMhc);
  const StepRow with = step_rows(study, mhc, Schedule::fused).front();
  const StepRow without = step_rows(alone, mhc, Schedule::fused).front();
  const Seconds more =
      sends_of(study, schemes::kMhc).value - sends_of(study, schemes::kStandard).value;
  EXPECT_GT(more, Seconds{});
  EXPECT_NEAR((with.delta.value - without.delta.value).value, more.value, 1e-10);
  EXPECT_EQ(with.sends.value, sends_of(study, schemes::kMhc).value);
}

}  // namespace
}  // namespace depthcost::stage_sends_test
