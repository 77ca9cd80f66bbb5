// Which Highway targets the kernels are compiled for. Before any header of Highway's.
#pragma once

// No file of AVX512_BF16 intrinsics beside them: its dot products want bf16 on both sides. A query
// or a phi rounded to bf16 would cost the promised accuracy, and split into two bf16 it takes twice
// the products, where Sapphire Rapids runs 1.4 G/s of vdpbf16ps, twice as wide, against 5.6 of FMA.
// [ours]

// Pairs of vectors are members of structs, which vectors of unknown length cannot be; and SSE4 adds
// nothing here to SSSE3.
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

// Highway 1.0.3 falls back to single lanes with GCC before 12.3 (GCC bug 106322), which do not
// pair.
#if defined(__x86_64__) && !defined(__SSSE3__)
#error "compile with -mssse3 at least"
#endif
