// The plan of a pipeline's training step: a JSON file that `depthcost` writes for a scenario and
// bench_pipeline runs. Every key without a default is required:
//
//   schema              "depthcost-pipeline/1"
//   schedule            the name of a PipelineSchedule, such as "1f1b"
//   activations         "kept" | "recomputed"; default "kept"
//   num_stages          P, one process each
//   num_virtual_stages  V; default 1
//   num_micro_batches   M
//   chunk_layers        [...] layers (sublayers) of each of the P V chunks
//   payload             {"block_sizes": [...], "cache": "none" | "received" | "own"} of Block
//                       AttnRes, or {"vectors": n} over every transition (standard 1, mHC m)
//   tokens              of one micro-batch
//   hidden_size         d
//   bytes_per_element   on the wire: 1, 2 or 4
//   gradient_bytes_per_element  of gradients, on their way back; default: bytes_per_element
//   chunk_seconds       [{"forward", "recompute", "backward_input", "backward_weight"}, ...]: times
//                       of each chunk for one micro-batch; "recompute" defaults to 0
//   link                {"latency_seconds", "bytes_per_second"}: every transition, for the
//                       simulation; without "bytes_per_second" bytes take no time
//   links               [...]: one for each transition, in place of "link"
//   sends               "overlapped" | "blocking"; default "overlapped"
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "model/pipeline/pipeline.hpp"
#include "model/pipeline/pipeline_order.hpp"
#include "model/pipeline/pipeline_simulation.hpp"

namespace depthcost::bench {

/// b_0, the blocks that the receiver lacks, and an unfinished partial sum.
struct BlockPayload {
  std::vector<Count> block_sizes;  // in layers
  Cache cache = Cache::none;
};

/// The state of standard and (m)HC residuals.
struct FixedPayload {
  Count vectors = 1;
};

struct PipelinePlan {
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  Activations activations = Activations::kept;
  PipelineLayout layout;
  Count num_micro_batches = 1;
  std::variant<BlockPayload, FixedPayload> payload = FixedPayload{};
  Count tokens = 1;  // of one micro-batch
  Count hidden_size = 1;
  Count bytes_per_element = 2;
  Count gradient_bytes_per_element = 2;
  std::vector<ChunkTimes> chunks;  // P V
  std::vector<StageLink> links;    // P V - 1
  Sends sends = Sends::overlapped;
};

/// Throws InputError, also where no such pipeline exists; `file` is for its message.
PipelinePlan parse_plan(const std::string& text, const std::string& file);

/// Bytes of one d-vector of all tokens of a micro-batch, and of its gradient.
Count vector_bytes(const PipelinePlan& plan);
Count gradient_bytes(const PipelinePlan& plan);

/// Includes b_0 and partial sums: without them no stage could compute.
PipelineTraffic traffic_of(const PipelinePlan& plan);

/// The step that simulate() takes. A backward message holds a gradient for each vector of the
/// forward message.
PipelineWork work_of(const PipelinePlan& plan);

}  // namespace depthcost::bench
