// Whether a profile still says what its samples say, and today's formulas still predict as well as
// those that it was made with. Needs no hardware: the gate that catches a changed formula.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"
#include "scenarios/values.hpp"

namespace depthcost::profile {

/// Whose samples a profile, or a preset, can be held against.
Backend backend_of(const Values& device);

/// The samples that the profile at `path` names, which lie beside it. Throws InputError, also where
/// they are not those that it was made from.
Samples samples_of(const std::string& path);

/// What a fit to its samples gives today. Throws InputError.
Profile refitted(const std::string& path);

/// Throws InputError where the text of a profile that was made from `samples` is none.
void require_readable(const std::string& text, const std::string& samples);

/// What no machine can be, a line each: a nearer level that is slower than one behind it, a launch
/// in a graph that costs more than one in a stream, stores between reading their lines and not.
std::vector<std::string> broken_invariants(const Profile& profile);

/// What is wrong with the profile at `path`, a line each; empty if nothing is. Its samples lie
/// beside it. Throws InputError where a file cannot be read or is no profile.
std::vector<std::string> verify(const std::string& path);

}  // namespace depthcost::profile
