// A profile as tables.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace depthcost {

/// Whose it is, and what is known of the machine as such.
std::string heading_text(const profile::Profile& profile);

/// How well it predicts: one row for each kind of ceilings and of cases, and the line of trust.
std::string accuracy_text(const profile::Profile& profile);

/// Its constants; of `measured`, the variants that its ceilings are and those that it leaves out.
std::string constants_text(const profile::Profile& profile,
                           const std::vector<profile::Ceiling>& measured);

}  // namespace depthcost
