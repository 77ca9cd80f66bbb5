// Architectures of published models, for tests of what is counted from them. The presets carry the
// sources.
#pragma once

#include "model/architecture/architecture.hpp"

namespace depthcost::test {

inline Architecture kimi_k3() {
  const LatentAttention latent{.num_heads = 96,
                               .q_rank = 1536,
                               .kv_rank = 512,
                               .nope_dim = 128,
                               .rope_dim = 64,
                               .value_dim = 128,
                               .output_gate = OutputGate::present};
  return {.attention = {{LinearAttention{.num_heads = 96, .head_dim = 128, .conv_width = 4}, 69},
                        {latent, 24}},
          .mlp = {{DenseMlp{33792}, 1},
                  {ExpertMlp{.num_experts = 896,
                             .num_active = 16,
                             .num_shared = 2,
                             .width = 3072,
                             .latent_width = 3584},
                   92}},
          .vocabulary_size = 163840,
          .weight_dtype = WeightDtype::bf16,
          .expert_dtype = WeightDtype::mxfp4};
}

inline Architecture deepseek_v3() {
  return {
      .attention = {{LatentAttention{.num_heads = 128,
                                     .q_rank = 1536,
                                     .kv_rank = 512,
                                     .nope_dim = 128,
                                     .rope_dim = 64,
                                     .value_dim = 128},
                     61}},
      .mlp = {{DenseMlp{18432}, 3},
              {ExpertMlp{.num_experts = 256, .num_active = 8, .num_shared = 1, .width = 2048}, 58}},
      .vocabulary_size = 129280,
      .weight_dtype = WeightDtype::fp8,
      .expert_dtype = WeightDtype::fp8};
}

inline Architecture llama_8b() {
  return {
      .attention = {{GroupedAttention{.num_heads = 32, .num_kv_heads = 8, .head_dim = 128}, 32}},
      .mlp = {{DenseMlp{14336}, 32}},
      .vocabulary_size = 128256};
}

}  // namespace depthcost::test
