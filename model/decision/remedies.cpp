// A setting before a block size.
#include "model/decision/remedies.hpp"

#include "model/decision/nearest_block_size.hpp"
#include "model/decision/nearest_setting.hpp"

namespace depthcost {

void name_remedies(const Study& study, std::vector<BudgetRow>& rows) {
  for (BudgetRow& row : rows) {
    if (!may_break(row) || !row.remedies.empty()) continue;
    const Remedy setting = nearest_setting(study, row.budget);
    if (!setting.change.empty()) row.remedies.push_back(setting);
    if (setting.kept == Kept::surely) continue;
    if (const auto blocks = nearest_blocks(study, row)) row.remedies.push_back(*blocks);
  }
}

}  // namespace depthcost
