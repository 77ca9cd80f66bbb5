// Where messages lie: in memory that MPI can be given, or in memory that only copies reach.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace depthcost::bench {

/// How one kind of memory is got and given back.
struct Allocator {
  std::byte* (*allocate)(std::size_t size) = nullptr;  // size > 0; throws where there is no more
  void (*release)(std::byte* data) = nullptr;
};

inline constexpr Allocator kHostAllocator{
    [](std::size_t size) { return new std::byte[size]; },
    [](std::byte* data) { delete[] data; },
};

class Pool;

/// Gives a region's memory back to its pool.
struct GiveBack {
  Pool* pool = nullptr;
  std::size_t size = 0;
  void operator()(std::byte* data) const;
};

/// A part of a pool's memory, its content undefined. It goes back to the pool in the end.
class Region {
 public:
  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return data_ ? data_.get_deleter().size : 0; }

 private:
  friend Pool;
  std::unique_ptr<std::byte, GiveBack> data_;
};

/// Keeps what has been used for the next region of that size: messages have few sizes, and memory
/// of devices is slow to get. Lives longer than its regions.
class Pool {
 public:
  explicit Pool(Allocator allocator) : allocator_(allocator) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  Region take(std::size_t size);

 private:
  friend GiveBack;

  Allocator allocator_;
  std::map<std::size_t, std::vector<std::byte*>> free_;
};

/// Whether MPI may be given the address of a message.
enum class Reach { by_mpi, through_host };

/// From a message to the host, or from there to a message.
enum class Way : int { to_host, from_host };

/// All messages of a process. This one's lie in the host's memory.
class MessageMemory {
 public:
  MessageMemory() = default;
  MessageMemory(const MessageMemory&) = delete;
  MessageMemory& operator=(const MessageMemory&) = delete;
  virtual ~MessageMemory() = default;

  /// "host memory", "memory of a NVIDIA H200, staged through the host".
  virtual std::string name() const { return "host memory"; }
  virtual Reach reach() const { return Reach::by_mpi; }
  virtual Allocator messages() const { return kHostAllocator; }
  /// For memory that MPI reaches, and begin_copy() too without a detour.
  virtual Allocator staging() const { return kHostAllocator; }

  /// Between a message and any memory of the host; done when it returns.
  virtual void copy(Way way, std::byte* to, const std::byte* from, std::size_t size);

  using CopyId = std::size_t;
  /// Between a message and a region of staging(): returns at once.
  virtual CopyId begin_copy(Way way, std::byte* to, const std::byte* from, std::size_t size);
  /// Once it has returned true, the copy is forgotten.
  virtual bool is_done(CopyId copy);
};

/// For tests: the host's memory as if it were a device's. A copy is done when it has been asked for
/// one to four times. Until then its target holds rubbish, and that of the `lost`-th copy, counted
/// from 0, for ever (-1: none is lost).
std::unique_ptr<MessageMemory> emulated_device_memory(int lost);

}  // namespace depthcost::bench
