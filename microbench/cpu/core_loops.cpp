// Plain loops with the vector functions of the kernels, so that widening and narrowing cost the
// same.
#include "microbench/cpu/core_loops.hpp"

#include "kernels/cpu/primitives/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "microbench/cpu/core_loops.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/matrix_units.hpp"
#include "kernels/cpu/primitives/pair.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::bench::HWY_NAMESPACE {
namespace {

namespace simd = cpu::HWY_NAMESPACE;
namespace hn = hwy::HWY_NAMESPACE;
using simd::Pair;
using simd::Vec;

constexpr simd::Whole kWhole;
constexpr std::size_t kBlock = simd::kBlock;

/// Prefetches, as kernels that read memory do.
template <class T>
HWY_INLINE void fetch(const T* row, std::size_t ahead) {
  if (ahead == 0) return;
  for (std::size_t byte = 0; byte < kBlock * sizeof(T); byte += 64)
    __builtin_prefetch(reinterpret_cast<const char*>(row + ahead) + byte, 0, 3);
}

/// G rows at a time against one query.
template <std::size_t G, class T>
HWY_INLINE void score(const CoreCall<T>& call, std::size_t row) {
  Vec dots[G];
  Vec squares[G];
  HWY_UNROLL(8)
  for (std::size_t g = 0; g < G; ++g) dots[g] = squares[g] = hn::Zero(simd::Lanes());
  for (std::size_t i = 0; i < call.size; i += kBlock) {
    const Pair w = simd::load_for<T>(call.parameters + i, kWhole);
    HWY_UNROLL(8)
    for (std::size_t g = 0; g < G; ++g) {
      const T* from = call.rows + (row + g) * call.row_stride + i;
      fetch(from, call.ahead);
      const Pair v = simd::load(from, kWhole);
      dots[g] = hn::MulAdd(w.second, v.second, hn::MulAdd(w.first, v.first, dots[g]));
      squares[g] = hn::MulAdd(v.second, v.second, hn::MulAdd(v.first, v.first, squares[g]));
    }
  }
  HWY_UNROLL(8)
  for (std::size_t g = 0; g < G; ++g) {
    call.sums[2 * (row + g)] = simd::sum(dots[g]);
    call.sums[2 * (row + g) + 1] = simd::sum(squares[g]);
  }
}

template <class T>
void score_all(const CoreCall<T>& call) {
  constexpr std::size_t kGroup = simd::kLanes >= 16 ? 8 : 4;
  std::size_t row = 0;
  for (; row + kGroup <= call.num_rows; row += kGroup) score<kGroup>(call, row);
  for (; row < call.num_rows; ++row) score<1>(call, row);
}

template <class T>
void mix(const CoreCall<T>& call) {
  for (std::size_t i = 0; i < call.size; i += kBlock) {
    Pair sum = simd::zeros();
    for (std::size_t r = 0; r < call.num_rows; ++r) {
      const T* from = call.rows + r * call.row_stride + i;
      fetch(from, call.ahead);
      sum = simd::multiply_add(simd::broadcast(call.parameters[r]), simd::load(from, kWhole), sum);
    }
    simd::store(call.output + i, simd::rounded_to<T>(sum), kWhole, simd::Cached{});
  }
}

template <class T>
void add(const CoreCall<T>& call) {
  for (std::size_t i = 0; i < call.size; i += kBlock) {
    fetch(call.output + i, call.ahead);
    fetch(call.rows + i, call.ahead);
    const Pair sum = simd::load(call.output + i, kWhole) + simd::load(call.rows + i, kWhole);
    simd::store(call.output + i, simd::rounded_to<T>(sum), kWhole, simd::Cached{});
  }
}

template <class T>
void scale(const CoreCall<T>& call) {
  const Vec factor = simd::broadcast(0.5F);
  for (std::size_t i = 0; i < call.size; i += kBlock) {
    const Pair gain = simd::load_for<T>(call.parameters + i, kWhole);
    const Pair x = simd::load_raw(call.floats + i) * Pair{factor, factor} * gain;
    simd::store(call.output + i, simd::rounded_to<T>(x), kWhole, simd::Cached{});
  }
}

template <class T>
void widen(const CoreCall<T>& call) {
  for (std::size_t r = 0; r < call.num_rows; ++r)
    for (std::size_t i = 0; i < call.size; i += kBlock)
      simd::store_raw(call.floats + r * call.size + i,
                      simd::load_in_order(call.rows + r * call.row_stride + i, kWhole));
}

constexpr std::size_t kTileRows = simd::kLanes >= 16 ? 4 : 2;
constexpr std::size_t kTileParameters = simd::kLanes >= 16 ? 6 : 3;

/// One register tile of sums over whole rows.
template <class T>
HWY_INLINE void multiply_tile(const CoreCall<T>& call, std::size_t row, std::size_t parameter) {
  Vec tile[kTileRows][kTileParameters];
  HWY_UNROLL(8)
  for (auto& sums : tile) HWY_UNROLL(8)
  for (Vec& sum : sums) sum = hn::Zero(simd::Lanes());
  const float* rows = call.floats + row * call.size;
  const float* parameters = call.parameters + parameter * call.size;
  for (std::size_t i = 0; i < call.size; i += simd::kLanes) {
    Vec x[kTileRows];
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < kTileRows; ++r) x[r] = simd::load_vec(rows + r * call.size + i);
    HWY_UNROLL(8)
    for (std::size_t p = 0; p < kTileParameters; ++p) {
      const Vec w = simd::load_vec(parameters + p * call.size + i);
      HWY_UNROLL(8)
      for (std::size_t r = 0; r < kTileRows; ++r) tile[r][p] = hn::MulAdd(x[r], w, tile[r][p]);
    }
  }
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < kTileRows; ++r) HWY_UNROLL(8)
  for (std::size_t p = 0; p < kTileParameters; ++p)
    call.sums[(row + r) * kMultiplyParameters + parameter + p] = simd::sum(tile[r][p]);
}

template <class T>
void multiply(const CoreCall<T>& call) {
  for (std::size_t p = 0; p + kTileParameters <= kMultiplyParameters; p += kTileParameters)
    for (std::size_t r = 0; r + kTileRows <= call.num_rows; r += kTileRows)
      multiply_tile(call, r, p);
}

/// A tile of rows with as many columns as meet it at once; vectors where there are no units.
template <class T>
void product(const CoreCall<T>& call) {
  if constexpr (std::is_same_v<T, Bf16>)
    if (is_of_units<T>()) {
      cpu::begin_products(call.num_rows);
      cpu::multiply({call.rows, call.row_stride, call.num_rows, call.columns, cpu::kUnitGroups,
                     call.size, call.products});
      cpu::end_products();
      return;
    }
  multiply(call);
}

template <class T>
void run(Primitive primitive, const CoreCall<T>& call) {
  switch (primitive) {
    case Primitive::score:
      return score_all(call);
    case Primitive::mix:
      return mix(call);
    case Primitive::add:
      return add(call);
    case Primitive::scale:
      return scale(call);
    case Primitive::widen:
      return widen(call);
    case Primitive::multiply:
      return multiply(call);
    case Primitive::product:
      return product(call);
  }
}

}  // namespace

void run_f32(Primitive primitive, const CoreCall<float>& call) { run(primitive, call); }
void run_bf16(Primitive primitive, const CoreCall<Bf16>& call) { run(primitive, call); }

}  // namespace depthcost::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::bench {

HWY_EXPORT(run_f32);
HWY_EXPORT(run_bf16);

template <>
bool is_of_units<float>() {
  return false;
}
template <>
bool is_of_units<Bf16>() {
  return cpu::has_matrix_units();
}

template <>
void run_primitive(Primitive primitive, const CoreCall<float>& call) {
  HWY_DYNAMIC_DISPATCH(run_f32)(primitive, call);
}
template <>
void run_primitive(Primitive primitive, const CoreCall<Bf16>& call) {
  HWY_DYNAMIC_DISPATCH(run_bf16)(primitive, call);
}

}  // namespace depthcost::bench
#endif
