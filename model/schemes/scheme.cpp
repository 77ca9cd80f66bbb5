// Questions to one scheme.
#include "model/schemes/scheme.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kBoundMark = " (bound)";

bool has(std::span<const Schedule> schedules, Schedule schedule) {
  return std::find(schedules.begin(), schedules.end(), schedule) != schedules.end();
}

std::string marked(Schedule schedule, bool is_limit) {
  return fmt::format("{}{}", name(schedule), is_limit ? kBoundMark : "");
}

}  // namespace

Scheme::Scheme() : Scheme(schemes::kStandard) {}

bool operator==(const Scheme& a, const Scheme& b) {
  const auto is_equal = [&](const SchemeKey& key) {
    return a.parameters.*key.member == b.parameters.*key.member;
  };
  if (a.rule != b.rule) return false;
  if (a.rule->has_stream_type && (a.parameters.stream_row_d != b.parameters.stream_row_d ||
                                  a.parameters.f32_row_d != b.parameters.f32_row_d))
    return false;
  if (blocks_of(a) != nullptr && a.parameters.blocks != b.parameters.blocks) return false;
  return std::all_of(a.rule->keys.begin(), a.rule->keys.end(), is_equal);
}

std::string_view name(const Scheme& scheme) { return scheme.rule->id; }

std::string name(Schedule schedule, Phase1Order phase1) {
  return std::string(name(schedule)) + (phase1 == Phase1Order::hoisted ? "_hoisted" : "");
}

bool same_scheme(const Scheme& a, const Scheme& b) { return a.rule == b.rule; }

const Partition* blocks_of(const Scheme& scheme) {
  return scheme.rule->pattern == DepthPattern::blocks ? &scheme.parameters.blocks : nullptr;
}

bool takes(const Scheme& scheme, Count SchemeParameters::*parameter) {
  const auto& keys = scheme.rule->keys;
  return std::any_of(keys.begin(), keys.end(),
                     [&](const SchemeKey& key) { return key.member == parameter; });
}

bool has_block_size(const Scheme& scheme) {
  return blocks_of(scheme) != nullptr || takes(scheme, &SchemeParameters::block_size);
}

std::string schedule_problem(const Scheme& scheme, Schedule schedule) {
  const auto known = scheme.rule->schedules;
  if (has(known, schedule)) return "";
  std::vector<std::string_view> names;
  for (const Schedule each : known) names.push_back(name(each));
  return fmt::format("{} runs as {}", name(scheme), fmt::join(names, " | "));
}

std::optional<ParameterProblem> parameter_problem(const Scheme& scheme, Count num_layers) {
  if (scheme.rule->problem == nullptr) return std::nullopt;
  return scheme.rule->problem({scheme.parameters, num_layers, num_layers});
}

Schedule shipped_schedule(const Scheme& scheme) {
  return scheme.rule->shipped.value_or(scheme.rule->schedules.back());
}

bool is_bound(const Scheme& scheme, Schedule schedule) {
  return has(scheme.rule->bounds, schedule);
}

bool is_training_bound(const Scheme& scheme, Schedule schedule) {
  return is_bound(scheme, schedule) || has(scheme.rule->backward->bounds, schedule);
}

std::string schedule_label(const Scheme& scheme, Schedule schedule) {
  return marked(schedule, is_bound(scheme, schedule));
}

std::string training_schedule_label(const Scheme& scheme, Schedule schedule) {
  return marked(schedule, is_training_bound(scheme, schedule));
}

std::vector<Counting> countings_of(const Scheme& scheme) {
  const auto& known = scheme.rule->countings;
  std::vector<Counting> countings(known.begin(), known.end());
  if (countings.empty())
    for (const Schedule schedule : scheme.rule->schedules)
      countings.push_back({schedule, Convention::kernel});
  return countings;
}

LedgerFormula ledger_formula(const Scheme& scheme, Counting counting) {
  const SchemeRule& rule = *scheme.rule;
  if (rule.formula != nullptr) return rule.formula(counting);
  return {std::string(rule.moves), std::string(rule.source),
          "model/schemes/" + std::string(rule.file)};
}

Count state_behind(const Scheme& scheme, Count layer, Count num_layers) {
  return static_cast<Count>(
      std::ceil(scheme.rule->state_d({scheme.parameters, layer, num_layers})));
}

Count largest_state(const Scheme& scheme, Count num_layers) {
  // An output is behind the last layer, and has its sources too.
  const Count last = scheme.rule->output == nullptr ? num_layers - 1 : num_layers;
  Count largest = 0;
  for (Count layer = 0; layer <= last; ++layer)
    largest = std::max(largest, state_behind(scheme, layer, num_layers));
  return largest;
}

}  // namespace depthcost
