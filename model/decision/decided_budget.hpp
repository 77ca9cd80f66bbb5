// One budget of a changed study.
#pragma once

#include "model/decision/budget.hpp"

namespace depthcost {

/// The budget for the study as it is: its steps and memory are worked out for this one decision.
BudgetRow decided_for(const Study& study, const Budget& budget);

}  // namespace depthcost
