// Validation losses that the paper has published, each with what it was measured on. Quoted, never
// fitted: [attnres] Fig. 6, Fig. 7, Tables 2 and 4.
#pragma once

#include <array>
#include <string_view>

#include "model/base/units.hpp"

namespace depthcost {

/// Loss of Block AttnRes against the block size, S = 1 being Full AttnRes.
struct BlockSizeLoss {
  Count block_size = 1;
  double loss = 0;
};

/// [attnres] Fig. 6, printed above its points.
inline constexpr std::array kFigure6{BlockSizeLoss{1, 1.737},  BlockSizeLoss{2, 1.746},
                                     BlockSizeLoss{4, 1.746},  BlockSizeLoss{8, 1.748},
                                     BlockSizeLoss{16, 1.753}, BlockSizeLoss{32, 1.757}};

/// Layers of the model behind Fig. 6 and Table 4: 16 decoder layers, so that N = 32 / S.
inline constexpr Count kFigure6Layers = 32;
inline constexpr double kFigure6Baseline = 1.766;
inline constexpr std::string_view kFigure6Conditions =
    "[attnres] Fig. 6: 16 decoder layers (L = 32), d = 1168, 436M active parameters of a mixture of "
    "experts, 87.9B tokens, context 8192";

/// One model size with four residual schemes. Units as in the paper's head.
struct ModelSizeLoss {
  double active_parameters = 0;  // millions, without embeddings
  double tokens = 0;             // billions
  Count decoder_layers = 0;
  Count heads = 0;
  Count hidden_size = 0;
  Count expert_width = 0;
  double learning_rate = 0;
  Count batch_size = 0;
  double baseline = 0;
  double block = 0;  // about 8 blocks
  double full = 0;
  double mhc = 0;  // mHC(-lite)
};

/// [attnres] Table 2. Context 8192. Its compute is not 6 N D: no C is derived from these rows.
inline constexpr std::array kTable2{
    ModelSizeLoss{194, 38.7, 12, 12, 896, 400, 2.99e-3, 192, 1.931, 1.909, 1.899, 1.906},
    ModelSizeLoss{241, 45.4, 13, 13, 960, 432, 2.80e-3, 256, 1.895, 1.875, 1.874, 1.869},
    ModelSizeLoss{296, 62.1, 14, 14, 1024, 464, 2.50e-3, 320, 1.829, 1.809, 1.804, 1.807},
    ModelSizeLoss{436, 87.9, 16, 16, 1168, 528, 2.20e-3, 384, 1.766, 1.746, 1.737, 1.747},
    ModelSizeLoss{528, 119.0, 17, 17, 1264, 560, 2.02e-3, 432, 1.719, 1.693, 1.692, 1.694}};

struct AblationLoss {
  std::string_view name;
  double loss = 0;
};

/// [attnres] Table 4, on the model of Fig. 6. Names are those of golden/scaling.json.
inline constexpr std::array kTable4{AblationLoss{"baseline", 1.766},
                                    AblationLoss{"denseformer", 1.767},
                                    AblationLoss{"mhc", 1.747},
                                    AblationLoss{"full", 1.737},
                                    AblationLoss{"full_input_dependent_query", 1.731},
                                    AblationLoss{"full_input_independent_mixing", 1.749},
                                    AblationLoss{"full_sigmoid", 1.741},
                                    AblationLoss{"full_no_rmsnorm", 1.743},
                                    AblationLoss{"swa_1+8", 1.764},
                                    AblationLoss{"block_S4", 1.746},
                                    AblationLoss{"block_multihead_H16", 1.752},
                                    AblationLoss{"block_no_rmsnorm", 1.750}};

/// Compute saved at equal loss times the ratio of throughputs; above 1 the scheme is a gain.
struct AdjustedSpeedup {
  std::string_view name;
  double at_512 = 0;  // of models of d = 512
  double at_768 = 0;
};

/// marin-community/marin issue 9290 (2026-09-20), "Sw": mixtures of experts on the same data, 2,385
/// and 6,930 steps, the baseline with the standard residual. Agents ran it; no seed is repeated.
inline constexpr std::array kMarinSpeedups{AdjustedSpeedup{"attn_residuals", 1.01, 1.19},
                                           AdjustedSpeedup{"mhc", 0.95, 0.96}};

}  // namespace depthcost
