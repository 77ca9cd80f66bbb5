// What holds for the answer to any scenario.
#pragma once

#include <string>

namespace depthcost::fuzz {

/// Requires of the JSON of `evaluate`: every value lies inside its own interval, intervals are
/// ordered, a larger batch takes no shorter step.
void require_sound(const std::string& json);

}  // namespace depthcost::fuzz
