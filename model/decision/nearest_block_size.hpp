// The smallest change of a partition that keeps a budget.
#pragma once

#include <cstdint>
#include <optional>

#include "model/decision/budget.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// Which sizes are tried: those that are no coarser than any with a published loss, the others, or
/// all.
enum class Losses : std::uint8_t { published, coarser, any };

/// The block size closest to the study's own with which the budget holds, surely or likely, all
/// else being as it is; of two equally close ones the larger. A size that splits a decoder layer is
/// named only where no other keeps the budget (in training: not its neighbour either). Nothing
/// where the scheme is not Block AttnRes, or no size that was tried keeps it: up to 256 to either
/// side; of training halves and doubles, and a bisection towards the study's own.
std::optional<Count> nearest_block_size(const Study& study, const Budget& budget,
                                        Kept kept = Kept::surely, Losses losses = Losses::any);

/// The nearest block size, by the first of these rules that finds one. (1) It has a published loss
/// and surely keeps the budget. (2) It has one and likely keeps the budget, if the study's own
/// median breaks it; at decode and prefill another schedule may be named with it, where that comes
/// nearer. (3) It is coarser and surely keeps the budget. In training sizes are sure or not named,
/// since each is simulated.
std::optional<Remedy> nearest_blocks(const Study& study, const BudgetRow& row);

}  // namespace depthcost
