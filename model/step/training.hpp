// How a training step is set up: what the residual path keeps for the backward pass, how gradients
// meet, and how a pipeline is run.
#pragma once

#include <cstdint>
#include <optional>

#include "model/base/units.hpp"
#include "model/pipeline/pipeline.hpp"
#include "model/pipeline/pipeline_order.hpp"
#include "model/pipeline/pipeline_simulation.hpp"
#include "model/schemes/activations.hpp"
#include "model/schemes/gradients.hpp"

namespace depthcost {

/// The type in which the layers' products are computed. Weights are bf16 either way.
enum class Precision : std::uint8_t { bf16, fp8 };

enum class Optimizer : std::uint8_t { adamw, muon };

/// What data-parallel replicas share out among them, each with all that stands before it: ZeRO's
/// stages 0 to 3. [zero]
enum class StateSharding : std::uint8_t { none, optimizer, gradients, weights };

/// What the layers beside the residual path keep for their backward passes: all that these read;
/// all but what little work makes again; or nothing, so that they run their forward passes again.
enum class LayerActivations : std::uint8_t { keep, selective, recompute };

/// One optimiser step of one model replica.
struct Training {
  Count sequence_length = 1;    // tokens
  Count micro_batch_size = 1;   // sequences of a micro-batch
  Count num_micro_batches = 1;  // M
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  Precision precision = Precision::bf16;
  ActivationPolicy activations = ActivationPolicy::keep;  // of the residual path
  LayerActivations layers = LayerActivations::keep;       // of all else
  Optimizer optimizer = Optimizer::adamw;
  StateSharding sharding = StateSharding::optimizer;
  Dtype main_gradients = Dtype::f32;  // in which the gradients of weights are added up
  GradientAccumulation gradient_accumulation = GradientAccumulation::fused;
  Cache cache = Cache::received;
  Sends sends = Sends::overlapped;
  Dtype gradient_dtype = Dtype::bf16;  // of the gradients of d-vectors
  Dtype wire_dtype = Dtype::bf16;      // of what crosses a pipeline boundary
  std::optional<Seconds> baseline_step;
};

/// Tokens of one replica's step.
constexpr double tokens_of_step(const Training& training) {
  return as_double(training.sequence_length) * as_double(training.micro_batch_size) *
         as_double(training.num_micro_batches);
}

/// What becomes of the residual path's activations: a decoder layer that runs again takes its path
/// along.
constexpr ActivationPolicy path_policy(const Training& training) {
  const bool is_run_again = training.layers == LayerActivations::recompute &&
                            training.activations == ActivationPolicy::keep;
  return is_run_again ? ActivationPolicy::recompute : training.activations;
}

/// Whether backward passes are preceded by forward passes of the residual path.
constexpr bool recomputes_residual(const Training& training) {
  return path_policy(training) == ActivationPolicy::recompute;
}

/// The same of the layers, in part or as a whole.
constexpr bool recomputes_layers(const Training& training) {
  return training.layers != LayerActivations::keep;
}

constexpr bool has_recomputation(const Training& training) {
  return recomputes_residual(training) || recomputes_layers(training);
}

}  // namespace depthcost
