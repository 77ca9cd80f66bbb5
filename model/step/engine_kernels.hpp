// What serving engines' kernels reach beside the residual path: one place for every constant that a
// step's other terms are made of. REFERENCES.md, "rest of the step".
//
// Fitted by least |log error| on 463 measured decode steps (the fastest run of each configuration)
// of DeepSeek-V3, Kimi K2, gpt-oss-120b, Llama 3.1 8B and 70B and Qwen3 32B on H100, H200 and B200,
// in vLLM, SGLang and TensorRT-LLM (silicon_sample.csv of ai-dynamo/aiconfigurator 0.12.0).
#pragma once

#include "model/base/evidence.hpp"
#include "model/base/units.hpp"

namespace depthcost {

/// Share of a datasheet's dense rate that matrix products reach. The best that anybody has measured
/// lies between 0.73 and 0.87 on A100, H100, B200, B300 and GB200 (stas00/ml-engineering @744d01e1,
/// MAMF); how far a model's own shapes stay below is [ours].
inline constexpr Estimate<double> kSustainedRate{0.40, 0.65, 0.80, Evidence::assumed};

/// Kernels of one kind: what each takes beside its bytes and operations, and the share of the
/// bandwidth of plain reads at which it reads weights and cache.
struct EngineKernels {
  Estimate<Seconds> floor;
  Estimate<double> efficiency;
};

inline constexpr EngineKernels kAttentionKernels{
    {{5.5e-6}, {8.4e-6}, {12.6e-6}, Evidence::published}, {0.75, 0.90, 1.0, Evidence::published}};
inline constexpr EngineKernels kMlpKernels{{{4.1e-6}, {6.3e-6}, {9.5e-6}, Evidence::published},
                                           {0.80, 1.0, 1.0, Evidence::published}};

/// Kernels that are launched before their neighbour ends (Prefetch::before_start) take so much of
/// that floor.
inline constexpr double kFloorOfLaunchedAhead = 0.70;

/// A prefill's experts take so many times what their bytes and operations say: DeepSeek-V3 1.65 to
/// 1.75, gpt-oss 1.9 to 2.6 (times to the first token in the same table).
inline constexpr Estimate<double> kPrefillOfExperts{1.5, 2.0, 2.6, Evidence::published};

}  // namespace depthcost
