// A second branch of a graph: work that runs beside the rest, between two events.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/run.hpp"

namespace depthcost::bench {

/// Of what is launched into device_cuda_stream(), captured or not.
class Branch {
 public:
  Branch();
  ~Branch();
  Branch(const Branch&) = delete;
  Branch& operator=(const Branch&) = delete;

  /// What is run here waits for all that has been launched so far.
  void fork() const;
  /// Between fork and join.
  template <class Op>
  void run(const Op& op) const {
    cuda::run(op, {cuda_stream_, cuda::Overlap::none});
  }
  /// What is launched next waits for all that was run here. A capture may not end without it.
  void join() const;

 private:
  cudaStream_t cuda_stream_ = nullptr;
  cudaEvent_t forked_ = nullptr;
  cudaEvent_t joined_ = nullptr;
};

/// Made at first use, which may not be inside of a capture.
const Branch& second_branch();

}  // namespace depthcost::bench
