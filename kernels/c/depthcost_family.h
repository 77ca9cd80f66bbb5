/* Residual schemes beside AttnRes and mHC that stream rows as those do. All that depthcost.h says
 * holds here. */
#ifndef DEPTHCOST_KERNELS_C_DEPTHCOST_FAMILY_H
#define DEPTHCOST_KERNELS_C_DEPTHCOST_FAMILY_H

#include "depthcost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* h = beta h + lambda o f; x = norm(h), of h as it was rounded. ReZero and LAuReL-RW: one lambda;
 * LayerScale: one for each element. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;        /* T */
  size_t hidden_size;       /* d >= 1 */
  void* hidden_state;       /* h (T, d), inner, read and written */
  const void* layer_output; /* f (T, d) */
  size_t num_scales;        /* 1 or d */
  const float* scales;      /* lambda (num_scales) */
  float hidden_scale;       /* beta; 1 in most schemes, and 0 where it is forgotten */
  depthcost_norm norm;      /* the gain is required */
  void* output;             /* x (T, d) */
} depthcost_scaled_add_rmsnorm_args;
DEPTHCOST_API depthcost_status depthcost_scaled_add_rmsnorm(
    const depthcost_target* target, const depthcost_scaled_add_rmsnorm_args* args);

/* g = sigmoid(z); h = (1 - g) o h + g o f; x = norm(h), of h as it was rounded. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;        /* T */
  size_t hidden_size;       /* d >= 1 */
  void* hidden_state;       /* h (T, d), inner, read and written */
  const void* layer_output; /* f (T, d) */
  const void* gate_logits;  /* z (T, d) */
  depthcost_norm norm;      /* the gain is required */
  void* output;             /* x (T, d) */
} depthcost_highway_rmsnorm_args;
DEPTHCOST_API depthcost_status depthcost_highway_rmsnorm(
    const depthcost_target* target, const depthcost_highway_rmsnorm_args* args);

/* r = (r + b_r) o s_r + (f + b_f) o s_f; x = norm(r). Residual scaling of ZAYA1: r is f32 whatever
 * the dtype is. */
typedef struct {
  depthcost_dtype dtype;      /* of f and x */
  size_t num_tokens;          /* T */
  size_t hidden_size;         /* d >= 1 */
  float* hidden_state;        /* r (T, d), read and written */
  const void* layer_output;   /* f (T, d) */
  const float* hidden_scales; /* s_r (d); or null: r is added as it is */
  const float* hidden_shifts; /* b_r (d); null if s_r is */
  const float* scales;        /* s_f (d) */
  const float* shifts;        /* b_f (d) */
  depthcost_norm norm;        /* the gain is required */
  void* output;               /* x (T, d) */
} depthcost_residual_scaling_rmsnorm_args;
DEPTHCOST_API depthcost_status depthcost_residual_scaling_rmsnorm(
    const depthcost_target* target, const depthcost_residual_scaling_rmsnorm_args* args);

/* Static hyper-connections: H'_i = sum_j A_r[j][i] H_j + beta_i f, x = norm(sum_i A_m[i] H'_i). */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;        /* T */
  size_t hidden_size;       /* d >= 1 */
  size_t num_streams;       /* m >= 1; under CUDA at most 32 */
  const void* streams;      /* H (T, m, d) */
  const void* layer_output; /* f (T, d) */
  const float* residual;    /* A_r (m, m) */
  const float* post;        /* beta (m) */
  const float* pre;         /* A_m (m) */
  depthcost_norm norm;      /* gain null: no norm */
  void* next_streams;       /* H' (T, m, d); may be H */
  void* output;             /* x (T, d) */
} depthcost_hc_boundary_args;
DEPTHCOST_API depthcost_status depthcost_hc_boundary(const depthcost_target* target,
                                                     const depthcost_hc_boundary_args* args);

/* Single-Pass mHC (arXiv:2609.19969): X' = B X + C f, x = norm(A X'), and (A, B, C)' from X' by the
 * mapping. A, B, C are those that the call before has left; mHC itself would mix by A'. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;        /* T */
  size_t hidden_size;       /* d >= 1 */
  size_t num_streams;       /* m >= 1 */
  const void* streams;      /* X (T, m, d) */
  const void* layer_output; /* f (T, d) */
  const float* pre;         /* A (T, m); one-hot in front of the first layer */
  const float* post;        /* C (T, m) */
  const float* residual;    /* B (T, m, m) */
  depthcost_mhc_mapping mapping;
  depthcost_norm norm;  /* gain null: no norm */
  void* next_streams;   /* X' (T, m, d); may be X */
  void* output;         /* x (T, d) */
  float* next_pre;      /* A' (T, m); may be A */
  float* next_post;     /* C' (T, m); may be C */
  float* next_residual; /* B' (T, m, m); may be B */
} depthcost_single_pass_mhc_args;
DEPTHCOST_API depthcost_status depthcost_single_pass_mhc(
    const depthcost_target* target, const depthcost_single_pass_mhc_args* args);

/* y = sum_j alpha_j v_j over bank rows 0 to n - 1 and a last source, f or h + f; x = norm(y).
 * DenseFormer: h + f becomes a row of the bank, and y the next h. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;       /* T */
  size_t hidden_size;      /* d >= 1 */
  size_t num_bank_rows;    /* B, allocated */
  size_t num_bank_sources; /* n <= B */
  size_t bank_row;         /* n <= bank_row < B, where the last source is stored; (size_t)-1: not */
  void* bank;              /* (B, T, d) */
  const void* hidden_state; /* h (T, d), inner, or null */
  const void* layer_output; /* f (T, d), inner */
  const float* weights;     /* alpha (n + 1) */
  depthcost_norm norm;      /* gain null: no norm, the output is y */
  void* mixed;              /* y (T, d), inner, clear of the whole bank, or null; may be h */
  void* output;             /* x (T, d), clear of the whole bank */
} depthcost_dense_mix_args;
DEPTHCOST_API depthcost_status depthcost_dense_mix(const depthcost_target* target,
                                                   const depthcost_dense_mix_args* args);

/* Gated Residual of Qwen3.8-Flash-Next, first pass: X'_i = X_i + lambda_i f, Xn_i = X'_i / rms_i o
 * (1 + g_i), a = SiLU(D vec(Xn) / n), lambda' = 2 sigmoid(B vec(Xn) / n). Weights have the dtype of
 * the rows. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;          /* T */
  size_t hidden_size;         /* d >= 1 */
  size_t num_streams;         /* n >= 1 */
  size_t rank;                /* r >= 1 */
  const void* streams;        /* X (T, n, d) */
  const void* layer_output;   /* f (T, d) */
  const float* inject;        /* lambda (T, n) */
  const void* gain;           /* g (n, d) */
  const void* down;           /* D (r, n, d) */
  const void* inject_weights; /* B (n, n, d); null at the exit, with next_inject */
  float eps;                  /* of the norms */
  void* next_streams;         /* X' (T, n, d); may be X */
  float* inverse_rms;         /* 1 / rms (T, n) */
  float* activation;          /* a (T, r) */
  float* next_inject;         /* lambda' (T, n); may be lambda */
} depthcost_gated_residual_apply_down_args;
DEPTHCOST_API depthcost_status depthcost_gated_residual_apply_down(
    const depthcost_target* target, const depthcost_gated_residual_apply_down_args* args);

/* The second pass: x = (1/n) sum_i sigmoid(U a)_i o Xn_i, of what the first has left. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;        /* T */
  size_t hidden_size;       /* d >= 1 */
  size_t num_streams;       /* n >= 1 */
  size_t rank;              /* r >= 1 */
  const void* streams;      /* X' (T, n, d) */
  const float* inverse_rms; /* (T, n) */
  const void* gain;         /* g (n, d) */
  const void* up;           /* U (n, d, r) */
  const float* activation;  /* a (T, r) */
  void* output;             /* x (T, d) */
} depthcost_gated_residual_up_mix_args;
DEPTHCOST_API depthcost_status depthcost_gated_residual_up_mix(
    const depthcost_target* target, const depthcost_gated_residual_up_mix_args* args);

/* AltUp with LAuReL of Gemma 3n, of A copies of the stream, at the four places of a decoder layer.
 * All gains are required. m(x) = tanh(M RMSNorm(x) / d). */
typedef struct {
  const float* matrix; /* M (A, d) */
  depthcost_norm norm;
} depthcost_altup_router;

/* p_i = h_i + sum_j P_ij h_j, P = P_c m(h_0) row by row; x = norm(p_0). */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;  /* T */
  size_t hidden_size; /* d >= 1 */
  size_t num_copies;  /* A >= 1; under CUDA at most 15 */
  void* copies;       /* h, then p (T, A, d) */
  depthcost_altup_router router;
  const float* coefficients; /* P_c (A A, A) */
  depthcost_norm norm;
  void* output; /* x (T, d) */
} depthcost_altup_predict_args;
DEPTHCOST_API depthcost_status depthcost_altup_predict(const depthcost_target* target,
                                                       const depthcost_altup_predict_args* args);

/* l = x + norm(R L x). Under CUDA the shared memory of a device bounds d, to about 14,000. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;  /* T */
  size_t hidden_size; /* d >= 1 */
  size_t rank;        /* r >= 1 */
  const void* input;  /* x (T, d) */
  const float* down;  /* L (r, d) */
  const float* up;    /* R (d, r) */
  depthcost_norm norm;
  void* output; /* l (T, d) */
} depthcost_altup_laurel_args;
DEPTHCOST_API depthcost_status depthcost_altup_laurel(const depthcost_target* target,
                                                      const depthcost_altup_laurel_args* args);

/* q = (p_0 + norm(attention) + l) / sqrt 2; x = norm(q), of q as it was rounded. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;        /* T */
  size_t hidden_size;       /* d >= 1 */
  size_t num_copies;        /* A >= 1 */
  const void* copies;       /* p (T, A, d), of which p_0 is read */
  const void* layer_output; /* of attention (T, d) */
  void* laurel;             /* l, then q (T, d) */
  depthcost_norm output_norm;
  depthcost_norm norm;
  void* output; /* x (T, d) */
} depthcost_altup_middle_args;
DEPTHCOST_API depthcost_status depthcost_altup_middle(const depthcost_target* target,
                                                      const depthcost_altup_middle_args* args);

/* a = q + norm(MLP), c = C m(a) + 1, h_i = p_i + c_i (a - p_0). */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;        /* T */
  size_t hidden_size;       /* d >= 1 */
  size_t num_copies;        /* A >= 1; under CUDA at most 15 */
  void* copies;             /* p, then h (T, A, d) */
  const void* layer_output; /* of the MLP (T, d) */
  const void* middle;       /* q (T, d) */
  depthcost_norm output_norm;
  depthcost_altup_router router;
  const float* coefficients; /* C (A, A) */
} depthcost_altup_correct_args;
DEPTHCOST_API depthcost_status depthcost_altup_correct(const depthcost_target* target,
                                                       const depthcost_altup_correct_args* args);

/* Ablations of AttnRes (arXiv:2603.15031v1 Table 4). */
typedef int32_t depthcost_depth_weighting;
enum {
  DEPTHCOST_SOFTMAX = 0,
  DEPTHCOST_SIGMOID = 1 /* of each source alone; not divided by anything */
};

/* What keys are normalised over. */
typedef int32_t depthcost_key_norm;
enum { DEPTHCOST_KEY_ROW = 0, DEPTHCOST_KEY_HEAD = 1, DEPTHCOST_KEY_NONE = 2 };

/* depthcost_attnres_single_pass with other scores and weights. Heads are consecutive parts of the
 * channels. */
typedef struct {
  depthcost_attnres_single_pass_args single_pass; /* its dtype is the whole operation's */
  depthcost_depth_weighting weighting;
  depthcost_key_norm key_norm;
  size_t num_heads;          /* >= 1, divides d */
  size_t first_recent_row;   /* of the sliding window beside row 0: 1 (all rows) to n */
  const void* token_queries; /* w (T, d), inner, in place of the query; or null */
} depthcost_attnres_variant_args;
DEPTHCOST_API depthcost_status depthcost_attnres_variant(
    const depthcost_target* target, const depthcost_attnres_variant_args* args);

#ifdef __cplusplus
}
#endif

#endif
