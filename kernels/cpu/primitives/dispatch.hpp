// The kernels of one SIMD target by the types that they store. The target is chosen at run time.
#pragma once

#include <type_traits>

#include "kernels/operations/bf16.hpp"

namespace depthcost::cpu {

/// `Kernels<T>` is a pointer to a kernel, or a struct of such pointers.
template <template <class> class Kernels>
struct KernelsByType {
  Kernels<float> f32;
  Kernels<Bf16> bf16;

  template <class T>
  Kernels<T> of() const {
    if constexpr (std::is_same_v<T, Bf16>)
      return bf16;
    else
      return f32;
  }
};

/// As KernelsByType, for kernels that store partial results in a type O of their own.
template <template <class, class> class Kernels>
struct KernelsByTypes {
  Kernels<float, float> f32;
  Kernels<Bf16, Bf16> bf16;
  Kernels<Bf16, float> bf16_f32;

  template <class T, class O>
  Kernels<T, O> of() const {
    if constexpr (std::is_same_v<T, float>)
      return f32;
    else if constexpr (std::is_same_v<O, Bf16>)
      return bf16;
    else
      return bf16_f32;
  }
};

}  // namespace depthcost::cpu
