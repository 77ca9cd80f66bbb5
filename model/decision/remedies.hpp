// The one change that would keep a budget.
#pragma once

#include <vector>

#include "model/decision/budget.hpp"

namespace depthcost {

/// Names in every row that may not hold and names nothing yet what would keep it: a setting, which
/// leaves the model as it is, or else a block size beside the settings that help without sufficing.
void name_remedies(const Study& study, std::vector<BudgetRow>& rows);

}  // namespace depthcost
