// Asynchronous copies have a CUDA stream for each way, and an event that tells when they are done.
// Synchronous ones have a third stream.
#include "microbench/mpi/device_memory.hpp"

#include <cuda_runtime_api.h>

#include <array>

#include "kernels/cuda/check.hpp"

namespace depthcost::bench {
namespace {

using cuda::check;

constexpr Allocator kDeviceAllocator{
    [](std::size_t size) {
      void* data = nullptr;
      check(cudaMalloc(&data, size));
      return static_cast<std::byte*>(data);
    },
    [](std::byte* data) { cudaFree(data); },
};

constexpr Allocator kPinnedAllocator{
    [](std::size_t size) {
      void* data = nullptr;
      check(cudaMallocHost(&data, size));
      return static_cast<std::byte*>(data);
    },
    [](std::byte* data) { cudaFreeHost(data); },
};

class CudaStream {
 public:
  CudaStream() { check(cudaStreamCreateWithFlags(&cuda_stream_, cudaStreamNonBlocking)); }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream() { cudaStreamDestroy(cuda_stream_); }

  cudaStream_t get() const { return cuda_stream_; }

 private:
  cudaStream_t cuda_stream_ = nullptr;
};

cudaMemcpyKind kind_of(Way way) {
  return way == Way::to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
}

std::string device_name(int index) {
  cudaDeviceProp found{};
  check(cudaGetDeviceProperties(&found, index));
  return found.name;
}

class CudaMemory : public MessageMemory {
 public:
  CudaMemory(int index, Reach reach) : name_(device_name(index)), reach_(reach) {}
  ~CudaMemory() override {
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  }

  std::string name() const override {
    return "memory of " + name_ +
           (reach_ == Reach::by_mpi ? ", reached by MPI" : ", staged through the host");
  }
  Reach reach() const override { return reach_; }
  Allocator messages() const override { return kDeviceAllocator; }
  Allocator staging() const override { return kPinnedAllocator; }

  void copy(Way way, std::byte* to, const std::byte* from, std::size_t size) override {
    check(cudaMemcpyAsync(to, from, size, kind_of(way), synchronous_.get()));
    check(cudaStreamSynchronize(synchronous_.get()));
  }

  CopyId begin_copy(Way way, std::byte* to, const std::byte* from, std::size_t size) override {
    const CudaStream& cuda_stream = asynchronous_[static_cast<std::size_t>(way)];
    const CopyId id = free_event();
    check(cudaMemcpyAsync(to, from, size, kind_of(way), cuda_stream.get()));
    check(cudaEventRecord(events_[id], cuda_stream.get()));
    return id;
  }

  bool is_done(CopyId id) override {
    const cudaError_t status = cudaEventQuery(events_[id]);
    if (status == cudaErrorNotReady) return false;
    check(status);
    free_.push_back(id);
    return true;
  }

 private:
  CopyId free_event() {
    if (free_.empty()) {
      free_.push_back(events_.size());
      check(cudaEventCreateWithFlags(&events_.emplace_back(), cudaEventDisableTiming));
    }
    const CopyId id = free_.back();
    free_.pop_back();
    return id;
  }

  std::string name_;
  Reach reach_;
  CudaStream synchronous_;
  std::array<CudaStream, 2> asynchronous_;
  std::vector<cudaEvent_t> events_;
  std::vector<CopyId> free_;
};

}  // namespace

int num_devices() {
  int found = 0;
  return cudaGetDeviceCount(&found) == cudaSuccess ? found : 0;
}

std::string why_no_device() {
  int found = 0;
  return cudaGetErrorString(cudaGetDeviceCount(&found));
}

std::unique_ptr<MessageMemory> device_memory(int index, Reach reach) {
  check(cudaSetDevice(index));
  return std::make_unique<CudaMemory>(index, reach);
}

}  // namespace depthcost::bench
