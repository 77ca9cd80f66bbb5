// A profile as tables.
#pragma once

#include <string>
#include <vector>

#include "profile/merge.hpp"
#include "profile/profile.hpp"

namespace depthcost::profile {

/// The name and date of the profile, its noise, and constants of the whole machine.
std::string heading_text(const Profile& profile);

/// How well it predicts: one row for each kind of ceilings and kernels, and what the 90 % interval
/// holds.
std::string accuracy_text(const Profile& profile);

/// Its constants. `measured` says which variant each ceiling is, and which ones were left out.
std::string constants_text(const Profile& profile, const std::vector<Ceiling>& measured);

/// The nodes of a fleet beside its median in each speed; `missing` are those without a profile.
std::string fleet_text(const Fleet& fleet, const std::vector<std::string>& missing);

}  // namespace depthcost::profile
