// Which Highway targets the kernels are compiled for. Include this before any header of Highway.
#pragma once

// No target has AVX512-BF16. pair.hpp uses its conversion where the machine has it, but nothing
// uses its dot products, which take bf16 on both sides. A query or a phi rounded to bf16 would cost
// the promised accuracy; split into two bf16 it takes twice the products. Sapphire Rapids runs 1.4
// G/s of vdpbf16ps, which are twice as wide, against 5.6 of FMA. Zen 4 runs as many of them as of
// FMA: with phi in two parts `mhc_pre` was 1.04 to 1.06 times as fast, but at T = 1, in caches, a
// third slower. [ours]

// Pairs of vectors are members of structs, and vectors of unknown length cannot be. SSE4 adds
// nothing to SSSE3 here.
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

// Highway 1.0.3 falls back to single lanes with GCC before 12.3 (GCC bug 106322), which do not
// pair. cmake/vectors.cmake asks for SSSE3 or AVX2.
#if defined(__x86_64__) && !defined(__SSSE3__)
#error "compile with -mssse3 at least"
#endif

/// For lambdas that run once a block: compiled for the target, and inlined into the loop that calls
/// them. Left to itself, GCC 12 calls those that round to bf16, with their vectors in memory, which
/// took half of the time of `unfused_mhc_post`. [ours]
#define DEPTHCOST_INLINED HWY_ATTR __attribute__((always_inline))
