// What the constants that predict a published run have not seen of it.
#pragma once

#include "scenarios/device/constants.hpp"
#include "scenarios/measured/published_table.hpp"

namespace depthcost {

enum class Unseen { model, gpu };

/// The fold that was made without the row's model or GPU.
inline const Constants& unseen_constants(const TableRow& row, Unseen unseen) {
  const Constants* fold = shipped_fold(row.find(unseen == Unseen::model ? "model" : "gpu")->second);
  return fold == nullptr ? shipped_constants() : *fold;
}

}  // namespace depthcost
