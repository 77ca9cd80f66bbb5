// Products of rows with a matrix whose rows are in lanes, so that no sum goes across lanes: a panel
// has its columns one behind the other.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_LANE_PRODUCTS) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_LANE_PRODUCTS
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_LANE_PRODUCTS
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_LANE_PRODUCTS
#endif

#include <algorithm>

#include "kernels/cpu/primitives/matrix_units.hpp"
#include "kernels/cpu/primitives/projection.hpp"
#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/tuning.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

inline constexpr std::size_t kPanelVectors = num_panel_vectors(kLanes);
/// Rows of a matrix in a panel.
inline constexpr std::size_t kPanelRows = kPanelVectors * kLanes;
/// Rows that meet a panel together: their sums fill the registers.
inline constexpr std::size_t kPanelTokens = 6;

/// Whether packing has vectors for it.
inline constexpr bool kTransposesPanels = kCanTranspose && kLanes == kTransposedWords;

/// to[k * kPanelRows + row] = from[row * stride + k]. Rows that are not there are zeros.
inline void pack_panel(const float* from, std::size_t stride, std::size_t num_rows,
                       std::size_t size, float* to) {
  constexpr std::size_t kStep = kTransposedWords;
  if (num_rows < kPanelRows) std::fill_n(to, size * kPanelRows, 0.0F);
  const std::size_t whole_rows = kTransposesPanels ? num_rows / kStep * kStep : 0;
  const std::size_t whole_size = kTransposesPanels ? size / kStep * kStep : 0;
  for (std::size_t row = 0; row < whole_rows; row += kStep)
    for (std::size_t k = 0; k < whole_size; k += kStep)
      transpose(from + row * stride + k, stride, to + k * kPanelRows + row, kPanelRows);
  for (std::size_t row = 0; row < num_rows; ++row)
    for (std::size_t k = row < whole_rows ? whole_size : 0; k < size; ++k)
      to[k * kPanelRows + row] = from[row * stride + k];
}

/// Rows of `size` floats and a panel of as many columns.
struct PanelProduct {
  const float* rows = nullptr;  // row_stride apart
  std::size_t row_stride = 0;
  std::size_t num_rows = 0;
  const float* panel = nullptr;
  std::size_t size = 0;
  float* products = nullptr;  // kPanelRows of each row, product_stride apart
  std::size_t product_stride = 0;
  Sums sums = Sums::from_zero;
  /// kLanes sums of each row, to which the squares of this call's products are added.
  float* squares = nullptr;
};

/// Work that memory does while products keep the arithmetic busy, a step every kColumnsPerStep
/// columns: none.
struct NothingBeside {
  HWY_INLINE void step() {}
};

/// The products of R rows from `row` on. The sums of a call start from zero before they join the
/// others, so that a long row loses fewer digits.
template <std::size_t R, class Beside>
HWY_NOINLINE void multiply_panel_rows(const PanelProduct& it, std::size_t row, Beside& beside) {
  Vec sums[R][kPanelVectors];
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < R; ++r) HWY_UNROLL(8)
  for (std::size_t v = 0; v < kPanelVectors; ++v) sums[r][v] = hn::Zero(Lanes());
  const std::size_t stride = it.row_stride;
  const float* rows = it.rows + row * stride;
  const float* panel = it.panel;
  for (std::size_t k = 0; k < it.size; ++k, panel += kPanelRows) {
    if (k % kColumnsPerStep == 0) beside.step();
    Vec weights[kPanelVectors];
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kPanelVectors; ++v) weights[v] = load_vec(panel + v * kLanes);
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < R; ++r) {
      const Vec x = in_register(broadcast(rows[r * stride + k]));
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kPanelVectors; ++v)
        sums[r][v] = hn::MulAdd(x, weights[v], sums[r][v]);
    }
  }
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < R; ++r) HWY_UNROLL(8)
  for (std::size_t v = 0; v < kPanelVectors; ++v) {
    float* to = it.products + (row + r) * it.product_stride + v * kLanes;
    const Vec before = it.sums == Sums::from_zero ? hn::Zero(Lanes()) : load_vec(to);
    hn::StoreU(hn::Add(before, sums[r][v]), Lanes(), to);
  }
  if (it.squares == nullptr) return;
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < R; ++r) {
    float* to = it.squares + (row + r) * kLanes;
    Vec squares = load_vec(to);
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kPanelVectors; ++v)
      squares = hn::MulAdd(sums[r][v], sums[r][v], squares);
    hn::StoreU(squares, Lanes(), to);
  }
}

/// products = rows . panel, or added to.
template <class Beside>
HWY_INLINE void multiply_panel(const PanelProduct& it, Beside& beside) {
  for_each_group<kPanelTokens>(it.num_rows, [&](std::size_t row, auto count) HWY_ATTR {
    multiply_panel_rows<count.value>(it, row, beside);
  });
}

inline void multiply_panel(const PanelProduct& it) {
  NothingBeside nothing;
  multiply_panel(it, nothing);
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_LANE_PRODUCTS
