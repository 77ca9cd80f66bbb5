// Asks the scheme, which says it in its own file.
#include "reports/topics/ledger/ledger_formula.hpp"

namespace depthcost {

LedgerFormula ledger_formula(const Scheme& scheme, Counting counting) {
  const SchemeRule& rule = *scheme.rule;
  if (rule.formula != nullptr) return rule.formula(counting);
  return {std::string(rule.moves), std::string(rule.source),
          "model/schemes/" + std::string(rule.file)};
}

}  // namespace depthcost
