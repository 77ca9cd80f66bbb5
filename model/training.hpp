// How a training step is set up: what the residual path keeps for the backward pass, how gradients
// meet, and how a pipeline is run.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/pipeline.hpp"
#include "model/pipeline_order.hpp"
#include "model/pipeline_simulation.hpp"
#include "model/units.hpp"

namespace depthcost {

/// What becomes of the residual path's activations between forward and backward pass.
enum class ResidualActivations : std::uint8_t { keep, recompute, offload };

/// How the gradients of a source that many layers have read are added up: a kernel of its own for
/// each (`autograd`), inside the backward kernel (`fused`), or once for all layers of a block
/// (`per_block`).
enum class GradientAccumulation : std::uint8_t { autograd, fused, per_block };

std::string_view name(ResidualActivations activations);
std::string_view name(GradientAccumulation accumulation);

/// One optimiser step of one model replica, without the optimiser.
struct Training {
  Count sequence_length = 1;    // tokens
  Count micro_batch_size = 1;   // sequences of a micro-batch
  Count num_micro_batches = 1;  // M
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  ResidualActivations activations = ResidualActivations::keep;
  GradientAccumulation gradient_accumulation = GradientAccumulation::autograd;
  Cache cache = Cache::received;
  Sends sends = Sends::overlapped;
  Dtype gradient_dtype = Dtype::bf16;  // of the gradients of d-vectors
  Dtype wire_dtype = Dtype::bf16;      // of what crosses a pipeline boundary
  std::optional<Seconds> baseline_step;
};

}  // namespace depthcost
