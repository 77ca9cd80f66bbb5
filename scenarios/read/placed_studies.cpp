// A placement is a few axes of one value each.
#include "scenarios/read/placed_studies.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/base/parallel.hpp"
#include "model/evaluation/predicted_work.hpp"
#include "model/schemes/list.hpp"
#include "scenarios/keys/limits.hpp"
#include "scenarios/read/usual_workload.hpp"
#include "scenarios/read/workloads.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

void require_times(const Study& study, const Position& position) {
  const auto refuse = [&](const char* problem) { throw InputError(position, problem); };
  if (!study.machine) refuse("missing key 'hardware' (a plan has modelled times)");
  if (!study.machine->memory_capacity)
    refuse("missing key 'hardware.memory_capacity' (a plan says what fits)");
  if (!study.model.architecture)
    refuse("missing key 'model.attention' (a plan has modelled times of the layers)");
  if (!study.decode && !study.prefill && !study.training)
    refuse("missing key 'workload' (a plan is for a workload)");
  const bool is_measured =
      has_forward_baseline(study) || (study.training && study.training->baseline_step);
  if (is_measured)
    refuse("conflicting baseline_step (was measured on one placement; a plan looks at others)");
  if (study.decode && study.decode->prompt)
    refuse(
        "conflicting workload.decode.prefill_tokens (every replica takes so many along, so that "
        "placements with more replicas do more work)");
  if (!study.written_terms.empty())
    refuse("conflicting step_terms (were measured on one placement; a plan looks at others)");
}

/// Whether replicas can share the work evenly.
bool shares_evenly(const Study& own, Count replicas) {
  const auto is_shared = [&](Count work) { return work * own.data_parallel_size % replicas == 0; };
  if (own.training && !is_shared(own.training->num_micro_batches)) return false;
  return !own.decode ||
         std::all_of(own.decode->sequences.begin(), own.decode->sequences.end(), is_shared);
}

Count share_of(const Study& own, Count work, Count replicas) {
  return work * own.data_parallel_size / replicas;
}

/// What `--set` makes of the scenario on a placement, but for its share of the batches.
std::vector<std::string> placement_settings(const PlanSource& question,
                                            const Placement& placement) {
  const Study& own = question.own;
  std::vector<std::string> settings;
  const auto add = [&](const char* key, Count value) {
    settings.push_back(fmt::format("{}={}", key, value));
  };
  add("parallelism.tensor", placement.tensor);
  add("parallelism.context", placement.context);
  add("parallelism.data", placement.data);
  add("parallelism.expert", placement.expert);
  if (placement.pipeline > 1 || own.pipeline) add("parallelism.pipeline", placement.pipeline);
  if (own.training)
    add("workload.training.micro_batches",
        share_of(own, own.training->num_micro_batches, placement.data));
  return settings;
}

bool searches_blocks(const PlanSource& question) {
  return question.blocks == PlannedBlocks::searched &&
         attnres_blocks(question.own.path.scheme) != nullptr;
}

bool searches_schedules(const PlanSource& question) {
  return question.own.implementation != Implementation::eager;
}

/// Blocks of one layer, and of whole decoder layers.
std::string blocks_to_search(Count num_layers) {
  std::string axis = "residual.block_size=1";
  for (Count size = 2; size <= num_layers; size += 2) axis += fmt::format(",{}", size);
  return axis;
}

std::vector<std::string> axes_of(const PlanSource& question, const Placement& placement) {
  std::vector<std::string> axes = placement_settings(question, placement);
  if (searches_blocks(question)) axes.push_back(blocks_to_search(question.own.model.num_layers));
  std::vector<std::string_view> schedules;
  for (const Schedule schedule : question.own.path.scheme.rule->schedules)
    schedules.push_back(name(schedule));
  if (searches_schedules(question))
    axes.push_back(fmt::format("residual.schedule={}", fmt::join(schedules, ",")));
  return axes;
}

void set_limits(Study& study, std::optional<double> overhead) {
  if (!overhead) return;
  std::erase_if(study.budgets,
                [](const Budget& b) { return overhead_workload(b.kind).has_value(); });
  for (const BudgetKind kind : asked_overheads(study))
    study.budgets.push_back({.kind = kind, .limit = *overhead});
}

PlacedStudy placed_study(const PlanSource& question, const Placement& placement) {
  SweepPlan plan = read_sweep(question.source, axes_of(question, placement), kDefaultMaxPoints);
  SweepScene& scene = plan.scenes.front();
  PlacedStudy placed{placement, *std::move(scene.study), std::move(scene.axes)};
  if (placed.study.decode)
    for (Count& sequences : placed.study.decode->sequences)
      sequences = share_of(question.own, sequences, placement.data);
  set_limits(placed.study, question.overhead);
  return placed;
}

/// What the scenario says of one placement: a study, or why it cannot have it.
struct ReadPlacement {
  std::optional<PlacedStudy> study;
  std::string refusal;
};

ReadPlacement read_placement(const PlanSource& question, const Placement& placement) {
  try {
    return {placed_study(question, placement), {}};
  } catch (const InputError& error) {
    return {{}, fmt::format("{}: {}", placement_text(placement), error.message())};
  }
}

/// All placements but those that `answer` counts as left out.
std::vector<Placement> asked_placements(const Study& own, Count devices, PlacedStudies& answer) {
  std::vector<Placement> asked = placements(own, devices);
  const bool has_context = own.context_parallel_size > 1;
  answer.left_out_context = std::erase_if(
      asked, [&](const Placement& placement) { return placement.context > 1 && !has_context; });
  answer.left_out_data = std::erase_if(
      asked, [&](const Placement& placement) { return !shares_evenly(own, placement.data); });
  return asked;
}

}  // namespace

void PlanWork::ask(std::size_t placements) {
  readings_ += static_cast<double>(placements);
  refuse_above(kMaxScenes, readings_, "placements to read", "schemes");
}

void PlanWork::add(const PlacedStudy& placed) {
  if (is_too_large(placed)) return;
  layers_ += planned_layers(placed.study, placed.axes);
  passes_ += swept_passes(placed.study, placed.axes);
  refuse_above(kMaxPlannedLayers, layers_, "layers to go through on all placements", "batches");
  refuse_above(kMaxPlannedPasses, passes_, "passes of chunks to simulate on all placements",
               "micro-batches");
}

void PlanWork::refuse_above(double limit, double asked, const char* what,
                            const char* advice) const {
  if (asked > limit)
    throw InputError(
        {"--devices", 1, 1},
        fmt::format("invalid plan (more than {:.0f} {}; ask about fewer devices or {})", limit,
                    what, advice));
}

std::vector<std::string> plan_settings(const PlanSource& question, const PlannedPlacement& plan) {
  std::vector<std::string> settings = placement_settings(question, plan.placement);
  if (plan.placement.context == question.own.context_parallel_size)
    std::erase(settings, fmt::format("parallelism.context={}", plan.placement.context));
  if (searches_blocks(question) && plan.blocks)
    settings.push_back(fmt::format("residual.block_size={}", plan.blocks->block_size));
  if (searches_schedules(question))
    settings.push_back(fmt::format("residual.schedule={}", name(plan.schedule)));
  if (!question.own.decode) return settings;
  std::vector<Count> sequences;
  for (const Count batch : question.own.decode->sequences)
    sequences.push_back(share_of(question.own, batch, plan.placement.data));
  settings.push_back(
      sequences.size() == 1
          ? fmt::format("workload.decode.sequences={}", sequences.front())
          : fmt::format("workload.decode.sequences=[{}]", fmt::join(sequences, ", ")));
  return settings;
}

std::size_t num_placements(const PlanSource& question, Count devices, const Position& position) {
  require_times(question.own, position);
  PlacedStudies left_out;
  return asked_placements(question.own, devices, left_out).size();
}

PlacedStudies placed_studies(const PlanSource& question, Count devices, const Position& position,
                             PlanWork& work, std::size_t num_threads, const Progress& progress) {
  require_times(question.own, position);
  PlacedStudies answer;
  const std::vector<Placement> asked = asked_placements(question.own, devices, answer);
  // A fixed number, so that an error does not depend on how many threads there are.
  constexpr std::size_t kReadAtOnce = 64;
  for (std::size_t first = 0; first < asked.size(); first += kReadAtOnce) {
    std::vector<ReadPlacement> read(std::min(kReadAtOnce, asked.size() - first));
    each_in_parallel(read.size(), num_threads, [&](std::size_t i) {
      progress.check();
      read[i] = read_placement(question, asked[first + i]);
    });
    for (ReadPlacement& placement : read) {
      if (placement.study) {
        work.add(*placement.study);
        answer.placed.push_back(*std::move(placement.study));
      } else if (answer.refused++ == 0) {
        answer.first_refusal = placement.refusal;
      }
    }
  }
  return answer;
}

}  // namespace depthcost
