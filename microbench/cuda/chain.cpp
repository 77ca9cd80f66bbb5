// Capturing a graph, launching it, and the events around it.
#include "microbench/cuda/chain.hpp"

#include <algorithm>
#include <memory>

#include "kernels/cuda/check.hpp"
#include "microbench/cuda/auxiliary_kernels.hpp"
#include "microbench/cuda/device_under_test.hpp"
#include "microbench/cuda/rotation.hpp"

namespace depthcost::bench {
namespace {

constexpr double kWindow = 2.5e-3;

// The device is kept busy while a graph of kLongestChain nodes is launched. If the shorter delay
// does not suffice, its slope has the host's time in it, and the longer one tells.
constexpr double kLaunchDelays[] = {400e-6, 800e-6};

/// Ends the capture even if `node` throws: a stream that goes on capturing can do nothing else.
cudaGraph_t captured(std::size_t length, const LaunchNode& node) {
  cudaGraph_t graph = nullptr;
  // Calls of other threads, also of the driver, do not end this capture.
  cuda::check(cudaStreamBeginCapture(device_cuda_stream(), cudaStreamCaptureModeThreadLocal));
  try {
    for (std::size_t i = 0; i < length; ++i) node(i);
  } catch (...) {
    if (cudaStreamEndCapture(device_cuda_stream(), &graph) == cudaSuccess) cudaGraphDestroy(graph);
    throw;
  }
  cuda::check(cudaStreamEndCapture(device_cuda_stream(), &graph));
  return graph;
}

class Graph {
 public:
  Graph(std::size_t length, const LaunchNode& node) {
    cudaGraph_t graph = captured(length, node);
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    cuda::check(cudaGraphDestroy(graph));
    cuda::check(status);
    cuda::check(cudaGraphUpload(executable_, device_cuda_stream()));
  }
  ~Graph() { cudaGraphExecDestroy(executable_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch() const { cuda::check(cudaGraphLaunch(executable_, device_cuda_stream())); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

class Event {
 public:
  Event() { cuda::check(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record() const { cuda::check(cudaEventRecord(event_, device_cuda_stream())); }
  double seconds_since(const Event& start) const {
    float milliseconds = 0;
    cuda::check(cudaEventSynchronize(event_));
    cuda::check(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// The bytes that sweep the cache. Nothing else uses them.
struct OtherBytes {
  std::byte* data = nullptr;
  std::size_t num_bytes = 0;

  OtherBytes()
      : num_bytes(std::max(kCachesBetweenUses * device_properties().cache_bytes,
                           kCachesBetweenUses * kWeightBytesPerLayer)) {
    void* memory = nullptr;
    cuda::check(cudaMalloc(&memory, num_bytes));
    data = static_cast<std::byte*>(memory);
    launch_fill(data, num_bytes, device_cuda_stream());
    synchronise();
  }
};

const OtherBytes& other_bytes() {
  static const OtherBytes bytes;
  return bytes;
}

double seconds_between_events(const Chain& chain) {
  // Made once: making an event takes longer than a kernel.
  static const Event start;
  static const Event end;
  start.record();
  chain();
  end.record();
  return end.seconds_since(start);
}

double seconds_after(double delay, const Chain& chain, Launch launch, Temperature temperature) {
  if (temperature == Temperature::cold) sweep_cache();
  if (launch == Launch::stream)
    synchronise();
  else
    launch_delay(delay, device_cuda_stream());
  return seconds_between_events(chain);
}

/// Times of one chain after another, in rounds.
using Rounds = std::vector<std::vector<double>>;

std::vector<ChainTime> medians_of(const Rounds& seconds) {
  std::vector<ChainTime> times;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    times.push_back({static_cast<double>(kChainLengths[i]), median_of(seconds[i])});
  return times;
}

}  // namespace

void sweep_cache() {
  launch_sweep(other_bytes().data, other_bytes().num_bytes, device_cuda_stream());
}

void launch_weights(std::size_t layer) {
  const OtherBytes& bytes = other_bytes();
  const std::size_t num_layers = bytes.num_bytes / kWeightBytesPerLayer;
  launch_sweep(bytes.data + layer % num_layers * kWeightBytesPerLayer, kWeightBytesPerLayer,
               device_cuda_stream());
}

void synchronise() { cuda::check(cudaStreamSynchronize(device_cuda_stream())); }

Chain chain_of(Launch launch, std::size_t length, const LaunchNode& node) {
  if (launch == Launch::stream)
    return [=] {
      for (std::size_t i = 0; i < length; ++i) node(i);
    };
  return [graph = std::make_shared<const Graph>(length, node)] { graph->launch(); };
}

double seconds_of(const Chain& chain, Launch launch, Temperature temperature) {
  return seconds_after(kLaunchDelays[0], chain, launch, temperature);
}

Chains chains_of(Launch launch, const LaunchNode& node) {
  Chains chains;
  for (const std::size_t length : kChainLengths) chains.push_back(chain_of(launch, length, node));
  return chains;
}

SlopeSample sample_slope(const Chains& chains, Launch launch, Temperature temperature) {
  // Short chains are repeated: a single interrupt would bend the line.
  constexpr std::size_t kRounds = 3;  // after each delay
  Rounds seconds[std::size(kLaunchDelays)];
  for (Rounds& rounds : seconds) rounds.resize(chains.size());
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < chains.size(); ++i)
      for (std::size_t d = 0; d < std::size(kLaunchDelays); ++d)
        seconds[d][i].push_back(seconds_after(kLaunchDelays[d], chains[i], launch, temperature));
    if (seconds[0].back().front() > 2 * kWindow) break;
  }
  const std::vector<ChainTime> times = medians_of(seconds[0]);
  const Line line = theil_sen(times);
  const Line later = theil_sen(medians_of(seconds[1]));
  return {line.slope, std::max(worst_deviation(times, line), slope_distance(later, line))};
}

std::size_t nodes_per_window(const LaunchNode& node) {
  constexpr std::size_t kTrials = 3;
  node(0);  // loads the kernel
  synchronise();
  const double seconds = seconds_of(
      [&] {
        for (std::size_t i = 0; i < kTrials; ++i) node(i);
      },
      Launch::graph, Temperature::cold);
  const double needed = kWindow / (seconds / static_cast<double>(kTrials));
  return std::clamp(static_cast<std::size_t>(needed) + 1, std::size_t{1}, kMostWindowNodes);
}

}  // namespace depthcost::bench
