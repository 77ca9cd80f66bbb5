// Every operation on the device: as depthcost::cpu, with device pointers and where to launch.
// Launches are asynchronous, allocate nothing, and can be captured into a graph. Results are the
// same bits in every run. T is float or Bf16; O is T or float. Arguments are checked first
// (kernels/operations/operations.hpp); a failed launch throws std::runtime_error.
#pragma once

#include <cstdint>

#include "kernels/operations/operations.hpp"

using cudaStream_t = struct CUstream_st*;

namespace depthcost::cuda {

/// What a kernel may do while the one before it on the same cuda_stream still runs. Under
/// `programmatic` its parameters (queries, gains, phi) must have been written earlier than that.
enum class Overlap : std::uint8_t {
  none,          // starts when that one has ended
  programmatic,  // its CTAs start early, fetch parameters, and wait: from sm_90 on
};

struct LaunchOptions {
  cudaStream_t cuda_stream = nullptr;
  Overlap overlap = Overlap::none;
};

template <class T>
void run(const ResidualAdd<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const ResidualAddRmsNorm<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const ScaledAddRmsNorm<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const HighwayRmsNorm<T>& op, const LaunchOptions& options = {});

template <class T>
void run(const AttnResSinglePass<T>& op, const LaunchOptions& options = {});
template <class T, class O>
void run(const AttnResPhase1<T, O>& op, const LaunchOptions& options = {});
template <class T, class O>
void run(const AttnResPhase2<T, O>& op, const LaunchOptions& options = {});

template <class T>
void run(const MhcPre<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const MhcPost<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const MhcBoundary<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const SinglePassMhc<T>& op, const LaunchOptions& options = {});
void run(const Sinkhorn& op, const LaunchOptions& options = {});

template <class T>
void run(const HcBoundary<T>& op, const LaunchOptions& options = {});

template <class T>
void run(const DenseMix<T>& op, const LaunchOptions& options = {});

template <class T>
void run(const UnfusedRmsNorm<T>& op, const LaunchOptions& options = {});
/// `op.sources` itself is host memory, read before the call returns.
template <class T>
void run(const UnfusedStack<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const UnfusedKeyNorm<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const UnfusedScores<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const UnfusedMix<T>& op, const LaunchOptions& options = {});

template <class T>
void run(const UnfusedMhcCoefficients<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const UnfusedMhcPre<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const UnfusedMhcPost<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const UnfusedMhcResidual<T>& op, const LaunchOptions& options = {});
template <class T>
void run(const UnfusedMhcMerge<T>& op, const LaunchOptions& options = {});

}  // namespace depthcost::cuda
