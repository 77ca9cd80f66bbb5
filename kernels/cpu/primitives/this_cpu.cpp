// What suits the CPU that this runs on: ways to fetch and to store.
#include "kernels/cpu/primitives/fetch_ahead.hpp"
#include "kernels/cpu/primitives/store_policy.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace depthcost::cpu {
namespace {

/// Zen 4: family 19h is Zen 3 and Zen 4, and only the second has AVX-512.
bool is_zen4() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_is("amdfam19h") != 0 && __builtin_cpu_supports("avx512f") != 0;
#else
  return false;
#endif
}

#if defined(__x86_64__)
struct Model {
  unsigned family = 0;
  unsigned number = 0;
};

/// Of an AMD, whose family is written in two parts, as its number is.
Model amd_model() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  __builtin_cpu_init();
  if (__builtin_cpu_is("amd") == 0 || __get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return {};
  return {((eax >> 8) & 0xF) + ((eax >> 20) & 0xFF), ((eax >> 12) & 0xF0) | ((eax >> 4) & 0xF)};
}
#endif

/// Zen 5: the models of family 1Ah that Linux calls so, arch/x86/kernel/cpu/amd.c. Others of it are
/// Zen 6. GCC 12 has no name for them.
bool is_zen5() {
#if defined(__x86_64__)
  const Model model = amd_model();
  return model.family == 0x1A &&
         (model.number < 0x30 || (model.number & 0xF0) == 0x40 || (model.number & 0xE0) == 0x60);
#else
  return false;
#endif
}

}  // namespace

const FetchAhead kFetchAhead = is_zen4() ? FetchAhead::far : FetchAhead::near;
const RowFetching kF32SourceFetching = is_zen5() ? RowFetching::off : RowFetching::on;
const StorePolicy kF32Updates = is_zen5() ? StorePolicy::streaming : StorePolicy::cached;

}  // namespace depthcost::cpu
