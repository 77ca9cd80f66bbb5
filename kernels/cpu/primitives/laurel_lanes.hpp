// LAuReL of many tokens by vectors: rows of its matrices are in lanes.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_LANES) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_LANES
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_LANES
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_LANES
#endif

#include <algorithm>
#include <type_traits>

#include "kernels/cpu/primitives/lane_products.hpp"
#include "kernels/cpu/primitives/laurel_tokens.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// L and R as panels. A block is a panel, L's first.
struct LaurelPanels {
  std::size_t hidden_size;
  std::size_t rank;
  std::size_t num_down;
  std::size_t num_up;
  float* packed;

  template <class T>
  explicit LaurelPanels(const AltupLaurel<T>& op, std::byte* memory = nullptr)
      : hidden_size(op.hidden_size),
        rank(op.rank),
        num_down(multiple_of(kPanelRows, op.rank) / kPanelRows),
        num_up(multiple_of(kPanelRows, op.hidden_size) / kPanelRows),
        packed(reinterpret_cast<float*>(memory)) {}

  float* down(std::size_t panel) const { return packed + panel * hidden_size * kPanelRows; }
  float* up(std::size_t panel) const { return down(num_down) + panel * rank * kPanelRows; }
};

template <class T>
std::size_t num_panels(const AltupLaurel<T>& op) {
  const LaurelPanels panels(op);
  return panels.num_down + panels.num_up;
}

template <class T>
std::size_t panel_bytes(const AltupLaurel<T>& op) {
  const LaurelPanels panels(op);
  return (panels.num_down * op.hidden_size + panels.num_up * op.rank) * kPanelRows * sizeof(float);
}

template <class T>
void pack_panels(const AltupLaurel<T>& op, std::byte* packed, TokenRange blocks) {
  const LaurelPanels panels(op, packed);
  const auto pack = [](const float* matrix, std::size_t num_rows, std::size_t size,
                       std::size_t panel, float* to) {
    const std::size_t row = panel * kPanelRows;
    pack_panel(matrix + row * size, size, std::min(kPanelRows, num_rows - row), size, to);
  };
  for (std::size_t i = blocks.begin; i < blocks.end; ++i)
    if (i < panels.num_down)
      pack(op.down, op.rank, op.hidden_size, i, panels.down(i));
    else
      pack(op.up, op.hidden_size, op.rank, i - panels.num_down, panels.up(i - panels.num_down));
}

/// Scratch of a thread, rows of a tile's tokens: chunks of x, L x and R L x, all in order, and sums
/// of squares.
struct LaurelLanesWorkspace {
  Buffer<float> inputs, inner, branch, squares;
};

/// Rows of floats, `stride` apart.
struct FloatRows {
  const float* begin;
  std::size_t stride;
};

/// `width` columns of a tile's tokens, from x on. Floats stay where they are.
template <class T>
HWY_INLINE FloatRows float_rows(Buffer<float>& inputs, const T* x, std::size_t stride,
                                std::size_t num_tokens, std::size_t width) {
  if constexpr (std::is_same_v<T, float>) return {x, stride};
  constexpr std::size_t kStride = kLaurelColumns + kLineBytes / sizeof(float);
  float* chunk = inputs.at_least(kLaurelTokens * kStride);
  for (std::size_t t = 0; t < num_tokens; ++t)
    for_each_block(width, [&](std::size_t i, auto where) HWY_ATTR {
      store_raw(chunk + t * kStride + i, load_in_order(x + t * stride + i, where));
    });
  return {chunk, kStride};
}

/// to (tokens, to_stride) = L x, of a tile's tokens. Beside it the tile before is stored.
template <class T>
void project_down(Buffer<float>& inputs, const LaurelPanels& panels, const T* x,
                  std::size_t num_tokens, float* to, std::size_t to_stride,
                  StoredBranch<T>& before) {
  const std::size_t d = panels.hidden_size;
  for (std::size_t column = 0; column < d; column += kLaurelColumns) {
    const std::size_t width = std::min(kLaurelColumns, d - column);
    const FloatRows rows = float_rows(inputs, x + column, d, num_tokens, width);
    for (std::size_t p = 0; p < panels.num_down; ++p)
      multiply_panel({.rows = rows.begin,
                      .row_stride = rows.stride,
                      .num_rows = num_tokens,
                      .panel = panels.down(p) + column * kPanelRows,
                      .size = width,
                      .products = to + p * kPanelRows,
                      .product_stride = to_stride,
                      .sums = column == 0 ? Sums::from_zero : Sums::from_products},
                     before);
  }
}

/// Brings what is read and written next into L2, a block of each a step.
template <class T>
class FetchedTile {
 public:
  FetchedTile(const AltupLaurel<T>& op, TokenRange inputs, TokenRange outputs)
      : input_(op.input + inputs.begin * op.hidden_size),
        inputs_end_(op.input + inputs.end * op.hidden_size),
        output_(op.output + outputs.begin * op.hidden_size),
        outputs_end_(op.output + outputs.end * op.hidden_size) {}

  HWY_INLINE void step() {
    fetch_next(input_, inputs_end_);
    fetch_next(output_, outputs_end_);
  }

 private:
  static HWY_INLINE void fetch_next(const T*& next, const T* end) {
    if (next >= end) return;
    fetch_block(next, FetchAhead::far);
    next += std::min<std::ptrdiff_t>(kBlock, end - next);
  }

  const T* input_;
  const T* inputs_end_;
  const T* output_;
  const T* outputs_end_;
};

template <class T>
void by_lanes(const AltupLaurel<T>& op, std::byte* packed, TokenRange tokens) {
  thread_local LaurelLanesWorkspace workspace;
  const LaurelPanels panels(op, packed);
  const std::size_t inner_stride = apart<float>(panels.num_down * kPanelRows);
  const std::size_t branch_stride = apart<float>(panels.num_up * kPanelRows);
  float* inner = workspace.inner.at_least(kLaurelTokens * inner_stride);
  float* branch = workspace.branch.at_least(kLaurelTokens * branch_stride);
  float* squares = workspace.squares.at_least(kLaurelTokens * kLanes);
  StoredBranch<T> before;
  for (TokenRange tile = tokens; tile.begin < tokens.end; tile.begin = tile.end) {
    tile.end = std::min(tile.begin + kLaurelTokens, tokens.end);
    const std::size_t count = tile.end - tile.begin;
    project_down(workspace.inputs, panels, op.input + tile.begin * op.hidden_size, count, inner,
                 inner_stride, before);
    before.finish();
    std::fill_n(squares, count * kLanes, 0.0F);
    FetchedTile<T> fetched(op, {tile.end, std::min(tile.end + kLaurelTokens, tokens.end)}, tile);
    for (std::size_t p = 0; p < panels.num_up; ++p)
      multiply_panel({.rows = inner,
                      .row_stride = inner_stride,
                      .num_rows = count,
                      .panel = panels.up(p),
                      .size = op.rank,
                      .products = branch + p * kPanelRows,
                      .product_stride = branch_stride,
                      .squares = squares},
                     fetched);
    before = StoredBranch<T>(op, tile, branch, branch_stride, squares);
  }
  before.finish();
}

template <class T>
LaurelForm<T> lanes_form() {
  return {num_panels<T>, panel_bytes<T>, pack_panels<T>, by_lanes<T>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_LAUREL_LANES
