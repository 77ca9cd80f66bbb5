// Numbers with their nouns, for messages.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "model/base/units.hpp"

namespace depthcost {

/// "1 batch", "3 batches".
inline std::string counted(Count number, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", number, number == 1 ? one : several);
}

}  // namespace depthcost
