// A workload that is named and not described.
#pragma once

#include "model/base/units.hpp"
#include "scenarios/text/document.hpp"

namespace depthcost {

/// What is asked where nothing is said, and why.
inline constexpr const char* kUsualBatches = "1,64,512";
inline constexpr const char* kUsualBatchesSource = "default: [ours] a user to a crowd";
inline constexpr const char* kUsualPrompt = "131072";
inline constexpr Count kUsualChunk = 16384;
inline constexpr const char* kUsualPromptSource =
    "default: [attnres] Sec. 4.2: 128K tokens in chunks of 16K";

// With four micro-batches a stage the bubble no longer counts: GPipe, Sec. 2.3.
inline constexpr Count kMicroBatchesOfAStage = 4;
inline constexpr const char* kMicroBatchesSource =
    "default: four a stage, arXiv:1811.06965 Sec. 2.3";

/// The document with `workload: training`, `decode` or `prefill` written out, and
/// `workload: {training: {}}` as well: the usual values, each with its source. Any other document
/// is as it was. Throws InputError for another name.
Node with_usual_workload(Node document);

}  // namespace depthcost
