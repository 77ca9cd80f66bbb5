// Checks that a profile still follows from its samples, and that today's formulas predict what the
// formulas did that it was made with. This finds a changed formula without any hardware.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace depthcost::profile {

/// What cannot be true of a machine, a line each: a level that is slower than an outer one, a
/// launch in a graph that takes longer than one in a stream, stores that read only a part of their
/// lines.
std::vector<std::string> broken_invariants(const Profile& profile);

/// What is wrong with the profile at `path`, a line each; empty if nothing is. Throws as
/// load_profile() and fit().
std::vector<std::string> verify(const std::string& path);

}  // namespace depthcost::profile
