/* The headers as C11, and a call from it: what a user's first program looks like. */
#include <stdio.h>
#include <string.h>

#include "kernels/c/depthcost.h"
#include "kernels/c/depthcost_family.h"
#include "kernels/c/depthcost_unfused.h"

/* The layout that DEPTHCOST_ABI_VERSION 1 promises where pointers have 8 bytes. */
#define HAS_SIZE(type, size) \
  _Static_assert(sizeof(void*) != 8 || sizeof(type) == (size), #type " has changed")
HAS_SIZE(depthcost_target, 16);
HAS_SIZE(depthcost_norm, 16);
HAS_SIZE(depthcost_residual_add_args, 40);
HAS_SIZE(depthcost_residual_add_rmsnorm_args, 64);
HAS_SIZE(depthcost_attnres_single_pass_args, 112);
HAS_SIZE(depthcost_attnres_phase1_args, 144);
HAS_SIZE(depthcost_attnres_phase2_args, 120);
HAS_SIZE(depthcost_mhc_mapping, 48);
HAS_SIZE(depthcost_mhc_pre_args, 128);
HAS_SIZE(depthcost_mhc_post_args, 72);
HAS_SIZE(depthcost_mhc_boundary_args, 160);
HAS_SIZE(depthcost_sinkhorn_args, 40);
HAS_SIZE(depthcost_scaled_add_rmsnorm_args, 88);
HAS_SIZE(depthcost_highway_rmsnorm_args, 72);
HAS_SIZE(depthcost_residual_scaling_rmsnorm_args, 96);
HAS_SIZE(depthcost_hc_boundary_args, 104);
HAS_SIZE(depthcost_single_pass_mhc_args, 176);
HAS_SIZE(depthcost_dense_mix_args, 112);
HAS_SIZE(depthcost_altup_router, 24);
HAS_SIZE(depthcost_altup_predict_args, 96);
HAS_SIZE(depthcost_altup_laurel_args, 80);
HAS_SIZE(depthcost_altup_middle_args, 96);
HAS_SIZE(depthcost_altup_correct_args, 104);
HAS_SIZE(depthcost_attnres_variant_args, 144);
HAS_SIZE(depthcost_gated_residual_apply_down_args, 128);
HAS_SIZE(depthcost_gated_residual_up_mix_args, 88);
HAS_SIZE(depthcost_token_slices, 16);
HAS_SIZE(depthcost_mhc_mapping_gradients, 24);
HAS_SIZE(depthcost_residual_add_rmsnorm_backward_args, 88);
HAS_SIZE(depthcost_attnres_single_pass_backward_args, 136);
HAS_SIZE(depthcost_attnres_phase1_backward_args, 144);
HAS_SIZE(depthcost_attnres_phase2_backward_args, 136);
HAS_SIZE(depthcost_mhc_post_backward_args, 96);
HAS_SIZE(depthcost_mhc_pre_backward_args, 192);
HAS_SIZE(depthcost_mhc_boundary_backward_args, 248);
HAS_SIZE(depthcost_unfused_gated_norm_args, 64);
HAS_SIZE(depthcost_unfused_gate_down_args, 64);
HAS_SIZE(depthcost_unfused_gate_up_args, 64);
HAS_SIZE(depthcost_unfused_activation_args, 48);
HAS_SIZE(depthcost_unfused_gate_product_args, 56);
HAS_SIZE(depthcost_unfused_stream_mean_args, 48);

static int num_failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("not so: %s (last error: %s)\n", what, depthcost_last_error());
  ++num_failures;
}

static void test_call(void) {
  _Alignas(16) float hidden_state[4] = {1, 2, 3, 4};
  _Alignas(16) float layer_output[4] = {10, 20, 30, 40};
  const depthcost_target target = {.backend = DEPTHCOST_CPU};
  const depthcost_residual_add_args args = {.dtype = DEPTHCOST_F32,
                                            .num_tokens = 1,
                                            .hidden_size = 4,
                                            .hidden_state = hidden_state,
                                            .layer_output = layer_output};
  expect(depthcost_residual_add(&target, &args) == DEPTHCOST_OK, "residual_add returns OK");
  expect(hidden_state[0] == 11 && hidden_state[3] == 44, "residual_add adds");
}

static void test_error(void) {
  const depthcost_target target = {.backend = DEPTHCOST_CPU};
  const depthcost_unfused_mix_args args = {.dtype = DEPTHCOST_BF16, .hidden_size = 1};
  expect(depthcost_unfused_mix(&target, &args) == DEPTHCOST_INVALID_ARGUMENT,
         "unfused_mix without sources is refused");
  expect(strcmp(depthcost_last_error(), "unfused_mix: num_sources is 0 (must be at least 1)") == 0,
         "the error says why");
}

int main(void) {
  expect(depthcost_abi_version() == DEPTHCOST_ABI_VERSION, "library and header are of one version");
  expect(depthcost_abi_minor_version() == DEPTHCOST_ABI_MINOR_VERSION, "and of one minor version");
  expect(strcmp(depthcost_version(), EXPECTED_VERSION) == 0, "the version is the project's");
  expect(strlen(depthcost_kernels_hash(DEPTHCOST_CPU)) == 16, "its kernels have a hash");
  expect(strcmp(depthcost_kernels_hash(0), "") == 0, "what is no backend has none");
  test_call();
  test_error();
  return num_failures == 0 ? 0 : 1;
}
