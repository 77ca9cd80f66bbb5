// What residual.scheme may say, as messages list it: a mechanism more is no test to change.
#pragma once

#include <string>

#include "model/schemes/mechanism.hpp"

namespace depthcost::test {

/// "(must be standard | mhc | ...)".
inline std::string scheme_choices() {
  std::string all = "(must be standard | mhc | full_attnres | block_attnres";
  for (const Mechanism* mechanism : mechanisms()) all += " | " + std::string(mechanism->id);
  return all + ")";
}

}  // namespace depthcost::test
