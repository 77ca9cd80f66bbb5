// A second branch of a graph: it runs beside the rest, between two events.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/run.hpp"

namespace depthcost::bench {

/// Runs beside the launches into device_cuda_stream(), captured or not.
class Branch {
 public:
  Branch();
  ~Branch();
  Branch(const Branch&) = delete;
  Branch& operator=(const Branch&) = delete;

  /// The branch waits for all launches so far.
  void fork() const;
  /// Called between fork and join.
  template <class Op>
  void run(const Op& op) const {
    cuda::run(op, {cuda_stream_, cuda::Overlap::none});
  }
  /// Later launches wait for the branch. A capture may not end without it.
  void join() const;

 private:
  cudaStream_t cuda_stream_ = nullptr;
  cudaEvent_t forked_ = nullptr;
  cudaEvent_t joined_ = nullptr;
};

/// Made at its first use, which may not be inside a capture.
const Branch& second_branch();

}  // namespace depthcost::bench
