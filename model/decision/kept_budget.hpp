// Whether a changed study would keep a budget.
#pragma once

#include "model/decision/budget.hpp"

namespace depthcost {

/// Whether the budget surely holds for the study as it is: its steps and memory are worked out for
/// this one decision.
bool surely_keeps(const Study& study, const Budget& budget);

}  // namespace depthcost
