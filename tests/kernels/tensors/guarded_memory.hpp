// Memory that nobody may read or write behind, in any build: a page without access begins where it
// ends, or up to 15 bytes later.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "kernels/operations/regions.hpp"

#if !defined(__SANITIZE_ADDRESS__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace depthcost::test {

#if defined(__SANITIZE_ADDRESS__)

/// AddressSanitizer guards both ends of what is allocated, so that the begin can be aligned.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  explicit GuardedMemory(std::size_t bytes)
      : begin_(::operator new (bytes, std::align_val_t{kAlignment})) {}
  void* begin() const { return begin_.get(); }

 private:
  static constexpr std::size_t kAlignment = 64;

  struct Free {
    void operator()(void* p) const { ::operator delete (p, std::align_val_t{kAlignment}); }
  };

  std::unique_ptr<void, Free> begin_;
};

#else

struct UnmapPages {
  std::size_t bytes = 0;
  void operator()(char* p) const { munmap(p, bytes); }
};

/// Whole pages and one without access behind them. The memory ends where that one begins, or as
/// near as the alignment permits that operations ask for.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  explicit GuardedMemory(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t usable = (bytes + page - 1) / page * page;
    void* pages =
        mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    pages_ = {static_cast<char*>(pages), UnmapPages{usable + page}};
    // Faults of small pages would take a third of the time of the tests. Only a request.
    madvise(pages_.get(), usable, MADV_HUGEPAGE);
    if (mprotect(pages_.get() + usable, page, PROT_NONE) != 0) throw std::bad_alloc();
    begin_ = pages_.get() + (usable - bytes) / kBaseAlignment * kBaseAlignment;
  }
  void* begin() const { return begin_; }

 private:
  std::unique_ptr<char, UnmapPages> pages_;
  char* begin_ = nullptr;
};

#endif

}  // namespace depthcost::test
