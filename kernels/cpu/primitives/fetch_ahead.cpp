#include "kernels/cpu/primitives/fetch_ahead.hpp"

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

/// Zen 5: family 1Ah, which GCC 12 has no name for.
bool is_zen5() {
#if defined(__x86_64__)
  constexpr unsigned kBaseFamily = 0xF;
  constexpr unsigned kFurtherFamilies = 0xB;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  __builtin_cpu_init();
  return __builtin_cpu_is("amd") != 0 && __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 &&
         ((eax >> 8) & 0xF) == kBaseFamily && ((eax >> 20) & 0xFF) == kFurtherFamilies;
#else
  return false;
#endif
}

}  // namespace

const FetchAhead kFetchAhead = is_zen4() ? FetchAhead::far : FetchAhead::near;
const RowFetching kF32SourceFetching = is_zen5() ? RowFetching::off : RowFetching::on;

}  // namespace depthcost::cpu
