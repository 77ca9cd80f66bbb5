// In each scheme's own unit: a hidden state, streams, or blocks.
#include "model/step/scheme_payload.hpp"

#include <algorithm>

#include "model/schemes/mechanism.hpp"

namespace depthcost {
namespace {

struct PayloadOf {
  const PipelineLayout& layout;
  Cache cache;

  PipelineTraffic operator()(const Standard&) const {
    return uniform_traffic(layout, standard_transition());
  }
  PipelineTraffic operator()(const Mhc& scheme) const {
    return uniform_traffic(layout, mhc_transition(scheme.num_streams));
  }
  PipelineTraffic operator()(const FullAttnRes& scheme) const {
    return blocks(full_attnres_block_sizes(scheme.groups.num_layers));
  }
  PipelineTraffic operator()(const BlockAttnRes& scheme) const {
    return blocks(block_sizes(scheme.blocks));
  }
  PipelineTraffic operator()(const MechanismScheme& scheme) const {
    return mechanism_traffic(layout, scheme);
  }
  PipelineTraffic blocks(const std::vector<Count>& sizes) const {
    return pipeline_traffic(layout, sizes, {cache, Embedding::sent, PartialSum::sent});
  }
};

struct BankBlocks {
  std::vector<Count> operator()(const Standard&) const { return {}; }
  std::vector<Count> operator()(const Mhc&) const { return {}; }
  std::vector<Count> operator()(const FullAttnRes& s) const {
    return full_attnres_block_sizes(s.groups.num_layers);
  }
  std::vector<Count> operator()(const BlockAttnRes& s) const { return block_sizes(s.blocks); }
  std::vector<Count> operator()(const MechanismScheme&) const { return {}; }
};

}  // namespace

std::vector<Count> bank_block_sizes(const Scheme& scheme) {
  return std::visit(BankBlocks{}, scheme);
}

PipelineTraffic scheme_payload(const PipelineLayout& layout, const Scheme& scheme, Cache cache) {
  return std::visit(PayloadOf{layout, cache}, scheme);
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
