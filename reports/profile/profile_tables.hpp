// A profile as tables.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace depthcost::profile {

/// Whose it is, and what is known of the machine as such.
std::string heading_text(const Profile& profile);

/// How well it predicts: one row for each kind of ceilings and of cases, and the line of trust.
std::string accuracy_text(const Profile& profile);

/// Its constants; of `measured`, the variants that its ceilings are and those that it leaves out.
std::string constants_text(const Profile& profile, const std::vector<Ceiling>& measured);

}  // namespace depthcost::profile
