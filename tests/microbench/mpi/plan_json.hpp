// Plans as JSON, for tests of programs that read them.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "microbench/mpi/plan_file.hpp"

namespace depthcost::bench {

inline nlohmann::ordered_json payload_json(const PipelinePlan& plan) {
  if (const auto* fixed = std::get_if<FixedPayload>(&plan.payload))
    return {{"vectors", fixed->vectors}};
  const auto& blocks = std::get<BlockPayload>(plan.payload);
  return {{"block_sizes", blocks.block_sizes}, {"cache", name(blocks.cache)}};
}

/// The JSON that parse_plan() reads.
inline std::string to_json(const PipelinePlan& plan) {
  nlohmann::ordered_json chunks = nlohmann::ordered_json::array();
  for (const ChunkTimes& times : plan.chunks)
    chunks.push_back({{"forward", times.forward.value},
                      {"recompute", times.recompute.value},
                      {"backward_input", times.backward_input.value},
                      {"backward_weight", times.backward_weight.value}});
  nlohmann::ordered_json links = nlohmann::ordered_json::array();
  for (const StageLink& link : plan.links) {
    links.push_back({{"latency_seconds", link.latency.value}});
    if (std::isfinite(link.bandwidth.value))
      links.back()["bytes_per_second"] = link.bandwidth.value;
  }
  const nlohmann::ordered_json json{{"schema", "depthcost-pipeline/1"},
                                    {"schedule", name(plan.schedule)},
                                    {"activations", name(plan.activations)},
                                    {"num_stages", plan.layout.num_stages},
                                    {"num_virtual_stages", plan.layout.num_virtual_stages},
                                    {"num_micro_batches", plan.num_micro_batches},
                                    {"chunk_layers", plan.layout.chunk_layers},
                                    {"payload", payload_json(plan)},
                                    {"tokens", plan.tokens},
                                    {"hidden_size", plan.hidden_size},
                                    {"bytes_per_element", plan.bytes_per_element},
                                    {"gradient_bytes_per_element", plan.gradient_bytes_per_element},
                                    {"chunk_seconds", chunks},
                                    {"links", links},
                                    {"sends", name(plan.sends)}};
  return json.dump(1) + "\n";
}

}  // namespace depthcost::bench
