// Rows and what is predicted of them, handed to the search.
#include "profile/calibration/fit.hpp"

#include <algorithm>

#include "model/machine/chip.hpp"
#include "model/machine/comparison.hpp"
#include "model/step/step.hpp"
#include "model/step/workload.hpp"
#include "profile/calibration/search.hpp"

namespace depthcost::calibration {
namespace {

/// The standard residual of a workload.
CornerTimes standard_times(const Study& study, const Workload& workload) {
  CornerTimes sum;
  const ResidualPath path = attached_path(study, study.path, Schedule::fused, workload.id.kind);
  for (const auto& [operation, calls] : distinct_operations(path, Schedule::fused))
    for (const Pass& pass : workload.passes) {
      const LaunchTime launch(*study.machine, operation, pass.execution);
      sum.add(pass.repeats * static_cast<double>(calls),
              waited_times(launch, operation, pass.execution, workload.phase1));
    }
  return sum;
}

}  // namespace

Kinship kinship_of(const Part& part, const Constants& constants) {
  for (const FittedArchitecture& fitted : constants.architectures)
    if (fitted.name == part.architecture) return Kinship::same_architecture;
  return part.memory.starts_with(constants.memory) ? Kinship::other_architecture
                                                   : Kinship::other_memory;
}

Machine with_constants(const Part& part, const Constants& constants) {
  Machine machine = part.machine;
  const FewTokens& known = *machine.few_tokens;
  machine.few_tokens = few_tokens(known.num_multiprocessors, known.style, constants,
                                  part.architecture, kinship_of(part, constants));
  machine.engine = constants.engine;
  return machine;
}

Estimate<Seconds> predicted(const MeasuredKernel& row, const Constants& constants) {
  const Machine machine = with_constants(*row.part, constants);
  return predicted_time(LaunchTime(machine, row.operation, row.execution));
}

Estimate<Seconds> predicted(const ServedStep& row, const Constants& constants) {
  ServedStep with = row;
  with.study.machine->engine = constants.engine;
  return predicted_time(with).value();
}

Constants fitted_kernels(const Tables& tables, const LeftOut& left_out, Constants start) {
  start.left_out = left_out.name;
  start.architectures.clear();
  std::vector<const MeasuredKernel*> near;  // of parts whose kernels and memory are alike
  std::vector<const MeasuredKernel*> all;
  for (const MeasuredKernel& row : tables.kernels) {
    if (left_out.holds(*row.part)) continue;
    const bool is_near = row.part->memory.starts_with(start.memory);
    all.push_back(&row);
    if (is_near) near.push_back(&row);
    const auto is_known = [&](const FittedArchitecture& known) {
      return known.name == row.part->architecture;
    };
    auto& known = start.architectures;
    if (is_near && std::none_of(known.begin(), known.end(), is_known))
      known.push_back({row.part->architecture, 1});
  }
  const auto loss_on = [&](const std::vector<const MeasuredKernel*>& rows) {
    std::vector<Machine> machines;
    for (const Part& part : tables.parts) machines.push_back(with_constants(part, start));
    double sum = 0;
    for (const MeasuredKernel* row : rows) {
      const Machine& machine = machines[static_cast<std::size_t>(row->part - tables.parts.data())];
      const LaunchTime launch(machine, row->operation, row->execution);
      sum += log_error(row->seconds, launch.terms({}).total());
    }
    return sum;
  };
  KernelConstants& kernels = start.kernels;
  std::vector<Free> constants{{&kernels.loop_draw.value},     {&kernels.coefficient_step.value},
                              {&kernels.sinkhorn_step.value}, {&kernels.cache_share, 1},
                              {&kernels.stream_efficiency},   {&kernels.projection_efficiency},
                              {&kernels.projection_wave, 1}};
  for (FittedArchitecture& fitted : start.architectures) constants.push_back({&fitted.floor_share});
  minimise(constants, [&] { return loss_on(near); });
  // What a projection's weights cost shows best on parts whose kernels never split it.
  minimise({{&kernels.projection_reuse}}, [&] { return loss_on(all); });
  return start;
}

Constants fitted_steps(const Tables& tables, const LeftOut& left_out, Constants start) {
  struct Row {
    const ServedStep* measured = nullptr;
    Study study;
    std::vector<Workload> workloads;
    Seconds standard;  // no constant of engines moves it
  };
  std::vector<Row> rows;
  for (const ServedStep& step : tables.steps) {
    if (left_out.holds(step)) continue;
    Row row{&step, step.study, workloads_of(step.study, step.study.path, Schedule::fused), {}};
    for (const Workload& workload : row.workloads)
      row.standard += (workload.id.kind == WorkloadKind::decode ? 1 : step.prefills) *
                      standard_times(step.study, workload).value;
    rows.push_back(std::move(row));
  }
  const auto loss = [&] {
    double sum = 0;
    for (Row& row : rows) {
      row.study.machine->engine = start.engine;
      Seconds seconds = row.standard;
      for (const Workload& workload : row.workloads)
        seconds += (workload.id.kind == WorkloadKind::decode ? 1 : row.measured->prefills) *
                   rest_of_step(row.study, workload).total().value;
      sum += log_error(row.measured->seconds, seconds);
    }
    return sum;
  };
  EngineConstants& engine = start.engine;
  minimise({{&engine.attention.floor.value},
            {&engine.attention.efficiency, 1},
            {&engine.mlp.floor.value},
            {&engine.mlp.efficiency, 1},
            {&engine.floor_of_launched_ahead, 1}},
           loss);
  return start;
}

}  // namespace depthcost::calibration
