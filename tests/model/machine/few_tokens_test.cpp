// What few tokens take on a GPU, term by term, on a device with round numbers: floors of 1 us from
// the cache and 2 us from memory.
#include "model/machine/few_tokens.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "model/evaluation/evaluation.hpp"
#include "model/ledger/path_operations.hpp"
#include "model/machine/corner_times.hpp"
#include "model/operations/attnres_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/gated_residual_operations.hpp"
#include "model/operations/mhc_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "model/schemes/list.hpp"
#include "model/step/attachments.hpp"
#include "tests/constants.hpp"
#include "tests/model/machine/launch_time.hpp"
#include "tests/studies.hpp"

namespace depthcost::few_tokens_test {
using test::few_tokens;

namespace {

constexpr KernelStyle kLoops{.projection = Projection::split};
constexpr KernelStyle kRings{RowLoads::ring, Prefetch::before_start, Projection::split};
constexpr double kFloor = 1e-6;
constexpr double kRow = 7168 * 2;  // bytes

Machine gpu(const KernelStyle& style, Count num_multiprocessors = 100) {
  Machine machine = test::round_machine();
  machine.few_tokens = few_tokens(num_multiprocessors, style);
  return machine;
}

/// Called alone again and again: everything is in the cache.
Execution hot(double tokens) {
  return {.tokens = tokens,
          .launch = Launch::graph,
          .storage = {.hidden_size = 7168},
          .temperature = Temperature::hot};
}

double seconds(const Machine& machine, const Operation& operation, double tokens) {
  return test::time_terms(machine, operation, hot(tokens), {}).total().value;
}

Operation inside_block(Count sources) {
  return operations::single_pass(sources, static_cast<double>(sources - 1), 1, 1,
                                 {Operand::partial_sum, 0, 1});
}

/// All loads at once: two rows and nothing behind them.
TEST(FewTokens, OfTheStandardResidualAreTwoRows) {
  const FewTokens constants = few_tokens(100, kLoops);
  EXPECT_NEAR(seconds(gpu(kLoops), operations::residual_add_rmsnorm(), 1),
              kFloor + 2 * kRow / constants.ring_draw.value.value, 1e-15);
}

/// Whatever is fused is not slower than its pieces.
TEST(FewTokens, MakeNoPiecesFasterThanTheWhole) {
  for (const KernelStyle& style : {kLoops, kRings}) {
    const Machine machine = gpu(style);
    for (const ResidualPath& path :
         {ResidualPath{Scheme{schemes::kStandard}, 8},
          ResidualPath{Scheme{schemes::kMhc, {.num_streams = 4}}, 8},
          ResidualPath{Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(8, 2)}}, 8}}) {
      const auto total = [&](Schedule schedule) {
        double sum = 0;
        for (const auto& [operation, calls] : distinct_operations(path, schedule))
          sum += static_cast<double>(calls) * seconds(machine, operation, 1);
        return sum;
      };
      EXPECT_LT(total(shipped_schedule(path.scheme)), total(Schedule::unfused))
          << name(path.scheme);
    }
  }
}

/// The further from the parts that were measured, the less is known.
TEST(FewTokens, AreLessCertainTheFurtherThePartIs) {
  const auto expect_wider = [](const auto& wide, const auto& narrow) {
    EXPECT_EQ(wide.value, narrow.value);
    EXPECT_LT(wide.low, narrow.low);
    EXPECT_GT(wide.high, narrow.high);
    EXPECT_EQ(wide.evidence, Evidence::assumed);
  };
  const FewTokens own = few_tokens(100, kLoops);
  const FewTokens other = few_tokens(100, kLoops, Kinship::other_architecture);
  const FewTokens stranger = few_tokens(100, kLoops, Kinship::other_memory);
  EXPECT_EQ(own.loop_draw.evidence, Evidence::published);
  for (const auto& [wide, narrow] : {std::pair{other, own}, std::pair{stranger, other}}) {
    expect_wider(wide.loop_draw, narrow.loop_draw);
    expect_wider(wide.kernel_scatter, narrow.kernel_scatter);
    expect_wider(wide.sinkhorn_step, narrow.sinkhorn_step);
  }
}

/// Whatever the weights are: boundary attention reads 160 rows of a token as AttnRes does.
TEST(FewTokens, LoadTheRowsOfABankAsAttnResDoes) {
  const auto loads = [](const Accesses& accesses, RowLoads style) {
    return token_work(operations::row_update(accesses, 1), {.attnres_loads = style}).loads;
  };
  for (const RowLoads style : {RowLoads::loop, RowLoads::ring}) {
    EXPECT_EQ(loads({Access{Operand::bank, 160, 0}}, style), style);
    EXPECT_EQ(loads({Access{Operand::hidden_state, 1, 0}}, style), RowLoads::window);
  }
}

/// D of Qwen3.8-Flash-Next: 324 results are 6 tiles, each with its 10,240 columns over 16 CTAs.
TEST(FewTokens, ShareAProductAmongCtas) {
  const VectorStorage types{.hidden_size = 2560};
  const Operation down = operations::gate_down_silu({}, operations::StreamNorm::folded);
  const auto bytes = [&](const Operation& operation, double tokens) {
    return product_bytes_in_turn(148, operation, types, tokens).value;
  };
  const double cta = 640 * (64 + 8) * 2.0;
  EXPECT_EQ(bytes(down, 1), cta);
  EXPECT_EQ(bytes(down, 8), cta);
  EXPECT_EQ(bytes(down, 9), 2 * cta);
  EXPECT_EQ(bytes(down, 24), 2 * cta);
  EXPECT_EQ(bytes(down, 512), 2 * cta);
  // U: 160 tiles are two waves, and K is not split.
  const Operation up = operations::gate_up_mix({}, operations::StreamNorm::stored);
  EXPECT_EQ(bytes(up, 1), 2 * 320 * (64 + 1) * 2.0);
  EXPECT_EQ(bytes(up, 24), 2 * 320 * (64 + 24) * 2.0);
  EXPECT_EQ(bytes(operations::gate_apply({}, operations::StreamNorm::stored), 8), 0);
  // A machine of 60 holds 8 splits of 6 tiles, one of 96 just 16 splits, and a cluster has no more.
  EXPECT_EQ(product_bytes_in_turn(60, down, types, 8).value, 2 * cta);
  EXPECT_EQ(product_bytes_in_turn(95, down, types, 8).value, 2 * cta);
  EXPECT_EQ(product_bytes_in_turn(96, down, types, 8).value, cta);
  EXPECT_EQ(product_bytes_in_turn(1000, down, types, 8).value, cta);
}

/// Weights of one byte are drawn in half of the time, tokens are not.
TEST(FewTokens, DrawAProductsWeightsInTheirType) {
  const Operation down = operations::gate_down_silu({}, operations::StreamNorm::folded);
  const VectorStorage narrow{.hidden_size = 2560, .bytes_per_weight = 1.0};
  EXPECT_EQ(product_bytes_in_turn(148, down, narrow, 8).value, 640 * (64 + 8 * 2.0));
}

/// At 7,168 columns a row, D's CTAs of a machine of 100 have 1,792 of them; others load no tile.
TEST(FewTokens, WaitForAProductWhereItsKernelsAreShipped) {
  const Operation down = operations::gate_down_silu({}, operations::StreamNorm::stored);
  const auto waits = [&](const KernelStyle& style) {
    return test::time_terms(gpu(style), down, hot(8), {}).token.value;
  };
  const double draw = few_tokens(100, kRings).loop_draw.value.value;
  EXPECT_NEAR(waits(kRings) - waits(kLoops), 1792 * (64 + 8) * 2.0 / draw, 1e-12);
}

/// Engines' kernels start while their neighbour ends, a framework's library does not.
TEST(FewTokens, LaunchALibrarysProductBehindItsNeighbour) {
  const Machine machine = gpu(kRings);
  const auto floor = [&](const Operation& operation) {
    Execution in_a_step = hot(1);
    in_a_step.temperature.reset();
    return test::time_terms(machine, operation, in_a_step, {}).floor.value;
  };
  const double library = floor(operations::gate_down({}));
  const double engine = floor(operations::gate_down_silu({}, operations::StreamNorm::stored));
  EXPECT_NEAR(engine, machine.engine.floor_of_launched_ahead * library, 1e-15);
}

/// An architecture that nobody has measured has the mean floor of those that were.
TEST(FewTokens, HaveTheFloorOfTheirArchitecture) {
  Constants constants = test::constants();
  constants.architectures = {{"hopper", 1.0}, {"blackwell", 1.2}};
  const auto floor = [&](std::string_view architecture) {
    return depthcost::few_tokens(100, kLoops, constants, architecture, Kinship::same_architecture)
        .floor_share;
  };
  EXPECT_EQ(floor("blackwell"), 1.2);
  EXPECT_EQ(floor("ada"), 1.1);
  Machine machine = gpu(kLoops);
  const double alone = seconds(machine, operations::mhc_post(4), 1);
  machine.few_tokens->floor_share = 1.2;
  EXPECT_NEAR(seconds(machine, operations::mhc_post(4), 1) - alone, 0.2 * kFloor, 1e-15);
}

/// With half of the capacity twice the bytes come from memory: 9 rows of 400 tokens are 52 MB.
TEST(FewTokens, FindTheirDataInAShareOfTheCache) {
  Machine machine = gpu(kLoops);
  const auto share = [&] {
    return memory_weight(machine, operations::mhc_post(4), Operand::recent, hot(400),
                         IntervalEnd::value);
  };
  const double whole = share();
  machine.few_tokens->cache_share = 0.5;
  EXPECT_GT(share(), whole + 0.5);
}

/// The cache serves a projection's weights once for each token at work, and a split projection has
/// one launch more, which waits for what the first has written.
TEST(FewTokens, ReadAProjectionWholeWhereCtasDoNotShareIt) {
  const Machine split = gpu(kLoops);
  const Machine whole = gpu({.projection = Projection::whole});
  const Operation pre = operations::mhc_pre(4);
  const double weights = parameter_bytes(pre, {.hidden_size = 7168}).value;
  const double from_cache = whole.cache_bandwidth.front().bandwidth.value.value;
  ASSERT_EQ(whole.cache_bandwidth.front().read_share, 1);
  const double second = kFloor + whole.few_tokens->coefficient_step.value.value;
  for (const double tokens : {1.0, 50.0, 100.0, 200.0}) {
    const double at_work = std::min(tokens, 100.0);
    const double longer = at_work * weights / (1.5 * from_cache) - second;
    EXPECT_NEAR(seconds(whole, pre, tokens) - seconds(split, pre, tokens), longer, 1e-12);
  }
}

/// Few tokens take the weights whole in one kernel, many share them out in two.
TEST(FewTokens, TakeTheFasterProjectionWhereThereAreBoth) {
  const Machine split = gpu(kLoops);
  const Machine whole = gpu({.projection = Projection::whole});
  const Machine either = gpu({.projection = Projection::either});
  const Operation pre = operations::mhc_pre(4);
  for (const double tokens : {1.0, 4.0, 16.0, 64.0, 300.0})
    EXPECT_EQ(seconds(either, pre, tokens),
              std::min(seconds(split, pre, tokens), seconds(whole, pre, tokens)));
  EXPECT_LT(seconds(whole, pre, 1), seconds(split, pre, 1));
  EXPECT_GT(seconds(whole, pre, 64), seconds(split, pre, 64));
}

/// The second kernel starts while the first one runs, where kernels do so at all.
TEST(FewTokens, HideTheStartOfASecondKernel) {
  Machine machine = gpu({RowLoads::ring, Prefetch::before_start, Projection::split});
  machine.engine.floor_of_launched_ahead = 1;
  const double plain = seconds(machine, operations::mhc_pre(4), 1);
  machine.engine.floor_of_launched_ahead = 0.7;
  EXPECT_NEAR(plain - seconds(machine, operations::mhc_pre(4), 1), 0.3 * kFloor, 1e-15);
  Machine hopper = gpu(kLoops);
  hopper.engine.floor_of_launched_ahead = 1;
  const double alone = seconds(hopper, operations::mhc_pre(4), 1);
  hopper.engine.floor_of_launched_ahead = 0.7;
  EXPECT_EQ(seconds(hopper, operations::mhc_pre(4), 1), alone);
}

/// Many tokens take the bandwidth of plain streams times the efficiency of their kernel.
TEST(FewTokens, ReadManyTokensAtTheEfficiencyOfTheirKernel) {
  Machine machine = gpu(kLoops, 400);
  machine.memory_ceiling = {20e12};
  Execution many = hot(1e6);
  many.temperature = Temperature::cold;
  const auto bytes = [&](const Operation& operation) {
    return test::time_terms(machine, operation, many, {}).bytes.value;
  };
  const double post = bytes(operations::mhc_post(4));
  const double pre = bytes(operations::mhc_pre(4));
  machine.few_tokens->stream_efficiency = 1.1;
  machine.few_tokens->projection_efficiency = 0.8;
  EXPECT_NEAR(bytes(operations::mhc_post(4)) * 1.1, post, 1e-9);
  EXPECT_NEAR(bytes(operations::mhc_pre(4)) * 0.8, pre, 1e-9);
}

/// They launch as mHC's pre does and lack its Sinkhorn iterations alone.
TEST(FewTokens, OfOtherCoefficientsAreThoseOfMhcWithoutSinkhorn) {
  const auto pre = [](const Operation& operation) {
    return operation.id == operations::kMhcPre || operation.id == operations::kRowUpdate;
  };
  const auto of_pre = [&](const Scheme& scheme) {
    for (const auto& [operation, calls] : distinct_operations({scheme, 8}, Schedule::fused))
      if (pre(operation)) return token_work(operation, kLoops);
    return TokenWork{};
  };
  const TokenWork own = of_pre(Scheme{schemes::kMhc, {.num_streams = 4}});
  for (const char* name : {"hc_dynamic", "mhc_lite", "kromhc"}) {
    const Scheme scheme(*find_scheme(name), {.num_streams = 4});
    const TokenWork other = of_pre(scheme);
    EXPECT_EQ(other.launches, own.launches) << name;
    EXPECT_EQ(other.loads, own.loads) << name;
    EXPECT_EQ(other.launches_of_split, own.launches_of_split) << name;
    EXPECT_EQ(other.coefficient_steps, own.coefficient_steps) << name;
    EXPECT_EQ(other.sinkhorn_steps, 0) << name;
    const auto coefficients = distinct_operations({scheme, 8}, Schedule::unfused);
    EXPECT_TRUE(std::any_of(coefficients.begin(), coefficients.end(), [](const auto& launch) {
      return launch.operation.id == operations::kUnfusedProjection &&
             token_work(launch.operation, kLoops).launches_of_split == 1;
    })) << name;
  }
}

/// Post reads four streams, f and its 20 coefficients in a loop, behind one step.
TEST(FewTokens, OfMhcPostAreItsReadsBehindItsCoefficients) {
  const FewTokens constants = few_tokens(100, kLoops);
  const double reads = 5 * kRow + 20 * 4;
  EXPECT_NEAR(
      seconds(gpu(kLoops), operations::mhc_post(4), 1),
      kFloor + constants.coefficient_step.value.value + reads / constants.loop_draw.value.value,
      1e-15);
}

/// A split pre launches two kernels, reads the streams in both and iterates. The second one waits
/// for what the first has written.
TEST(FewTokens, OfMhcPreAreTwoKernelsAndSinkhorn) {
  const FewTokens constants = few_tokens(100, kLoops);
  EXPECT_NEAR(seconds(gpu(kLoops), operations::mhc_pre(4), 1),
              2 * kFloor + constants.coefficient_step.value.value +
                  constants.sinkhorn_step.value.value + 8 * kRow / constants.loop_draw.value.value,
              1e-15);
}

/// The trace that the ring was fitted on says 0.52 us between 2 and 9 sources.
TEST(FewTokens, GrowWithTheSourcesOfAttnRes) {
  const Machine b300 = gpu(kRings, 148);
  const double growth = seconds(b300, inside_block(9), 1) - seconds(b300, inside_block(2), 1);
  EXPECT_NEAR(growth, 7 * kRow / b300.few_tokens->ring_draw.value.value, 1e-15);
  EXPECT_GT(growth, 0.35e-6);
  EXPECT_LT(growth, 0.7e-6);
}

/// 100 multiprocessors work on 100 tokens of a loop, and on 50 of a ring, at a time.
TEST(FewTokens, AreConstantUntilTheDeviceIsFull) {
  const Machine loops = gpu(kLoops);
  const Machine rings = gpu(kRings);
  const auto draws = [](const Machine& machine, double tokens) {
    const TimeTerms terms = test::time_terms(machine, inside_block(4), hot(tokens), {});
    return std::max(terms.token, terms.bytes).value;
  };
  EXPECT_DOUBLE_EQ(draws(loops, 1), draws(loops, 100));
  EXPECT_DOUBLE_EQ(2 * draws(loops, 1), draws(loops, 101));
  // The rings of 50 tokens together would draw more than this cache gives.
  Machine fast_cache = rings;
  fast_cache.cache_bandwidth.front().bandwidth.value = {100e12};
  fast_cache.cache_ceiling = {100e12};
  EXPECT_DOUBLE_EQ(draws(fast_cache, 1), draws(fast_cache, 50));
  EXPECT_DOUBLE_EQ(2 * draws(fast_cache, 1), draws(fast_cache, 51));
}

/// The second wave of a kernel that projects counts in part, and every other whole.
TEST(FewTokens, HideTheSecondWaveOfAProjectionInPart) {
  Machine machine = gpu(kLoops);
  machine.few_tokens->projection_wave = 0.25;
  machine.cache_bandwidth.front().bandwidth.value = {100e12};
  machine.cache_ceiling = {100e12};
  const auto draws = [&](const Operation& operation, double tokens) {
    const TimeTerms terms = test::time_terms(machine, operation, hot(tokens), {});
    return std::max(terms.token, terms.bytes).value;
  };
  const Operation pre = operations::mhc_pre(4);
  const double steps = draws(pre, 300) - draws(pre, 200);  // one wave
  EXPECT_NEAR(draws(pre, 101) - draws(pre, 100), 0.25 * steps, 1e-12);
  EXPECT_NEAR(draws(pre, 201) - draws(pre, 200), steps, 1e-12);
  const Operation post = operations::mhc_post(4);
  EXPECT_NEAR(draws(post, 201) - draws(post, 200), draws(post, 101) - draws(post, 100), 1e-12);
}

TEST(FewTokens, StartAsFromTheCacheInAStepWhereKernelsAreLaunchedAhead) {
  Execution in_step = hot(1);
  in_step.temperature.reset();  // nothing is known to be cached
  const auto floor = [&](const KernelStyle& style) {
    return test::time_terms(gpu(style), operations::residual_add_rmsnorm(), in_step, {}).floor;
  };
  EXPECT_DOUBLE_EQ(floor(kLoops).value, 2 * kFloor);
  EXPECT_DOUBLE_EQ(floor(kRings).value, kFloor);
  in_step.launch = Launch::graph_pdl;
  EXPECT_DOUBLE_EQ(floor(kLoops).value, kFloor);
  in_step.launch = Launch::stream;
  EXPECT_DOUBLE_EQ(floor(kRings).value, 2 * kFloor);
  // No kernel before it hides the start of one that is measured alone.
  in_step.launch = Launch::graph_pdl;
  in_step.temperature = Temperature::cold;
  EXPECT_DOUBLE_EQ(floor(kLoops).value, 2 * kFloor);
}

// --- whose kernels ---

FewTokens kernels_of(Implementation implementation, const KernelStyle& style) {
  return with_kernels_of(implementation, test::few_tokens(132, style), test::constants());
}

TEST(Implementations, OfAStackTakeWhatItsKernelsAreMeasuredToTake) {
  const Machine fastest = gpu(kLoops);
  Machine vllm = fastest;
  vllm.few_tokens->stack = kernels_of(Implementation::vllm, kLoops).stack;
  const auto slower = [&](const Operation& operation, IntervalEnd end) {
    const Corner corner{.kernels = end};
    return test::time_terms(vllm, operation, hot(1), corner).total() /
           test::time_terms(fastest, operation, hot(1), corner).total();
  };
  EXPECT_DOUBLE_EQ(slower(operations::mhc_post(4), IntervalEnd::value), 1.25);
  EXPECT_DOUBLE_EQ(slower(operations::mhc_post(4), IntervalEnd::low), 1);
  EXPECT_DOUBLE_EQ(slower(operations::mhc_post(4), IntervalEnd::high), 1.5);
  EXPECT_DOUBLE_EQ(slower(operations::mhc_pre(4), IntervalEnd::value), 1.5);
  EXPECT_DOUBLE_EQ(slower(operations::mhc_pre(4), IntervalEnd::high), 2);
  // Nobody has measured it.
  EXPECT_DOUBLE_EQ(slower(operations::residual_add_rmsnorm(), IntervalEnd::high), 1);
  vllm.few_tokens->stack = kernels_of(Implementation::fastest_published, kLoops).stack;
  EXPECT_DOUBLE_EQ(slower(operations::mhc_post(4), IntervalEnd::high), 1);
}

/// kernels/cuda/attnres/depth_attention_variants.hpp, split_row; kernels/cuda/mhc/mhc_tile.cu.
TEST(Implementations, OfThisProjectLoadARowAtOnceWhereThereAreClusters) {
  const KernelStyle hopper{RowLoads::loop, Prefetch::none, Projection::either};
  const FewTokens ours = kernels_of(Implementation::ours, hopper);
  EXPECT_EQ(ours.style.attnres_loads, RowLoads::window);
  EXPECT_EQ(ours.style.projection, Projection::whole);
  EXPECT_EQ(ours.loop_draw.evidence, Evidence::assumed);
  EXPECT_EQ(kernels_of(Implementation::ours, {}).style.attnres_loads, RowLoads::loop);
  EXPECT_EQ(kernels_of(Implementation::ours, kRings).style.prefetch, Prefetch::none);
}

/// Nor dearer than a launch.
/// Sums over tokens are added up by a further launch; phi's gradient is a product in between.
TEST(FewTokens, LaunchWhatABackwardPassLeavesBehindIt) {
  const KernelStyle style;
  EXPECT_EQ(token_work(operations::single_pass_backward(9, 1), style).launches, 2);
  EXPECT_EQ(token_work(operations::phase1_backward(9, 4), style).launches, 2);
  EXPECT_EQ(token_work(operations::phase2_backward(), style).launches, 2);
  EXPECT_EQ(token_work(operations::residual_add_rmsnorm_backward(), style).launches, 2);
  EXPECT_EQ(token_work(operations::mhc_pre_backward(4), style).launches, 3);
  EXPECT_EQ(token_work(operations::mhc_boundary_backward(4), style).launches, 3);
}

TEST(FewTokens, AreNotFreeInsideAnotherKernel) {
  Machine machine = gpu(kLoops);
  const Operation folded = attached(operations::residual_add_rmsnorm(), Attachment::all_reduce);
  const auto floor = [&] { return test::time_terms(machine, folded, hot(1), {}).floor; };
  EXPECT_DOUBLE_EQ(floor().value, kFloor);
  for (LaunchFloor& entry : machine.floors) entry.floor.value = {5e-6};
  EXPECT_EQ(floor(), machine.few_tokens->folded_call.value);
}

TEST(FewTokens, ScatterWithinTheCeilings) {
  Machine machine = gpu(kLoops);
  machine.memory_ceiling = machine.memory_bandwidth.front().bandwidth.value;
  const Operation operation = operations::residual_add_rmsnorm();
  Execution many = hot(1e6);
  many.temperature = Temperature::cold;
  const Corner best{.kernels = IntervalEnd::low};
  EXPECT_GE(test::time_terms(machine, operation, many, best).bytes,
            test::bound_time(machine, operation, many));
}

// --- differences ---

/// Corner times of one launch.
CornerTimes corners_of(const Machine& machine, const Operation& operation, double tokens) {
  const Execution execution = hot(tokens);
  const LaunchTime launch(machine, operation, execution);
  return corner_times(launch, [](const TimeTerms& terms) { return terms.total(); });
}

TEST(Corners, OfOneTruthDifferInTheKernelsAlone) {
  for (std::size_t i = 0; i < kSharedCorners; ++i) {
    Corner one = kCorners[2 * i];
    const Corner& other = kCorners[2 * i + 1];
    EXPECT_NE(one.kernels, other.kernels);
    one.kernels = other.kernels;
    EXPECT_EQ(one.floor, other.floor);
    EXPECT_EQ(one.bandwidth, other.bandwidth);
    EXPECT_EQ(one.residency, other.residency);
  }
}

/// The floor cancels; each kernel's own uncertainty stays.
TEST(Differences, CarryWhatTwoKernelsDoNotShare) {
  const Machine machine = gpu(kLoops);
  const CornerTimes post = corners_of(machine, operations::mhc_post(4), 1);
  const CornerTimes add = corners_of(machine, operations::residual_add_rmsnorm(), 1);
  const Estimate<Seconds> delta = difference(post, add, Kernels::different, Evidence::published);
  const FewTokens& constants = *machine.few_tokens;
  const double reads = 5 * kRow + 20 * 4;
  const auto add_at = [](BytesPerSecond draw) { return 2 * kRow / draw.value; };
  EXPECT_NEAR(delta.low.value,
              constants.coefficient_step.low.value + reads / constants.loop_draw.high.value -
                  add_at(constants.ring_draw.low),
              1e-12);
  EXPECT_NEAR(delta.high.value,
              constants.coefficient_step.high.value + reads / constants.loop_draw.low.value -
                  add_at(constants.ring_draw.high),
              1e-12);
}

TEST(Differences, OfTheSameKernelsAreNothing) {
  const CornerTimes post = corners_of(gpu(kLoops), operations::mhc_post(4), 1000);
  const Estimate<Seconds> same = difference(post, post, Kernels::same, Evidence::published);
  EXPECT_EQ(same.low.value, 0);
  EXPECT_EQ(same.high.value, 0);
  const Estimate<Seconds> apart = difference(post, post, Kernels::different, Evidence::published);
  EXPECT_LT(apart.low.value, 0);
  EXPECT_GT(apart.high.value, 0);
}

// --- attachments ---

Study served() {
  Study study = test::kimi_k3_study();
  study.pipeline.reset();
  study.machine->few_tokens = few_tokens(148, kRings);
  return study;
}

TEST(Attachments, HoldEachAgainstTheStandardResidualAttachedAlike) {
  const Study study = served();
  const std::vector<AttachmentRow> rows = attachment_rows(study);
  // At three batches: standard, Block and Full folded and standalone, and an AttnRes kernel of its
  // own against the folded standard residual.
  ASSERT_EQ(rows.size(), 3U * (3 + 3 + 2));
  for (const AttachmentRow& row : rows) {
    if (is_standard(row.scheme)) {
      EXPECT_EQ(row.delta.value.value, 0);
      continue;
    }
    const auto standard = std::find_if(rows.begin(), rows.end(), [&](const AttachmentRow& other) {
      return is_standard(other.scheme) && other.workload == row.workload &&
             other.attachment == row.baseline;
    });
    EXPECT_NEAR(row.delta.value.value, (row.residual.value - standard->residual.value).value,
                1e-12);
  }
}

TEST(Attachments, OfTheAnswerAreThoseOfEngines) {
  const Study study = served();
  const Scheme standard{schemes::kStandard};
  const Scheme mhc{schemes::kMhc, {.num_streams = 4}};
  const auto attached = [&](const Study& asked, const Scheme& scheme, Schedule schedule,
                            WorkloadKind workload) {
    return attached_path(asked, {scheme, 186}, schedule, workload).attachment;
  };
  using enum WorkloadKind;
  EXPECT_EQ(attached(study, standard, Schedule::fused, decode), Attachment::all_reduce);
  EXPECT_EQ(attached(study, study.path.scheme, Schedule::single_pass, decode),
            Attachment::all_reduce);
  EXPECT_EQ(attached(study, standard, Schedule::unfused, decode), Attachment::standalone);
  EXPECT_EQ(attached(study, mhc, Schedule::fused, decode), Attachment::standalone);
  EXPECT_EQ(attached(study, standard, Schedule::fused, prefill), Attachment::standalone);
  EXPECT_EQ(attached(study, standard, Schedule::fused, training), Attachment::standalone);
  Study alone = study;
  alone.tensor_parallel_size = 1;
  EXPECT_EQ(attached(alone, standard, Schedule::fused, decode), Attachment::standalone);
  Study written = study;
  written.attachment = Attachment::standalone;
  EXPECT_EQ(attached(written, standard, Schedule::fused, decode), Attachment::standalone);
}

/// The rows of the answer are the folded rows of the comparison.
TEST(Attachments, StandInTheAnswersOwnRows) {
  const Study study = served();
  const Evaluation answer = evaluate(study);
  std::size_t compared = 0;
  for (const AttachmentRow& row : answer.attachments)
    for (const StepRow& step : answer.step) {
      if (row.attachment != Attachment::all_reduce || step.workload != row.workload ||
          !same_scheme(step.path->scheme, row.scheme) || step.schedule != row.schedule)
        continue;
      EXPECT_EQ(step.residual.value, row.residual.value);
      EXPECT_EQ(step.delta.value, row.delta.value);
      ++compared;
    }
  EXPECT_EQ(compared, 3U * 3);
}

TEST(Attachments, HoldMhcAgainstTheFoldedStandardResidual) {
  const Study study = served();
  const ResidualPath mhc{Scheme{schemes::kMhc, {.num_streams = 4}}, 186};
  EXPECT_EQ(baseline_path(study, mhc, WorkloadKind::decode).attachment, Attachment::all_reduce);
  const StepRow own = step_rows(study, mhc, Schedule::fused).front();
  const ResidualPath standard{Scheme{schemes::kStandard}, 186};
  const StepRow folded = step_rows(study, standard, Schedule::fused).front();
  EXPECT_NEAR(own.delta.value.value, (own.residual.value - folded.residual.value).value, 1e-12);
}

TEST(Attachments, AreNoneWithoutAnAllReduce) {
  Study alone = served();
  alone.tensor_parallel_size = 1;
  EXPECT_TRUE(attachment_rows(alone).empty());
  Study sharded = served();
  sharded.layout = Layout::sequence_sharded;
  EXPECT_TRUE(attachment_rows(sharded).empty());
  Study spread = served();
  spread.data_parallel_size = 4;
  spread.expert_parallel_size = 4 * spread.tensor_parallel_size;
  EXPECT_TRUE(attachment_rows(spread).empty());
}

}  // namespace
}  // namespace depthcost::few_tokens_test
