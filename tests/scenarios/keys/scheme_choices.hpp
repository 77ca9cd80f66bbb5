// What residual.scheme may say, as messages list it: one more scheme is no test to change.
#pragma once

#include <string>

#include "model/schemes/list.hpp"

namespace depthcost::test {

/// "(must be standard | mhc | ...)".
inline std::string scheme_choices() {
  std::string all;
  for (const SchemeRule* rule : scheme_rules())
    all += (all.empty() ? "(must be " : " | ") + std::string(rule->id);
  return all + ")";
}

}  // namespace depthcost::test
