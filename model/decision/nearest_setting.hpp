// What a scenario sets otherwise than the field does, where that breaks a budget.
#pragma once

#include <string>

#include "model/decision/budget.hpp"

namespace depthcost {

/// A change of settings, and what comes of it.
struct SettingChange {
  std::string text;    // "residual.layout: sequence_sharded"; empty: there is none
  bool keeps = false;  // the budget then surely holds
};

/// The setting that departs from what engines and training recipes run, and with whose usual value
/// the budget surely holds; all such settings together where none suffices alone, whether they keep
/// it or not. Where nothing departs, a setting beyond the usual ones that keeps it.
SettingChange nearest_setting(const Study& study, const Budget& budget);

}  // namespace depthcost
