// LAuReL of AltUp. Its matrices of half a megabyte meet the tokens of a tile: by matrix units,
// where a core has tiles, else by vectors.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/laurel.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/projection.hpp"
#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/split_rows.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_LAUREL
#define DEPTHCOST_KERNELS_CPU_LAUREL
namespace depthcost::cpu {

/// Tokens that share each block of the matrices. [ours]
inline constexpr std::size_t kLaurelTokens = 64;
/// Columns of L that are in L1 when the tokens meet them. [ours]
inline constexpr std::size_t kLaurelColumns = 512;
/// Rows of R whose products with the tokens wait together. [ours]
inline constexpr std::size_t kLaurelRows = 96;
/// So many tokens are worth splitting the matrices for tiles. [ours]
inline constexpr std::size_t kLaurelManyTokens = 32;
/// Tokens that share the columns of tiles: with both matrices they stay in L2. [ours]
inline constexpr std::size_t kLaurelTileTokens = 64;
/// Columns of L whose halves stay in L2 while the tokens meet them. [ours]
inline constexpr std::size_t kLaurelTileColumns = 256;

/// Rows of a matrix that meet the tokens together.
inline constexpr std::size_t kUnitBlock = kUnitGroups * kUnitColumns;

inline std::size_t multiple_of(std::size_t step, std::size_t count) {
  return (count + step - 1) / step * step;
}

/// A row of so many elements and a line more, so that rows begin in different sets of L1.
inline std::size_t apart(std::size_t size) { return size + kUnitStep; }

/// The matrices of one call as columns for matrix units, each in `num_parts` (split_rows.hpp).
struct LaurelColumns {
  std::size_t num_parts = 0;
  std::size_t hidden_size = 0;
  std::size_t rank = 0;  // padded to kUnitStep
  Bf16* down = nullptr;  // L by kLaurelTileColumns columns, and these by kUnitBlock rows
  Bf16* up = nullptr;    // R by kUnitBlock rows
  std::size_t num_down_blocks = 0;
  std::size_t num_up_blocks = 0;

  std::size_t num_blocks() const { return num_down_blocks + num_up_blocks; }
  Bf16* down_block(std::size_t block, std::size_t column, std::size_t num_columns) const {
    return down + (num_down_blocks * column + block * num_columns) * num_parts * kUnitBlock;
  }
  Bf16* up_block(std::size_t block) const { return up + block * rank * num_parts * kUnitBlock; }
};

/// One target's kernels.
template <class T>
struct LaurelKernels {
  bool (*takes_tiles)(std::size_t hidden_size) = nullptr;
  std::size_t num_parts = 0;
  void (*split)(const AltupLaurel<T>&, const LaurelColumns&, TokenRange blocks) = nullptr;
  void (*by_tiles)(const AltupLaurel<T>&, const LaurelColumns&, TokenRange) = nullptr;
  void (*by_vectors)(const AltupLaurel<T>&, TokenRange) = nullptr;
};

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// Scratch of a thread.
struct LaurelWorkspace {
  // In order: (tokens, d) of x and of R L x, (tokens, r) of L x, and vectors of sums.
  Buffer<float> inputs, branch, inner, sums;
  Buffer<Bf16> inputs_in_parts, inner_in_parts;
};

/// (rows of tokens, `stride` apart) . (`count` rows of `matrix`), as vectors of partial sums.
HWY_INLINE void tile_product(float* sums, const float* rows, std::size_t num_tokens,
                             std::size_t stride, const float* matrix, std::size_t count,
                             std::size_t size) {
  std::fill_n(sums, num_tokens * count * kLanes, 0.0F);
  Fetcher fetcher;
  for (std::size_t column = 0; column < size; column += kLaurelColumns)
    project({.rows = rows + column,
             .num_rows = num_tokens,
             .row_stride = stride,
             .parameters = matrix + column,
             .num_parameters = count,
             .parameter_stride = size,
             .num_segments = 1,
             .size = std::min(kLaurelColumns, size - column),
             .sums = sums,
             .fetcher = &fetcher});
}

/// to (tokens, padded num_rows) = (rows of tokens) W^T, of a matrix W (num_rows, size).
HWY_INLINE void tile_projection(LaurelWorkspace& workspace, const float* rows,
                                std::size_t num_tokens, const float* matrix, std::size_t num_rows,
                                std::size_t size, float* to) {
  float* sums = workspace.sums.at_least(kLaurelTokens * kLaurelRows * kLanes);
  for (std::size_t first = 0; first < num_rows; first += kLaurelRows) {
    const std::size_t count = std::min(kLaurelRows, num_rows - first);
    tile_product(sums, rows, num_tokens, padded(size), matrix + first * size, count, size);
    for (std::size_t t = 0; t < num_tokens; ++t)
      add_lanes(sums + t * count * kLanes, count, to + t * padded(num_rows) + first);
  }
}

/// l = x + norm(branch) of token t; the branch is in order.
template <class T>
HWY_INLINE void store_branch(const AltupLaurel<T>& op, std::size_t t, const float* branch) {
  const std::size_t d = op.hidden_size;
  const T* x = op.input + t * d;
  T* output = op.output + t * d;
  Pair squares = zeros();
  for_each_block(d, [&](std::size_t i, auto) HWY_ATTR {
    const Pair y = load_raw(branch + i);
    squares = multiply_add(y, y, squares);
  });
  const Vec scale = broadcast(static_cast<float>(inverse_rms(sum(squares), d, op.norm.eps)));
  for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
    const Pair y = load_raw(branch + i) * Pair{scale, scale};
    const Pair l =
        multiply_add(y, load_in_order(op.norm.gain + i, where), load_in_order(x + i, where));
    store_rounded(output + i, in_order_of<T>(l), where, Cached{});
  });
}

template <class T>
void by_vectors(const AltupLaurel<T>& op, TokenRange tokens) {
  thread_local LaurelWorkspace workspace;
  const std::size_t d = op.hidden_size;
  const std::size_t stride = padded(d);
  float* inputs = workspace.inputs.at_least(kLaurelTokens * stride);
  float* branch = workspace.branch.at_least(kLaurelTokens * stride);
  float* inner = workspace.inner.at_least(kLaurelTokens * padded(op.rank));
  // What lies behind a row stays zero: nothing writes it.
  std::fill_n(branch, kLaurelTokens * stride, 0.0F);
  std::fill_n(inner, kLaurelTokens * padded(op.rank), 0.0F);
  for (std::size_t first = tokens.begin; first < tokens.end; first += kLaurelTokens) {
    const std::size_t count = std::min(kLaurelTokens, tokens.end - first);
    for (std::size_t t = 0; t < count; ++t)
      for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
        store_raw(inputs + t * stride + i, load_in_order(op.input + (first + t) * d + i, where));
      });
    tile_projection(workspace, inputs, count, op.down, op.rank, d, inner);
    tile_projection(workspace, inner, count, op.up, d, op.rank, branch);
    for (std::size_t t = 0; t < count; ++t) store_branch(op, first + t, branch + t * stride);
  }
}

/// Rows of a matrix in parts. Rows that are not there are zeros, and so is what lies behind a short
/// one.
class SplitBlock {
 public:
  SplitBlock(Buffer<Bf16>& buffer, std::size_t num_parts, const float* rows, std::size_t num_rows,
             std::size_t size)
      : num_parts_(num_parts), stride_(multiple_of(kUnitStep, size)) {
    rows_ = buffer.at_least(num_parts * kUnitBlock * stride_);
    std::fill_n(rows_, num_parts * kUnitBlock * stride_, Bf16(0));
    for (std::size_t row = 0; row < num_rows; ++row)
      split(rows + row * size, size, num_parts, rows_ + row * stride_, kUnitBlock * stride_);
  }

  /// Puts the parts of `count` columns from `column` on behind one another, for matrix units.
  void put(std::size_t column, std::size_t count, Bf16* to) const {
    for (std::size_t group = 0; group < kUnitGroups; ++group)
      for (std::size_t part = 0; part < num_parts_; ++part) {
        const Bf16* rows = rows_ + (part * kUnitBlock + group * kUnitColumns) * stride_;
        interleave(rows + column, stride_, count, to);
        to += count * kUnitColumns;
      }
  }

 private:
  std::size_t num_parts_;
  std::size_t stride_;
  Bf16* rows_;
};

template <class T>
void split_matrices(const AltupLaurel<T>& op, const LaurelColumns& columns, TokenRange blocks) {
  thread_local Buffer<Bf16> buffer;
  const std::size_t d = op.hidden_size;
  for (std::size_t i = blocks.begin; i < blocks.end; ++i) {
    const bool is_down = i < columns.num_down_blocks;
    const std::size_t block = is_down ? i : i - columns.num_down_blocks;
    const std::size_t row = block * kUnitBlock;
    const auto count_of = [&](std::size_t rows) { return std::min(kUnitBlock, rows - row); };
    if (is_down) {
      const SplitBlock split(buffer, columns.num_parts, op.down + row * d, count_of(op.rank), d);
      for (std::size_t column = 0; column < d; column += kLaurelTileColumns) {
        const std::size_t width = std::min(kLaurelTileColumns, d - column);
        split.put(column, width, columns.down_block(block, column, width));
      }
    } else {
      const SplitBlock split(buffer, columns.num_parts, op.up + row * op.rank, count_of(d),
                             op.rank);
      split.put(0, columns.rank, columns.up_block(block));
    }
  }
}

/// body(first, count) of tokens of a tile, kUnitRows at a time.
template <class Body>
HWY_INLINE void each_unit_rows(std::size_t num_tokens, const Body& body) {
  for (std::size_t t = 0; t < num_tokens; t += kUnitRows) {
    const std::size_t count = std::min(kUnitRows, num_tokens - t);
    if (t == 0 || count < kUnitRows) begin_products(count);
    body(t, count);
  }
}

/// Columns of x of a tile's tokens in parts, row after row: rows of x themselves, a power of two
/// apart, would meet in one set of L1.
struct InputColumns {
  const Bf16* rows = nullptr;
  std::size_t stride = 0;       // from one token to the next
  std::size_t part_stride = 0;  // from one part to the next
};

HWY_INLINE void put_parts(const Bf16* x, std::size_t size, Bf16* to, std::size_t) {
  std::copy_n(x, size, to);
}
HWY_INLINE void put_parts(const float* x, std::size_t size, Bf16* to, std::size_t part_stride) {
  split(x, size, kRowParts<float>, to, part_stride);
}

template <class T>
InputColumns input_columns(LaurelWorkspace& workspace, const T* x, std::size_t d,
                           std::size_t num_tokens, std::size_t width) {
  const std::size_t stride = apart(width);
  const std::size_t part_stride = kLaurelTileTokens * stride;
  Bf16* parts = workspace.inputs_in_parts.at_least(kRowParts<T> * part_stride);
  for (std::size_t t = 0; t < num_tokens; ++t)
    put_parts(x + t * d, width, parts + t * stride, part_stride);
  return {parts, stride, part_stride};
}

/// to (tokens, blocks of L's rows) = L x, of a tile's tokens.
template <class T>
void project_down(LaurelWorkspace& workspace, const LaurelColumns& columns, const T* x,
                  std::size_t num_tokens, float* to) {
  const std::size_t d = columns.hidden_size;
  const std::size_t stride = columns.num_down_blocks * kUnitBlock;
  for (std::size_t column = 0; column < d; column += kLaurelTileColumns) {
    const std::size_t width = std::min(kLaurelTileColumns, d - column);
    const InputColumns in = input_columns(workspace, x + column, d, num_tokens, width);
    for (std::size_t block = 0; block < columns.num_down_blocks; ++block)
      each_unit_rows(num_tokens, [&](std::size_t t, std::size_t count) {
        multiply_parts({.rows = in.rows + t * in.stride,
                        .row_stride = in.stride,
                        .num_rows = count,
                        .columns = columns.down_block(block, column, width),
                        .num_groups = kUnitGroups,
                        .size = columns.num_parts * width,
                        .products = to + t * stride + block * kUnitBlock,
                        .product_stride = stride,
                        .group_stride = kUnitColumns,
                        .row_size = width,
                        .sums = column == 0 ? Sums::from_zero : Sums::from_products},
                       kRowParts<T>, in.part_stride);
      });
  }
}

/// branch (tokens, d), rows apart(d) = R L x, of L x in parts of all tokens.
void project_up(const LaurelColumns& columns, const Bf16* inner, std::size_t num_tokens,
                float* branch) {
  const std::size_t d = columns.hidden_size;
  for (std::size_t block = 0; block < columns.num_up_blocks; ++block) {
    const std::size_t column = block * kUnitBlock;
    const std::size_t width = std::min(kUnitBlock, d - column);
    each_unit_rows(num_tokens, [&](std::size_t t, std::size_t count) {
      multiply_parts({.rows = inner + t * columns.rank,
                      .row_stride = columns.rank,
                      .num_rows = count,
                      .columns = columns.up_block(block),
                      .num_groups = multiple_of(kUnitColumns, width) / kUnitColumns,
                      .size = columns.num_parts * columns.rank,
                      .products = branch + t * apart(d) + column,
                      .product_stride = apart(d),
                      .group_stride = kUnitColumns,
                      .row_size = columns.rank},
                     columns.num_parts, kLaurelTileTokens * columns.rank);
    });
  }
}

template <class T>
void by_tiles(const AltupLaurel<T>& op, const LaurelColumns& columns, TokenRange tokens) {
  thread_local LaurelWorkspace workspace;
  const std::size_t d = op.hidden_size;
  const std::size_t stride = columns.num_down_blocks * kUnitBlock;
  const std::size_t part_stride = kLaurelTileTokens * columns.rank;
  float* inner = workspace.inner.at_least(kLaurelTileTokens * stride);
  float* branch = workspace.branch.at_least(kLaurelTileTokens * apart(d));
  Bf16* parts = workspace.inner_in_parts.at_least(columns.num_parts * part_stride);
  for (std::size_t first = tokens.begin; first < tokens.end; first += kLaurelTileTokens) {
    const std::size_t count = std::min(kLaurelTileTokens, tokens.end - first);
    project_down(workspace, columns, op.input + first * d, count, inner);
    for (std::size_t t = 0; t < count; ++t)
      split(inner + t * stride, columns.rank, columns.num_parts, parts + t * columns.rank,
            part_stride);
    project_up(columns, parts, count, branch);
    end_products();
    for (std::size_t t = 0; t < count; ++t) store_branch(op, first + t, branch + t * apart(d));
  }
}

template <class T>
constexpr LaurelKernels<T> kKernels = {takes_tiles, kFloatParts<T>, split_matrices<T>, by_tiles<T>,
                                       by_vectors<T>};

}  // namespace

KernelsByType<LaurelKernels> laurel_kernels() { return {kKernels<float>, kKernels<Bf16>}; }

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(laurel_kernels);

namespace {

/// Room for the matrices of one call.
LaurelColumns columns_for(std::size_t hidden_size, std::size_t rank, std::size_t num_parts) {
  thread_local Buffer<Bf16> down;
  thread_local Buffer<Bf16> up;
  const auto num_blocks = [](std::size_t rows) {
    return multiple_of(kUnitBlock, rows) / kUnitBlock;
  };
  LaurelColumns columns{.num_parts = num_parts,
                        .hidden_size = hidden_size,
                        .rank = multiple_of(kUnitStep, rank),
                        .num_down_blocks = num_blocks(rank),
                        .num_up_blocks = num_blocks(hidden_size)};
  columns.down = down.at_least(num_parts * columns.num_down_blocks * kUnitBlock * hidden_size);
  columns.up = up.at_least(num_parts * columns.num_up_blocks * kUnitBlock * columns.rank);
  return columns;
}

}  // namespace

template <class T>
void run(const AltupLaurel<T>& op) {
  check(op);
  const LaurelKernels<T> kernels = HWY_DYNAMIC_DISPATCH(laurel_kernels)().of<T>();
  const std::size_t bytes = 2 * op.hidden_size * sizeof(T);
  if (op.num_tokens < kLaurelManyTokens || !kernels.takes_tiles(op.hidden_size)) {
    for_each_range(op.num_tokens, bytes,
                   [&](TokenRange tokens) { kernels.by_vectors(op, tokens); });
    return;
  }
  const LaurelColumns columns = columns_for(op.hidden_size, op.rank, kernels.num_parts);
  for_each_range(columns.num_blocks(), kUnitBlock * columns.num_parts * columns.rank * sizeof(Bf16),
                 [&](TokenRange blocks) { kernels.split(op, columns, blocks); });
  for_each_range(op.num_tokens, bytes,
                 [&](TokenRange tokens) { kernels.by_tiles(op, columns, tokens); });
}

template void run(const AltupLaurel<float>&);
template void run(const AltupLaurel<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
