/* The operations of depthcost's kernels for C, and for whatever can call C.
 *
 * Symbols are those of arXiv:2603.15031v1: T tokens, d hidden size, n bank sources, S queries of a
 * block, m streams. An argument named b (T, d) points to T rows of d elements, row-major and
 * contiguous.
 *
 * Types. Elements of d-vectors (void *) are of the struct's dtype. Parameters and statistics
 * (queries, gains, phi, maxima, sums, logits, coefficients) are float whatever the dtype is.
 * Arithmetic is in float; what is stored is rounded once, to nearest even.
 *
 * Alignment. Buffers of d-vectors begin at multiples of 16 bytes. What may be a row inside of one
 * needs the alignment of its elements only, and says "inner". So do parameters and statistics.
 *
 * Aliasing. No output overlaps an input or another output, unless a member says so.
 *
 * Memory. Under the CPU backend all pointers are to memory of the host; under CUDA to memory that
 * the device can reach. Structs themselves are always the host's, are read before the call returns,
 * and are not kept. Buffers without elements (T = 0) may be null, and those that say "or null".
 *
 * Errors. Each function returns a status. If it is not DEPTHCOST_OK, nothing has been written or
 * launched, but by a launch that failed (DEPTHCOST_DEVICE_ERROR), and depthcost_last_error() says
 * why. No function lets a C++ exception out.
 *
 * Threads. All functions may be called from several threads at once, on different buffers. The CPU
 * backend spreads a call over OpenMP threads (OMP_NUM_THREADS); results do not depend on how many.
 * Results are the same bits in every run on the same machine.
 *
 * Version. Within one DEPTHCOST_ABI_VERSION no struct changes its layout or meaning, no function
 * its signature, and no constant its value; functions and constants may be added. Anything else
 * raises the version, which is part of the library's soname: compare it with what
 * depthcost_abi_version() answers where the library is loaded at run time. */
#ifndef DEPTHCOST_KERNELS_C_DEPTHCOST_H
#define DEPTHCOST_KERNELS_C_DEPTHCOST_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define DEPTHCOST_API __attribute__((visibility("default")))
#else
#define DEPTHCOST_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define DEPTHCOST_ABI_VERSION 1

/* What has been added within that version: 1 depthcost_family.h, 2 depthcost_kernels_hash,
 * 3 Gated Residual, depthcost_residual_scaling_rmsnorm and depthcost_altup_*,
 * 4 depthcost_backward.h, 5 depthcost_mhc_boundary_backward, 6 the pieces of Gated Residual. */
#define DEPTHCOST_ABI_MINOR_VERSION 6

/* Enumerations are int32_t, so that their size is known and any value can be answered. Where zero
 * is no value of one, forgetting it is an error. */

typedef int32_t depthcost_status;
enum {
  DEPTHCOST_OK = 0,
  DEPTHCOST_INVALID_ARGUMENT = 1, /* the text says which, and what is right */
  DEPTHCOST_NOT_BUILT = 2,        /* the backend is not in this library */
  DEPTHCOST_NO_DEVICE = 3,        /* "no CUDA device" */
  DEPTHCOST_DEVICE_ERROR = 4,     /* CUDA's own error; also of earlier work on the device */
  DEPTHCOST_OUT_OF_MEMORY = 5,    /* of the host */
  DEPTHCOST_INTERNAL_ERROR = 6    /* none of these: a defect of the library */
};

typedef int32_t depthcost_dtype;
enum {
  DEPTHCOST_F32 = 1,
  DEPTHCOST_BF16 = 2 /* the upper half of an f32 */
};

typedef int32_t depthcost_backend;
enum { DEPTHCOST_CPU = 1, DEPTHCOST_CUDA = 2 };

/* What a CUDA kernel may do while the one before it on the same cuda_stream still runs. */
typedef int32_t depthcost_overlap;
enum {
  DEPTHCOST_OVERLAP_NONE = 0,
  /* Fetch its parameters (queries, gains, phi) before that one ends: they must have been written
   * earlier. Of effect from compute capability 9.0 on. */
  DEPTHCOST_OVERLAP_PROGRAMMATIC = 1
};

/* Where an operation runs. CUDA is stream-ordered on the calling thread's current device: nothing
 * is allocated or waited for, and calls can be captured into a graph. The CPU ignores all but
 * `backend`, and returns when the results are there. */
typedef struct {
  depthcost_backend backend;
  depthcost_overlap overlap;
  void* cuda_stream; /* a cudaStream_t; null is the default one */
} depthcost_target;

/* DEPTHCOST_ABI_VERSION of the library. */
DEPTHCOST_API int32_t depthcost_abi_version(void);

/* Its DEPTHCOST_ABI_MINOR_VERSION: what a program uses must have been added by then. */
DEPTHCOST_API int32_t depthcost_abi_minor_version(void);

/* Version of the project that the library was built from, such as "0.1.0". */
DEPTHCOST_API const char* depthcost_version(void);

/* Hash of the sources of a backend's kernels, whether or not it was built: 16 hexadecimal digits,
 * by which measurements are known. "" of what is no backend. */
DEPTHCOST_API const char* depthcost_kernels_hash(depthcost_backend backend);

/* Why the calling thread's latest call failed, such as "residual_add: hidden_size is 0 (must be at
 * least 1)"; "" if it did not. Valid until that thread's next call. */
DEPTHCOST_API const char* depthcost_last_error(void);

/* Whether a target can be used at all: what every operation on it answers first. */
DEPTHCOST_API depthcost_status depthcost_check_target(const depthcost_target* target);

/* RMSNorm: x / sqrt(mean(x^2) + eps) * gain. */
typedef struct {
  const float* gain; /* (d) */
  float eps;         /* 1e-6 in most models */
} depthcost_norm;

/* -- Standard residual ------------------------------------------------------------------------ */

/* h += f. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;        /* T */
  size_t hidden_size;       /* d >= 1 */
  void* hidden_state;       /* h (T, d), inner, read and written */
  const void* layer_output; /* f (T, d) */
} depthcost_residual_add_args;
DEPTHCOST_API depthcost_status depthcost_residual_add(const depthcost_target* target,
                                                      const depthcost_residual_add_args* args);

/* h += f; x = norm(h), of h as it was rounded. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;        /* T */
  size_t hidden_size;       /* d >= 1 */
  void* hidden_state;       /* h (T, d), inner, read and written */
  const void* layer_output; /* f (T, d) */
  depthcost_norm norm;
  void* output; /* x (T, d) */
} depthcost_residual_add_rmsnorm_args;
DEPTHCOST_API depthcost_status depthcost_residual_add_rmsnorm(
    const depthcost_target* target, const depthcost_residual_add_rmsnorm_args* args);

/* -- Attention residuals ---------------------------------------------------------------------- */

/* What becomes of b + f once a kernel has formed it. */
typedef int32_t depthcost_sum_store;
enum {
  DEPTHCOST_STORE_PARTIAL_SUM = 0, /* written back to b: inside a block */
  DEPTHCOST_STORE_BANK_ROW = 1,    /* written to the bank: closes a block */
  DEPTHCOST_STORE_NOWHERE = 2      /* used and forgotten: at the output aggregation */
};

/* h = sum_i softmax_i(w . RMSNorm(v_i)) v_i over bank rows 0 to n - 1 and b (Eq. 2-4, 6), then the
 * norm. Without f, b is the last source as it stands; with f, b + f is, stored as `store` says.
 * n >= 1 or b is there. A gain of the key norm is folded into w: (w * g) . k = w . (g * k). */
typedef struct {
  depthcost_dtype dtype;
  depthcost_sum_store store; /* of no effect without f */
  size_t num_tokens;         /* T */
  size_t hidden_size;        /* d >= 1 */
  size_t num_bank_rows;      /* B, allocated */
  size_t num_bank_sources;   /* n <= B, attended to */
  size_t bank_row;           /* n <= bank_row < B, written under DEPTHCOST_STORE_BANK_ROW */
  void* bank;                /* (B, T, d) */
  void* partial_sum;         /* b (T, d), inner, or null; may be a bank row from n on */
  const void* layer_output;  /* f (T, d), or null; needs b */
  const float* query;        /* w (d) */
  float key_eps;             /* of the RMSNorm inside the softmax */
  depthcost_norm norm;       /* gain null: no norm, the output is h */
  void* output;              /* (T, d), clear of the whole bank */
} depthcost_attnres_single_pass_args;
DEPTHCOST_API depthcost_status depthcost_attnres_single_pass(
    const depthcost_target* target, const depthcost_attnres_single_pass_args* args);

/* Phase 1 of Algorithm 1: S queries over the n bank sources. Query 1 gives the next layer's input,
 * x = norm(o / l). Queries 2 to S leave o = sum_i e^(s_i - m) v_i, m = max_i s_i and l = sum_i
 * e^(s_i - m) for Phase 2. With b and f it closes the previous block first: row n of the bank = b +
 * f, which is then the last of n + 1 sources. n >= 1 or b and f are there. */
typedef struct {
  depthcost_dtype dtype;
  depthcost_dtype phase1_dtype; /* of o: dtype or f32 */
  size_t num_tokens;            /* T */
  size_t hidden_size;           /* d >= 1 */
  size_t num_bank_rows;         /* B, allocated */
  size_t num_bank_sources;      /* n <= B, without the row that is written */
  size_t num_queries;           /* S >= 1 */
  size_t bank_row;              /* n where the previous block is closed, else of no effect */
  void* bank;                   /* (B, T, d) */
  const void* partial_sum;      /* b (T, d), inner; null if and only if f is; may be row n */
  const void* layer_output;     /* f (T, d), or null */
  const float* queries;         /* w (S, d) */
  float key_eps;                /* of the RMSNorm inside the softmax */
  depthcost_norm norm;          /* gain null: no norm, the output is o / l */
  void* output;                 /* x (T, d), clear of the whole bank, as are the next three */
  void* outputs;                /* o (S - 1, T, d) of phase1_dtype */
  float* maxima;                /* m (S - 1, T) */
  float* sums;                  /* l (S - 1, T) */
} depthcost_attnres_phase1_args;
DEPTHCOST_API depthcost_status depthcost_attnres_phase1(const depthcost_target* target,
                                                        const depthcost_attnres_phase1_args* args);

/* Phase 2 of Algorithm 1, lines 10-12, of one query: scores of b (after b += f if f is there) and
 * of k further sources, merged with Phase 1's (o, m, l) by online softmax; then the norm. b and the
 * further sources may be rows of the bank. */
typedef struct {
  depthcost_dtype dtype;
  depthcost_dtype phase1_dtype; /* of o: dtype or f32 */
  size_t num_tokens;            /* T */
  size_t hidden_size;           /* d >= 1 */
  size_t num_further_sources;   /* k: earlier layers of the same group in Full AttnRes, else 0 */
  const void* further_sources;  /* (k, T, d), inner */
  void* partial_sum;            /* b (T, d), inner, written if f is there */
  const void* layer_output;     /* f (T, d), or null */
  const void* phase1_output;    /* o (T, d) of phase1_dtype, inner */
  const float* maximum;         /* m (T) */
  const float* sum;             /* l (T) */
  const float* query;           /* w (d) */
  float key_eps;                /* of the RMSNorm inside the softmax */
  depthcost_norm norm;          /* gain null: no norm */
  void* output;                 /* (T, d) */
} depthcost_attnres_phase2_args;
DEPTHCOST_API depthcost_status depthcost_attnres_phase2(const depthcost_target* target,
                                                        const depthcost_attnres_phase2_args* args);

/* -- Manifold-constrained hyper-connections --------------------------------------------------- */

/* Which sums an iteration of Sinkhorn's makes one first; the others are exact at the end. */
typedef int32_t depthcost_sinkhorn_order;
enum { DEPTHCOST_COL_ROW = 0, DEPTHCOST_ROW_COL = 1 };

/* Dynamic coefficients from X (arXiv:2512.24880v2 Eq. 7-8): z = phi . vec(X) / sqrt(mean(vec(X)^2)
 * + eps); H_pre = sigmoid(a0 z_pre + b_pre), H_post = 2 sigmoid(a1 z_post + b_post), H_res =
 * Sinkhorn(exp(a2 z_res + b_res)). */
typedef struct {
  const float* phi;  /* (m m + 2 m, m d), rows pre, post, res */
  const float* bias; /* b (m m + 2 m) */
  float scales[3];   /* a0, a1, a2 */
  float eps;
  size_t iterations; /* of Sinkhorn's, >= 1; 20 in the paper */
  depthcost_sinkhorn_order order;
} depthcost_mhc_mapping;

/* Coefficients of a layer and its input x = sum_j H_pre[j] X_j, then the norm. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;   /* T */
  size_t hidden_size;  /* d >= 1 */
  size_t num_streams;  /* m >= 1 */
  const void* streams; /* X (T, m, d) */
  depthcost_mhc_mapping mapping;
  depthcost_norm norm; /* gain null: no norm */
  void* output;        /* x (T, d) */
  float* post;         /* H_post (T, m), written */
  float* residual;     /* H_res (T, m, m), written */
} depthcost_mhc_pre_args;
DEPTHCOST_API depthcost_status depthcost_mhc_pre(const depthcost_target* target,
                                                 const depthcost_mhc_pre_args* args);

/* X'_i = sum_j H_res[i][j] X_j + H_post[i] f. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;        /* T */
  size_t hidden_size;       /* d >= 1 */
  size_t num_streams;       /* m >= 1 */
  const void* streams;      /* X (T, m, d) */
  const void* layer_output; /* f (T, d) */
  const float* post;        /* H_post (T, m) */
  const float* residual;    /* H_res (T, m, m) */
  void* next_streams;       /* X' (T, m, d); may be X */
} depthcost_mhc_post_args;
DEPTHCOST_API depthcost_status depthcost_mhc_post(const depthcost_target* target,
                                                  const depthcost_mhc_post_args* args);

/* mhc_post of a layer, then the next layer's mhc_pre and norm, in one kernel. */
typedef struct {
  depthcost_mhc_post_args post; /* its dtype and sizes are the whole operation's */
  depthcost_mhc_mapping mapping;
  depthcost_norm norm;  /* gain null: no norm */
  void* output;         /* x (T, d) */
  float* next_post;     /* H_post (T, m) of the next layer; may be post.post */
  float* next_residual; /* H_res (T, m, m) of the next layer; may be post.residual */
} depthcost_mhc_boundary_args;
DEPTHCOST_API depthcost_status depthcost_mhc_boundary(const depthcost_target* target,
                                                      const depthcost_mhc_boundary_args* args);

/* Matrices of m x m, in place: `iterations` times their column and row sums are made one. */
typedef struct {
  size_t count;       /* matrices */
  size_t num_streams; /* m >= 1 */
  float* matrices;    /* (count, m, m), positive */
  size_t iterations;
  depthcost_sinkhorn_order order;
} depthcost_sinkhorn_args;
DEPTHCOST_API depthcost_status depthcost_sinkhorn(const depthcost_target* target,
                                                  const depthcost_sinkhorn_args* args);

#ifdef __cplusplus
}
#endif

#endif
