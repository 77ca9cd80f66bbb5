// Whether a profile still says what its samples say, and today's formulas still predict what those
// did that it was made with. Needs no hardware: the gate that catches a changed formula.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace depthcost::profile {

/// What no machine can be, a line each: a nearer level that is slower than one behind it, a launch
/// in a graph that costs more than one in a stream, stores between reading their lines and not.
std::vector<std::string> broken_invariants(const Profile& profile);

/// What is wrong with the profile at `path`, a line each; empty if nothing is. Throws as
/// load_profile() and fit().
std::vector<std::string> verify(const std::string& path);

}  // namespace depthcost::profile
