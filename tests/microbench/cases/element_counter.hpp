// Counts what the reference loads and stores.
#pragma once

#include <type_traits>

#include "kernels/operations/bf16.hpp"
#include "kernels/reference/run.hpp"

namespace depthcost::bench {

/// d-vectors are bf16 here, and nothing else is.
struct ElementCounter {
  double reads = 0;
  double writes = 0;
  double scalar_reads = 0;
  double scalar_writes = 0;

  template <class T>
  double load(const T* element) {
    (std::is_same_v<T, Bf16> ? reads : scalar_reads) += 1;
    return reference::DirectAccess{}.load(element);
  }
  template <class T>
  void store(T* element, double value) {
    (std::is_same_v<T, Bf16> ? writes : scalar_writes) += 1;
    reference::DirectAccess{}.store(element, value);
  }
};

}  // namespace depthcost::bench
