// The memory that the operands of all cases are taken from, front to back.
#pragma once

#include <cstddef>
#include <memory>

namespace depthcost::bench {

/// Memory of the CPU or GPU that runs the kernels. allocate() returns addresses there; `host` is an
/// address in the host's memory.
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

/// Host memory with huge pages advised. The threads that will use it touch it first.
std::unique_ptr<Arena> host_arena(std::size_t bytes);

}  // namespace depthcost::bench
