// Architectures of devices: whose kernels run on them, and which stands in where nobody has
// measured a part.
#pragma once

#include <array>
#include <string_view>

#include "model/machine/few_tokens.hpp"

namespace depthcost {

/// Which weights of 4 bits are multiplied as they are. Others are widened to bf16 first.
enum class Fp4 { widened, mxfp4, mxfp4_and_nvfp4 };

/// What products in nvfp4 reach of the rate of fp8. A B200 has twice the rate on paper. vLLM,
/// SGLang and TensorRT-LLM reach 1.5 to 1.8 times on large matrices and 1.6 to 2.3 times on
/// experts, in the median (ai-dynamo/aiconfigurator 0.12.0, gemm and moe of b200_sxm). Other
/// Blackwell parts have other rates on paper, and were not measured.
inline constexpr double kNvfp4OverFp8 = 1.6;

/// A generation of chips that share their kernels and their launch costs.
struct Chip {
  std::string_view name;
  std::string_view vendor;
  int year = 0;  // of its first part
  KernelStyle style = {};
  Fp4 fp4 = Fp4::widened;
};

/// `blackwell` is sm_100 and sm_103, `blackwell_rtx` sm_120: they do not run each other's kernels.
/// Its kernels fetch before they start: in a trace of Kimi K3 on 8 x B300 (2026) a call takes 1.37
/// us although its parameters come from memory.
inline constexpr std::array kChips{
    Chip{"ampere", "nvidia", 2020},
    Chip{"ada", "nvidia", 2022},
    Chip{"hopper", "nvidia", 2022, KernelStyle{RowLoads::loop, Prefetch::none, Projection::either}},
    Chip{"blackwell", "nvidia", 2024,
         KernelStyle{RowLoads::ring, Prefetch::before_start, Projection::either},
         Fp4::mxfp4_and_nvfp4},
    Chip{"blackwell_rtx", "nvidia", 2025, {}, Fp4::mxfp4_and_nvfp4},
    Chip{"cdna2", "amd", 2021},
    Chip{"cdna3", "amd", 2023},
    Chip{"cdna4", "amd", 2025, {}, Fp4::mxfp4},
    Chip{"zen4", "amd", 2022},
    Chip{"neoverse_v2", "arm", 2022}};

/// nullptr for a name that is none.
const Chip* find_chip(std::string_view name);

/// 0 for the same name; 1 and the years between for two of one vendor; more for other pairs. An
/// unknown name is as far from all others as another vendor's.
int chip_distance(std::string_view one, std::string_view other);

}  // namespace depthcost
