#include "kernels/cpu/primitives/matrix_units.hpp"

#if defined(__x86_64__) && defined(__linux__)
#define DEPTHCOST_HAS_AMX 1
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

// GCC 12 says so of its own headers of AVX-512 (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace depthcost::cpu {

#ifdef DEPTHCOST_HAS_AMX

#define DEPTHCOST_AMX __attribute__((target("amx-tile,amx-bf16,avx512f")))
#define DEPTHCOST_AVX512 __attribute__((target("avx512f")))
#define DEPTHCOST_DOTS __attribute__((target("avx512f,avx512bf16")))

namespace {

/// Bits of CPUID leaf 7, register EDX.
constexpr unsigned kAmxBf16 = 1U << 22;
constexpr unsigned kAmxTile = 1U << 24;

/// Linux gives a process the state of tiles when it asks: Documentation/arch/x86/xstate.rst.
bool is_allowed() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool ask_for_tiles() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  const bool is_there = (edx & kAmxBf16) != 0 && (edx & kAmxTile) != 0;
  return is_there && __builtin_cpu_supports("avx512f") != 0 && is_allowed();
}

/// Who multiplies: nobody, dot products of pairs of elements, or tiles.
enum class Units { none, dots, tiles };

/// Dot products that are faster than vectors of floats. Intel's cores start one where they start
/// four multiply-adds of half its length: on an Emerald Rapids without tiles
/// `gated_residual_up_mix` took 93 ms in bf16 by them, and 57 by vectors. [ours]
bool has_dots() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bf16") != 0 &&
         __builtin_cpu_is("intel") == 0;
}

Units find_units() {
  if (ask_for_tiles()) return Units::tiles;
  return has_dots() ? Units::dots : Units::none;
}

Units units() {
  static const Units found = find_units();
  return found;
}

/// What LDTILECFG takes: Intel's manual, volume 1, "Intel AMX".
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t num_rows[16] = {};
};

// Tiles 0 to 3 are products, one for each group of columns; 4 has rows, the others columns. GCC
// wants their numbers as literals.
constexpr int kRowsTile = 4;
constexpr std::size_t kAheadSteps = 8;

template <std::size_t kGroups>
DEPTHCOST_AMX __attribute__((always_inline)) inline void begin_tiles(const UnitProduct& p,
                                                                     long stride) {
  if (p.sums == Sums::from_zero) {
    _tile_zero(0);
    if constexpr (kGroups > 1) _tile_zero(1);
    if constexpr (kGroups > 2) _tile_zero(2);
    if constexpr (kGroups > 3) _tile_zero(3);
    return;
  }
  _tile_loadd(0, p.products, stride);
  if constexpr (kGroups > 1) _tile_loadd(1, p.products + p.group_stride, stride);
  if constexpr (kGroups > 2) _tile_loadd(2, p.products + 2 * p.group_stride, stride);
  if constexpr (kGroups > 3) _tile_loadd(3, p.products + 3 * p.group_stride, stride);
}

template <std::size_t kGroups>
DEPTHCOST_AMX void multiply_groups(const UnitProduct& p) {
  const auto row_bytes = static_cast<long>(p.row_stride * sizeof(Bf16));
  const auto product_bytes = static_cast<long>(p.product_stride * sizeof(float));
  constexpr long kPairBytes = 64;
  const std::size_t group = p.column_size * kUnitColumns;
  begin_tiles<kGroups>(p, product_bytes);
  for (std::size_t k = 0, in_row = 0; k < p.size; k += kUnitStep, in_row += kUnitStep) {
    if (in_row == p.row_size) in_row = 0;
    const Bf16* rows = p.rows + in_row;
    for (std::size_t row = 0; row < p.num_rows; ++row)
      _mm_prefetch(
          reinterpret_cast<const char*>(rows + row * p.row_stride + kAheadSteps * kUnitStep),
          _MM_HINT_T0);
    const Bf16* columns = p.columns + k * kUnitColumns;
    _tile_loadd(4, rows, row_bytes);
    _tile_loadd(5, columns, kPairBytes);
    _tile_dpbf16ps(0, 4, 5);
    if constexpr (kGroups > 1) {
      _tile_loadd(6, columns + group, kPairBytes);
      _tile_dpbf16ps(1, 4, 6);
    }
    if constexpr (kGroups > 2) {
      _tile_loadd(7, columns + 2 * group, kPairBytes);
      _tile_dpbf16ps(2, 4, 7);
    }
    if constexpr (kGroups > 3) {
      _tile_loadd(5, columns + 3 * group, kPairBytes);
      _tile_dpbf16ps(3, 4, 5);
    }
  }
  _tile_stored(0, p.products, product_bytes);
  if constexpr (kGroups > 1) _tile_stored(1, p.products + p.group_stride, product_bytes);
  if constexpr (kGroups > 2) _tile_stored(2, p.products + 2 * p.group_stride, product_bytes);
  if constexpr (kGroups > 3) _tile_stored(3, p.products + 3 * p.group_stride, product_bytes);
}

// Rows whose products with so many groups are in registers: 16 of 32. Their columns are in L1 while
// all rows meet them; those of four groups would not fit beside the rows. [ours]
constexpr std::size_t kDotRows = 8;
constexpr std::size_t kDotGroups = 2;
// Elements of the columns that all rows meet before the next ones. With 128 of them sums are stored
// so often that `gated_residual_up_mix` takes 13 % longer on Zen 5. [ours]
constexpr std::size_t kDotColumns = 320;

/// A pair of neighbours, in all lanes.
DEPTHCOST_DOTS __attribute__((always_inline)) inline __m512bh pair_of(const Bf16* p) {
  int pair = 0;
  __builtin_memcpy(&pair, p, sizeof(pair));
  return (__m512bh)_mm512_set1_epi32(pair);
}

/// Adds the products of kRows rows from `row` on, of elements from `begin` to `end`, to those of
/// the chunks before. Each chunk's sums start from zero, so that a long row loses fewer digits.
/// Asks for the rows that are next: short ones whole, of long ones the next chunk.
template <std::size_t kRows, std::size_t kGroups>
DEPTHCOST_DOTS void add_dots(const UnitProduct& p, std::size_t row, std::size_t begin,
                             std::size_t end) {
  const Bf16* rows = p.rows + row * p.row_stride;
  float* products = p.products + row * p.product_stride;
  const std::size_t next = end - begin == p.size ? kRows * p.row_stride : end - begin;
  __m512 sums[kRows][kGroups];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (std::size_t g = 0; g < kGroups; ++g) sums[r][g] = _mm512_setzero_ps();
  for (std::size_t k = begin; k < end;) {
    const Bf16* met = rows + k % p.row_size;  // rows come again where columns are longer
    const std::size_t last = std::min(end, k + p.row_size - k % p.row_size);
    for (; k < last; k += 2, met += 2) {
      // A line of each row while 32 elements are multiplied.
      _mm_prefetch(reinterpret_cast<const char*>(met + next + k / 4 % kRows * p.row_stride),
                   _MM_HINT_T0);
      __m512bh columns[kGroups];
#pragma GCC unroll 8
      for (std::size_t g = 0; g < kGroups; ++g)
        columns[g] =
            (__m512bh)_mm512_loadu_si512(p.columns + (g * p.column_size + k) * kUnitColumns);
#pragma GCC unroll 8
      for (std::size_t r = 0; r < kRows; ++r) {
        const __m512bh pair = pair_of(met + r * p.row_stride);
#pragma GCC unroll 8
        for (std::size_t g = 0; g < kGroups; ++g)
          sums[r][g] = _mm512_dpbf16_ps(sums[r][g], pair, columns[g]);
      }
    }
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (std::size_t g = 0; g < kGroups; ++g) {
      float* product = products + g * p.group_stride + r * p.product_stride;
      const bool is_first = begin == 0 && p.sums == Sums::from_zero;
      const __m512 before = is_first ? _mm512_setzero_ps() : _mm512_loadu_ps(product);
      _mm512_storeu_ps(product, _mm512_add_ps(before, sums[r][g]));
    }
}

/// All rows meet kGroups groups from `group` on.
template <std::size_t kGroups>
void add_groups(UnitProduct p, std::size_t group, std::size_t begin, std::size_t end) {
  p.columns += group * p.column_size * kUnitColumns;
  p.products += group * p.group_stride;
  std::size_t row = 0;
  for (; row + kDotRows <= p.num_rows; row += kDotRows)
    add_dots<kDotRows, kGroups>(p, row, begin, end);
  for (; row < p.num_rows; ++row) add_dots<1, kGroups>(p, row, begin, end);
}

template <std::size_t kGroups>
void multiply_dots(const UnitProduct& p) {
  for (std::size_t begin = 0; begin < p.size; begin += kDotColumns) {
    const std::size_t end = std::min(begin + kDotColumns, p.size);
    std::size_t group = 0;
    for (; group + kDotGroups <= kGroups; group += kDotGroups)
      add_groups<kDotGroups>(p, group, begin, end);
    if constexpr (kGroups % kDotGroups != 0) add_groups<kGroups % kDotGroups>(p, group, begin, end);
  }
}

template <std::size_t kGroups>
void multiply_by_units(const UnitProduct& product) {
  if (units() == Units::tiles)
    multiply_groups<kGroups>(product);
  else
    multiply_dots<kGroups>(product);
}

/// Four by four of four by four: pairs of rows, then quarters, trade places.
// Called, it would find its vectors in memory.
DEPTHCOST_AVX512 __attribute__((always_inline)) inline void transpose_lanes(__m512i (&r)[16]) {
  __m512i t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xDD);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xDD);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xDD);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xDD);
  }
}

/// Sixteen by sixteen words of four bytes.
DEPTHCOST_AVX512 void transpose_words(const void* from, std::size_t from_bytes, void* to,
                                      std::size_t to_bytes) {
  __m512i rows[16];
#pragma GCC unroll 16
  for (std::size_t i = 0; i < 16; ++i)
    rows[i] = _mm512_loadu_si512(static_cast<const char*>(from) + i * from_bytes);
  transpose_lanes(rows);
#pragma GCC unroll 16
  for (std::size_t i = 0; i < 16; ++i)
    _mm512_storeu_si512(static_cast<char*>(to) + i * to_bytes, rows[i]);
}

}  // namespace

bool has_matrix_units() { return units() != Units::none; }
bool has_tiles() { return units() == Units::tiles; }

void interleave(const Bf16* columns, std::size_t stride, std::size_t size, Bf16* to) {
  for (std::size_t k = 0; k < size; k += kUnitStep)
    transpose_words(columns + k, stride * sizeof(Bf16), to + k * kUnitColumns,
                    2 * kUnitColumns * sizeof(Bf16));
}

void transpose(const float* from, std::size_t from_stride, float* to, std::size_t to_stride) {
  transpose_words(from, from_stride * sizeof(float), to, to_stride * sizeof(float));
}

namespace {

DEPTHCOST_AMX void configure_tiles(std::size_t num_rows) {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    config.row_bytes[tile] = 64;
    config.num_rows[tile] = static_cast<std::uint8_t>(tile <= kRowsTile ? num_rows : 16);
  }
  // GCC 12 takes the intrinsic to read eight bytes, and would not store the others.
  asm volatile("" ::"r"(&config) : "memory");
  _tile_loadconfig(&config);
}

DEPTHCOST_AMX void release_tiles() { _tile_release(); }

/// The rows that this thread's tiles are configured for, since doing it takes as long as a dozen
/// products. 0: none.
thread_local std::size_t configured_rows = 0;

}  // namespace

void begin_products(std::size_t num_rows) {
  if (units() != Units::tiles || num_rows == configured_rows) return;
  configure_tiles(num_rows);
  configured_rows = num_rows;
}

void multiply(const UnitProduct& product) {
  switch (product.num_groups) {
    case 1:
      return multiply_by_units<1>(product);
    case 2:
      return multiply_by_units<2>(product);
    case 3:
      return multiply_by_units<3>(product);
    default:
      return multiply_by_units<4>(product);
  }
}

void end_products() {
  if (units() != Units::tiles) return;
  release_tiles();
  configured_rows = 0;
}

#else

bool has_matrix_units() { return false; }
bool has_tiles() { return false; }
void interleave(const Bf16*, std::size_t, std::size_t, Bf16*) {}
void transpose(const float*, std::size_t, float*, std::size_t) {}
void begin_products(std::size_t) {}
void multiply(const UnitProduct&) {}
void end_products() {}

#endif

}  // namespace depthcost::cpu
