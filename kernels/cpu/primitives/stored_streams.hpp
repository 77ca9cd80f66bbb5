// Streams that are stored, as a source of a projection.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_STORED_STREAMS) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_STORED_STREAMS
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_STORED_STREAMS
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_STORED_STREAMS
#endif

#include "kernels/cpu/primitives/pair.hpp"
#include "kernels/cpu/tuning.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// What project_tile_of_tokens() asks of a source.
template <class T>
struct StoredStreams {
  static constexpr std::size_t kElementBytes = sizeof(T);

  std::size_t num_streams;
  std::size_t hidden_size;
  const T* streams;  // (T, m, d)

  const T* stream(std::size_t t, std::size_t j) const {
    return streams + (t * num_streams + j) * hidden_size;
  }
  std::size_t rows(std::size_t t, std::size_t column, const char** rows) const {
    for (std::size_t j = 0; j < num_streams; ++j)
      rows[j] = reinterpret_cast<const char*>(stream(t, j) + column);
    return num_streams;
  }
  HWY_INLINE Pair fill(std::size_t t, std::size_t column, std::size_t size, float* chunk) const {
    Pair squares = zeros();
    for (std::size_t j = 0; j < num_streams; ++j)
      for_each_block(size, [&](std::size_t i, auto where) HWY_ATTR {
        const Pair x = load_in_order(stream(t, j) + column + i, where);
        store_raw(chunk + j * kMhcColumns + i, x);
        squares = multiply_add(x, x, squares);
      });
    return squares;
  }
};

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_STORED_STREAMS
