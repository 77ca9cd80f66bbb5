// What a scenario sets otherwise than the field does, where that breaks a budget.
#pragma once

#include "model/decision/budget.hpp"

namespace depthcost {

/// What to set back to what engines and training recipes run, by the first of these rules that
/// finds something. (1) One setting with which the budget surely holds. (2) All such settings
/// together, if it surely holds then. (3) What likely keeps it, where the study itself does not.
/// (4) All that lower the number. (5) A setting beyond the usual ones that keeps it.
Remedy nearest_setting(const Study& study, const Budget& budget);

}  // namespace depthcost
