// In each scheme's own unit: a hidden state, streams, or blocks.
#include "model/step/scheme_payload.hpp"

#include <algorithm>

#include "model/schemes/scheme.hpp"

namespace depthcost {

std::vector<Count> bank_block_sizes(const ResidualPath& path) {
  if (path.scheme.rule->bank == nullptr) return {};
  return block_sizes(
      path.scheme.rule->bank({path.scheme.parameters, path.num_layers, path.num_layers}));
}

PipelineTraffic scheme_payload(const PipelineLayout& layout, const ResidualPath& path,
                               Cache cache) {
  if (path.scheme.rule->bank != nullptr)
    return pipeline_traffic(layout, bank_block_sizes(path),
                            {cache, Embedding::sent, PartialSum::sent});
  return traffic_by_layer(
      layout, [&](Count layer) { return state_behind(path.scheme, layer, path.num_layers); });
}

Bytes payload_bytes(const Study& study, WorkloadKind workload, Count vectors) {
  const Dtype dtype =
      workload == WorkloadKind::training ? study.training->wire_dtype : study.model.dtype;
  return storage(static_cast<double>(vectors) * static_cast<double>(study.model.hidden_size),
                 dtype);
}

Bytes largest_payload_bytes(const Study& study, Count vectors) {
  const bool serves = study.decode || study.prefill || !study.training;
  const Bytes served = serves ? payload_bytes(study, WorkloadKind::decode, vectors) : Bytes{};
  if (!study.training) return served;
  return std::max(served, payload_bytes(study, WorkloadKind::training, vectors));
}

}  // namespace depthcost
