// Regions, and messages in the host's memory.
#include "microbench/mpi/message_memory.hpp"

#include <cstring>

namespace depthcost::bench {
namespace {

class EmulatedDeviceMemory : public MessageMemory {
 public:
  explicit EmulatedDeviceMemory(int lost) : lost_(lost) {}

  std::string name() const override { return "emulated memory, staged through the host"; }
  Reach reach() const override { return Reach::through_host; }

  CopyId begin_copy(Way, std::byte* to, const std::byte* from, std::size_t size) override {
    constexpr int kRubbish = 0xA5;
    std::memset(to, kRubbish, size);
    const CopyId id = copies_.size();
    copies_.push_back({to, from, size, static_cast<int>(3 - id % 4)});
    return id;
  }

  bool is_done(CopyId id) override {
    Copy& copy = copies_[id];
    if (copy.refusals-- > 0) return false;
    if (static_cast<int>(id) != lost_) std::memcpy(copy.to, copy.from, copy.size);
    return true;
  }

 private:
  struct Copy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    std::size_t size = 0;
    int refusals = 0;  // how often is_done() is still to return false
  };

  int lost_;
  std::vector<Copy> copies_;
};

}  // namespace

void GiveBack::operator()(std::byte* data) const { pool->free_[size].push_back(data); }

Pool::~Pool() {
  for (const auto& [size, all] : free_)
    for (std::byte* data : all) allocator_.release(data);
}

Region Pool::take(std::size_t size) {
  Region region;
  if (size == 0) return region;
  std::vector<std::byte*>& free = free_[size];
  if (free.empty()) free.push_back(allocator_.allocate(size));
  region.data_ = {free.back(), {this, size}};
  free.pop_back();
  return region;
}

void MessageMemory::copy(Way, std::byte* to, const std::byte* from, std::size_t size) {
  std::memcpy(to, from, size);
}

MessageMemory::CopyId MessageMemory::begin_copy(Way way, std::byte* to, const std::byte* from,
                                                std::size_t size) {
  copy(way, to, from, size);
  return 0;
}

bool MessageMemory::is_done(CopyId) { return true; }

std::unique_ptr<MessageMemory> emulated_device_memory(int lost) {
  return std::make_unique<EmulatedDeviceMemory>(lost);
}

}  // namespace depthcost::bench
