// Whether a changed study would keep a budget.
#pragma once

#include "model/decision/budget.hpp"

namespace depthcost {

/// The budget for the study as it is: its steps and memory are worked out for this one decision.
BudgetRow decided_for(const Study& study, const Budget& budget);

/// Whether it surely holds.
bool surely_keeps(const Study& study, const Budget& budget);

}  // namespace depthcost
