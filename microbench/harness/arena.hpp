// Where the operands of a benchmark lie: one mapping for all cases, taken from the front.
#pragma once

#include <cstddef>
#include <memory>

namespace depthcost::bench {

/// Memory of the machine that runs the kernels. Addresses that allocate() returns belong to it;
/// `host` addresses to us.
class Arena {
 public:
  virtual ~Arena() = default;

  /// Aligned to 256 bytes. Throws std::length_error if the arena is full.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void copy_in(std::byte* to, const void* host, std::size_t bytes) = 0;
  virtual void copy_out(void* host, const std::byte* from, std::size_t bytes) = 0;

  /// Forgets all allocations.
  virtual void reset() = 0;
};

/// Host memory, huge pages advised, touched first by the threads that will use it.
std::unique_ptr<Arena> host_arena(std::size_t bytes);

}  // namespace depthcost::bench
