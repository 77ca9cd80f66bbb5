// Rows of floats as what matrix units multiply: each number is the sum of two of bf16, high and
// low, within 2^-17 of it. Included once per Highway target, hence the toggle in place of #pragma
// once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_SPLIT_ROWS) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_SPLIT_ROWS
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_SPLIT_ROWS
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_SPLIT_ROWS
#endif

#include "kernels/cpu/primitives/matrix_units.hpp"
#include "kernels/cpu/primitives/pair.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// How many of bf16 a float is the sum of.
inline constexpr std::size_t kSplitParts = 2;

/// Whether tiles take the products of rows of such a size. They take subnormal numbers for zeros.
/// Dot products of pairs would gain nothing: two of them take no less than one of floats.
inline bool takes_tiles(std::size_t size) {
  return HWY_TARGET <= HWY_AVX3 && size % kUnitStep == 0 && has_tiles();
}

/// A row of `size` floats as the sum of kSplitParts rows, `stride` apart.
HWY_INLINE void split(const float* from, std::size_t size, Bf16* to, std::size_t stride) {
  for_each_block(size, [&](std::size_t i, auto where) HWY_ATTR {
    Pair rest = load_for<Bf16>(from + i, where);
    for (std::size_t part = 0; part < kSplitParts; ++part) {
      const Pair rounded = rounded_to_bf16(rest);
      store(to + part * stride + i, rounded, where, Cached{});
      rest = multiply_add(broadcast(-1), rounded, rest);
    }
  });
}

/// As multiply(), of rows and columns that are both in parts: those of a column behind one another,
/// of row_size elements each, and those of the rows `part_stride` apart. Leaves out low times low.
inline void multiply_parts(UnitProduct product, std::size_t part_stride) {
  product.column_size = product.size;
  for (std::size_t part = 0; part < kSplitParts; ++part) {
    multiply(product);
    product.rows += part_stride;
    product.size -= product.row_size;
    product.sums = Sums::from_products;
  }
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_SPLIT_ROWS
