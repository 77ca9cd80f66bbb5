// A value that an answer rests on, for the list of assumptions in every report.
#pragma once

#include <string>

namespace depthcost {

struct ResolvedValue {
  std::string key;     // "residual.block_size"
  std::string value;   // as written, or as derived
  std::string origin;  // "kimi.yaml:7", "preset kimi_k3: <source> (<date>)", "default: <source>"
  std::string warning = {};  // by what numbers are wrong that rest on it
};

}  // namespace depthcost
