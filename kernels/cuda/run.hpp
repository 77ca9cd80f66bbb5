// Every operation on the device: as depthcost::cpu, with device pointers and where to launch.
// Launches are asynchronous, allocate nothing, and can be captured into a graph. Results are the
// same bits in every run. T is float or Bf16; O is T or float. Arguments are checked first
// (kernels/operations/operations.hpp); so is whether a CTA's shared memory holds what a size asks
// for. A failed launch throws std::runtime_error.
#pragma once

#include <cstdint>

#include "kernels/operations/backward/operations.hpp"
#include "kernels/operations/operations.hpp"

using cudaStream_t = struct CUstream_st*;

namespace depthcost::cuda {

/// What a kernel may do while the one before it on the same cuda_stream still runs. Under
/// `programmatic` its parameters (queries, gains, phi) must have been written earlier than that.
enum class Overlap : std::uint8_t {
  none,          // starts when that one has ended
  programmatic,  // its CTAs start early, fetch parameters, and wait: from sm_90 on
};

/// Whether a token's result may depend on how many tokens there are beside it.
///   fastest    few tokens are spread over more of the device, so their sums are added up in
///   another
///              order than those of many
///   invariant  the kernel and its split of a row are those of many tokens: the same bits in every
///              batch; few tokens take longer
enum class Batch : std::uint8_t { fastest, invariant };

struct LaunchOptions {
  cudaStream_t cuda_stream = nullptr;
  Overlap overlap = Overlap::none;
  Batch batch = Batch::fastest;
};

/// The `sources` of UnfusedStack are host memory themselves, read before the call returns.
#define DEPTHCOST_DECLARE_RUN(Op, name) \
  template <class T>                    \
  void run(const Op<T>& op, const LaunchOptions& options = {});
DEPTHCOST_OPERATIONS(DEPTHCOST_DECLARE_RUN)
#undef DEPTHCOST_DECLARE_RUN

#define DEPTHCOST_DECLARE_RUN(Op, name) \
  template <class T, class O>           \
  void run(const Op<T, O>& op, const LaunchOptions& options = {});
DEPTHCOST_PHASE_OPERATIONS(DEPTHCOST_DECLARE_RUN)
#undef DEPTHCOST_DECLARE_RUN

#define DEPTHCOST_DECLARE_RUN(Op, name) \
  template <class T>                    \
  void run(const Op<T>& op, const LaunchOptions& options = {});
DEPTHCOST_BACKWARD_OPERATIONS(DEPTHCOST_DECLARE_RUN)
#undef DEPTHCOST_DECLARE_RUN

void run(const Sinkhorn& op, const LaunchOptions& options = {});

}  // namespace depthcost::cuda
