// The choices of residual.scheme as messages list them, so that a new scheme changes no test.
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
