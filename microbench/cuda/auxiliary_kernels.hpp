// What runs beside the kernels under measurement: in front of them, so that the host has launched
// all of them before the first begins, or between them, as the layers of a network do.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace depthcost::bench {

/// Numbers that no memory compresses, into `num_bytes`, a multiple of 16.
void launch_fill(void* data, std::size_t num_bytes, cudaStream_t cuda_stream);

/// Reads `num_bytes`, a multiple of 16, at the speed of memory: what they replace in the cache is
/// gone, and nothing waits to be written back.
void launch_sweep(const void* data, std::size_t num_bytes, cudaStream_t cuda_stream);

/// One thread that waits: the device is busy, its caches are as they were.
void launch_delay(double seconds, cudaStream_t cuda_stream);

/// Cycles per second of one SM, over about a millisecond. Waits for the stream.
double sm_clock_rate(cudaStream_t cuda_stream);

}  // namespace depthcost::bench
