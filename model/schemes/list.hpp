// Every scheme: a declaration and a place in the order. CONTRIBUTING.md, "A residual
// scheme", says how to add one.
#pragma once

#include <array>

#include "model/schemes/scheme.hpp"

namespace depthcost {
namespace schemes {

extern const SchemeRule kStandard;
extern const SchemeRule kMhc;
extern const SchemeRule kMhcMeanExit;
extern const SchemeRule kFullAttnRes;
extern const SchemeRule kBlockAttnRes;
extern const SchemeRule kReZero;
extern const SchemeRule kLayerScale;
extern const SchemeRule kResidualScaling;
extern const SchemeRule kLaurelRw;
extern const SchemeRule kLaurelLr;
extern const SchemeRule kLaurelPa;
extern const SchemeRule kHighway;
extern const SchemeRule kPostNorm;
extern const SchemeRule kHybridNorm;
extern const SchemeRule kDeepNorm;
extern const SchemeRule kKeel;
extern const SchemeRule kValueResidual;
extern const SchemeRule kSiameseNorm;
extern const SchemeRule kHcStatic;
extern const SchemeRule kHcIdentity;
extern const SchemeRule kHcDynamic;
extern const SchemeRule kMhcLite;
extern const SchemeRule kKromHc;
extern const SchemeRule kSinglePassMhc;
extern const SchemeRule kGatedResidual;
extern const SchemeRule kWideResidual;
extern const SchemeRule kAltup;
extern const SchemeRule kDeltaLearning;
extern const SchemeRule kDenseNet;
extern const SchemeRule kDenseFormer;
extern const SchemeRule kMuddFormer;
extern const SchemeRule kMrla;
extern const SchemeRule kAttnResInputDependent;
extern const SchemeRule kAttnResInputIndependent;
extern const SchemeRule kAttnResSigmoid;
extern const SchemeRule kAttnResRawKeys;
extern const SchemeRule kAttnResMultihead;
extern const SchemeRule kAttnResSlidingWindow;
extern const SchemeRule kBoundaryAttention;
extern const SchemeRule kHistoryAttention;
extern const SchemeRule kHistoryAttentionBlock;

inline constexpr std::array kRules{
    // [attnres] Table 1.
    &kStandard, &kMhc, &kFullAttnRes, &kBlockAttnRes,
    // Single-state recurrence.
    &kReZero, &kLayerScale, &kResidualScaling, &kLaurelRw, &kLaurelLr, &kHighway, &kPostNorm,
    &kHybridNorm, &kDeepNorm, &kKeel,
    // Multi-state recurrence.
    &kSiameseNorm, &kHcStatic, &kHcIdentity, &kHcDynamic, &kMhcMeanExit, &kMhcLite, &kKromHc,
    &kSinglePassMhc, &kGatedResidual, &kWideResidual, &kAltup, &kDeltaLearning,
    // Cross-layer access.
    &kValueResidual, &kLaurelPa, &kDenseNet, &kDenseFormer, &kMuddFormer, &kMrla,
    // [attnres] Table 4.
    &kAttnResInputDependent, &kAttnResInputIndependent, &kAttnResSigmoid, &kAttnResRawKeys,
    &kAttnResMultihead, &kAttnResSlidingWindow,
    // Mechanisms of others that are called attention over depth, too.
    &kBoundaryAttention, &kHistoryAttention, &kHistoryAttentionBlock};

}  // namespace schemes

/// All of them: [attnres] Table 1, then the order of its Table 5.
std::span<const SchemeRule* const> scheme_rules();

/// What every other scheme is held against.
bool is_standard(const Scheme& scheme);

/// The blocks of Block AttnRes; null for every other scheme.
const Partition* attnres_blocks(const Scheme& scheme);

/// The rule, or nullptr.
const SchemeRule* find_scheme(std::string_view id);

}  // namespace depthcost
