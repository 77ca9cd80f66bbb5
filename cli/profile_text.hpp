// A profile as tables.
#pragma once

#include <string>

#include "profile/profile.hpp"

namespace depthcost {

/// How well it predicts: one row for each kind of ceilings and of cases, and the line of trust.
std::string accuracy_text(const profile::Profile& profile);

/// Its constants.
std::string constants_text(const profile::Profile& profile);

}  // namespace depthcost
