#include "kernels/cpu/primitives/fetch_ahead.hpp"

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

}  // namespace

const FetchAhead kFetchAhead = is_zen4() ? FetchAhead::far : FetchAhead::near;

}  // namespace depthcost::cpu
