// An anonymous mapping with huge pages advised.
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "microbench/harness/arena.hpp"

namespace depthcost::bench {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

class Mapping : public Arena {
 public:
  explicit Mapping(std::size_t bytes) : size_(bytes + kHugePage) {
    mapping_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) throw std::bad_alloc();
    madvise(mapping_, size_, MADV_HUGEPAGE);
    const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
    first_ = static_cast<std::byte*>(mapping_) + (kHugePage - address % kHugePage) % kHugePage;
    capacity_ = bytes;
    touch();
  }
  ~Mapping() override { munmap(mapping_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* allocate(std::size_t bytes) override {
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (rounded > capacity_ - used_)
      throw std::length_error("the operands need more than " + std::to_string(capacity_) +
                              " bytes");
    std::byte* address = first_ + used_;
    used_ += rounded;
    return address;
  }
  void copy_in(std::byte* to, const void* host, std::size_t bytes) override {
    std::memcpy(to, host, bytes);
  }
  void copy_out(void* host, const std::byte* from, std::size_t bytes) override {
    std::memcpy(host, from, bytes);
  }
  void reset() override { used_ = 0; }

  /// Kernels split tokens over threads in this order, so that a page lies on the node that uses it.
  void touch() {
    const auto pages = static_cast<std::ptrdiff_t>(capacity_ / kHugePage);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t page = 0; page < pages; ++page)
      std::memset(first_ + static_cast<std::size_t>(page) * kHugePage, 1, kHugePage);
  }

 private:
  void* mapping_ = nullptr;
  std::size_t size_ = 0;
  std::byte* first_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
};

}  // namespace

std::unique_ptr<Arena> host_arena(std::size_t bytes) { return std::make_unique<Mapping>(bytes); }

}  // namespace depthcost::bench
