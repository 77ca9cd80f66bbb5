/* Backward passes. All that depthcost.h says holds here. A row that "is added to" is read first.
 *
 * Gradients of parameters are sums over all tokens, and are added to what is there. Tokens are cut
 * into slices, [T i / count, T (i + 1) / count) for each i, and slice i is added up in row i of
 * `sums`; then the rows are added up in order. Results depend on `count` and on nothing else. More
 * slices keep more threads busy; a GPU wants at least one for each multiprocessor. */
#ifndef DEPTHCOST_KERNELS_C_DEPTHCOST_BACKWARD_H
#define DEPTHCOST_KERNELS_C_DEPTHCOST_BACKWARD_H

#include "depthcost.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  size_t count; /* slices, at least 1 */
  float* sums;  /* (count, parameters of the operation), 16-byte aligned, written */
} depthcost_token_slices;

/* What becomes of a gradient that several layers have a part of. */
typedef int32_t depthcost_gradient_store;
enum {
  DEPTHCOST_GRADIENT_OVERWRITE = 0, /* it is the first part */
  DEPTHCOST_GRADIENT_ADD = 1        /* others have left theirs */
};

/* Of depthcost_residual_add_rmsnorm, h' = h + f; x = norm(h'): with r = sqrt(mean(h'^2) + eps),
 * n = h' / r,
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

/* Of depthcost_attnres_single_pass over n bank rows and a partial sum. Scores and the mix h are
 * made again: with dh, the gradient of h, p = softmax(s) and r_i = sqrt(mean(v_i^2) + key_eps),
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

/* Of depthcost_attnres_phase2 without further sources: of the partial sum and of the norm. dh and
 * dh . h are left for depthcost_attnres_phase1_backward, which runs behind those of all layers of a
 * block. */
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

/* Of depthcost_attnres_phase1: the bank's rows for all S queries of a block at once. The mix of
 * query 1 is made again, and its norm undone here. */
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

/* Of depthcost_mhc_post:
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

/* Gradients of the parameters of depthcost_mhc_mapping, added to. */
typedef struct {
  float* phi;    /* (m m + 2 m, m d) */
  float* bias;   /* (m m + 2 m) */
  float* scales; /* (3) */
} depthcost_mhc_mapping_gradients;

/* Of depthcost_mhc_pre, whose coefficients are made again. */
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

/* Of depthcost_mhc_boundary: depthcost_mhc_pre_backward of the streams behind it, then
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

#ifdef __cplusplus
}
#endif

#endif /* DEPTHCOST_KERNELS_C_DEPTHCOST_BACKWARD_H */
