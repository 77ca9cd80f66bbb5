// LAuReL of many tokens by tiles of bf16, where a core has them. Its matrices are floats, and L x
// is: each is the sum of two rows of bf16 (split_rows.hpp), so that the products lose no more than
// the output does.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_TILES) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_TILES
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_TILES
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_TILES
#endif

#include <algorithm>

#include "kernels/cpu/primitives/laurel_tokens.hpp"
#include "kernels/cpu/primitives/split_rows.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// Rows of a matrix that meet the tokens together.
inline constexpr std::size_t kUnitBlock = kUnitGroups * kUnitColumns;

/// L and R in parts, as columns for matrix units. A block has kUnitBlock of their rows, L's first.
struct LaurelColumns {
  std::size_t hidden_size;
  std::size_t rank;  // padded to kUnitStep
  std::size_t num_down;
  std::size_t num_up;
  Bf16* packed;

  explicit LaurelColumns(const AltupLaurel<Bf16>& op, std::byte* memory = nullptr)
      : hidden_size(op.hidden_size),
        rank(multiple_of(kUnitStep, op.rank)),
        num_down(multiple_of(kUnitBlock, op.rank) / kUnitBlock),
        num_up(multiple_of(kUnitBlock, op.hidden_size) / kUnitBlock),
        packed(reinterpret_cast<Bf16*>(memory)) {}

  /// L by kLaurelTileColumns columns, and these by blocks.
  Bf16* down(std::size_t block, std::size_t column, std::size_t num_columns) const {
    return packed + (num_down * column + block * num_columns) * kSplitParts * kUnitBlock;
  }
  Bf16* up(std::size_t block) const {
    return down(0, hidden_size, 0) + block * rank * kSplitParts * kUnitBlock;
  }
};

inline std::size_t num_column_blocks(const AltupLaurel<Bf16>& op) {
  const LaurelColumns columns(op);
  return columns.num_down + columns.num_up;
}

inline std::size_t column_bytes(const AltupLaurel<Bf16>& op) {
  const LaurelColumns columns(op);
  return (columns.num_down * columns.hidden_size + columns.num_up * columns.rank) * kSplitParts *
         kUnitBlock * sizeof(Bf16);
}

/// Rows of a matrix in parts. Rows that are not there are zeros, and so is what lies behind a short
/// one.
class SplitBlock {
 public:
  SplitBlock(Buffer<Bf16>& buffer, const float* rows, std::size_t num_rows, std::size_t size)
      : stride_(multiple_of(kUnitStep, size)) {
    rows_ = buffer.at_least(kSplitParts * kUnitBlock * stride_);
    std::fill_n(rows_, kSplitParts * kUnitBlock * stride_, Bf16(0));
    for (std::size_t row = 0; row < num_rows; ++row)
      split(rows + row * size, size, rows_ + row * stride_, kUnitBlock * stride_);
  }

  /// Puts the parts of `count` columns from `column` on behind one another, for matrix units.
  void put(std::size_t column, std::size_t count, Bf16* to) const {
    for (std::size_t group = 0; group < kUnitGroups; ++group)
      for (std::size_t part = 0; part < kSplitParts; ++part) {
        const Bf16* rows = rows_ + (part * kUnitBlock + group * kUnitColumns) * stride_;
        interleave(rows + column, stride_, count, to);
        to += count * kUnitColumns;
      }
  }

 private:
  std::size_t stride_;
  Bf16* rows_;
};

inline void pack_columns(const AltupLaurel<Bf16>& op, std::byte* packed, TokenRange blocks) {
  thread_local Buffer<Bf16> buffer;
  const LaurelColumns columns(op, packed);
  const std::size_t d = op.hidden_size;
  for (std::size_t i = blocks.begin; i < blocks.end; ++i) {
    const bool is_down = i < columns.num_down;
    const std::size_t block = is_down ? i : i - columns.num_down;
    const std::size_t row = block * kUnitBlock;
    const auto count_of = [&](std::size_t rows) { return std::min(kUnitBlock, rows - row); };
    if (is_down) {
      const SplitBlock split(buffer, op.down + row * d, count_of(op.rank), d);
      for (std::size_t column = 0; column < d; column += kLaurelTileColumns) {
        const std::size_t width = std::min(kLaurelTileColumns, d - column);
        split.put(column, width, columns.down(block, column, width));
      }
    } else {
      const SplitBlock split(buffer, op.up + row * op.rank, count_of(d), op.rank);
      split.put(0, columns.rank, columns.up(block));
    }
  }
}

/// Scratch of a thread, rows of a tile's tokens: chunks of x, L x, the same in parts, and R L x in
/// order.
struct LaurelTilesWorkspace {
  Buffer<Bf16> inputs, parts;
  Buffer<float> inner, branch;
};

/// body(first, count) of tokens of a tile, kUnitRows at a time.
template <class Body>
HWY_INLINE void each_unit_rows(std::size_t num_tokens, const Body& body) {
  for (std::size_t t = 0; t < num_tokens; t += kUnitRows) {
    const std::size_t count = std::min(kUnitRows, num_tokens - t);
    if (t == 0 || count < kUnitRows) begin_products(count);
    body(t, count);
  }
}

/// to (tokens, blocks of L's rows) = L x, of a tile's tokens. Their columns are copied: rows of x
/// themselves, a power of two apart, would meet in one set of L1.
inline void project_down(Buffer<Bf16>& inputs, const LaurelColumns& columns, const Bf16* x,
                         std::size_t num_tokens, float* to) {
  const std::size_t d = columns.hidden_size;
  const std::size_t to_stride = columns.num_down * kUnitBlock;
  const std::size_t stride = apart<Bf16>(kLaurelTileColumns);
  Bf16* chunk = inputs.at_least(kLaurelTileTokens * stride);
  for (std::size_t column = 0; column < d; column += kLaurelTileColumns) {
    const std::size_t width = std::min(kLaurelTileColumns, d - column);
    for (std::size_t t = 0; t < num_tokens; ++t)
      std::copy_n(x + t * d + column, width, chunk + t * stride);
    for (std::size_t block = 0; block < columns.num_down; ++block)
      each_unit_rows(num_tokens, [&](std::size_t t, std::size_t count) {
        multiply({.rows = chunk + t * stride,
                  .row_stride = stride,
                  .num_rows = count,
                  .columns = columns.down(block, column, width),
                  .num_groups = kUnitGroups,
                  .size = kSplitParts * width,
                  .products = to + t * to_stride + block * kUnitBlock,
                  .product_stride = to_stride,
                  .group_stride = kUnitColumns,
                  .row_size = width,
                  .sums = column == 0 ? Sums::from_zero : Sums::from_products});
      });
  }
}

/// branch (tokens, d), rows apart(d) = R L x, of L x in parts of all tokens.
inline void project_up(const LaurelColumns& columns, const Bf16* inner, std::size_t num_tokens,
                       float* branch) {
  const std::size_t d = columns.hidden_size;
  for (std::size_t block = 0; block < columns.num_up; ++block) {
    const std::size_t column = block * kUnitBlock;
    const std::size_t width = std::min(kUnitBlock, d - column);
    each_unit_rows(num_tokens, [&](std::size_t t, std::size_t count) {
      multiply_parts({.rows = inner + t * columns.rank,
                      .row_stride = columns.rank,
                      .num_rows = count,
                      .columns = columns.up(block),
                      .num_groups = multiple_of(kUnitColumns, width) / kUnitColumns,
                      .size = kSplitParts * columns.rank,
                      .products = branch + t * apart<float>(d) + column,
                      .product_stride = apart<float>(d),
                      .group_stride = kUnitColumns,
                      .row_size = columns.rank},
                     kLaurelTileTokens * columns.rank);
    });
  }
}

inline void by_tiles(const AltupLaurel<Bf16>& op, std::byte* packed, TokenRange tokens) {
  thread_local LaurelTilesWorkspace workspace;
  const LaurelColumns columns(op, packed);
  const std::size_t d = op.hidden_size;
  const std::size_t stride = columns.num_down * kUnitBlock;
  const std::size_t part_stride = kLaurelTileTokens * columns.rank;
  float* inner = workspace.inner.at_least(kLaurelTileTokens * stride);
  float* branch = workspace.branch.at_least(kLaurelTileTokens * apart<float>(d));
  Bf16* parts = workspace.parts.at_least(kSplitParts * part_stride);
  for (std::size_t first = tokens.begin; first < tokens.end; first += kLaurelTileTokens) {
    const std::size_t count = std::min(kLaurelTileTokens, tokens.end - first);
    project_down(workspace.inputs, columns, op.input + first * d, count, inner);
    for (std::size_t t = 0; t < count; ++t)
      split(inner + t * stride, columns.rank, parts + t * columns.rank, part_stride);
    project_up(columns, parts, count, branch);
    end_products();
    for (std::size_t t = 0; t < count; ++t)
      store_branch(op, first + t, branch + t * apart<float>(d));
  }
}

inline LaurelForm<Bf16> tiles_form() {
  return {num_column_blocks, column_bytes, pack_columns, by_tiles};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_TILES
