// Events fork and join the branch. A capture turns them into edges of the graph.
#include "microbench/cuda/branch.hpp"

#include "kernels/cuda/check.hpp"
#include "microbench/cuda/device_under_test.hpp"

namespace depthcost::bench {

Branch::Branch() {
  cuda::check(cudaStreamCreateWithFlags(&cuda_stream_, cudaStreamNonBlocking));
  for (cudaEvent_t* event : {&forked_, &joined_})
    cuda::check(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
}

Branch::~Branch() {
  cudaEventDestroy(forked_);
  cudaEventDestroy(joined_);
  cudaStreamDestroy(cuda_stream_);
}

void Branch::fork() const {
  cuda::check(cudaEventRecord(forked_, device_cuda_stream()));
  cuda::check(cudaStreamWaitEvent(cuda_stream_, forked_, 0));
}

void Branch::join() const {
  cuda::check(cudaEventRecord(joined_, cuda_stream_));
  cuda::check(cudaStreamWaitEvent(device_cuda_stream(), joined_, 0));
}

const Branch& second_branch() {
  static const Branch branch;
  return branch;
}

}  // namespace depthcost::bench
