// Curves over the share of reads; links before points.
#include "model/machine/machine.hpp"

#include <algorithm>

#include "model/machine/node_crossing.hpp"

namespace depthcost {
namespace {

std::optional<Transfer> fitted_as(TransferKind kind) {
  switch (kind) {
    case TransferKind::send:
      return Transfer::one_way;
    case TransferKind::all_reduce:
      return Transfer::all_reduce;
    case TransferKind::all_gather:
      return Transfer::all_gather;
    case TransferKind::reduce_scatter:
      return Transfer::reduce_scatter;
    case TransferKind::all_to_all:
      return std::nullopt;
  }
  return std::nullopt;
}

bool launches_ahead(Prefetch prefetch, Launch launch) {
  return launch == Launch::graph_pdl ||
         (launch == Launch::graph && prefetch == Prefetch::before_start);
}

}  // namespace

const Estimate<double>& residual_of(const Machine& machine, OperationId operation) {
  for (const OperationResidual& own : machine.operation_residuals)
    if (own.operation == operation.text) return own.ratio;
  return machine.residual;
}

bool launches_ahead(const Machine& machine, Launch launch) {
  return machine.few_tokens && launches_ahead(machine.few_tokens->style.prefetch, launch);
}

bool engine_launches_ahead(const Machine& machine, Launch launch) {
  return machine.few_tokens && launches_ahead(machine.few_tokens->engine_prefetch, launch);
}

std::optional<Estimate<Seconds>> transfer_time(const Machine& machine, TransferKind kind,
                                               TransferScope scope, Count num_ranks, Bytes size) {
  const auto transfer = fitted_as(kind);
  const bool is_local = machine.core && scope == TransferScope::node;
  const LinkCurve* curve =
      is_local && transfer ? find_link(machine.links, *transfer, num_ranks) : nullptr;
  if (curve == nullptr) {
    const auto measured = transfer_time(machine.transfers, kind, scope, num_ranks, size);
    if (measured || scope == TransferScope::node) return measured;
    return derived_network_time(machine, kind, num_ranks, size);
  }
  return around(message_time(*curve, size), kTransferScatter, Evidence::calibrated);
}

std::vector<MixBandwidth> curve_over(const std::vector<ExactMixBandwidth>& exact) {
  const bool has_generic = std::any_of(exact.begin(), exact.end(),
                                       [](const auto& entry) { return is_generic(entry.mix); });
  std::vector<MixBandwidth> curve;
  for (const ExactMixBandwidth& entry : exact)
    if (is_generic(entry.mix) || !has_generic)
      curve.push_back({static_cast<double>(entry.mix.reads) / (entry.mix.reads + entry.mix.writes),
                       entry.bandwidth});
  std::stable_sort(curve.begin(), curve.end(), [](const MixBandwidth& a, const MixBandwidth& b) {
    return a.read_share < b.read_share;
  });
  return curve;
}

}  // namespace depthcost
