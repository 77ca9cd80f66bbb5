// What a scenario sets otherwise than the field does, where that breaks a budget.
#pragma once

#include <string>

#include "model/decision/budget.hpp"

namespace depthcost {

/// The setting that departs from what engines and training recipes run, and with whose usual value
/// the budget surely holds: "residual.layout: sequence_sharded". All such settings together where
/// none suffices alone. Empty where that does not help either, or nothing departs.
std::string nearest_setting(const Study& study, const Budget& budget);

}  // namespace depthcost
