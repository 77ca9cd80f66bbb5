// Plans against a loop over every placement, schedule and block size, each evaluated alone.
#include "model/plan/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "model/evaluation/evaluation.hpp"
#include "model/schemes/list.hpp"
#include "model/training/training_memory.hpp"
#include "tests/studies.hpp"

namespace depthcost::plan_test {
namespace {

constexpr Count kDevices = 8;
constexpr Count kSizes[] = {2, 4, 8, 16, 32, 64};

/// Llama 3.1 8B on devices that hold a part of it.
Study small_study() {
  Study study;
  study.name = "small";
  study.model = {.name = "small", .num_layers = 64, .hidden_size = 4096};
  study.model.architecture = test::llama_8b();
  study.path = {Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(64, 2)}}, 64};
  study.schedule = Schedule::two_phase;
  study.decode = Decode{.sequences = {64}, .context = 1000};
  study.machine = test::round_machine();
  study.machine->memory_capacity = Bytes{12e9};
  for (const Count ranks : {2, 4, 8})
    for (const TransferKind kind :
         {TransferKind::all_reduce, TransferKind::all_gather, TransferKind::reduce_scatter})
      for (const auto& [size, seconds] : {std::pair{8192.0, 10e-6}, std::pair{8192e3, 50e-6}})
        study.machine->transfers.push_back(
            {kind, TransferScope::node, ranks, Bytes{size},
             test::plus_minus<Seconds>(seconds, 0.1, Evidence::published)});
  return study;
}

Study with_limit(double limit) {
  Study study = small_study();
  study.budgets = {{BudgetKind::decode_overhead, limit}};
  return study;
}

PlacedStudy placed(const Study& own, const Placement& placement) {
  PlacedStudy answer{placement, own, {{.key = SweptKey::block_size, .values = {}}}};
  answer.axes.front().values.assign(std::begin(kSizes), std::end(kSizes));
  answer.axes.push_back({.key = SweptKey::schedule, .values = {}});
  for (const Schedule schedule : own.path.scheme.rule->schedules)
    answer.axes.back().values.push_back(static_cast<Count>(schedule));
  Study& study = answer.study;
  study.tensor_parallel_size = placement.tensor;
  study.expert_parallel_size = placement.expert;
  study.context_parallel_size = placement.context;
  study.data_parallel_size = placement.data;
  if (study.decode)
    for (Count& sequences : study.decode->sequences) sequences /= placement.data;
  if (placement.pipeline > 1) study.pipeline = even_layout(placement.pipeline, 1, 32, 2);
  return answer;
}

std::vector<PlacedStudy> all_placed(const Study& own) {
  std::vector<PlacedStudy> all;
  for (const Placement& placement : placements(own, kDevices))
    all.push_back(placed(own, placement));
  return all;
}

Plans plans(const Study& own) {
  Progress progress;
  return plans_of(all_placed(own), 2, progress);
}

TEST(Plans, StopAtTheNextPlacementOnceNobodyWaits) {
  Progress progress;
  progress.is_stopped = true;
  const std::vector<PlacedStudy> all = all_placed(small_study());
  ASSERT_GT(all.size(), 3U);
  EXPECT_THROW(plans_of(all, 2, progress), Stopped);
  EXPECT_LE(progress.done, 2U) << "one for each thread";
}

/// One schedule and block size on one placement, as `evaluate` has it.
struct Alone {
  Placement placement;
  Count size = 0;
  Schedule schedule = Schedule::fused;
  bool fits = false;
  double overhead = 0;
  double loss = std::numeric_limits<double>::infinity();
  double step = 0;
  double memory = 0;
};

Alone evaluated(const PlacedStudy& at, Count size, Schedule schedule) {
  Study study = at.study;
  apply({SweptKey::block_size, size}, study);
  study.schedule = schedule;
  const Evaluation evaluation = evaluate(study);
  Alone alone{at.placement, size, schedule};
  for (const MemoryRow& row : evaluation.memory) alone.memory += row.bytes.value;
  alone.fits = alone.memory <= 0.9 * 12e9;
  for (const StepRow& row : evaluation.step) {
    if (row.schedule != schedule || !row.overhead) continue;
    alone.overhead = row.overhead->value;
    alone.step = (row.baseline_step->value + row.delta.value).value;
  }
  if (const auto loss = quality_of(study.path.scheme).at_most()) alone.loss = *loss;
  return alone;
}

std::vector<Alone> everything(const Study& own) {
  std::vector<Alone> all;
  for (const PlacedStudy& at : all_placed(own))
    for (const Count size : kSizes)
      for (const Schedule schedule : own.path.scheme.rule->schedules)
        all.push_back(evaluated(at, size, schedule));
  return all;
}

/// The lowest loss that keeps the limit, then the cheapest; one for each placement, the fastest
/// first.
std::vector<Alone> best_by_hand(const std::vector<Alone>& all, double limit) {
  std::map<Placement, std::vector<Alone>> kept;
  for (const Alone& alone : all)
    if (alone.fits && alone.overhead <= limit && alone.loss < 10)
      kept[alone.placement].push_back(alone);
  std::vector<Alone> best;
  for (const auto& [placement, choices] : kept) {
    double least = 10;
    for (const Alone& alone : choices) least = std::min(least, alone.loss);
    const Alone* cheapest = nullptr;
    for (const Alone& alone : choices)
      if (alone.loss < least + kSameLoss &&
          (cheapest == nullptr || alone.overhead < cheapest->overhead))
        cheapest = &alone;
    best.push_back(*cheapest);
  }
  std::sort(best.begin(), best.end(), [](const Alone& a, const Alone& b) {
    return std::tuple(a.step, a.memory, a.placement) < std::tuple(b.step, b.memory, b.placement);
  });
  return best;
}

TEST(Plan, IsWhatALoopOverEverythingFinds) {
  const std::vector<Alone> all = everything(small_study());
  std::vector<double> overheads;
  for (const Alone& alone : all)
    if (alone.fits && alone.loss < 10) overheads.push_back(alone.overhead);
  ASSERT_FALSE(overheads.empty());
  std::sort(overheads.begin(), overheads.end());
  for (const double quantile : {0.2, 0.5, 0.9}) {
    const double limit =
        overheads[static_cast<std::size_t>(quantile * static_cast<double>(overheads.size()))];
    const std::vector<Alone> expected = best_by_hand(all, limit);
    const Plans found = plans(with_limit(limit));
    EXPECT_LE(found.kept, expected.size());
    EXPECT_GE(found.kept + found.slower, expected.size());
    EXPECT_GT(found.too_large, 0U);
    ASSERT_EQ(found.best.size(), std::min<std::size_t>(3, expected.size()));
    for (std::size_t i = 0; i < found.best.size(); ++i) {
      const PlannedPlacement& plan = found.best[i];
      EXPECT_EQ(plan.placement, expected[i].placement) << quantile << " " << i;
      EXPECT_EQ(plan.blocks->block_size, expected[i].size) << quantile << " " << i;
      EXPECT_EQ(plan.schedule, expected[i].schedule) << quantile << " " << i;
      EXPECT_NEAR(plan.times.front().step.value.value, expected[i].step, 1e-12);
      EXPECT_NEAR(plan.times.front().tokens_per_second,
                  as_double(plan.times.front().workload.sequences * plan.placement.data) /
                      static_cast<double>(kDevices) / expected[i].step,
                  1e-6);
      EXPECT_NEAR(plan.times.front().overhead.value, expected[i].overhead, 1e-12);
      EXPECT_NEAR(plan.memory.value, expected[i].memory, 1);
    }
  }
}

TEST(Plan, NamesWhatExceedsTheLimitLeastWhereNothingKeepsIt) {
  const double limit = 1e-6;
  const Plans found = plans(with_limit(limit));
  EXPECT_TRUE(found.best.empty());
  EXPECT_GT(found.broken, 0U);
  ASSERT_TRUE(found.nearest);
  EXPECT_EQ(found.nearest->fate, PlanFate::breaks);
  double least = 1;
  for (const Alone& alone : everything(small_study()))
    if (alone.fits && alone.loss < 10) least = std::min(least, alone.overhead);
  EXPECT_NEAR(found.nearest->times.front().overhead.value, least, 1e-12);
}

TEST(Plan, NamesWhatNeedsLeastWhereNothingFits) {
  Study study = with_limit(1);
  study.machine->memory_capacity = Bytes{1e9};
  const Plans found = plans(study);
  EXPECT_TRUE(found.best.empty());
  EXPECT_EQ(found.too_large, found.searched);
  ASSERT_TRUE(found.nearest);
  EXPECT_EQ(found.nearest->fate, PlanFate::does_not_fit);
  for (const PlacedStudy& at : all_placed(study))
    EXPECT_GE(planned(at).memory, found.nearest->memory);
}

/// Nobody has published its loss: the cheapest schedule that keeps the limit.
TEST(Plan, TakesTheCheapestOfASchemeWithoutAPublishedLoss) {
  Study study = with_limit(1);
  study.path.scheme = Scheme{schemes::kHcStatic, {.num_streams = 4}};
  study.schedule = shipped_schedule(study.path.scheme);
  PlacedStudy at = placed(study, {.tensor = 8, .expert = 8});
  at.axes.erase(at.axes.begin());
  const PlannedPlacement plan = planned(at);
  EXPECT_EQ(plan.fate, PlanFate::keeps);
  for (const Schedule schedule : study.path.scheme.rule->schedules) {
    Study alone = at.study;
    alone.schedule = schedule;
    EXPECT_GE(step_rows(alone, alone.path, schedule).front().overhead->value,
              plan.times.front().overhead.value)
        << name(schedule);
  }
}

/// Coarser than any that is published, as somebody has written them.
TEST(Plan, TakesBlocksOfAnySizeThatIsWritten) {
  Study study = with_limit(1);
  set_blocks(study.path.scheme.parameters, partition_by_size(study.model.num_layers, 48));
  PlacedStudy at = placed(study, {.tensor = 8, .expert = 8});
  std::erase_if(at.axes, [](const SweptAxis& axis) { return axis.key == SweptKey::block_size; });
  const PlannedPlacement plan = planned(at);
  EXPECT_EQ(plan.fate, PlanFate::keeps);
  ASSERT_TRUE(plan.blocks);
  EXPECT_EQ(plan.blocks->block_size, 48);
}

/// Whether the limit is kept or not: nobody can run the cheapest schedule of Gated Residual.
TEST(Plan, NeverNamesABound) {
  for (const double limit : {100.0, 1e-6}) {
    Study study = with_limit(limit);
    study.path.scheme = Scheme{schemes::kGatedResidual, {.hidden_size = 4096}};
    study.schedule = Schedule::fused;
    PlacedStudy at = placed(study, {.tensor = 8, .expert = 8});
    at.axes.erase(at.axes.begin());
    const PlannedPlacement plan = planned(at);
    EXPECT_EQ(plan.fate, limit > 1 ? PlanFate::keeps : PlanFate::breaks);
    EXPECT_EQ(plan.schedule, Schedule::two_pass);
  }
}

TEST(Plan, CountsAllThatTrainingKeeps) {
  Study study = test::training_study();
  study.pipeline.reset();
  study.training->schedule = PipelineSchedule::one_forward_one_backward;
  study.machine->memory_capacity = Bytes{1e9};
  const PlannedPlacement plan = planned({{.tensor = 8, .expert = 8}, study, {}});
  EXPECT_EQ(plan.fate, PlanFate::does_not_fit);
  Bytes all;
  for (const MemoryRow& row : all_memory_rows(study, study.path)) all += row.bytes;
  EXPECT_EQ(plan.memory.value, all.value);
  EXPECT_GT(plan.memory.value, 18 * 2.7e12 / 8);
}

/// On devices that hold the standard residual, and not the blocks beside it.
PlacedStudy too_tight_for_blocks(PlacedStudy tight) {
  const Bytes standard = fullest_memory(tight.study, baseline_study(tight.study).path);
  tight.study.machine->memory_capacity = (1 + 1e-9) / kCountedShare * standard;
  return tight;
}

TEST(Plan, DoesNotFitWhereNoChoiceOfBlocksDoes) {
  const PlacedStudy tight =
      too_tight_for_blocks(placed(with_limit(100), {.tensor = 8, .expert = 8}));
  const PlannedPlacement plan = planned(tight);
  EXPECT_EQ(plan.fate, PlanFate::does_not_fit);
  EXPECT_GT(plan.memory, kCountedShare * *tight.study.machine->memory_capacity);
}

/// A little more memory would change what is trained: the plan says so.
TEST(Plan, NamesAChoiceThatIsJustTooLarge) {
  const PlacedStudy roomy = placed(with_limit(100), {.tensor = 8, .expert = 8});
  const PlannedPlacement wanted = planned(roomy);
  const auto found_with = [&](double share) {
    PlacedStudy at = roomy;
    at.study.machine->memory_capacity = share / kCountedShare * wanted.memory;
    Progress progress;
    return plans_of({at}, 1, progress);
  };
  const Plans tight = found_with(1 - 1e-9);
  ASSERT_EQ(tight.best.size(), 1U);
  EXPECT_LT(tight.best.front().memory, wanted.memory);
  ASSERT_TRUE(tight.just_too_large);
  EXPECT_EQ(tight.just_too_large->schedule, wanted.schedule);
  EXPECT_EQ(tight.just_too_large->blocks, wanted.blocks);
  EXPECT_FALSE(found_with(1 + 1e-9).just_too_large);
}

TEST(Plan, IsNotSaidToBeFasterWhereItDoesNotFit) {
  const Study study = with_limit(100);
  const PlacedStudy tight = too_tight_for_blocks(placed(study, {.tensor = 8, .expert = 8}));
  const PlacedStudy slower = placed(study, {.tensor = 2, .data = 4, .expert = 2});
  ASSERT_EQ(planned(slower).fate, PlanFate::keeps);
  ASSERT_LT(planned(tight).cost, planned(slower).cost);
  Progress progress;
  const Plans found = plans_of({slower, tight}, 1, progress);
  EXPECT_EQ(found.best.size(), 1U);
  EXPECT_EQ(found.too_large, 1U);
  EXPECT_FALSE(found.faster.has_value());
}

// --- training ---

/// Kimi K3 in training on eight devices that hold all of it, or a part of its placements.
Study training_of(double capacity, double limit) {
  Study study = test::training_study();
  study.pipeline.reset();
  study.training->schedule = PipelineSchedule::one_forward_one_backward;
  study.machine->link_bandwidth = BytesPerSecond{400e9};
  study.machine->memory_capacity = Bytes{capacity};
  study.budgets = {{BudgetKind::training_overhead, limit}};
  return study;
}

std::vector<PlacedStudy> all_placed_in_training(const Study& own) {
  std::vector<PlacedStudy> all;
  for (const Placement& placement : placements(own, kDevices)) {
    if (placement.context > 1) continue;
    PlacedStudy at{placement, own, {{.key = SweptKey::block_size, .values = {6, 24}}}};
    at.study.tensor_parallel_size = placement.tensor;
    at.study.expert_parallel_size = placement.expert;
    at.study.data_parallel_size = placement.data;
    at.study.training->num_micro_batches = 32 / placement.data;
    if (placement.pipeline > 1)
      at.study.pipeline = even_layout(placement.pipeline, 1, own.model.num_layers / 2, 2);
    all.push_back(std::move(at));
  }
  return all;
}

/// Without a bound, and without an order of its own.
void expect_what_a_loop_finds(const std::vector<PlacedStudy>& all, std::size_t num_threads) {
  std::vector<PlannedPlacement> kept;
  std::optional<PlannedPlacement> faster;
  for (const PlacedStudy& at : all) {
    PlannedPlacement plan = planned(at);
    if (plan.fate == PlanFate::keeps || plan.fate == PlanFate::breaks) {
      EXPECT_LE(least_cost(at), plan.cost) << placement_text(at.placement);
    }
    if (plan.fate == PlanFate::breaks && (!faster || plan.cost < faster->cost)) faster = plan;
    if (plan.fate == PlanFate::keeps) kept.push_back(std::move(plan));
  }
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.cost, a.memory, a.placement) < std::tuple(b.cost, b.memory, b.placement);
  });
  Progress progress;
  const Plans found = plans_of(all, num_threads, progress);
  EXPECT_EQ(progress.done, all.size());
  EXPECT_EQ(found.searched, all.size());
  ASSERT_EQ(found.best.size(), std::min<std::size_t>(3, kept.size()));
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    EXPECT_EQ(found.best[i].placement, kept[i].placement) << i;
    EXPECT_EQ(found.best[i].cost, kept[i].cost) << i;
    EXPECT_EQ(found.best[i].blocks->block_size, kept[i].blocks->block_size) << i;
  }
  EXPECT_EQ(found.kept + found.too_large + found.broken + found.unknown + found.slower, all.size());
  const bool has_faster = faster && (kept.empty() || faster->cost < kept.front().cost);
  ASSERT_EQ(found.faster.has_value(), has_faster);
  if (has_faster) {
    EXPECT_EQ(found.faster->placement, faster->placement);
  }
}

/// The cheaper, or the nearer to the limits, of one scheme.
std::optional<PlannedPlacement> best_of(const std::vector<PlacedStudy>& all, PlanFate fate) {
  std::optional<PlannedPlacement> best;
  for (const PlacedStudy& at : all) {
    const PlannedPlacement plan = planned(at);
    if (plan.fate == fate && (!best || plan.cost < best->cost)) best = plan;
  }
  return best;
}

/// As a loop over every placement of mHC finds it, where all, some or none of them keep the limit.
TEST(Plan, NamesTheBestOfAnotherScheme) {
  std::size_t num_kept = 0;
  for (const double limit : {1.0, 0.05, 0.03, 0.02, 1e-6}) {
    const Study own = with_limit(limit);
    Study other = own;
    other.path.scheme = Scheme{schemes::kMhc, {.num_streams = 4}};
    other.schedule = Schedule::one_pass;
    std::vector<PlacedStudy> of_mhc;
    for (PlacedStudy& at : all_placed(other)) {
      at.axes.erase(at.axes.begin());
      of_mhc.push_back(std::move(at));
    }
    std::vector<PlacedStudy> all = all_placed(own);
    all.insert(all.end(), of_mhc.begin(), of_mhc.end());
    Progress progress;
    const Plans found = plans_of(all, 2, progress);
    if (found.best.empty()) {
      EXPECT_TRUE(found.others.empty()) << "no plan has no rival";
      continue;
    }
    const bool is_shown = std::any_of(found.best.begin(), found.best.end(),
                                      [](const auto& plan) { return plan.scheme == "mhc"; });
    ASSERT_EQ(found.others.empty(), is_shown);
    if (is_shown) continue;
    EXPECT_EQ(found.others.front().scheme, "mhc");
    const auto best = best_of(of_mhc, PlanFate::keeps);
    EXPECT_EQ(found.others.front().fate == PlanFate::keeps, best.has_value()) << limit;
    if (!best) continue;
    ++num_kept;
    EXPECT_EQ(found.others.front().cost, best->cost) << limit;
  }
  EXPECT_GT(num_kept, 0U);
}

TEST(PlanOfTraining, IsWhatALoopOverEveryPlacementFinds) {
  for (const double limit : {1e-3, 0.02, 1.0})
    for (const double capacity : {6e12, 1e14})
      for (const std::size_t threads : {1U, 3U})
        expect_what_a_loop_finds(all_placed_in_training(training_of(capacity, limit)), threads);
}

/// Two batches, with and without a prefill, and a prefill alone.
TEST(Plan, IsWhatALoopOverEveryPlacementFinds) {
  for (const double limit : {1e-6, 3e-3, 0.02, 1.0})
    for (const auto& [decodes, prefills] : {std::pair{true, false}, {true, true}, {false, true}}) {
      Study study = with_limit(limit);
      study.decode->sequences = {8, 64};
      if (prefills) study.prefill = Prefill{.tokens = 32768, .chunk = 8192, .sequence_shards = 1};
      if (!decodes) study.decode.reset();
      study.budgets.push_back({BudgetKind::prefill_overhead, limit});
      expect_what_a_loop_finds(all_placed(study), 2);
    }
}

TEST(Plan, DoesNotLookAtWhatIsTooSlowInAnyCase) {
  const Plans found = plans(with_limit(1));
  EXPECT_GT(found.slower, 0U);
  EXPECT_EQ(found.best.size(), 3U);
}

/// A step that does not fit has a time all the same.
TEST(PlanOfTraining, DoesNotFitWhereNoChoiceOfBlocksDoes) {
  const Study study = training_of(1e14, 1);
  for (const PlacedStudy& roomy : all_placed_in_training(study)) {
    if (roomy.placement.pipeline > 1) continue;
    EXPECT_EQ(planned(roomy).fate, PlanFate::keeps) << placement_text(roomy.placement);
    const PlannedPlacement plan = planned(too_tight_for_blocks(roomy));
    EXPECT_EQ(plan.fate, PlanFate::does_not_fit) << placement_text(roomy.placement);
    EXPECT_GT(plan.cost, 0);
  }
}

TEST(PlanOfTraining, DoesNotLookAtWhatIsTooSlowInAnyCase) {
  Progress progress;
  const Plans found = plans_of(all_placed_in_training(training_of(1e14, 1)), 2, progress);
  EXPECT_GT(found.slower, 0U);
  EXPECT_EQ(found.best.size(), 3U);
}

// --- equals ---

/// The same placement under two names: a dense model has no experts, so that their ranks change
/// nothing.
TEST(Plan, NamesOncePlacementsThatNoNumberTellsApart) {
  Study study = with_limit(1);
  PlacedStudy first = placed(study, {.tensor = 8, .expert = 8});
  PlacedStudy second = first;
  second.placement.expert = 4;
  PlacedStudy slower = placed(study, {.tensor = 4, .pipeline = 2, .expert = 4});
  Progress progress;
  const Plans found = plans_of({first, slower, second}, 2, progress);
  EXPECT_EQ(found.kept, 3U);
  ASSERT_EQ(found.best.size(), 2U);
  EXPECT_EQ(found.best[0].placement.expert, 4);
  ASSERT_EQ(found.best[0].as_good.size(), 1U);
  EXPECT_EQ(found.best[0].as_good[0].expert, 8);
  EXPECT_TRUE(found.best[1].as_good.empty());
}

// --- placements ---

/// Every five numbers.
std::vector<Placement> by_hand(Count heads, Count decoder_layers, Count experts, Count devices) {
  std::vector<Placement> all;
  for (Count t = 1; t <= devices; ++t)
    for (Count p = 1; p <= devices; ++p)
      for (Count c = 1; c <= devices; ++c)
        for (Count d = 1; d <= devices; ++d)
          for (Count e = 1; e <= devices; ++e) {
            const bool has_ranks = experts == 0 ? e == 1 : t * c * d % e == 0 && e <= experts;
            if (t * p * c * d == devices && heads % t == 0 && p <= decoder_layers && has_ranks)
              all.push_back({t, p, c, d, e});
          }
  return all;
}

TEST(Placements, AreAllThatDivideHeadsLayersAndDevices) {
  const auto sorted = [](std::vector<Placement> all) {
    std::sort(all.begin(), all.end());
    return all;
  };
  Study study = small_study();
  for (const Count devices : {1, 6, 7, 8, 12})
    EXPECT_EQ(sorted(placements(study, devices)), by_hand(32, 32, 0, devices)) << devices;
  study.model.num_layers = 6;
  EXPECT_EQ(sorted(placements(study, 8)), by_hand(32, 3, 0, 8));
  study.model.num_layers = 122;
  study.model.architecture = test::deepseek_v3();
  for (const Count devices : {1, 6, 8, 12})
    EXPECT_EQ(sorted(placements(study, devices)), by_hand(128, 61, 256, devices)) << devices;
  std::get<ExpertMlp>(study.model.architecture->mlp.back().mlp).num_experts = 3;
  EXPECT_EQ(sorted(placements(study, 8)), by_hand(128, 61, 3, 8));
}

TEST(Placements, AreNamedByWhatIsNotOne) {
  EXPECT_EQ(placement_text({}), "one device");
  EXPECT_EQ(placement_text({.tensor = 8}), "tensor 8");
  EXPECT_EQ(placement_text({.tensor = 8, .expert = 8}), "tensor 8, expert 8");
  EXPECT_EQ(placement_text({.tensor = 2, .pipeline = 2, .context = 3, .data = 4, .expert = 8}),
            "tensor 2, pipeline 2, context 3, data 4, expert 8");
}

}  // namespace
}  // namespace depthcost::plan_test
