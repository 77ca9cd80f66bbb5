// One row at a time; the sort is by bytes.
#include "model/evaluation/family.hpp"

#include <algorithm>

#include "model/schemes/ledger.hpp"
#include "model/schemes/walk.hpp"

namespace depthcost {
namespace {

/// [attnres] Sec. 4: "about 8 blocks".
constexpr Count kTypicalBlocks = 8;

struct FactsOf {
  SchemeFacts operator()(const Standard&) const {
    return {"Residual",
            "h_l = h_{l-1} + f_{l-1}(h_{l-1})",
            "[attnres] Table 5",
            {StateKind::single_state, WeightKind::fixed}};
  }
  SchemeFacts operator()(const Mhc&) const {
    return {"mHC",
            "H_l = H_{l-1} A_l + f_{l-1}(H_{l-1} alpha_{l-1}) beta_{l-1}^T",
            "[attnres] Table 5; [mhc] Eq. 3-9",
            {StateKind::multi_state, WeightKind::dynamic}};
  }
  SchemeFacts operator()(const FullAttnRes&) const {
    return {"Full AttnRes",
            "h_l = sum_{i<l} softmax_i(w_l . RMSNorm(v_i)) v_i",
            "[attnres] Table 5, Eq. 2-4",
            {StateKind::cross_layer, WeightKind::dynamic}};
  }
  SchemeFacts operator()(const BlockAttnRes&) const {
    return {"Block AttnRes",
            "as Full over b_0 .. b_{n-1} and the partial sum b_n^i",
            "[attnres] Table 5, Eq. 5-6",
            {StateKind::cross_layer, WeightKind::dynamic}};
  }
  SchemeFacts operator()(const MechanismScheme& scheme) const {
    const Mechanism& mechanism = *scheme.mechanism;
    return {mechanism.label, mechanism.update, mechanism.source, mechanism.kind};
  }
};

struct LargestState {
  Count operator()(const Standard&) const { return 1; }
  Count operator()(const Mhc& scheme) const { return scheme.num_streams; }
  /// The output aggregation reads the embedding and all that the layers, or blocks, have left.
  Count operator()(const FullAttnRes& scheme) const { return scheme.groups.num_layers + 1; }
  Count operator()(const BlockAttnRes& scheme) const { return scheme.blocks.num_blocks + 1; }
  Count operator()(const MechanismScheme& scheme) const { return largest_state(scheme); }
};

/// The layer's own norm in front of it. A norm on the residual stream belongs to the scheme.
bool is_next_norm(const Operation& operation) {
  return operation.id == OperationId::unfused_rmsnorm &&
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
  const auto schedules = schedules_of(scheme);
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
  return step;
}

FamilyRow row_of(const Study& study, const std::optional<Study>& step, ResidualPath path) {
  FamilyRow row;
  row.path = std::move(path);
  const Scheme& scheme = row.path.scheme;
  const auto* other = std::get_if<MechanismScheme>(&scheme);
  if (other != nullptr)
    if (const auto problem = parameter_problem(*other)) {
      row.problem = std::string(problem->key) + " " + problem->reason;
      return row;
    }
  row.schedule = quoted_schedule(study, row.path);
  if (runs_unfused(scheme)) row.unfused = without_norms(row.path);
  row.traffic = mean_traffic(row.path, {row.schedule, Convention::kernel});
  row.bytes = bytes(row.traffic, storage_of(study));
  row.state = largest_state(scheme);
  const auto d = static_cast<double>(study.model.hidden_size);
  if (other == nullptr || other->mechanism->parameters != nullptr)
    row.parameters = parameters(row.path, d);
  row.flops = 1 / static_cast<double>(row.path.num_layers) * total_flops(row.path, row.schedule, d);
  if (step) row.time = step_rows(*step, row.path, row.schedule).front().residual;
  return row;
}

std::vector<Scheme> all_schemes(const Study& study) {
  const Count num_layers = study.model.num_layers;
  const Partition blocks = family_blocks(study);
  MechanismParameters parameters = study.mechanism_parameters;
  parameters.hidden_size = study.model.hidden_size;
  parameters.block_size = blocks.block_size;
  std::vector<Scheme> all{Standard{}, Mhc{study.mechanism_parameters.num_streams},
                          FullAttnRes{blocks}, BlockAttnRes{blocks}};
  for (const Mechanism* mechanism : mechanisms())
    all.push_back(MechanismScheme{mechanism, parameters, num_layers});
  return all;
}

}  // namespace

Count largest_batch(const Decode& decode) {
  return *std::max_element(decode.sequences.begin(), decode.sequences.end());
}

SchemeFacts facts_of(const Scheme& scheme) { return std::visit(FactsOf{}, scheme); }

Count largest_state(const Scheme& scheme) { return std::visit(LargestState{}, scheme); }

Partition family_blocks(const Study& study) {
  const Count num_layers = study.model.num_layers;
  for (const ResidualPath& path : paths_of(study)) {
    if (const Partition* blocks = blocks_of(path.scheme)) return *blocks;
    const auto* other = std::get_if<MechanismScheme>(&path.scheme);
    if (other != nullptr && takes(*other->mechanism, &MechanismParameters::block_size))
      return partition_by_size(num_layers, other->parameters.block_size);
  }
  const Count written = study.mechanism_parameters.block_size;
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
