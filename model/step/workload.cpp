// Decode and prefill as passes.
#include "model/step/workload.hpp"

#include "model/step/weights_and_cache.hpp"

namespace depthcost {
namespace {

/// Every layer of a stage has parameters of its own, but where one set is said to serve them all.
double parameter_age(const Study& study) {
  const bool is_one = study.decode && study.decode->parameters == ParameterSets::one_for_all;
  return is_one ? 1 : static_cast<double>(layers_of_largest_stage(study));
}

Workload decode_workload(const Study& study, std::size_t index, Execution execution) {
  const Decode& decode = *study.decode;
  const Count sequences = decode.sequences[index];
  const ForwardPass pass = decode_pass(study, index);
  execution.tokens = static_cast<double>(
      divided_up(tokens_of_step(decode, sequences), residual_shards(study, WorkloadKind::decode)));
  execution.launch = decode.launch;
  execution.layer_bytes =
      decode.layer_bytes ? decode.layer_bytes : modelled_layer_bytes(study, pass);
  Workload workload{.id = WorkloadId::decode(sequences),
                    .batch = index,
                    .passes = {{execution, pass, 1}},
                    .phase1 = decode.phase1};
  if (!decode.baseline_steps.empty())
    workload.baseline_step = decode.baseline_steps[decode.baseline_steps.size() == 1 ? 0 : index];
  return workload;
}

Workload prefill_workload(const Study& study, Execution execution) {
  const Prefill& prefill = *study.prefill;
  Workload workload{
      .id = WorkloadId::prefill(), .passes = {}, .baseline_step = prefill.baseline_step};
  execution.launch = prefill.launch;
  for (const ForwardPass& pass : prefill_passes(study)) {
    const auto tokens = static_cast<Count>(pass.tokens());
    execution.tokens = static_cast<double>(divided_up(tokens, prefill.sequence_shards));
    execution.layer_bytes = modelled_layer_bytes(study, pass);
    workload.passes.push_back({execution, pass, pass.repeats});
  }
  return workload;
}

}  // namespace

bool is_bound_in(WorkloadKind step, const Scheme& scheme, Schedule schedule) {
  return step == WorkloadKind::training ? is_training_bound(scheme, schedule)
                                        : is_bound(scheme, schedule);
}

std::string schedule_label_in(WorkloadKind step, const Scheme& scheme, Schedule schedule) {
  return step == WorkloadKind::training ? training_schedule_label(scheme, schedule)
                                        : schedule_label(scheme, schedule);
}

std::vector<Workload> workloads_of(const Study& study, const ResidualPath& path,
                                   Schedule schedule) {
  std::vector<Workload> workloads;
  const Execution execution{.storage = storage_of(study),
                            .bank_age = bank_age(path.scheme, schedule),
                            .parameter_age = parameter_age(study)};
  if (study.decode)
    for (std::size_t i = 0; i < study.decode->sequences.size(); ++i)
      workloads.push_back(decode_workload(study, i, execution));
  if (study.prefill) workloads.push_back(prefill_workload(study, execution));
  return workloads;
}

}  // namespace depthcost
