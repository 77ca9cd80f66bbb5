// Bugs that a test plants into the kernels: one call of a primitive, at one place of the code, does
// nothing, or waits for the wrong phase. Whoever runs the kernel must see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace depthcost::emulation {

enum class Bug : std::uint8_t {
  no_barrier,  // __syncthreads or named_barrier
  no_syncwarp,
  no_cluster_wait,
  no_wait,         // for bulk copies and arrivals
  flipped_parity,  // of such a wait
  no_wait_for_previous_kernel,
};

/// `place`: of the calls that the bug could be in, in the order in which they were first made.
struct PlantedBug {
  Bug bug = Bug::no_barrier;
  std::size_t place = 0;
};

/// Plants a bug, or none; and forgets the places.
void plant(std::optional<PlantedBug> bug);

/// Places where the bug could be, of the calls made since plant().
std::size_t num_places(Bug bug);

/// Whether the planted bug is the one at `call`, the address that the primitive returns to.
bool is_planted(Bug bug, const void* call);

}  // namespace depthcost::emulation
