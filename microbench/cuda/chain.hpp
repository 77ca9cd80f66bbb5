// Time on the device: events around a chain of kernels. Each kernel waits for the one before.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "microbench/harness/slope.hpp"
#include "model/machine/time.hpp"

namespace depthcost::bench {

/// Launches node i of a chain.
using LaunchNode = std::function<void(std::size_t)>;

/// Launches a chain, any number of times: as a graph, or under Launch::stream kernel by kernel.
using Chain = std::function<void()>;

/// A chain of `length` nodes, captured once. Its kernels must have been launched before: a kernel
/// that is not loaded cannot be captured.
Chain chain_of(Launch launch, std::size_t length, const LaunchNode& node);

/// Seconds of one launch of `chain`. Cold: the cache is swept before, and no operand is used again
/// while the cache holds it. Hot: two sets of operands take turns. A graph is launched while the
/// device is still busy, which hides the host's time. The kernels of a stream are not: that time is
/// part of how they run.
double seconds_of(const Chain& chain, Launch launch, Temperature temperature);

/// A chain of each of kChainLengths.
using Chains = std::vector<Chain>;
Chains chains_of(Launch launch, const LaunchNode& node);

/// An estimate of the time of a node, and how far to trust it: the larger of worst_deviation and
/// the distance of slopes after a device that was kept busy for one time, and for twice that.
struct SlopeSample {
  double seconds = 0;
  double deviation = 0;
};
SlopeSample sample_slope(const Chains& chains, Launch launch, Temperature temperature);

/// Reads so many other bytes that nothing else is left in the cache. Its first call must be outside
/// a capture; warm_up_device makes it.
void sweep_cache();

/// The weights of a decoder layer on one device, which pass through the cache between two residual
/// operations.
inline constexpr std::size_t kWeightBytesPerLayer = std::size_t{64} << 20;
void launch_weights(std::size_t layer);

inline constexpr std::size_t kMostWindowNodes = 1024;

/// The number of nodes, at most kMostWindowNodes, of a chain that takes a few milliseconds: events
/// have a resolution of half a microsecond. Launches `node` a few times.
std::size_t nodes_per_window(const LaunchNode& node);

/// Waits for everything that has been launched.
void synchronise();

}  // namespace depthcost::bench
