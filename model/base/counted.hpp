// Numbers with their nouns, and lists of names, for messages.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "model/base/units.hpp"

namespace depthcost {

/// "1 batch", "3 batches".
inline std::string counted(Count number, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", number, number == 1 ? one : several);
}

/// "decode/1, decode/64 and prefill".
inline std::string listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

}  // namespace depthcost
