// One row at a time; the sort is by bytes.
#include "model/evaluation/family.hpp"

#include <algorithm>

#include "model/ledger/backward.hpp"
#include "model/ledger/launches.hpp"
#include "model/ledger/ledger.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

/// [attnres] Sec. 4: "about 8 blocks".
constexpr Count kTypicalBlocks = 8;

/// In front of a layer, and its own; a norm on the stream is the scheme's.
bool is_next_norm(const Operation& operation) {
  return operation.id == operations::kUnfusedRmsnorm &&
         operation.accesses[1].operand == Operand::layer_input;
}

Traffic without_norms(const ResidualPath& path) {
  Traffic sum;
  each_launch(path, Schedule::unfused, [&](Count layer, const Operation& operation) {
    if (layer > 0 && !is_next_norm(operation)) sum += traffic(operation);
  });
  return 1 / static_cast<double>(path.num_layers) * sum;
}

bool runs_unfused(const Scheme& scheme) {
  const auto schedules = scheme.rule->schedules;
  return std::find(schedules.begin(), schedules.end(), Schedule::unfused) != schedules.end();
}

/// The question of the largest decode step alone.
std::optional<Study> largest_step(const Study& study) {
  if (!study.decode || !study.machine) return std::nullopt;
  Study step = study;
  step.prefill.reset();
  step.training.reset();
  step.pipeline.reset();
  step.compare.clear();
  step.decode->sequences = {largest_batch(*study.decode)};
  step.decode->baseline_steps.clear();
  step.attachment = study.path.attachment;  // all alike, so that schemes compare
  return step;
}

FamilyRow row_of(const Study& study, const std::optional<Study>& step, ResidualPath path) {
  FamilyRow row;
  row.path = std::move(path);
  const Scheme& scheme = row.path.scheme;
  if (const auto problem = parameter_problem(scheme, row.path.num_layers)) {
    row.problem = std::string(problem->key) + " " + problem->reason;
    return row;
  }
  row.schedule = quoted_schedule(study, row.path);
  if (runs_unfused(scheme)) row.unfused = without_norms(row.path);
  row.traffic = mean_traffic(row.path, {row.schedule, Convention::kernel});
  row.bytes = bytes(row.traffic, storage_of(study));
  if (study.training) row.accumulation = study.training->gradient_accumulation;
  row.backward = mean_backward(row.path, row.schedule, row.accumulation);
  for (const Schedule schedule : scheme.rule->schedules)
    row.backward_by_schedule.push_back(
        {schedule, mean_backward(row.path, schedule, row.accumulation)});
  row.state = largest_state(scheme, row.path.num_layers);
  const auto d = static_cast<double>(study.model.hidden_size);
  if (scheme.rule->parameters != nullptr) row.parameters = parameters(row.path, d);
  row.flops = 1 / static_cast<double>(row.path.num_layers) * total_flops(row.path, row.schedule, d);
  if (step) row.time = step_rows(*step, row.path, row.schedule).front().residual;
  return row;
}

std::vector<Scheme> all_schemes(const Study& study) {
  SchemeParameters parameters = study.scheme_parameters;
  parameters.hidden_size = study.model.hidden_size;
  set_blocks(parameters, family_blocks(study));
  std::vector<Scheme> all;
  for (const SchemeRule* rule : scheme_rules()) all.push_back({*rule, parameters});
  return all;
}

}  // namespace

Count largest_batch(const Decode& decode) {
  return *std::max_element(decode.sequences.begin(), decode.sequences.end());
}

Partition family_blocks(const Study& study) {
  const Count num_layers = study.model.num_layers;
  for (const ResidualPath& path : paths_of(study)) {
    if (const Partition* blocks = blocks_of(path.scheme)) return *blocks;
    if (takes(path.scheme, &SchemeParameters::block_size))
      return partition_by_size(num_layers, path.scheme.parameters.block_size);
  }
  const Count written = study.scheme_parameters.block_size;
  if (written > 1 && written <= num_layers) return partition_by_size(num_layers, written);
  return partition_by_count(num_layers, std::min(kTypicalBlocks, num_layers), Remainder::ceil);
}

std::vector<FamilyRow> family_rows(const Study& study) {
  const std::optional<Study> step = largest_step(study);
  std::vector<FamilyRow> rows;
  for (Scheme& scheme : all_schemes(study))
    rows.push_back(
        row_of(study, step, {std::move(scheme), study.model.num_layers, study.path.attachment}));
  std::stable_sort(rows.begin(), rows.end(), [](const FamilyRow& a, const FamilyRow& b) {
    if (a.problem.empty() != b.problem.empty()) return a.problem.empty();
    return a.bytes.value < b.bytes.value;
  });
  return rows;
}

}  // namespace depthcost
