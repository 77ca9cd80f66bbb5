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
 * Aliasing. No output overlaps an input or another output, unless a member says so. A gradient that
 * is "added to" is read first.
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
 * 4 the backward passes, 5 depthcost_mhc_boundary_backward, 6 the pieces of Gated Residual. */
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

/* How a backward pass adds up the gradients of parameters, which are sums over all tokens. Tokens
 * are cut into slices, [T i / count, T (i + 1) / count) for each i. Slice i is added up in row i of
 * `sums`; then the rows are added in order to what is in the gradient. Results depend on `count`
 * and on nothing else. More slices keep more threads busy; a GPU wants at least one for each
 * multiprocessor. */
typedef struct {
  size_t count; /* slices, at least 1 */
  float* sums;  /* (count, parameters of the operation), 16-byte aligned, written */
} depthcost_token_slices;

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

/* Backward of depthcost_residual_add_rmsnorm, with h' = h + f, r = sqrt(mean(h'^2) + eps) and
 * n = h' / r:
 *   dh = df = dh' + (g o dx - n (g o dx . n) / d) / r,  dg += sum_t dx o n */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;             /* T */
  size_t hidden_size;            /* d >= 1 */
  const void* hidden_state;      /* h' (T, d), inner */
  const void* output_gradient;   /* dx (T, d) */
  depthcost_norm norm;           /* the gain g is required */
  void* gradient;                /* dh', then dh (T, d), inner */
  float* gain_gradient;          /* dg (d), added to */
  depthcost_token_slices slices; /* of d parameters */
} depthcost_residual_add_rmsnorm_backward_args;
DEPTHCOST_API depthcost_status depthcost_residual_add_rmsnorm_backward(
    const depthcost_target* target, const depthcost_residual_add_rmsnorm_backward_args* args);

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

/* What becomes of a gradient that several layers have a part of. */
typedef int32_t depthcost_gradient_store;
enum {
  DEPTHCOST_GRADIENT_OVERWRITE = 0, /* it is the first part */
  DEPTHCOST_GRADIENT_ADD = 1        /* others have left theirs */
};

/* Backward of depthcost_attnres_single_pass over n bank rows and a partial sum. It computes the
 * scores and the mix h again: with dh, the gradient of h, p = softmax(s) and
 * r_i = sqrt(mean(v_i^2) + key_eps),
 *   ds_i = p_i (dh . v_i - dh . h),  dv_i = p_i dh + ds_i (w - s_i v_i / (d r_i)) / r_i,
 *   dw += sum_t sum_i ds_i v_i / r_i
 * n >= 1 or b is there. The gradient of b + f is that of b and of f. */
typedef struct {
  depthcost_dtype dtype;
  depthcost_gradient_store store; /* of the gradients of the sources */
  size_t num_tokens;              /* T */
  size_t hidden_size;             /* d >= 1 */
  size_t num_bank_sources;        /* n */
  const void* bank;               /* (n, T, d) */
  const void* partial_sum;        /* b + f as it was stored (T, d), inner, or null */
  const void* output_gradient;    /* dx (T, d) */
  const float* query;             /* w (d) */
  float key_eps;                  /* of the RMSNorm inside the softmax */
  depthcost_norm norm;            /* gain null: no norm, dx is dh */
  void* bank_gradients;           /* dv (n, T, d) */
  void* partial_gradient;         /* of b + f (T, d), inner; null if partial_sum is */
  float* query_gradient;          /* dw (d), added to */
  float* gain_gradient;           /* (d), added to; null if the gain is */
  depthcost_token_slices slices;  /* of d parameters, and d of a gain */
} depthcost_attnres_single_pass_backward_args;
DEPTHCOST_API depthcost_status depthcost_attnres_single_pass_backward(
    const depthcost_target* target, const depthcost_attnres_single_pass_backward_args* args);

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

/* Backward of depthcost_attnres_phase1: the bank's rows for all S queries of a block at once. It
 * computes the mix of query 1 again, and makes the gradient of its norm. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;             /* T */
  size_t hidden_size;            /* d >= 1 */
  size_t num_bank_sources;       /* n >= 1 */
  size_t num_queries;            /* S >= 1 */
  const void* bank;              /* (n, T, d) */
  const void* mix_gradients;     /* dx of query 1, dh of queries 2 to S (S, T, d) */
  const float* log_sums;         /* log sum_i e^s_i over all sources of each query (S, T) */
  const float* products;         /* dh . h of queries 2 to S (S - 1, T) */
  const float* queries;          /* (S, d) */
  float key_eps;                 /* of the RMSNorm inside the softmax */
  depthcost_norm norm;           /* of query 1; gain null: its dx is dh */
  void* bank_gradients;          /* (n, T, d), added to */
  float* query_gradients;        /* (S, d), added to */
  float* gain_gradient;          /* (d), added to; null if the gain is */
  depthcost_token_slices slices; /* of S d parameters, and d of a gain */
} depthcost_attnres_phase1_backward_args;
DEPTHCOST_API depthcost_status depthcost_attnres_phase1_backward(
    const depthcost_target* target, const depthcost_attnres_phase1_backward_args* args);

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

/* Backward of depthcost_attnres_phase2 without further sources. It makes the gradients of the
 * partial sum and of the norm, and leaves dh and dh . h for depthcost_attnres_phase1_backward,
 * which runs once for a block, after this has run for all its layers. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;             /* T */
  size_t hidden_size;            /* d >= 1 */
  const void* partial_sum;       /* b + f as it was stored (T, d), inner */
  const void* mix;               /* h (T, d), inner */
  const float* log_sum;          /* log sum_i e^s_i over all sources (T) */
  const float* query;            /* w (d) */
  float key_eps;                 /* of the RMSNorm inside the softmax */
  depthcost_norm norm;           /* gain null: mix_gradient is dh already */
  void* mix_gradient;            /* dx, then dh (T, d), inner */
  void* partial_gradient;        /* of b + f (T, d), inner, added to */
  float* product;                /* dh . h (T) */
  float* query_gradient;         /* dw (d), added to */
  float* gain_gradient;          /* (d), added to; null if the gain is */
  depthcost_token_slices slices; /* of d parameters, and d of a gain */
} depthcost_attnres_phase2_backward_args;
DEPTHCOST_API depthcost_status depthcost_attnres_phase2_backward(
    const depthcost_target* target, const depthcost_attnres_phase2_backward_args* args);

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

/* Gradients of the parameters of depthcost_mhc_mapping, added to. */
typedef struct {
  float* phi;    /* (m m + 2 m, m d) */
  float* bias;   /* (m m + 2 m) */
  float* scales; /* (3) */
} depthcost_mhc_mapping_gradients;

/* Backward of depthcost_mhc_pre. It computes the coefficients again. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;               /* T */
  size_t hidden_size;              /* d >= 1 */
  size_t num_streams;              /* m >= 1 */
  const void* streams;             /* X (T, m, d) */
  const void* output_gradient;     /* dx (T, d) */
  const float* post_gradients;     /* of H_post (T, m) */
  const float* residual_gradients; /* of H_res (T, m, m) */
  depthcost_mhc_mapping mapping;
  depthcost_norm norm;         /* gain null: no norm */
  void* gradients;             /* dX (T, m, d), added to */
  float* projection_gradients; /* dz / sqrt(mean(vec(X)^2) + eps) (T, m m + 2 m), written */
  depthcost_mhc_mapping_gradients into;
  float* gain_gradient;          /* (d), added to; null if the gain is */
  depthcost_token_slices slices; /* of phi, bias, scales, and d of a gain */
} depthcost_mhc_pre_backward_args;
DEPTHCOST_API depthcost_status depthcost_mhc_pre_backward(
    const depthcost_target* target, const depthcost_mhc_pre_backward_args* args);

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

/* Backward of depthcost_mhc_post:
 *   dX = H_res^T dX', df = sum_i H_post[i] dX'_i,
 *   dH_post[i] = dX'_i . f, dH_res[i][j] = dX'_i . X_j */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;         /* T */
  size_t hidden_size;        /* d >= 1 */
  size_t num_streams;        /* m >= 1 */
  const void* streams;       /* X (T, m, d) */
  const void* layer_output;  /* f (T, d) */
  const float* post;         /* H_post (T, m) */
  const float* residual;     /* H_res (T, m, m) */
  void* gradients;           /* dX', then dX (T, m, d) */
  void* layer_gradient;      /* df (T, d) */
  float* post_gradients;     /* (T, m) */
  float* residual_gradients; /* (T, m, m) */
} depthcost_mhc_post_backward_args;
DEPTHCOST_API depthcost_status depthcost_mhc_post_backward(
    const depthcost_target* target, const depthcost_mhc_post_backward_args* args);

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

/* Backward of depthcost_mhc_boundary: depthcost_mhc_pre_backward of the streams behind it, then
 * depthcost_mhc_post_backward, in one scan. */
typedef struct {
  depthcost_mhc_post_backward_args post; /* its gradients as the next boundary has left them */
  const void* next_streams;              /* X' (T, m, d) */
  const void* output_gradient;           /* dx (T, d) */
  const float* next_post_gradients;      /* of H_post of X' (T, m) */
  const float* next_residual_gradients;  /* of H_res of X' (T, m, m) */
  depthcost_mhc_mapping mapping;
  depthcost_norm norm;         /* gain null: no norm */
  float* projection_gradients; /* dz / sqrt(mean(vec(X')^2) + eps) (T, m m + 2 m), written */
  depthcost_mhc_mapping_gradients into;
  float* gain_gradient;          /* (d), added to; null if the gain is */
  depthcost_token_slices slices; /* of phi, bias, scales, and d of a gain */
} depthcost_mhc_boundary_backward_args;
DEPTHCOST_API depthcost_status depthcost_mhc_boundary_backward(
    const depthcost_target* target, const depthcost_mhc_boundary_backward_args* args);

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
