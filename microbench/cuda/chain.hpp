// Time on the device: events around a chain of kernels, each of which waits for the one before.
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

/// A chain that can be launched again and again: a graph, or under Launch::stream each kernel.
using Chain = std::function<void()>;

/// `length` nodes, captured once. What they launch must have been launched before: a kernel that is
/// not loaded yet cannot be captured.
Chain chain_of(Launch launch, std::size_t length, const LaunchNode& node);

/// Seconds of one launch of `chain`. Cold: the cache is swept before it, and each operand is used
/// once while the cache remembers it; hot: two sets take turns, and nothing else is used. Graphs
/// are launched while the device is still busy, so that what the host takes for it is hidden; a
/// stream's kernels are not, since that is how they run.
double seconds_of(const Chain& chain, Launch launch, Temperature temperature);

/// Chains of kChainLengths.
using Chains = std::vector<Chain>;
Chains chains_of(Launch launch, const LaunchNode& node);

/// One estimate of what a node costs, and how far the chains are from linear.
struct SlopeSample {
  double seconds = 0;
  double deviation = 0;  // worst_deviation
};
SlopeSample sample_slope(const Chains& chains, Launch launch, Temperature temperature);

/// Reads so many other bytes that nothing else is left in the cache. First called outside of any
/// capture: warm_up_device does.
void sweep_cache();

/// What a decoder layer streams through the cache between two residual operations: `layer`'s share
/// of the weights, on one device.
inline constexpr std::size_t kWeightBytesPerLayer = std::size_t{64} << 20;
void launch_weights(std::size_t layer);

inline constexpr std::size_t kMostWindowNodes = 1024;

/// Nodes, kMostWindowNodes at most, for a chain that takes at least a few milliseconds, beside
/// which the grain of the events, half a microsecond, is nothing. Launches `node` a few times.
std::size_t nodes_per_window(const LaunchNode& node);

/// Waits for everything that has been launched.
void synchronise();

}  // namespace depthcost::bench
