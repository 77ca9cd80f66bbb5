// The smallest change of a partition that keeps a budget.
#pragma once

#include <optional>

#include "model/decision/budget.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// The block size closest to the study's own with which the budget surely holds, all else being as
/// it is; of two equally close ones the larger. A size that splits a decoder layer is named only
/// where no other keeps it (in training: not its neighbour either). Nothing where the scheme is not
/// Block AttnRes, or no size that was tried keeps it: up to 256 to either side; of training halves
/// and doubles, and a bisection towards the study's own.
std::optional<Count> nearest_block_size(const Study& study, const Budget& budget);

}  // namespace depthcost
