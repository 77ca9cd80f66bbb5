// The time formula by hand: d = 1000 in bf16, 1000 tokens, so that a d-vector is 2 MB; on a device
// with round numbers.
#include "model/machine/time.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/ledger/path_operations.hpp"
#include "model/operations/attnres_operations.hpp"
#include "model/operations/mhc_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "model/schemes/list.hpp"
#include "tests/model/machine/launch_time.hpp"
#include "tests/studies.hpp"

namespace depthcost::time_test {
namespace {

constexpr double kUs = 1e-6;
constexpr Corner kLow{IntervalEnd::low, IntervalEnd::low, IntervalEnd::low};
constexpr Corner kHigh{IntervalEnd::high, IntervalEnd::high, IntervalEnd::high};

Execution thousand_tokens(std::optional<Bytes> layer_bytes = std::nullopt) {
  return {.tokens = 1000,
          .launch = Launch::graph,
          .storage = {.hidden_size = 1000},
          .layer_bytes = layer_bytes};
}

/// Round 5 without its cache.
Machine memory_alone() {
  Machine machine = test::round_machine();
  machine.cache_bandwidth.clear();
  machine.transition.clear();
  return machine;
}

double seconds(const Machine& machine, const Operation& operation, const Execution& execution,
               const Corner& corner = {}) {
  return test::time_terms(machine, operation, execution, corner).total().value;
}

void set_floor(Machine& machine, Launch launch, double us) {
  for (LaunchFloor& entry : machine.floors)
    if (entry.launch == launch)
      entry.floor = test::plus_minus<Seconds>(us * kUs, 0.1, Evidence::published);
}

// h: 4 MB at 1 read : 1 write from memory, 4 TB/s. f and x: 4 MB from the cache, 10 TB/s. The gain:
// 4 kB read from memory, 5 TB/s. The start is that of memory.
TEST(TimeOfAddRmsnorm, IsFloorPlusBytesOfBothLevels) {
  const Machine machine = test::round_machine();
  const Operation operation = operations::residual_add_rmsnorm();
  const TimeTerms terms = test::time_terms(machine, operation, thousand_tokens(), {});
  EXPECT_DOUBLE_EQ(terms.floor.value, 2 * kUs);
  EXPECT_DOUBLE_EQ(terms.bytes.value, (4.0 / 4 + 4.0 / 10 + 0.004 / 5) * kUs);
  EXPECT_DOUBLE_EQ(terms.total().value, 3.4008 * kUs);
  EXPECT_DOUBLE_EQ(test::memory_share(machine, operation, thousand_tokens()), 4.004 / 8.004);
}

// At best all 8 MB are still in the cache, and its bandwidth and floor are 10 % better; at worst h
// and the gain come from memory, as in the middle, and all is 10 % worse.
TEST(TimeOfAddRmsnorm, HasACornerForEachEndOfFloorBandwidthAndResidency) {
  const Machine machine = test::round_machine();
  const Operation operation = operations::residual_add_rmsnorm();
  EXPECT_DOUBLE_EQ(seconds(machine, operation, thousand_tokens(), kLow), (0.9 + 8.004 / 11) * kUs);
  EXPECT_DOUBLE_EQ(seconds(machine, operation, thousand_tokens(), kHigh),
                   (2.2 + 4.0 / 3.6 + 4.0 / 9 + 0.004 / 4.5) * kUs);
}

// 66.996 MB a layer and the operation's own 8.004 MB: the middle of the transition from 50 to 100
// MB, for h and, after a model of one layer, for the gain.
TEST(TimeOfAddRmsnorm, IsBetweenTheLevelsInTheTransition) {
  const Machine machine = test::round_machine();
  const Operation operation = operations::residual_add_rmsnorm();
  const Execution execution = thousand_tokens(Bytes{66.996e6});
  const TimeTerms terms = test::time_terms(machine, operation, execution, {});
  EXPECT_DOUBLE_EQ(terms.floor.value, 1.5 * kUs);
  EXPECT_DOUBLE_EQ(terms.bytes.value, (2.0 / 4 + 6.0 / 10 + 0.002 / 5 + 0.002 / 10) * kUs);
  EXPECT_DOUBLE_EQ(test::memory_share(machine, operation, execution), 2.002 / 8.004);
}

TEST(BoundOfAddRmsnorm, IsTheLargestTermAtItsCeilingWithAWarmCache) {
  Machine machine = test::round_machine();
  const Operation operation = operations::residual_add_rmsnorm();
  const auto bound = [&](double layer_bytes) {
    return test::bound_time(machine, operation, thousand_tokens(Bytes{layer_bytes})).value;
  };
  EXPECT_DOUBLE_EQ(test::bound_time(machine, operation, thousand_tokens()).value, 0.9 * kUs);
  EXPECT_DOUBLE_EQ(bound(1e9), 1.8 * kUs);
  set_floor(machine, Launch::graph, 0.1);
  EXPECT_DOUBLE_EQ(bound(0), 8.004 / 12 * kUs);
  EXPECT_DOUBLE_EQ(bound(1e9), 4.004 / 6 * kUs);
  machine.vector_rate = FlopsPerSecond{1e11};
  EXPECT_DOUBLE_EQ(bound(0), 10 * kUs);
}

// min(cap, B q / (q + h)) with B = 1.589 cap: q + h bytes at B, until q bytes at the cap take
// longer.
TEST(Concurrency, DelaysFewBytesByALatencyAndManyNotAtAll) {
  Machine machine = memory_alone();
  machine.memory_bandwidth = {{1, test::plus_minus<BytesPerSecond>(5e12, 0, Evidence::measured)}};
  machine.half_saturation = {0.5 * kUs};
  const Operation operation = operations::residual_add();  // 3 d-vectors
  const auto bytes_us = [&](double tokens) {
    Execution execution = thousand_tokens();
    execution.tokens = tokens;
    return test::time_terms(machine, operation, execution, {}).bytes.value / kUs;
  };
  constexpr double kB = 5427.0 / 3416.0 * 5;  // MB / us
  EXPECT_DOUBLE_EQ(bytes_us(1), 0.006 / kB + 0.5);
  EXPECT_DOUBLE_EQ(bytes_us(1000), 6 / kB + 0.5);
  EXPECT_DOUBLE_EQ(bytes_us(10'000), 60.0 / 5);
  machine.half_saturation = {0};
  EXPECT_DOUBLE_EQ(bytes_us(1), 0.006 / 5);
}

TEST(Arithmetic, BindsWhereItTakesLongerThanTheBytes) {
  Machine machine = test::round_machine();
  machine.vector_rate = FlopsPerSecond{1e11};
  machine.tensor_rate = FlopsPerSecond{1e12};
  // 1000 tokens x 1000 x 1 operation on the lanes.
  EXPECT_DOUBLE_EQ(seconds(machine, operations::residual_add_rmsnorm(), thousand_tokens()),
                   (2 + 10) * kUs);
  // m = 2: phi 2 m (m^2 + 2m) = 32, mixes 2 (m^2 + 2m) = 16, on tensor cores.
  EXPECT_DOUBLE_EQ(seconds(machine, operations::mhc_boundary(2, 0), thousand_tokens()),
                   (2 + 48) * kUs);
  machine.vector_rate.reset();
  machine.tensor_rate.reset();
  for (const Operation& operation :
       {operations::residual_add_rmsnorm(), operations::mhc_boundary(2, 0)})
    EXPECT_EQ(test::time_terms(machine, operation, thousand_tokens(), {}).operations.value, 0);
}

Operation moving(double reads, double writes) {
  return {.skeleton = Skeleton::elementwise,
          .accesses = {Access{Operand::hidden_state, reads, writes}}};
}

TEST(Bandwidth, IsInterpolatedOverTheMixAndHeldOutsideIt) {
  const auto bytes_us = [&](double reads, double writes) {
    return test::time_terms(memory_alone(), moving(reads, writes), thousand_tokens(), {})
               .bytes.value /
           kUs;
  };
  EXPECT_DOUBLE_EQ(bytes_us(1, 1), 4 / 4.0);
  EXPECT_DOUBLE_EQ(bytes_us(1, 0), 2 / 5.0);
  EXPECT_DOUBLE_EQ(bytes_us(3, 1), 8 / 4.5);  // half-way from 0.5 to 1
  EXPECT_DOUBLE_EQ(bytes_us(5, 3), 16 / 4.25);
  EXPECT_DOUBLE_EQ(bytes_us(1, 3), 8 / 4.0);
  EXPECT_DOUBLE_EQ(bytes_us(0, 1), 2 / 4.0);
}

TEST(Bandwidth, IsNeverAboveTheCeilingThatBoundsIt) {
  Machine machine = memory_alone();
  machine.memory_ceiling = {4.2e12};
  EXPECT_DOUBLE_EQ(test::time_terms(machine, moving(1, 1), thousand_tokens(), kLow).bytes.value,
                   4 / 4.2 * kUs);
  machine = test::round_machine();
  machine.cache_ceiling = {10.5e12};
  EXPECT_DOUBLE_EQ(test::time_terms(machine, moving(1, 1), thousand_tokens(), kLow).bytes.value,
                   4 / 10.5 * kUs);
}

TEST(Transition, IsExactAtItsKnotsStraightBetweenAndFlatOutside) {
  Machine machine = test::round_machine();
  machine.transition = {{{50e6}, 0.1}, {{60e6}, 0.5}, {{100e6}, 0.9}};
  const Operation operation = moving(1, 1);  // 4 MB of its own
  const auto weight_at = [&](double footprint) {
    return memory_weight(machine, operation, Operand::hidden_state,
                         thousand_tokens(Bytes{footprint - 4e6}), IntervalEnd::value);
  };
  EXPECT_EQ(weight_at(50e6), 0.1);
  EXPECT_EQ(weight_at(60e6), 0.5);
  EXPECT_EQ(weight_at(100e6), 0.9);
  EXPECT_DOUBLE_EQ(weight_at(55e6), 0.3);
  EXPECT_DOUBLE_EQ(weight_at(90e6), 0.8);
  EXPECT_EQ(weight_at(4e6), 0.1);
  EXPECT_EQ(weight_at(1e12), 0.9);
}

// A source is as old as its last use: f and x a kernel, b a layer, bank rows and o^(1) up to a
// block.
TEST(ReuseDistance, IsThatOfTheOperand) {
  const Machine machine = test::round_machine();
  const Operation phase2 = operations::phase2(1, 1, {1, 1, 1});  // o^(1), bank row, b twice, f, x
  Execution execution = thousand_tokens(Bytes{48e6});            // and 12 MB: 60 MB a layer
  execution.bank_age = 1.5;
  const auto weight = [&](Operand operand) {
    return memory_weight(machine, phase2, operand, execution, IntervalEnd::value);
  };
  ASSERT_DOUBLE_EQ(launch_bytes(phase2, execution).value, 12e6 + 2 * 4 * 1000 + 2 * 4000);
  EXPECT_EQ(weight(Operand::layer_output), 0);
  EXPECT_EQ(weight(Operand::layer_input), 0);
  EXPECT_NEAR(weight(Operand::partial_sum), 0.2, 1e-3);
  EXPECT_NEAR(weight(Operand::bank), 0.8, 1e-3);
  EXPECT_NEAR(weight(Operand::phase1_output), 0.8, 1e-3);
}

TEST(BankAge, IsALayerUnlessPhase1ReadsTheBankOnceABlock) {
  const Partition blocks = partition_by_size(186, 24);
  const Partition uneven = partition_by_count(7, 4, Remainder::paper);  // 1, 1, 1, 1, 3
  for (const Schedule schedule : {Schedule::unfused, Schedule::single_pass}) {
    EXPECT_EQ(bank_age(Scheme{schemes::kBlockAttnRes, {.blocks = blocks}}, schedule), 1);
    EXPECT_EQ(bank_age(Scheme{schemes::kFullAttnRes, {.blocks = blocks}}, schedule), 1);
  }
  EXPECT_EQ(bank_age(Scheme{schemes::kBlockAttnRes, {.blocks = blocks}}, Schedule::two_phase), 24);
  EXPECT_EQ(bank_age(Scheme{schemes::kFullAttnRes, {.blocks = blocks}}, Schedule::two_phase), 24);
  EXPECT_EQ(bank_age(Scheme{schemes::kBlockAttnRes, {.blocks = uneven}}, Schedule::two_phase), 3);
  EXPECT_EQ(bank_age(Scheme{schemes::kStandard}, Schedule::fused), 1);
}

/// 2 MB of a d-vector and 1 MB of scalars for 1000 tokens; and scalars that stand alone.
TEST(LooseScalars, AreF32AndLieWhereTheVectorsDo) {
  for (const double vectors : {1.0, 0.0}) {
    Operation operation = moving(vectors, 0);
    operation.reads_scalars = 250;
    const auto bytes = [&](const Machine& machine, const Execution& execution) {
      return test::time_terms(machine, operation, execution, {}).bytes.value;
    };
    const double megabytes = 2 * vectors + 1;
    EXPECT_DOUBLE_EQ(bytes(memory_alone(), thousand_tokens()), megabytes / 5 * kUs) << vectors;
    EXPECT_DOUBLE_EQ(bytes(test::round_machine(), thousand_tokens(Bytes{0})), megabytes / 10 * kUs)
        << vectors;
  }
}

TEST(Phase1Type, WidensTheOutputsAlone) {
  Execution execution = thousand_tokens();
  execution.storage.phase1_dtype = Dtype::f32;
  // 1 bank row and x in bf16, 3 outputs in f32, 6 scalars; 4 queries and the gain.
  EXPECT_DOUBLE_EQ(launch_bytes(operations::phase1(1, 4, 1, {}), execution).value,
                   1000 * (2 * 2000 + 3 * 4000 + 6 * 4) + 5 * 4000);
}

TEST(Launch, DecidesTheFloor) {
  Machine machine = memory_alone();
  set_floor(machine, Launch::stream, 5);
  set_floor(machine, Launch::graph, 3);
  set_floor(machine, Launch::graph_pdl, 1);
  const auto floor_us = [&](Launch launch) {
    Execution execution = thousand_tokens();
    execution.launch = launch;
    return test::time_terms(machine, operations::residual_add(), execution, {}).floor.value / kUs;
  };
  EXPECT_DOUBLE_EQ(floor_us(Launch::stream), 5);
  EXPECT_DOUBLE_EQ(floor_us(Launch::graph), 3);
  EXPECT_DOUBLE_EQ(floor_us(Launch::graph_pdl), 1);
}

TEST(Floor, IsThatOfTheSkeletonAndNothingForAFoldedOperation) {
  Machine machine = memory_alone();
  for (LaunchFloor& entry : machine.floors)
    if (entry.skeleton == Skeleton::elementwise) entry.floor.value = {7 * kUs};
  const auto floor_us = [&](const Operation& operation) {
    return test::time_terms(machine, operation, thousand_tokens(), {}).floor.value / kUs;
  };
  EXPECT_DOUBLE_EQ(floor_us(operations::residual_add()), 7);
  EXPECT_DOUBLE_EQ(floor_us(operations::residual_add_rmsnorm()), 2);
  EXPECT_EQ(floor_us(attached(operations::residual_add(), Attachment::gemm_epilogue)), 0);
}

TEST(Floor, IsNeverLowerFromMemoryThanFromTheCache) {
  Machine machine = test::round_machine();
  for (LaunchFloor& entry : machine.floors)  // borrowed from a slower part
    if (entry.level == Level::cache) entry.floor.high = {9 * kUs};
  const auto floor_us = [&](double layer_bytes) {
    return test::time_terms(machine, operations::residual_add(),
                            thousand_tokens(Bytes{layer_bytes}), kHigh)
               .floor.value /
           kUs;
  };
  EXPECT_DOUBLE_EQ(floor_us(0), 2.2);
  EXPECT_DOUBLE_EQ(floor_us(1e9), 2.2);
}

struct EvidenceOf {
  Machine machine = test::round_machine();
  Execution execution = thousand_tokens(Bytes{1e9});
  Operation operation = operations::residual_add();  // f from the cache, h from memory

  EvidenceOf() {
    for (MixBandwidth& entry : machine.memory_bandwidth)
      entry.bandwidth.evidence = Evidence::measured;
    for (MixBandwidth& entry : machine.cache_bandwidth)
      entry.bandwidth.evidence = Evidence::measured;
    for (LaunchFloor& entry : machine.floors) entry.floor.evidence = Evidence::measured;
  }
  Evidence operator()() const { return test::time_evidence(machine, operation, execution); }
};

TEST(TimeEvidence, IsTheWeakestInputThatEnters) {
  EXPECT_EQ(EvidenceOf{}(), Evidence::measured);
  EvidenceOf memory;
  memory.machine.memory_bandwidth[0].bandwidth.evidence = Evidence::datasheet;
  EXPECT_EQ(memory(), Evidence::datasheet);
  EvidenceOf cache;
  cache.machine.cache_bandwidth[0].bandwidth.evidence = Evidence::assumed;
  EXPECT_EQ(cache(), Evidence::assumed);
  cache.operation = moving(1, 1);
  EXPECT_EQ(cache(), Evidence::measured) << "h alone does not touch the cache";
}

TEST(TimeEvidence, AsksTheFloorOfThisLaunchAndSkeletonAlone) {
  EvidenceOf floor;
  for (LaunchFloor& entry : floor.machine.floors)
    if (entry.launch == Launch::stream || entry.skeleton == Skeleton::row_reduction)
      entry.floor.evidence = Evidence::assumed;
  EXPECT_EQ(floor(), Evidence::measured);
  floor.execution.launch = Launch::stream;
  EXPECT_EQ(floor(), Evidence::assumed);
  floor.operation = attached(floor.operation, Attachment::all_reduce);
  EXPECT_EQ(floor(), Evidence::measured) << "folded: no floor";
}

TEST(TimeEvidence, IsAssumedWhereUnknownResidencyDecides) {
  EvidenceOf unknown;
  unknown.execution.layer_bytes.reset();
  EXPECT_EQ(unknown(), Evidence::assumed);
  unknown.execution.tokens = 50'000;  // 300 MB of its own: h is in memory whatever a layer streams
  EXPECT_EQ(unknown(), Evidence::measured);
  EvidenceOf without_cache;
  without_cache.machine = memory_alone();
  without_cache.execution.layer_bytes.reset();
  EXPECT_EQ(without_cache(), Evidence::published);
}

TEST(CriticalTime, LeavesOutWhatPhase1ComputesForLaterLayers) {
  const Machine machine = memory_alone();
  // 1 r, 3 w: two outputs, two maxima and sums, and two of three queries are for later layers.
  const Operation phase1 = operations::phase1(1, 3, 1, {});
  Execution execution = thousand_tokens();
  const TimeTerms terms = test::time_terms(machine, phase1, execution, {});
  const double d = execution.storage.hidden_size;
  const double T = execution.tokens;
  const double later = T * 2 * (d * 2 + 8) + 2 * d * 4;
  const double all_bytes = T * (4 * d * 2 + 16) + 4 * d * 4;
  EXPECT_DOUBLE_EQ(critical_time(phase1, execution, terms).value,
                   (terms.floor + (1 - later / all_bytes) * terms.bytes).value);
  execution.storage.phase1_dtype = Dtype::f32;
  EXPECT_DOUBLE_EQ(critical_time(phase1, execution, terms).value,
                   (terms.floor + (1 - (T * 2 * (d * 4 + 8) + 2 * d * 4) /
                                           (T * (2 * d * 2 + 2 * d * 4 + 16) + 4 * d * 4)) *
                                      terms.bytes)
                       .value);
  const Operation single = operations::full_single_pass(5);
  const TimeTerms all = test::time_terms(machine, single, execution, {});
  EXPECT_EQ(critical_time(single, execution, all), all.total());
}

/// What phase 1 computes for later layers: scores and mixes of two of its three queries. Each pair
/// of a source and a query has a product and a sum for either.
TEST(CriticalTime, LeavesOutOperationsForLaterLayersWhereThoseDecide) {
  const Operation phase1 = operations::phase1(5, 3, 1, {});
  const Execution execution = thousand_tokens();
  TimeTerms terms = test::time_terms(memory_alone(), phase1, execution, {});
  terms.operations = 1000 * terms.bytes;
  const double later_d = 4 * 5 * 2;
  EXPECT_DOUBLE_EQ(critical_time(phase1, execution, terms).value,
                   (terms.floor + (1 - later_d / phase1.flops_d) * terms.operations).value);
}

TEST(AMachineWithoutACache, TakesEverythingFromMemory) {
  const Machine machine = memory_alone();
  const Operation operation = operations::residual_add_rmsnorm();
  EXPECT_DOUBLE_EQ(seconds(machine, operation, thousand_tokens()), (2 + 8.0 / 4 + 0.004 / 5) * kUs);
  EXPECT_DOUBLE_EQ(test::bound_time(machine, operation, thousand_tokens()).value, 1.8 * kUs);
  EXPECT_EQ(test::memory_share(machine, operation, thousand_tokens()), 1);
}

}  // namespace
}  // namespace depthcost::time_test
