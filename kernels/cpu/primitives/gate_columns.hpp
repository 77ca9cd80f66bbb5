// The tokens of a tile meet a matrix of several megabytes, as in Gated Residual. It is read once a
// tile, by matrix units as it is in memory, else block by block, widened or packed into scratch.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_GATE_COLUMNS) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_GATE_COLUMNS
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_GATE_COLUMNS
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_GATE_COLUMNS
#endif

#include <algorithm>
#include <cstring>

#include "kernels/cpu/primitives/lane_products.hpp"
#include "kernels/cpu/primitives/matrix_units.hpp"
#include "kernels/cpu/primitives/projection.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// Whether matrix units take the products of such rows. They round vec(Xn) or a to bf16.
template <class T>
bool takes_units(std::size_t size) {
  return std::is_same_v<T, Bf16> && HWY_TARGET <= HWY_AVX3 && size % kUnitStep == 0 &&
         has_matrix_units();
}

/// Takes a token's column block by block, for vectors or for matrix units.
struct ColumnWriter {
  float* row = nullptr;
  Bf16* rounded = nullptr;  // null: vectors

  HWY_INLINE void put(std::size_t e, Pair in_order, Whole whole) const {
    if (rounded != nullptr)
      store_rounded(rounded + e, in_order_of<Bf16>(in_order), whole, Cached{});
    else
      store_raw(row + e, in_order);
  }
  HWY_INLINE void put(std::size_t e, Pair in_order, Part part) const {
    if (rounded != nullptr)
      return store_rounded(rounded + e, in_order_of<Bf16>(in_order), part, Cached{});
    HWY_ALIGN float block[kBlock];
    store_raw(block, in_order);
    std::memcpy(row + e, block, part.count * sizeof(float));
  }
};

/// Tokens that meet rows by units at once.
inline constexpr std::size_t kUnitTokens = kUnitGroups * kUnitColumns;

constexpr bool fits(GateTile tile) {
  return tile.num_tokens % kUnitTokens == 0 && tile.num_rows % kPanelRows == 0;
}
static_assert(fits(kGateDownTile) && fits(kGateUpTile));

/// vec(Xn) or a of the tokens of a tile. Matrix units want them as bf16, interleaved.
class GateColumns {
 public:
  /// Room for the columns of a tile's tokens.
  GateColumns(GateTile tile, std::size_t size, bool units)
      : tile_(tile), size_(size), stride_(padded(size)), units_(units) {
    if (!units) {
      rows_ = buffers().rows.at_least(tile.num_tokens * stride_);
      return;
    }
    rounded_ = buffers().rounded.at_least(kUnitColumns * stride_);
    interleaved_ = buffers().interleaved.at_least(tile.num_tokens * size);
  }

  std::size_t size() const { return size_; }
  std::size_t num_tokens() const { return num_tokens_; }

  /// fill(token, writer) puts each token's column.
  template <class Fill>
  void assign(std::size_t num_tokens, const Fill& fill) {
    num_tokens_ = num_tokens;
    for (std::size_t t = 0; t < num_tokens; ++t) {
      if (units_) {
        fill(t, ColumnWriter{nullptr, rounded_ + t % kUnitColumns * stride_});
        if (t % kUnitColumns == kUnitColumns - 1 || t == num_tokens - 1) interleave_up_to(t);
        continue;
      }
      float* row = rows_ + t * stride_;
      std::fill(row + size_, row + stride_, 0.0F);
      fill(t, ColumnWriter{row});
    }
  }

  /// The columns are rows of memory, one behind the other.
  template <class T>
  void assign(std::size_t num_tokens, const T* rows) {
    assign(num_tokens, [&](std::size_t t, const ColumnWriter& column) {
      const T* row = rows + t * size_;
      for_each_block(size_, [&](std::size_t e, auto where)
                                HWY_ATTR { column.put(e, load_in_order(row + e, where), where); });
    });
  }

  /// Products of `count` rows of `matrix` with all columns: (token, row), tile.num_rows apart.
  template <class T>
  const float* times(const T* matrix, std::size_t first, std::size_t count) const {
    float* products = buffers().products.at_least(tile_.num_tokens * tile_.num_rows);
    if constexpr (std::is_same_v<T, Bf16>)
      if (units_) {
        multiply_by_units(matrix + first * size_, count, products);
        return products;
      }
    multiply_by_vectors(matrix + first * size_, count, products);
    return products;
  }

 private:
  struct Buffers {
    Buffer<float> rows;
    Buffer<Bf16> rounded;
    Buffer<Bf16> interleaved;
    Buffer<float> weights;  // a block of a matrix, widened
    Buffer<float> panel;    // the same, transposed
    Buffer<float> sums;
    Buffer<float> products;
  };
  static Buffers& buffers() {
    thread_local Buffers of_thread;
    return of_thread;
  }

  /// The group of columns that ends with `token`. Those that are not there are zero.
  void interleave_up_to(std::size_t token) {
    const std::size_t there = token % kUnitColumns + 1;
    std::fill_n(rounded_ + there * stride_, (kUnitColumns - there) * stride_, Bf16(0));
    interleave(rounded_, stride_, size_,
               interleaved_ + token / kUnitColumns * kUnitColumns * size_);
  }

  void multiply_by_units(const Bf16* rows, std::size_t count, float* products) const {
    for (std::size_t row = 0; row < count; row += kUnitRows) {
      const std::size_t num_rows = std::min(kUnitRows, count - row);
      if (row == 0 || num_rows < kUnitRows) begin_products(num_rows);
      for (std::size_t token = 0; token < num_tokens_; token += kUnitTokens)
        multiply_unit_rows(rows + row * size_, num_rows, token,
                           products + token * tile_.num_rows + row);
    }
    end_products();
  }

  /// Up to kUnitRows rows with up to kUnitTokens tokens from `token` on.
  void multiply_unit_rows(const Bf16* rows, std::size_t num_rows, std::size_t token,
                          float* products) const {
    HWY_ALIGN float tiles[kUnitTokens * kUnitRows];
    const std::size_t num_tokens = std::min(kUnitTokens, num_tokens_ - token);
    const std::size_t num_groups = (num_tokens + kUnitColumns - 1) / kUnitColumns;
    multiply({rows, size_, num_rows, interleaved_ + token * size_, num_groups, size_, tiles});
    for (std::size_t group = 0; group < num_groups; ++group)
      transpose(tiles + group * kUnitRows * kUnitColumns, kUnitColumns,
                products + group * kUnitColumns * tile_.num_rows, tile_.num_rows);
  }

  template <class T>
  void multiply_by_vectors(const T* rows, std::size_t count, float* products) const {
    if (kTransposesPanels && size_ <= kGateShortRow)
      multiply_panels(rows, count, products);
    else
      for (std::size_t row = 0; row < count; row += kGateRows)
        multiply_block(rows + row * size_, std::min(kGateRows, count - row), products + row);
  }

  /// Parts of short rows as panels, which need no sums across lanes. Each meets all tokens.
  template <class T>
  void multiply_panels(const T* rows, std::size_t count, float* products) const {
    float* panel = buffers().panel.at_least(kPanelRows * kGatePanelColumns);
    for (std::size_t column = 0; column < size_; column += kGatePanelColumns)
      for (std::size_t row = 0; row < count; row += kPanelRows) {
        const std::size_t width = std::min(kGatePanelColumns, size_ - column);
        pack(rows + row * size_ + column, std::min(kPanelRows, count - row), width, panel);
        multiply_panel({.rows = rows_ + column,
                        .row_stride = stride_,
                        .num_rows = num_tokens_,
                        .panel = panel,
                        .size = width,
                        .products = products + row,
                        .product_stride = tile_.num_rows,
                        .sums = column == 0 ? Sums::from_zero : Sums::from_products});
      }
  }

  void pack(const float* rows, std::size_t count, std::size_t width, float* panel) const {
    pack_panel(rows, size_, count, width, panel);
  }
  void pack(const Bf16* rows, std::size_t count, std::size_t width, float* panel) const {
    float* weights = buffers().weights.at_least(kPanelRows * kGateColumns);
    widen(rows, count, width, weights);
    pack_panel(weights, kGateColumns, count, width, panel);
  }

  /// Up to kGateRows rows. A part of them is widened once, and meets all tokens.
  template <class T>
  void multiply_block(const T* rows, std::size_t count, float* products) const {
    float* weights = buffers().weights.at_least(count * kGateColumns);
    float* sums = buffers().sums.at_least(num_tokens_ * count * kLanes);
    std::fill_n(sums, num_tokens_ * count * kLanes, 0.0F);
    Fetcher fetcher;
    for (std::size_t column = 0; column < size_; column += kGateColumns) {
      const std::size_t width = std::min(kGateColumns, size_ - column);
      widen(rows + column, count, width, weights);
      project({.rows = rows_ + column,
               .num_rows = num_tokens_,
               .row_stride = stride_,
               .parameters = weights,
               .num_parameters = count,
               .parameter_stride = kGateColumns,
               .num_segments = 1,
               .size = width,
               .sums = sums,
               .fetcher = &fetcher});
    }
    for (std::size_t t = 0; t < num_tokens_; ++t)
      add_lanes(sums + t * count * kLanes, count, products + t * tile_.num_rows);
  }

  /// `width` columns of `count` rows, kGateColumns apart.
  template <class T>
  void widen(const T* rows, std::size_t count, std::size_t width, float* weights) const {
    for (std::size_t row = 0; row < count; ++row)
      for_each_block(width, [&](std::size_t i, auto where) HWY_ATTR {
        store_raw(weights + row * kGateColumns + i, load_in_order(rows + row * size_ + i, where));
      });
  }

  GateTile tile_;
  std::size_t size_;
  std::size_t stride_;
  bool units_;
  std::size_t num_tokens_ = 0;
  float* rows_ = nullptr;
  Bf16* rounded_ = nullptr;
  Bf16* interleaved_ = nullptr;
};

/// visit(first, count) of tiles of so many tokens.
template <class Visit>
void each_tile(std::size_t num_tokens, TokenRange tokens, const Visit& visit) {
  for (std::size_t first = tokens.begin; first < tokens.end; first += num_tokens)
    visit(first, std::min(num_tokens, tokens.end - first));
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_GATE_COLUMNS
