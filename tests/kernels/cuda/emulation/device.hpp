// What a thread of an emulated kernel can do beside computing: the primitives of ptx.cuh and the
// built-in functions of CUDA, on fibers of one thread of the host. It proves logic. It proves
// neither the order of memory, nor proxies, nor speed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace depthcost::emulation {

inline constexpr unsigned kWarpSize = 32;

/// What one lane gives to the others of its warp.
using LaneWords = std::array<std::uint32_t, 6>;
using WarpWords = std::array<LaneWords, kWarpSize>;

/// Waits for every lane of the warp, all in the same function, and returns what each has given. It
/// may be read until the lane's next exchange.
const WarpWords& exchange(const char* function, const LaneWords& given);

void sync_warp();

/// The dynamic shared memory of the CTA. It begins as bytes of 0xFF, which are NaNs.
std::byte* shared_memory();

/// Barrier `id` of the CTA; all of its threads where `num_threads` is 0.
void barrier(const char* function, unsigned id, unsigned num_threads);

unsigned cluster_rank();
unsigned cluster_size();
void cluster_arrive();
void cluster_wait();

/// Where `target`, an address in the CTA's own shared memory, lies in that of another rank.
float* at_rank(float* target, unsigned rank);

// Barriers in shared memory, as ptx.cuh describes them.
void init_barrier(std::uint64_t* barrier, unsigned num_arrivals);
void arrive(std::uint64_t* barrier, std::uint32_t expected_bytes);
void wait(std::uint64_t* barrier, unsigned parity);

/// The target becomes NaNs at once, and the content of the source at a random later moment.
/// Into the shared memory of another CTA of the cluster, when it pleases.
void store_async(float* target, std::uint64_t* barrier, float value);
void bulk_copy(void* target, const void* source, std::uint32_t num_bytes, std::uint64_t* barrier);

void wait_for_previous_kernel();

}  // namespace depthcost::emulation
