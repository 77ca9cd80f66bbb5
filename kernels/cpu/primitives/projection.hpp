// Dot products of many rows with many parameter rows, a register tile at a time: Phase 1's scores,
// mHC's projection.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_PROJECTION) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_PROJECTION
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_PROJECTION
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_PROJECTION
#endif

#include "kernels/cpu/primitives/fetcher.hpp"
#include "kernels/cpu/primitives/pair.hpp"
#include "kernels/cpu/tuning.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// Rows on chip, and the parameter rows that they meet. Both come in `num_segments` segments of
/// `size` columns. Segments of `rows` are scratch, in order and padded with zeros to blocks.
struct Projection {
  const float* rows = nullptr;
  std::size_t num_rows = 0;
  std::size_t row_stride = 0;
  std::size_t row_segment_stride = 0;
  const float* parameters = nullptr;
  std::size_t num_parameters = 0;
  std::size_t parameter_stride = 0;
  std::size_t parameter_segment_stride = 0;
  std::size_t num_segments = 1;
  std::size_t size = 0;
  float* sums = nullptr;       // (num_rows, num_parameters) vectors of partial sums, added to
  Fetcher* fetcher = nullptr;  // a step for every register tile
};

inline constexpr std::size_t kTileRows = num_tile_rows(kLanes);
inline constexpr std::size_t kTileParameters = num_tile_parameters(kLanes);

/// A tile of two rows waits for its loads. What is left over therefore meets a tile of four first:
/// `gated_residual_apply_down` in f32 takes 4 % less time on Zen 5. [ours]
inline constexpr std::size_t kTileRest = 4;

/// Tiles along `count` rows of at most `most`.
inline std::size_t num_tiles_along(std::size_t count, std::size_t most) {
  std::size_t rest = count % most;
  std::size_t tiles = count / most;
  if (most > kTileRest && rest >= kTileRest) {
    rest -= kTileRest;
    ++tiles;
  }
  return tiles + rest / 2 + rest % 2;
}

/// Register tiles that a projection takes.
inline std::size_t num_tiles(std::size_t num_rows, std::size_t num_parameters) {
  return num_tiles_along(num_rows, kTileRows) * num_tiles_along(num_parameters, kTileParameters);
}

HWY_INLINE Vec load_vec_part(const float* p, std::size_t count) {
  HWY_ALIGN float buffer[kLanes] = {};
  std::memcpy(buffer, p, count * sizeof(float));
  return hn::Load(Lanes(), buffer);
}

/// The vector, in a register: GCC 12 loads a parameter again for every row that meets it otherwise,
/// and the load ports become the limit.
HWY_INLINE Vec in_register(Vec v) {
#if HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86
  asm("" : "+v"(v.raw));
#endif
  return v;
}

template <std::size_t R, std::size_t P, class LoadParameter>
HWY_INLINE void project_vec(const float* rows, std::size_t row_stride, const LoadParameter& load_p,
                            Vec (&tile)[R][P]) {
  Vec x[R];
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < R; ++r) x[r] = load_vec(rows + r * row_stride);
  HWY_UNROLL(8)
  for (std::size_t p = 0; p < P; ++p) {
    const Vec w = in_register(load_p(p));
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < R; ++r) tile[r][p] = hn::MulAdd(x[r], w, tile[r][p]);
  }
}

/// R rows from `row` on with P parameter rows from `parameter` on. The sums of a call start from
/// zero before they join the others, which halves the digits that a long row loses.
template <std::size_t R, std::size_t P>
HWY_INLINE void project_tile(const Projection& it, std::size_t row, std::size_t parameter) {
  it.fetcher->step();
  // Copies, because a vector that is stored could alias what `it` refers to.
  const std::size_t row_stride = it.row_stride;
  const std::size_t parameter_stride = it.parameter_stride;
  const std::size_t sums_stride = it.num_parameters * kLanes;
  float* sums = it.sums + row * sums_stride + parameter * kLanes;
  Vec tile[R][P];
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < R; ++r) HWY_UNROLL(8)
  for (std::size_t p = 0; p < P; ++p) tile[r][p] = hn::Zero(Lanes());
  for (std::size_t segment = 0; segment < it.num_segments; ++segment) {
    const float* rows = it.rows + row * row_stride + segment * it.row_segment_stride;
    const float* parameters =
        it.parameters + parameter * parameter_stride + segment * it.parameter_segment_stride;
    std::size_t i = 0;
    for (; i + kLanes <= it.size; i += kLanes)
      project_vec<R, P>(
          rows + i, row_stride,
          [&](std::size_t p) HWY_ATTR { return load_vec(parameters + p * parameter_stride + i); },
          tile);
    if (i < it.size)
      project_vec<R, P>(
          rows + i, row_stride,
          [&](std::size_t p) HWY_ATTR {
            return load_vec_part(parameters + p * parameter_stride + i, it.size - i);
          },
          tile);
  }
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < R; ++r) HWY_UNROLL(8)
  for (std::size_t p = 0; p < P; ++p) {
    float* sum = sums + r * sums_stride + p * kLanes;
    hn::StoreU(hn::Add(tile[r][p], load_vec(sum)), Lanes(), sum);
  }
}

template <std::size_t P>
HWY_NOINLINE void project_rows(const Projection& it, std::size_t parameter) {
  std::size_t row = 0;
  for (; row + kTileRows <= it.num_rows; row += kTileRows)
    project_tile<kTileRows, P>(it, row, parameter);
  if constexpr (kTileRows > 2)
    for (; row + 2 <= it.num_rows; row += 2) project_tile<2, P>(it, row, parameter);
  for (; row < it.num_rows; ++row) project_tile<1, P>(it, row, parameter);
}

/// sums += rows . parameters.
inline void project(const Projection& it) {
  std::size_t p = 0;
  for (; p + kTileParameters <= it.num_parameters; p += kTileParameters)
    project_rows<kTileParameters>(it, p);
  if constexpr (kTileParameters > kTileRest)
    if (p + kTileRest <= it.num_parameters) {
      project_rows<kTileRest>(it, p);
      p += kTileRest;
    }
  for (; p + 2 <= it.num_parameters; p += 2) project_rows<2>(it, p);
  for (; p < it.num_parameters; ++p) project_rows<1>(it, p);
}

using Four = hn::CappedTag<float, 4>;

/// Blocks of four lanes, added up.
template <class V>
HWY_INLINE hn::Vec<Four> sum_of_blocks(V v) {
  const hn::DFromV<V> d;
  if constexpr (hn::MaxLanes(d) <= 4)
    return v;
  else
    return sum_of_blocks(hn::Add(hn::LowerHalf(hn::Half<decltype(d)>(), v),
                                 hn::UpperHalf(hn::Half<decltype(d)>(), v)));
}

/// The lanes of each of four vectors, added up.
HWY_INLINE hn::Vec<Four> sums_of_four(const float* vectors) {
  const Lanes d;
  const hn::RepartitionToWide<Lanes> wide;
  const auto pairs = [&](Vec a, Vec b) HWY_ATTR {
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  };
  const auto ab = hn::BitCast(wide, pairs(load_vec(vectors), load_vec(vectors + kLanes)));
  const auto cd =
      hn::BitCast(wide, pairs(load_vec(vectors + 2 * kLanes), load_vec(vectors + 3 * kLanes)));
  return sum_of_blocks(hn::Add(hn::BitCast(d, hn::InterleaveLower(wide, ab, cd)),
                               hn::BitCast(d, hn::InterleaveUpper(wide, ab, cd))));
}

/// to[i] = the lanes of vector i of `count`, added up, four at a time: a third of the work of
/// sum().
inline void add_lanes(const float* vectors, std::size_t count, float* to) {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) hn::StoreU(sums_of_four(vectors + i * kLanes), Four(), to + i);
  for (; i < count; ++i) to[i] = sum(load_vec(vectors + i * kLanes));
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_PROJECTION
