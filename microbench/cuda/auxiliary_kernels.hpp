// Kernels that run before measured kernels, so that the host has launched all of those when the
// first begins, or between them, in place of the layers of a network.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace depthcost::bench {

/// Fills `num_bytes`, a multiple of 16, with numbers that no memory compresses.
void launch_fill(void* data, std::size_t num_bytes, cudaStream_t cuda_stream);

/// Reads `num_bytes`, a multiple of 16, at the speed of memory. They replace what was in the cache,
/// and nothing has to be written back later.
void launch_sweep(const void* data, std::size_t num_bytes, cudaStream_t cuda_stream);

/// Keeps the device busy with one thread that waits. Its caches stay as they are.
void launch_delay(double seconds, cudaStream_t cuda_stream);

/// Cycles per second of one SM, measured for about a millisecond. Waits for the stream.
double sm_clock_rate(cudaStream_t cuda_stream);

}  // namespace depthcost::bench
