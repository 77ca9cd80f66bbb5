// Formulas of the ledger in words and letters.
#pragma once

#include <string>

#include "model/schemes/scheme.hpp"

namespace depthcost {

/// What one layer moves under a counting.
LedgerFormula ledger_formula(const Scheme& scheme, Counting counting);

}  // namespace depthcost
