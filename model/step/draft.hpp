// Layers that draft tokens for a decode step: what they weigh, and what they do beside the step
// that checks the tokens. They run with the model's head. Their residual path is not counted.
#pragma once

#include <optional>
#include <vector>

#include "model/step/layer_work.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// The layers that draft, where the study's decode steps draft tokens and the model has such
/// layers; else null.
const DraftLayers* draft_of(const Study& study);

/// A model that consists of one pass of them alone.
Study draft_study(const Study& study, const DraftLayers& draft);

/// What they do for the step whose passes are `checking`.
///   multi-token prediction   a pass for each token but the first, of one layer and one token a
///                            sequence
///   a block of B tokens      ceil((tokens - 1) / B) passes of all layers and B tokens a sequence
std::vector<ForwardPass> draft_passes(const Study& study, const DraftLayers& draft,
                                      const std::vector<ForwardPass>& checking);

}  // namespace depthcost
