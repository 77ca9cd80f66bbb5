/* The pieces that a framework's eager mode launches where depthcost.h has one operation: for tests,
 * and to measure what fusing them saves. All that depthcost.h says holds here. */
#ifndef DEPTHCOST_KERNELS_C_DEPTHCOST_UNFUSED_H
#define DEPTHCOST_KERNELS_C_DEPTHCOST_UNFUSED_H

#include "depthcost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x = norm(h). */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;   /* T */
  size_t hidden_size;  /* d >= 1 */
  const void* input;   /* h (T, d), inner */
  depthcost_norm norm; /* the gain is required */
  void* output;        /* x (T, d) */
} depthcost_unfused_rmsnorm_args;
DEPTHCOST_API depthcost_status depthcost_unfused_rmsnorm(
    const depthcost_target* target, const depthcost_unfused_rmsnorm_args* args);

/* V = stack of s sources. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;          /* T */
  size_t hidden_size;         /* d >= 1 */
  size_t num_sources;         /* s >= 1 */
  const void* const* sources; /* s pointers to (T, d), inner; the host's array, read at once */
  void* stack;                /* V (s, T, d) */
} depthcost_unfused_stack_args;
DEPTHCOST_API depthcost_status depthcost_unfused_stack(const depthcost_target* target,
                                                       const depthcost_unfused_stack_args* args);

/* K = RMSNorm(V), without a gain. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;  /* T */
  size_t hidden_size; /* d >= 1 */
  size_t num_sources; /* s >= 1 */
  const void* stack;  /* V (s, T, d) */
  float key_eps;
  void* keys; /* K (s, T, d) */
} depthcost_unfused_key_norm_args;
DEPTHCOST_API depthcost_status depthcost_unfused_key_norm(
    const depthcost_target* target, const depthcost_unfused_key_norm_args* args);

/* logits[s][t] = w . K[s][t]. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;  /* T */
  size_t hidden_size; /* d >= 1 */
  size_t num_sources; /* s >= 1 */
  const void* keys;   /* K (s, T, d) */
  const float* query; /* w (d) */
  float* logits;      /* (s, T) */
} depthcost_unfused_scores_args;
DEPTHCOST_API depthcost_status depthcost_unfused_scores(const depthcost_target* target,
                                                        const depthcost_unfused_scores_args* args);

/* h = softmax(logits) . V. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;   /* T */
  size_t hidden_size;  /* d >= 1 */
  size_t num_sources;  /* s >= 1 */
  const void* stack;   /* V (s, T, d) */
  const float* logits; /* (s, T) */
  void* output;        /* h (T, d) */
} depthcost_unfused_mix_args;
DEPTHCOST_API depthcost_status depthcost_unfused_mix(const depthcost_target* target,
                                                     const depthcost_unfused_mix_args* args);

/* The coefficients of depthcost_mhc_mapping. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;   /* T */
  size_t hidden_size;  /* d >= 1 */
  size_t num_streams;  /* m >= 1 */
  const void* streams; /* X (T, m, d) */
  depthcost_mhc_mapping mapping;
  float* pre;      /* H_pre (T, m) */
  float* post;     /* H_post (T, m) */
  float* residual; /* H_res (T, m, m) */
} depthcost_unfused_mhc_coefficients_args;
DEPTHCOST_API depthcost_status depthcost_unfused_mhc_coefficients(
    const depthcost_target* target, const depthcost_unfused_mhc_coefficients_args* args);

/* h = sum_j H_pre[j] X_j. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;   /* T */
  size_t hidden_size;  /* d >= 1 */
  size_t num_streams;  /* m >= 1 */
  const void* streams; /* X (T, m, d) */
  const float* pre;    /* H_pre (T, m) */
  void* output;        /* h (T, d) */
} depthcost_unfused_mhc_pre_args;
DEPTHCOST_API depthcost_status depthcost_unfused_mhc_pre(
    const depthcost_target* target, const depthcost_unfused_mhc_pre_args* args);

/* F_i = H_post[i] f. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;        /* T */
  size_t hidden_size;       /* d >= 1 */
  size_t num_streams;       /* m >= 1 */
  const void* layer_output; /* f (T, d) */
  const float* post;        /* H_post (T, m) */
  void* spread;             /* F (T, m, d) */
} depthcost_unfused_mhc_post_args;
DEPTHCOST_API depthcost_status depthcost_unfused_mhc_post(
    const depthcost_target* target, const depthcost_unfused_mhc_post_args* args);

/* R_i = sum_j H_res[i][j] X_j. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;     /* T */
  size_t hidden_size;    /* d >= 1 */
  size_t num_streams;    /* m >= 1 */
  const void* streams;   /* X (T, m, d) */
  const float* residual; /* H_res (T, m, m) */
  void* mixed;           /* R (T, m, d) */
} depthcost_unfused_mhc_residual_args;
DEPTHCOST_API depthcost_status depthcost_unfused_mhc_residual(
    const depthcost_target* target, const depthcost_unfused_mhc_residual_args* args);

/* X = R + F. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;  /* T */
  size_t hidden_size; /* d >= 1 */
  size_t num_streams; /* m >= 1 */
  const void* mixed;  /* R (T, m, d) */
  const void* spread; /* F (T, m, d) */
  void* next_streams; /* X (T, m, d) */
} depthcost_unfused_mhc_merge_args;
DEPTHCOST_API depthcost_status depthcost_unfused_mhc_merge(
    const depthcost_target* target, const depthcost_unfused_mhc_merge_args* args);

/* Gated Residual of Qwen3.8-Flash-Next. lambda f is depthcost_unfused_mhc_post, its addition to the
 * streams depthcost_unfused_mhc_merge. Weights have the dtype of the rows. */

/* Xn_i = X_i / rms_i o (1 + g_i). */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;   /* T */
  size_t hidden_size;  /* d >= 1 */
  size_t num_streams;  /* n >= 1 */
  const void* streams; /* X (T, n, d) */
  const void* gain;    /* g (n, d) */
  float eps;
  void* output; /* Xn (T, n, d) */
} depthcost_unfused_gated_norm_args;
DEPTHCOST_API depthcost_status depthcost_unfused_gated_norm(
    const depthcost_target* target, const depthcost_unfused_gated_norm_args* args);

/* y = W vec(Xn) / n: W is D or B. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;   /* T */
  size_t hidden_size;  /* d >= 1 */
  size_t num_streams;  /* n >= 1 */
  size_t num_outputs;  /* o >= 1: r of D, n of B */
  const void* input;   /* Xn (T, n, d) */
  const void* weights; /* W (o, n, d) */
  float* output;       /* y (T, o) */
} depthcost_unfused_gate_down_args;
DEPTHCOST_API depthcost_status depthcost_unfused_gate_down(
    const depthcost_target* target, const depthcost_unfused_gate_down_args* args);

/* z = U a. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;       /* T */
  size_t hidden_size;      /* d >= 1 */
  size_t num_streams;      /* n >= 1 */
  size_t rank;             /* r >= 1 */
  const float* activation; /* a (T, r) */
  const void* up;          /* U (n, d, r) */
  void* output;            /* z (T, n, d) */
} depthcost_unfused_gate_up_args;
DEPTHCOST_API depthcost_status depthcost_unfused_gate_up(
    const depthcost_target* target, const depthcost_unfused_gate_up_args* args);

typedef int32_t depthcost_gate_function;
enum { DEPTHCOST_GATE_SIGMOID = 1, DEPTHCOST_GATE_TWICE_SIGMOID = 2, DEPTHCOST_GATE_SILU = 3 };

/* y = function(z), element by element. Scalars have the dtype f32, and are one stream of r or n. */
typedef struct {
  depthcost_dtype dtype;
  depthcost_gate_function function;
  size_t num_tokens;  /* T */
  size_t hidden_size; /* d >= 1 */
  size_t num_streams; /* n >= 1 */
  const void* input;  /* z (T, n, d), inner */
  void* output;       /* y (T, n, d), inner */
} depthcost_unfused_activation_args;
DEPTHCOST_API depthcost_status depthcost_unfused_activation(
    const depthcost_target* target, const depthcost_unfused_activation_args* args);

/* Y = G o Xn. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;  /* T */
  size_t hidden_size; /* d >= 1 */
  size_t num_streams; /* n >= 1 */
  const void* gates;  /* G (T, n, d) */
  const void* input;  /* Xn (T, n, d) */
  void* output;       /* Y (T, n, d) */
} depthcost_unfused_gate_product_args;
DEPTHCOST_API depthcost_status depthcost_unfused_gate_product(
    const depthcost_target* target, const depthcost_unfused_gate_product_args* args);

/* x = (1/n) sum_i Y_i. */
typedef struct {
  depthcost_dtype dtype;
  size_t num_tokens;   /* T */
  size_t hidden_size;  /* d >= 1 */
  size_t num_streams;  /* n >= 1 */
  const void* streams; /* Y (T, n, d) */
  void* output;        /* x (T, d) */
} depthcost_unfused_stream_mean_args;
DEPTHCOST_API depthcost_status depthcost_unfused_stream_mean(
    const depthcost_target* target, const depthcost_unfused_stream_mean_args* args);

#ifdef __cplusplus
}
#endif

#endif
