// Reads the scenario once for each placement.
#include "cli/commands/answers/planned_placements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "cli/commands/answers/evaluation_command.hpp"
#include "model/base/parallel.hpp"
#include "model/schemes/list.hpp"
#include "scenarios/read/placed_studies.hpp"
#include "scenarios/read/scenario.hpp"
#include "scenarios/text/input_error.hpp"
#include "scenarios/text/quantity.hpp"

namespace depthcost {
namespace {

/// Blocks that every model has. A plan looks for better ones.
constexpr const char* kAnyBlockSize = "2";
constexpr const char* kBatch = "64";

std::optional<double> limit_of(const PlanOptions& options) {
  if (options.max_overhead.empty()) return std::nullopt;
  return parse_quantity({options.max_overhead, false}, {"--max-overhead", 1, 1}, Dimension::ratio,
                        "overhead");
}

void refuse_placement(const ScenarioOptions& question) {
  const auto refuse = [](const char* option, const std::string& value) {
    if (!value.empty())
      throw InputError({option, 1, 1},
                       fmt::format("conflicting option '{}' (a plan looks for it; --devices says "
                                   "how many there are)",
                                   printable(value)));
  };
  refuse("--tensor", question.tensor);
  refuse("--data", question.data);
  refuse("--expert", question.expert);
  refuse("--pipeline", question.pipeline);
  for (const std::string& setting : question.settings) {
    if (!question.scheme.empty() &&
        (setting.starts_with("residual=") || setting.starts_with("residual.scheme=")))
      throw InputError(
          {"--set", 1, 1},
          fmt::format("conflicting setting '{}' (--residual says the scheme)", printable(setting)));
    for (const std::string_view key :
         {"parallelism.tensor", "parallelism.pipeline", "parallelism.data", "parallelism.expert",
          "residual.schedule"})
      if (setting.starts_with(fmt::format("{}=", key)))
        throw InputError({"--set", 1, 1},
                         fmt::format("conflicting setting '{}' (a plan looks for it)", key));
  }
}

/// --max-overhead is the limit of every workload.
void refuse_second_limit(const PlanOptions& options) {
  if (options.max_overhead.empty()) return;
  for (const std::string& budget : options.question.budgets)
    if (budget.find("_overhead=") != std::string::npos)
      throw InputError({"--budget", 1, 1},
                       fmt::format("conflicting budget '{}' (--max-overhead sets that limit)",
                                   printable(budget)));
}

/// read(question) on one device, or where that is refused on all of them as tensor ranks, since
/// sharded weights need ranks. Each placement has its own.
template <class Read>
auto read_on_ranks(ScenarioOptions question, Count devices, const Read& read) {
  try {
    return read(question);
  } catch (const InputError&) {
    try {
      question.tensor = std::to_string(devices);
      return read(question);
    } catch (const InputError&) {
      // The first refusal says what is wrong.
    }
    throw;
  }
}

/// The schemes that --residual names.
std::vector<std::string> schemes_of(const ScenarioOptions& question) {
  std::vector<std::string> schemes;
  std::istringstream names(question.scheme);
  for (std::string scheme; std::getline(names, scheme, ',');) {
    if (std::find(schemes.begin(), schemes.end(), scheme) != schemes.end())
      throw InputError({"--residual", 1, 1},
                       fmt::format("duplicate scheme '{}' (already there)", printable(scheme)));
    schemes.push_back(scheme);
  }
  return schemes;
}

/// All batches stay, since one that does not fit on one placement may fit on another.
PlanSource read_source(const std::string& path, const ScenarioOptions& question,
                       PlannedBlocks blocks) {
  UnreadScenario source = composed_document(path, question);
  Scenario own = scenario_of(source.document, source.file, source.provenance);
  return {.source = std::move(source),
          .own = std::move(own.study),
          .warnings = value_warnings(own.values),
          .blocks = blocks};
}

/// A block size is for those of several schemes that have blocks.
PlanSource source_of(ScenarioOptions question, const std::string& scheme, Count devices) {
  const bool others_have_blocks = may_have_blocks(question.scheme);
  const PlannedBlocks blocks =
      question.block_size.empty() ? PlannedBlocks::searched : PlannedBlocks::written;
  question.scheme = scheme;
  const SchemeRule* rule = find_scheme(scheme);  // the reader names one that is none
  const bool has_no_blocks = rule != nullptr && !has_block_size(Scheme{*rule});
  if (has_no_blocks && others_have_blocks) question.block_size.clear();
  if (question.block_size.empty() && scheme == schemes::kBlockAttnRes.id)
    question.block_size = kAnyBlockSize;
  return read_on_ranks(std::move(question), devices, [&](const ScenarioOptions& asked) {
    return read_source("", asked, blocks);
  });
}

/// The model as it ships: who has trained it with blocks cannot change them. With the standard
/// residual, the question is what Block AttnRes would add.
PlanSource own_source(const ScenarioOptions& question, Count devices) {
  const auto read = [&](const ScenarioOptions& of) {
    return read_on_ranks(of, devices, [](const ScenarioOptions& asked) {
      return read_source("", asked, PlannedBlocks::written);
    });
  };
  ScenarioOptions without_blocks = question;
  without_blocks.block_size.clear();
  PlanSource own = read(without_blocks);
  if (is_standard(own.own.path.scheme))
    return source_of(question, std::string(schemes::kBlockAttnRes.id), devices);
  return question.block_size.empty() ? std::move(own) : read(question);
}

/// One for each scheme.
std::vector<PlanSource> sources_of(const PlanOptions& options) {
  if (options.question.model.empty())
    return {read_source(options.scenario, options.question, PlannedBlocks::searched)};
  refuse_placement(options.question);
  refuse_second_limit(options);
  refuse_conflicting_settings(options.question);
  ScenarioOptions question = options.question;
  if (question.decode.empty() && question.training.empty()) question.decode = kBatch;
  if (question.scheme.empty()) return {own_source(question, options.devices)};
  std::vector<PlanSource> sources;
  for (const std::string& scheme : schemes_of(question))
    sources.push_back(source_of(question, scheme, options.devices));
  return sources;
}

/// The fewest devices, by doubling, on some placement of which a scheme fits. Nothing where that
/// takes more than a plan may look at.
std::optional<Count> devices_with_room(const std::vector<PlanSource>& sources, Count devices,
                                       const Position& place, const Progress& progress) {
  try {
    for (Count more = 2 * devices; more <= kMostPlannedDevices; more *= 2) {
      PlanWork work;
      for (const PlanSource& source : sources) {
        const PlacedStudies studies =
            placed_studies(source, more, place, work, num_hardware_threads(), progress);
        if (std::any_of(studies.placed.begin(), studies.placed.end(), [](const PlacedStudy& it) {
              return planned(it).fate != PlanFate::does_not_fit;
            }))
          return more;
      }
    }
  } catch (const InputError&) {
    // What a plan refuses to look at is no advice.
  }
  return std::nullopt;
}

}  // namespace

PlanReport planned_placements(const PlanOptions& options, Progress& progress) {
  const std::optional<double> limit = limit_of(options);
  const std::string place = options.scenario.empty() ? "--model" : options.scenario;
  PlanReport report;
  report.devices = options.devices;
  std::vector<PlacedStudy> placed;
  PlanWork work;
  std::vector<PlanSource> sources = sources_of(options);
  for (const PlanSource& source : sources)
    work.ask(num_placements(source, options.devices, {place, 1, 1}));
  for (PlanSource& source : sources) {
    source.overhead = limit;
    PlacedStudies studies = placed_studies(source, options.devices, {place, 1, 1}, work,
                                           num_hardware_threads(), progress);
    report.refused += studies.refused;
    report.left_out_context += studies.left_out_context;
    report.left_out_data += studies.left_out_data;
    if (report.first_refusal.empty()) report.first_refusal = studies.first_refusal;
    for (PlacedStudy& study : studies.placed) placed.push_back(std::move(study));
    const Partition* blocks = attnres_blocks(source.own.path.scheme);
    if (source.blocks == PlannedBlocks::written && blocks != nullptr) report.kept_blocks = *blocks;
    if (source.blocks == PlannedBlocks::searched && blocks != nullptr && !options.scenario.empty())
      report.scenario_blocks = *blocks;
  }
  report.own = sources.front().own;
  report.warnings = sources.front().warnings;
  for (const PlanSource& source : sources) keep_common(report.warnings, source.warnings);
  const bool is_named = !options.scenario.empty() || !options.question.scheme.empty();
  if (!is_named && sources.front().blocks == PlannedBlocks::searched)
    report.assumed_scheme = name(report.own.path.scheme);
  report.title = report.own.name;
  report.memory_limit = planned_memory(report.own);
  if (placed.empty())
    throw InputError({"--devices", 1, 1},
                     fmt::format("invalid number of devices '{}' (the model cannot lie on it: {})",
                                 options.devices,
                                 report.first_refusal.empty() ? "no placement shares its heads, "
                                                                "layers and batches evenly"
                                                              : report.first_refusal));
  report.plans = plans_of(placed, num_hardware_threads(), progress);
  if (report.plans.nearest && report.plans.nearest->fate == PlanFate::does_not_fit)
    report.devices_with_room = devices_with_room(sources, options.devices, {place, 1, 1}, progress);
  report.evaluations = evaluation_commands(options, sources, report.plans.best);
  return report;
}

}  // namespace depthcost
