// Streams that are lists: a launch is kept until somebody waits for it.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/cuda/emulation/cluster_run.hpp"

namespace depthcost::emulation {
namespace {

// Those of an H200, but for few multiprocessors: as many tokens for each are fewer in all.
constexpr int kNumSms = 4;
constexpr int kSharedBytesPerCta = 227 * 1024;
constexpr int kSharedBytesPerSm = 228 * 1024;
constexpr int kSharedBytesWithoutAsking = 48 * 1024;
constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxPortableCluster = 8;
constexpr std::size_t kAllocationAlignment = 256;

struct Launch {
  Geometry geometry;
  std::function<void()> kernel;
  bool may_overlap = false;
};

using Launches = std::vector<Launch>;

/// DEPTHCOST_EMULATION_SEED, or 1.
std::uint64_t first_seed() {
  const char* text = std::getenv("DEPTHCOST_EMULATION_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

std::uint64_t next_seed() {
  static std::mt19937_64 seeds(first_seed());
  return seeds();
}

/// A kernel that has been launched. Its first cluster may begin while the kernel before runs.
class StartedKernel {
 public:
  explicit StartedKernel(const Launch& launch)
      : launch_(launch), order_(launch.geometry.num_clusters()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::shuffle(order_.begin(), order_.end(), std::mt19937_64(next_seed()));
  }

  void begin_early() {
    early_ = cluster(order_.front(), PreviousKernel::running);
    early_->run();
  }

  void run() {
    if (early_) {
      early_->end_previous_kernel();
      early_->run();
    }
    for (std::size_t i = early_ ? 1 : 0; i < order_.size(); ++i)
      cluster(order_[i], PreviousKernel::ended)->run();
  }

 private:
  std::unique_ptr<ClusterRun> cluster(unsigned which, PreviousKernel previous) const {
    return std::make_unique<ClusterRun>(launch_.geometry, which, launch_.kernel, next_seed(),
                                        previous);
  }

  const Launch& launch_;
  std::vector<unsigned> order_;
  std::unique_ptr<ClusterRun> early_;
};

/// Each kernel that may overlap begins before the one in front of it runs, so that what it reads or
/// writes too early is seen.
void run_all(const Launches& launches) {
  std::unique_ptr<StartedKernel> now;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (!now) now = std::make_unique<StartedKernel>(launches[i]);
    std::unique_ptr<StartedKernel> next;
    if (i + 1 < launches.size() && launches[i + 1].may_overlap) {
      next = std::make_unique<StartedKernel>(launches[i + 1]);
      next->begin_early();
    }
    now->run();
    now = std::move(next);
  }
}

}  // namespace
}  // namespace depthcost::emulation

struct CUstream_st {
  depthcost::emulation::Launches launches;
  bool captures = false;

  void finish() {
    const depthcost::emulation::Launches all = std::exchange(launches, {});
    depthcost::emulation::run_all(all);
  }
};
struct CUgraph_st {
  depthcost::emulation::Launches launches;
};
struct CUgraphExec_st {
  depthcost::emulation::Launches launches;
};

namespace depthcost::emulation {
namespace {

CUstream_st default_stream;
std::vector<CUstream_st*> streams{&default_stream};
std::map<const void*, int> allowed_shared_memory;
cudaError_t last_error = cudaSuccess;

void finish_all() {
  for (CUstream_st* stream : streams) stream->finish();
}

CUstream_st& stream_of(cudaStream_t stream) { return stream == nullptr ? default_stream : *stream; }

bool is_valid(const Launch& launch, const void* kernel) {
  const Geometry& shape = launch.geometry;
  const auto allowed = allowed_shared_memory.find(kernel);
  const int most =
      allowed == allowed_shared_memory.end() ? kSharedBytesWithoutAsking : allowed->second;
  return shape.grid.x > 0 && shape.grid.y > 0 && shape.grid.z > 0 && shape.num_threads() > 0 &&
         shape.num_threads() <= kMaxThreads && shape.cluster_size >= 1 &&
         shape.cluster_size <= kMaxPortableCluster && shape.grid.x % shape.cluster_size == 0 &&
         shape.shared_bytes <= static_cast<std::size_t>(most);
}

}  // namespace

cudaError_t allow_shared_memory(const void* kernel, int num_bytes) {
  if (num_bytes > kSharedBytesPerCta) return cudaErrorInvalidValue;
  allowed_shared_memory[kernel] = num_bytes;
  return cudaSuccess;
}

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   std::function<void()> body) {
  Launch launch{.geometry = {.grid = config.gridDim,
                             .cta = config.blockDim,
                             .shared_bytes = config.dynamicSmemBytes},
                .kernel = std::move(body)};
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      launch.geometry.cluster_size = attribute.val.clusterDim.x;
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization)
      launch.may_overlap = attribute.val.programmaticStreamSerializationAllowed != 0;
  }
  if (!is_valid(launch, kernel)) return last_error = cudaErrorInvalidValue;
  stream_of(config.stream).launches.push_back(std::move(launch));
  return cudaSuccess;
}

}  // namespace depthcost::emulation

using depthcost::emulation::finish_all;
using depthcost::emulation::stream_of;
using depthcost::emulation::streams;

cudaError_t cudaGetLastError() {
  return std::exchange(depthcost::emulation::last_error, cudaSuccess);
}
const char* cudaGetErrorName(cudaError_t error) {
  if (error == cudaSuccess) return "cudaSuccess";
  return error == cudaErrorNoDevice ? "cudaErrorNoDevice" : "cudaErrorInvalidValue";
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "invalid argument";
}

cudaError_t cudaMalloc(void** pointer, std::size_t num_bytes) {
  using depthcost::emulation::kAllocationAlignment;
  const std::size_t whole = (num_bytes / kAllocationAlignment + 1) * kAllocationAlignment;
  *pointer = std::aligned_alloc(kAllocationAlignment, whole);
  std::memset(*pointer, 0xFF, whole);
  return cudaSuccess;
}
cudaError_t cudaFree(void* pointer) {
  finish_all();
  std::free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* target, const void* source, std::size_t num_bytes, cudaMemcpyKind) {
  finish_all();
  std::memcpy(target, source, num_bytes);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  constexpr int kMajor = 9;
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = depthcost::emulation::kNumSms;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = depthcost::emulation::kSharedBytesPerCta;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = depthcost::emulation::kSharedBytesPerSm;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = kMajor;
      break;
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  finish_all();
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  streams.push_back(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stream_of(stream).finish();
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  stream->finish();
  std::erase(streams, stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  stream->finish();
  stream->captures = true;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (!stream->captures) return cudaErrorInvalidValue;
  stream->captures = false;
  *graph = new CUgraph_st{std::exchange(stream->launches, {})};
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned) {
  *executable = new CUgraphExec_st{graph->launches};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  auto& launches = stream_of(stream).launches;
  launches.insert(launches.end(), executable->launches.begin(), executable->launches.end());
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
