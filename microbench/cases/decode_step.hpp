// A decode step of L layers. Each layer reads the bytes of its weights and then runs the residual
// operations before the next layer. What a scheme adds to the step is the difference from the fused
// standard residual.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "microbench/cases/attnres_forward.hpp"
#include "microbench/cases/hyper_connection_cases.hpp"
#include "microbench/cases/row_cases.hpp"

namespace depthcost::bench {

/// A small model, so that a step is short: Kimi Linear's width and blocks of 8 layers. The weights
/// of all layers together are more than a cache holds.
struct StepShape {
  std::size_t num_tokens = 1;  // the batch
  std::size_t hidden_size = 2304;
  Count num_layers = 48;
  Count block_size = 8;
  std::size_t weight_bytes = std::size_t{8} << 20;  // of one layer
};

inline constexpr std::size_t kStepBatches[] = {1, 8, 64, 512};

/// The scheme and the schedule of a step, named as in the model.
struct StepKind {
  std::string_view scheme;
  Schedule schedule = Schedule::fused;
  Phase1Order phase1 = Phase1Order::in_order;
};

/// The others are compared with the first.
inline constexpr StepKind kStepKinds[] = {{"standard", Schedule::fused},
                                          {"mhc", Schedule::fused},
                                          {"mhc", Schedule::one_pass},
                                          {"block_attnres", Schedule::single_pass},
                                          {"block_attnres", Schedule::two_phase}};

/// Needs a second branch that runs beside the first: only a GPU has one.
inline constexpr StepKind kHoistedStep{"block_attnres", Schedule::two_phase, Phase1Order::hoisted};

/// The operands of all kinds of steps.
template <class T>
struct StepOperands {
  AttnResForward<T> attnres;
  ResidualAddRmsNorm<T> standard;
  MhcPost<T> post;
  MhcPre<T> pre;
  MhcBoundary<T> boundary;
  T* unused = nullptr;  // (T, d): what a hoisted Phase 1 makes of query 1
};

template <class T>
StepOperands<T> step_operands(const StepShape& step, Operands& o) {
  const Shape shape{.num_tokens = step.num_tokens,
                    .hidden_size = step.hidden_size,
                    .num_queries = static_cast<std::size_t>(step.block_size)};
  return {
      .attnres = attnres_forward<T>(partition_by_size(step.num_layers, step.block_size), shape, o),
      .standard = row_operation<ResidualAddRmsNorm<T>>(shape, o),
      .post = mhc_post<T>(shape, o),
      .pre = mhc_pre<T>(shape, o),
      .boundary = mhc_boundary<T>(shape, o),
      .unused = o.tensor<T>(1, step.hidden_size)};
}

/// Calls stream_weights(layer) and run(operation) in the order of the step.
template <class T, class StreamWeights, class Run>
void run_step(const StepOperands<T>& step, const StepKind& kind, Count num_layers,
              const StreamWeights& stream_weights, const Run& run) {
  if (kind.scheme == "block_attnres") {
    Count layer = 0;
    return run_forward(step.attnres, kind.schedule, [&](const auto& op) {
      // After the last layer there is one more operation.
      if (layer < num_layers) stream_weights(layer++);
      run(op);
    });
  }
  for (Count layer = 0; layer < num_layers; ++layer) {
    stream_weights(layer);
    if (kind.scheme == "standard") {
      run(step.standard);
    } else if (kind.schedule == Schedule::one_pass) {
      run(step.boundary);
    } else {
      run(step.post);
      run(step.pre);
    }
  }
}

/// As run_step, for kHoistedStep. The first layer of a block has a single pass of its own. From
/// there until the second layer merges its outputs, Phase 1 runs on the branch:
///   branch.fork()   the branch may begin when all operations so far have ended
///   branch.run(op)  runs on the branch
///   branch.join()   later operations wait for the branch
template <class T, class StreamWeights, class Run, class Branch>
void run_hoisted_step(const StepOperands<T>& step, const StreamWeights& stream_weights,
                      const Run& run, const Branch& branch) {
  const AttnResForward<T>& pass = step.attnres;
  each_layer(pass.blocks, [&](const LayerPosition& at) {
    stream_weights(at.layer - 1);
    if (at.index == 1) {
      run(single_pass_at(pass, at));
      if (at.size == 1) return;
      branch.fork();
      branch.run(later_queries_at(pass, at, step.unused));
      return;
    }
    if (at.index == 2) branch.join();
    run(phase2_at(pass, at));
  });
  run(output_aggregation(pass));
}

/// "step/mhc/fused/bf16/T:1/d:2304/L:48/S:8/W:8388608".
inline std::string step_name(const StepShape& step, const StepKind& kind) {
  return fmt::format("step/{}/{}/bf16/T:{}/d:{}/L:{}/S:{}/W:{}", kind.scheme,
                     name(kind.schedule, kind.phase1), step.num_tokens, step.hidden_size,
                     step.num_layers, step.block_size, step.weight_bytes);
}

}  // namespace depthcost::bench
