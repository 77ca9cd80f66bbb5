// A value that an answer rests on, for the list of assumptions in every report.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace depthcost {

struct ResolvedValue {
  std::string key;     // "residual.block_size"
  std::string value;   // as written, or as derived
  std::string origin;  // "kimi.yaml:7", "preset kimi_k3: <source> (<date>)", "default: <source>"
  std::string warning = {};  // why results that use this value are wrong
};

/// Why an answer is wrong because of its values, such as what an import cannot say.
inline std::vector<std::string> value_warnings(std::span<const ResolvedValue> values) {
  std::vector<std::string> warnings;
  for (const ResolvedValue& value : values)
    if (!value.warning.empty()) warnings.push_back(value.warning);
  return warnings;
}

/// Leaves those that are in `others`, too: a key that one of several schemes takes is no mistake.
inline void keep_common(std::vector<std::string>& warnings,
                        const std::vector<std::string>& others) {
  std::erase_if(warnings, [&](const std::string& warning) {
    return std::find(others.begin(), others.end(), warning) == others.end();
  });
}

}  // namespace depthcost
