// The constants of one device that the time formula needs: each from a profile, a published
// measurement or a datasheet, each with its interval. REFERENCES.md, "time".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/evidence.hpp"
#include "model/base/units.hpp"
#include "model/machine/constants.hpp"
#include "model/machine/core_work.hpp"
#include "model/machine/few_tokens.hpp"
#include "model/machine/link_curve.hpp"
#include "model/machine/transfer.hpp"
#include "model/operations/mix.hpp"
#include "model/operations/operation.hpp"

namespace depthcost {

/// `cache` is the last level that all cores share: L2 on NVIDIA GPUs, L3 on CPUs.
enum class Level { cache, memory };

/// How kernels are launched; decides the floor. `graph_pdl`: programmatic dependent launch.
enum class Launch { stream, graph, graph_pdl };

/// How far a kernel's bandwidth could rise above the ceiling if bytes in flight were free:
/// B of "B n / (n + h), capped" over what large copies reach on an H200. REFERENCES.md,
/// "concurrency".
inline constexpr double kUncappedOverCeiling = 5427.0 / 3416.0;

/// Sustained bandwidth at one read:write mix; `read_share` is reads / (reads + writes) in bytes.
struct MixBandwidth {
  double read_share = 1;
  Estimate<BytesPerSecond> bandwidth;
};

/// Sustained bandwidth at one mix exactly, as plain streams of that mix have reached it.
struct ExactMixBandwidth {
  Mix mix;
  Estimate<BytesPerSecond> bandwidth;
};

/// What is known of a machine on which nobody has measured the mix that is asked for: read, triad,
/// copy and write where they were, else every mix that was.
std::vector<MixBandwidth> curve_over(const std::vector<ExactMixBandwidth>& exact);

/// Seconds that a kernel costs before its first byte and after its last.
struct LaunchFloor {
  Launch launch = Launch::graph;
  Level level = Level::memory;
  Skeleton skeleton = Skeleton::elementwise;
  Estimate<Seconds> floor;
};

/// Measured over predicted time of one operation's own kernels.
struct OperationResidual {
  std::string operation;  // text of its OperationId
  Estimate<double> ratio;
};

/// Share of the traffic that comes from memory when `footprint` bytes lie between two uses.
struct TransitionPoint {
  Bytes footprint;
  double memory_weight = 0;
};

struct Machine {
  std::string name;
  std::vector<MixBandwidth> memory_bandwidth;      // by read_share, rising
  std::vector<ExactMixBandwidth> exact_bandwidth;  // of memory; goes before the curve
  std::vector<MixBandwidth> cache_bandwidth;  // as above; empty: all traffic counts as memory's
  BytesPerSecond memory_ceiling;              // no kernel is faster: the envelope of bound()
  BytesPerSecond cache_ceiling;
  std::vector<TransitionPoint> transition;          // by footprint, rising; empty without a cache
  std::vector<LaunchFloor> floors;                  // every (launch, level, skeleton)
  Seconds half_saturation;                          // h / B of REFERENCES.md, "concurrency"
  std::optional<FlopsPerSecond> vector_rate;        // fp32 lanes
  std::optional<FlopsPerSecond> tensor_rate;        // dense bf16
  std::optional<FlopsPerSecond> fp8_rate;           // dense
  std::optional<FlopsPerSecond> mxfp4_rate;         // dense; absent: widened to bf16 first
  std::optional<FlopsPerSecond> nvfp4_rate;         // as above
  std::vector<TransferPoint> transfers;             // between devices
  std::optional<BytesPerSecond> link_bandwidth;     // datasheet, one direction, inside a node
  std::optional<BytesPerSecond> network_bandwidth;  // of a device, one direction, between nodes
  std::optional<BytesPerSecond> host_bandwidth;     // to the host's memory, one direction
  Count devices_per_node = 8;
  std::optional<Core> core;                            // of a CPU, in place of the two rates
  std::optional<FewTokens> few_tokens;                 // of a GPU; absent: launch and bytes are all
  EngineConstants engine;                              // of the rest of a step
  Estimate<double> residual{1, 1, 1};                  // measured / predicted of whole kernels
  std::vector<OperationResidual> operation_residuals;  // go before it
  std::vector<LinkCurve> links;                        // between processes, as their MPI has it
  std::optional<Bytes> memory_capacity;  // what the driver shows; else the nominal size
};

/// Seconds for `size` bytes between the machine's devices, as transfer_time() of
/// model/machine/transfer.hpp. On a CPU, whose processes are its devices, curves that were fitted
/// inside a node go first; a GPU's links are its host's, and say nothing of it. Between nodes, what
/// nobody has measured is derived: model/machine/node_crossing.hpp.
std::optional<Estimate<Seconds>> transfer_time(const Machine& machine, TransferKind kind,
                                               TransferScope scope, Count num_ranks, Bytes size);

/// Measured over predicted time of the operation's kernels: its own where the machine has one.
const Estimate<double>& residual_of(const Machine& machine, OperationId operation);

/// Whether the residual path's kernels are launched before their neighbour ends, and fetch what is
/// old meanwhile: then all of them start as from the cache.
bool launches_ahead(const Machine& machine, Launch launch);

/// Whether an engine's kernels of the rest of the step are.
bool engine_launches_ahead(const Machine& machine, Launch launch);

/// Over the links that so many ranks cross: of a node where they are on one, else of the network.
inline std::optional<Estimate<Seconds>> transfer_time(const Machine& machine, TransferKind kind,
                                                      Count num_ranks, Bytes size) {
  const bool is_wide = num_ranks > machine.devices_per_node;
  return transfer_time(machine, kind, is_wide ? TransferScope::network : TransferScope::node,
                       num_ranks, size);
}

}  // namespace depthcost
