// Scratch rows of one thread: kept from call to call, so that kernels do not allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/tuning.hpp"

namespace depthcost::cpu {

/// Grows to what was asked for and starts on a cache line. Contents are not kept.
template <class T>
class Buffer {
 public:
  T* at_least(std::size_t count) {
    const std::size_t slack = kLineBytes / sizeof(T);
    if (elements_.size() < count + slack) elements_.resize(count + slack);
    T* first = elements_.data();
    while (reinterpret_cast<std::uintptr_t>(first) % kLineBytes != 0) ++first;
    return first;
  }

 private:
  static_assert(kLineBytes % sizeof(T) == 0);

  std::vector<T> elements_;
};

}  // namespace depthcost::cpu
