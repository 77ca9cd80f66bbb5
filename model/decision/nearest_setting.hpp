// What a scenario sets otherwise than the field does, where that breaks a budget.
#pragma once

#include "model/decision/budget.hpp"

namespace depthcost {

/// The setting that departs from what engines and training recipes run, and with whose usual value
/// the budget surely holds; else all such settings together, if they keep it so; else what likely
/// keeps it, where the study itself does not; else all that lower the number. Where nothing helps,
/// a setting beyond the usual ones that keeps it.
Remedy nearest_setting(const Study& study, const Budget& budget);

}  // namespace depthcost
