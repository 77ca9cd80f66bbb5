// A setting before a block size.
#include "model/decision/remedies.hpp"

#include <fmt/format.h>

#include "model/decision/nearest_block_size.hpp"
#include "model/decision/nearest_setting.hpp"

namespace depthcost {
namespace {

std::string ending(Kept kept) {
  switch (kept) {
    case Kept::no:
      return " would help, and is not enough";
    case Kept::likely:
      return " would likely keep it";
    case Kept::surely:
      return " would keep it";
  }
  return "";
}

}  // namespace

void name_remedies(const Study& study, std::vector<BudgetRow>& rows) {
  for (BudgetRow& row : rows) {
    if (!may_break(row) || !row.nearest.empty()) continue;
    const SettingChange setting = nearest_setting(study, row.budget);
    if (!setting.text.empty()) row.nearest = setting.text + ending(setting.kept);
    if (setting.kept == Kept::surely) continue;
    if (const auto size = nearest_block_size(study, row.budget))
      row.nearest +=
          fmt::format("{}block_size {} would keep it", setting.text.empty() ? "" : "; ", *size);
  }
}

}  // namespace depthcost
