// Every mechanism, one declaration each: what CONTRIBUTING names as the place where one is added.
#pragma once

#include <array>

#include "model/schemes/mechanism.hpp"

namespace depthcost {

extern const Mechanism kReZero;
extern const Mechanism kLayerScale;
extern const Mechanism kLaurelRw;
extern const Mechanism kLaurelLr;
extern const Mechanism kLaurelPa;
extern const Mechanism kHighway;
extern const Mechanism kDeepNorm;
extern const Mechanism kKeel;
extern const Mechanism kValueResidual;
extern const Mechanism kSiameseNorm;
extern const Mechanism kHcStatic;
extern const Mechanism kHcDynamic;
extern const Mechanism kMhcLite;
extern const Mechanism kKromHc;
extern const Mechanism kSinglePassMhc;
extern const Mechanism kDeltaLearning;
extern const Mechanism kDenseNet;
extern const Mechanism kDenseFormer;
extern const Mechanism kMuddFormer;
extern const Mechanism kMrla;
extern const Mechanism kAttnResInputDependent;
extern const Mechanism kAttnResInputIndependent;
extern const Mechanism kAttnResSigmoid;
extern const Mechanism kAttnResRawKeys;
extern const Mechanism kAttnResMultihead;
extern const Mechanism kAttnResSlidingWindow;
extern const Mechanism kBoundaryAttention;
extern const Mechanism kHistoryAttention;

inline constexpr std::array kMechanisms{
    // Single-state recurrence.
    &kReZero, &kLayerScale, &kLaurelRw, &kLaurelLr, &kHighway, &kDeepNorm, &kKeel,
    // Multi-state recurrence.
    &kSiameseNorm, &kHcStatic, &kHcDynamic, &kMhcLite, &kKromHc, &kSinglePassMhc, &kDeltaLearning,
    // Cross-layer access.
    &kValueResidual, &kLaurelPa, &kDenseNet, &kDenseFormer, &kMuddFormer, &kMrla,
    // [attnres] Table 4.
    &kAttnResInputDependent, &kAttnResInputIndependent, &kAttnResSigmoid, &kAttnResRawKeys,
    &kAttnResMultihead, &kAttnResSlidingWindow,
    // Of the name, but not of the paper.
    &kBoundaryAttention, &kHistoryAttention};

}  // namespace depthcost
